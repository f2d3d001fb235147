// Tables that sort and filter. Without this script a page reads the same, in the order it came in.
//
// A table takes part with class="sorts". It must have
// - a <thead> whose last row has a heading (<th>) for each column but those of its first row that
//   reach down to it by rowspan, which stand left; each of these becomes a button;
// - rows with a cell for each column, in one <tbody> or several; labels may span rows, not columns;
// - cells that sort by their number data-value or, without it, by their text: as a number where it
//   is one (1,204). What is missing comes last either way: no text, a dash, a word among numbers.
// A table of more than 12 rows needs a <caption>, where a text box comes to stand: rows stay that
//   have all its words.
"use strict";

const FEW_ROWS = 12;
const NUMBER = /^-?(\d+|\d{1,3}(,\d{3})+)(\.\d*)?(e[+-]\d+)?$/;
const words = new Intl.Collator("en", { numeric: true });

// What a cell says, without the marks that lead to footnotes.
function textOf(cell) {
  const parts = [...cell.childNodes].filter((node) => node.nodeName !== "SUP");
  return parts.map((node) => node.textContent).join("").trim();
}

function worthOf(cell) {
  if (cell.dataset.value) return Number(cell.dataset.value);
  const text = textOf(cell);
  return NUMBER.test(text) ? Number(text.replaceAll(",", "")) : text;
}

function compare(one, other) {
  return typeof one === "number" ? one - other : words.compare(one, other);
}

// Labels that span rows are written into each of them, before the rows part.
function spread(rows) {
  rows.forEach((row, at) => {
    [...row.cells].forEach((cell, column) => {
      const span = cell.rowSpan;
      if (span === 1) return;
      cell.rowSpan = 1;
      cell.scope = "row";
      for (const below of rows.slice(at + 1, at + span))
        below.insertBefore(cell.cloneNode(true), below.cells[column] ?? null);
    });
  });
}

function headings(table) {
  const lines = [...table.tHead.rows];
  const low = [...lines[0].cells].filter((cell) => cell.rowSpan === lines.length);
  return lines.length > 1 ? [...low, ...lines.at(-1).cells] : low;
}

function addButtons(table, groups) {
  const rows = groups.flatMap(([, those]) => those);
  const heads = headings(table);
  heads.forEach((head, column) => {
    if (head.tagName !== "TH") return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...[...head.childNodes].filter((node) => node.nodeName !== "SUP"));
    head.prepend(button);
    // Up, down, and back to the order that the rows came in.
    button.addEventListener("click", () => {
      const next = { null: "ascending", ascending: "descending" }[head.getAttribute("aria-sort")];
      for (const other of heads) other.removeAttribute("aria-sort");
      // Out of the page, where each row that moves would cost more.
      for (const [body] of groups) body.remove();
      spread(rows);
      if (next === undefined) {
        for (const [body, those] of groups) for (const row of those) body.append(row);
        table.append(...groups.map(([body]) => body));
        return;
      }
      head.setAttribute("aria-sort", next);
      const way = next === "ascending" ? 1 : -1;
      const keyed = rows.map((row) => [worthOf(row.cells[column]), row]);
      const numbers = keyed.filter(([worth]) => typeof worth === "number");
      const texts = keyed.filter(([worth]) => typeof worth === "string" && !/^[-–—]*$/.test(worth));
      const there = numbers.length >= texts.length ? numbers : texts;
      const known = new Set(there);
      const missing = keyed.filter((one) => !known.has(one));
      there.sort(([one], [other]) => way * compare(one, other));
      for (const [, row] of [...there, ...missing]) groups[0][0].append(row);
      table.append(groups[0][0]);
    });
  });
}

function addFilter(table, rows) {
  const box = document.createElement("p");
  const label = document.createElement("label");
  const input = document.createElement("input");
  const told = document.createElement("output");
  box.className = "filter";
  input.type = "search";
  // The table's name is its caption's text, which is about to have more of it.
  table.setAttribute("aria-label", table.caption.textContent.trim());
  input.setAttribute("aria-label", `Rows of ${table.caption.textContent.trim()} with`);
  label.append("Rows with ", input);
  box.append(label, " ", told);
  table.caption.append(box);
  let texts = null;
  input.addEventListener("input", () => {
    if (texts === null) {
      spread(rows);
      const text = (row) => [...row.cells].map((cell) => cell.textContent).join(" ");
      texts = rows.map((row) => text(row).toLowerCase());
    }
    const wanted = input.value.toLowerCase().split(/\s+/);
    let shown = 0;
    rows.forEach((row, at) => {
      row.hidden = !wanted.every((word) => texts[at].includes(word));
      shown += !row.hidden;
    });
    told.textContent = input.value.trim() ? `${shown} of ${rows.length} rows` : "";
  });
}

function sortable(table) {
  const groups = [...table.tBodies].map((body) => [body, [...body.rows]]);
  const rows = groups.flatMap(([, those]) => those);
  if (rows.length > 1) addButtons(table, groups);
  if (rows.length > FEW_ROWS) addFilter(table, rows);
}

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.sorts")) sortable(table);
});
