// Histories of cases, and two runs side by side, drawn from the data of the site's runs.
//
// The data stands in scripts that call addNights (data/nights.js) and addRun (data/N.js, or of a run
// with many cases data/N-P.js for a part of them): a page that was opened from a file may load these,
// and nothing else.

const SVG = "http://www.w3.org/2000/svg";
const MOST_NIGHTS = 100;
const MOST_NAMED = 5;
const LEVELS = { confirmed: "another level", provisional: "provisional: chance makes such levels, too; later nights confirm" };
const site = { runs: [], changes: [], renamed: [], units: {}, data: new Map() };

function addNights(fields) {
  Object.assign(site, fields);
}

function addRun(fields) {
  site.data.set(fields.run, fields);
}

function load(name) {
  return new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${document.querySelector("main").dataset.top}data/${name}.js`;
    script.onload = script.onerror = () => {
      script.remove();
      done();
    };
    document.head.append(script);
  });
}

// As railgauge does, too.
function partOf(key, parts) {
  return [...key].reduce((sum, character) => sum + character.codePointAt(0), 0) % parts;
}

// All of the runs' data, or for the history of one case the part that it is in.
async function loadRuns(runs, key = "") {
  const fileOf = ([run, , , , , , parts]) => (key && parts ? `${run}-${partOf(key, parts)}` : run);
  await Promise.all(runs.filter(([run]) => !site.data.has(run)).map((run) => load(fileOf(run))));
  return runs.filter(([run]) => site.data.has(run));
}

// Whatever turns text around or controls it shows as its number.
function visible(text) {
  const acting = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  return text.replace(acting, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

function shape(name, attributes, title = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (title) made.append(Object.assign(document.createElementNS(SVG, "title"), { textContent: title }));
  return made;
}

function plural(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// As railgauge writes numbers: four digits, in the unit that suits the value, or another (`like`).
function quantity(value, unit, like = value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(like);
  const steps = site.units[unit] ?? [[1, unit]];
  const base = size ? undefined : steps.find(([, name]) => name === unit);
  const [per, name] = base ?? steps.findLast(([least]) => least <= size) ?? steps[0];
  const [shown, whole] = per ? [value / per, size / per] : [value, size];
  // What was counted has no decimals.
  const counted = !name && Number.isInteger(shown);
  const digits = whole && !counted ? Math.max(0, 3 - Number(whole.toExponential(3).split("e")[1])) : 0;
  return `${shown.toFixed(Math.min(digits, 20))} ${name === "1" ? "" : name}`.trim();
}

// As railgauge writes ratios: with as many digits as it takes not to look like 0, or like 1 where intervals are apart.
function ratioText(ratio, apart) {
  const text = ratio.toFixed(3);
  const near = (apart ? [0, 1] : [0]).find((number) => Number(text) === number && Math.abs(ratio - number) > 1e-9 * number);
  return near === undefined ? text : ratio.toFixed(Math.min(100, -Math.floor(Math.log10(Math.abs(ratio - near)))));
}

// As railgauge writes intervals: a unit that both ends have stands once.
function interval(row, unit) {
  if (row.low === null) return "";
  const [low, high] = [row.low, row.high].map((end) => quantity(end, unit));
  const [size, name] = low.split(" ");
  return `${name && high.endsWith(` ${name}`) ? size : low} to ${high}`;
}

// What stands below a median, where a caption says that intervals are of 95 %.
function beneath(row, unit) {
  if (row.mean) return "published mean";
  return row.low === null || row.percent === 95 ? interval(row, unit) : `${interval(row, unit)} (${row.percent} %)`;
}

const FIELDS = ["case", "metric", "median", "low", "high", "n", "suspect", "failed", "change", "percent", "mean"];

function rowsOf(data) {
  return data.rows.map((fields) => {
    const row = Object.fromEntries(FIELDS.map((name, at) => [name, fields[at] ?? null]));
    const [test, key, link, differing, , , log] = data.cases[row.case];
    const [name, unit, better] = data.metrics[row.metric];
    const words = [link, differing].filter(Boolean).join(" · ");
    return { ...row, percent: row.percent ?? 95, test, key, log, name, unit, better, words: `${visible(test)}: ${words}` };
  });
}

function counts(row) {
  const parts = [`${row.n ?? 0}`];
  if (row.suspect) parts.push(`${row.suspect} suspect`);
  if (row.failed) parts.push(`${row.failed} failed`);
  return parts.join(", ");
}

function table(id, caption, columns, rows, words, heading = "h3") {
  const heads = columns.map((name, at) =>
    element("th", at < words ? { scope: "col", class: "stub" } : { scope: "col" }, name));
  const body = rows.map((cells) =>
    element("tr", {}, ...cells.map(({ text, value, href, small, picture, kind }, at) => {
      const cell = element(at ? "td" : "th", at ? { class: `${at < words ? "text" : ""} ${kind ?? ""}` } : { scope: "row" });
      if (Number.isFinite(value)) cell.dataset.value = value;
      cell.append(href ? element("a", { href }, text) : text);
      if (small) cell.append(" ", element("small", {}, small));
      if (picture) cell.append(picture);
      return cell;
    })));
  const made = element("table", { class: "sorts site", id },
    element("caption", {}, element(heading, {}, caption)),
    element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body));
  sortable(made);
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, made);
}

// A metric's nights: a dot and its interval for each; a drag zooms, arrow keys go from night to night.
class History {
  constructor(title, nights, changes, unit) {
    this.all = this.shown = nights;
    this.changes = new Map(changes.map((change) => [change[4], change]));
    this.unit = unit;
    // Not wider than the page: text of a shrunken picture can't be read.
    this.wide = Math.min(800, document.querySelector("main").clientWidth);
    this.at = nights.length - 1;
    this.label = title;
    this.said = element("p", { class: "note said", role: "status" });
    this.figure = element("figure", { class: "nights-figure" });
    this.tools = element("p", { class: "tools" });
    for (const count of [30, MOST_NIGHTS].filter((count) => count < nights.length))
      this.button(`${count} nights`, () => this.show(this.all.slice(-count)));
    this.button("All nights", () => this.show(this.all));
    this.button("Half as many", () => this.show(this.shown.slice(-Math.max(3, Math.ceil(this.shown.length / 2)))));
    this.show(nights);
  }

  button(text, act) {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", act);
    this.tools.append(made, " ");
  }

  show(nights) {
    if (nights.length < 2 && this.all.length > 1) return;
    this.shown = nights;
    this.at = nights.length - 1;
    this.draw();
  }

  x(place) {
    return 8 + (place * (this.wide - 96)) / Math.max(1, this.shown.length - 1);
  }

  y(value) {
    return 12 + (196 * (this.top - value)) / (this.top - this.bottom || 1);
  }

  draw() {
    const ends = this.shown.flatMap(({ row }) => [row.median, row.low ?? row.median, row.high ?? row.median]);
    const [least, most] = [Math.min(...ends), Math.max(...ends)];
    const room = (most - least || Math.abs(most) * 0.02 || 1) * 0.06;
    [this.bottom, this.top] = [least < 0 ? least - room : Math.max(0, least - room), most + room];
    const svg = shape("svg", { viewBox: `0 0 ${this.wide} 236`, role: "img", tabindex: "0", class: "history" },
      `${this.label}: ${plural(this.shown.length, "night")}. Arrow keys go from night to night, Enter opens the run.`);
    for (const value of [most, (most + least) / 2, least]) {
      svg.append(shape("path", { class: "even", d: `M0 ${this.y(value)}H${this.wide - 80}` }));
      const label = shape("text", { x: this.wide - 74, y: this.y(value) + 4 });
      label.textContent = quantity(value, this.unit, Math.max(Math.abs(least), Math.abs(most)));
      svg.append(label);
    }
    this.shown.forEach(({ row, run, beside }, place) => {
      const change = this.changes.get(run[0]);
      const x = this.x(place);
      if (change) svg.append(shape("path", { class: `change ${change[5]} ${certainty(change)}`, d: `M${x} 4V212` }));
      if (beside.length) svg.append(shape("path", { class: "beside", d: `M${x} 214l4 8h-8z` }));
      if (row.low !== null) svg.append(shape("path", { class: "interval", d: `M${x} ${this.y(row.low)}V${this.y(row.high)}` }));
    });
    const line = this.shown.map(({ row }, place) => `${this.x(place)} ${this.y(row.median)}`).join("L");
    svg.append(shape("path", { class: "middle", d: `M${line}` }));
    this.shown.forEach(({ row }, place) => {
      const kind = row.change === "slower" ? "slower" : "";
      svg.append(shape("circle", { class: `dot ${kind}`, cx: this.x(place), cy: this.y(row.median), r: kind ? 3.5 : 2.5 }));
    });
    const dates = [[0, "start"], [this.shown.length - 1, "end"]].slice(0, this.shown.length);
    for (const [place, anchor] of dates) {
      const label = shape("text", { x: this.x(place), y: 233, "text-anchor": anchor });
      label.textContent = this.shown[place].run[2].slice(0, 10);
      svg.append(label);
    }
    this.mark = shape("circle", { class: "mark", r: 6 });
    this.drag = shape("rect", { class: "drag", y: 4, height: 208, width: 0 });
    svg.append(this.drag, this.mark);
    this.listen(svg);
    this.figure.replaceChildren(svg, this.legend());
    this.point(this.at);
  }

  legend() {
    const drawn = new Set(this.shown.map(({ run }) => this.changes.get(run[0])).filter(Boolean).map(certainty));
    const lines = Object.entries(LEVELS).filter(([name]) => drawn.has(name)).map(([name, words]) => {
      const sample = shape("svg", { class: "history", viewBox: "0 0 4 16", "aria-hidden": "true" });
      sample.append(shape("path", { class: `change ${name}`, d: "M2 0V16" }));
      return element("span", {}, sample, words);
    });
    if (this.shown.some(({ beside }) => beside.length)) lines.push(element("span", {}, "▲ facts or settings changed"));
    return element("p", { class: "note legend" }, ...lines);
  }

  listen(svg) {
    let start = null;
    const place = (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * this.wide;
      const at = Math.round(((x - 8) * (this.shown.length - 1)) / (this.wide - 96));
      return Math.max(0, Math.min(this.shown.length - 1, at));
    };
    svg.addEventListener("pointermove", (event) => {
      const at = place(event);
      this.point(at);
      if (start === null) return;
      const [from, to] = [Math.min(start, at), Math.max(start, at)];
      this.drag.setAttribute("x", this.x(from));
      this.drag.setAttribute("width", this.x(to) - this.x(from));
    });
    svg.addEventListener("pointerdown", (event) => {
      // So that its end is told, too, where that is beside the picture.
      svg.setPointerCapture(event.pointerId);
      start = place(event);
    });
    svg.addEventListener("pointercancel", () => {
      start = null;
      this.drag.setAttribute("width", 0);
    });
    svg.addEventListener("pointerup", (event) => {
      const [from, to] = [start ?? 0, place(event)].sort((one, other) => one - other);
      const dragged = start !== null && to - from >= 1;
      start = null;
      this.drag.setAttribute("width", 0);
      if (dragged) this.show(this.shown.slice(from, to + 1));
    });
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -this.shown.length, End: this.shown.length }[event.key];
      if (event.key === "Enter") location.href = runFile(this.shown[this.at].run[0]);
      if (step === undefined) return;
      event.preventDefault();
      this.point(Math.max(0, Math.min(this.shown.length - 1, this.at + step)));
    });
  }

  point(at) {
    this.at = at;
    const { row, run, beside } = this.shown[at];
    this.mark.setAttribute("cx", this.x(at));
    this.mark.setAttribute("cy", this.y(row.median));
    const [number, , began, commit, dirty] = run;
    const change = this.changes.get(number);
    const parts = [
      `Run ${number}, ${began.slice(0, 16).replace("T", " ")}: ${quantity(row.median, this.unit)}`,
      interval(row, this.unit) && `${row.percent} % interval ${interval(row, this.unit)}`,
      row.mean ? `published mean of ${plural(row.n, "replication")}` : `replications ${counts(row)}`,
      row.change,
      change && `level: ${change[6]}`,
      commit && `commit ${commit.slice(0, 10)}${dirty ? " +" : ""}`,
      beside.length && `changed: ${beside.join(" · ")}`,
    ];
    this.said.replaceChildren(element("a", { href: runFile(number) }, parts[0]), ...parts.slice(1).filter(Boolean).map((part) => `; ${part}`));
  }
}

function certainty(change) {
  return change[7] ? "provisional" : "confirmed";
}

function runFile(run) {
  return `${document.querySelector("main").dataset.top}runs/${run}.html`;
}

function nightsOf(runs, plan, tests, key) {
  const metrics = new Map();
  for (const run of runs) {
    const data = site.data.get(run[0]);
    for (const row of rowsOf(data)) {
      if (row.key !== key || !tests.includes(row.test) || row.median === null) continue;
      if (!metrics.has(row.name)) metrics.set(row.name, []);
      metrics.get(row.name).push({ run, row, beside: data.beside });
    }
  }
  const all = [...metrics];
  const directed = all.filter(([, nights]) => nights.at(-1).row.better !== "neither");
  return directed.length ? directed : all;
}

// Runs since the first night that the line passes over, in a sentence, the last ones by name.
function leftOutNote(runs, why) {
  if (!runs.length) return [];
  const named = runs.slice(-MOST_NAMED).flatMap(([run]) => [", ", element("a", { href: runFile(run) }, `run ${run}`)]);
  const last = runs.length > MOST_NAMED ? "the last ones were " : "";
  return [element("p", { class: "note gaps" }, `${plural(runs.length, "run")} ${why}: ${last}`, ...named.slice(1))];
}

async function drawCase(section, place, key) {
  const [plan, tests] = [JSON.parse(section.dataset.plan), JSON.parse(section.dataset.tests)];
  const all = site.runs.filter((run) => run[1] === plan && !run[5]);
  const body = element("div");
  section.append(body);
  const draw = async (count) => {
    const runs = await loadRuns(all.slice(-count), key);
    body.replaceChildren();
    const metrics = nightsOf(runs, plan, tests, key);
    if (!metrics.length) body.append(element("p", {}, "Nothing was measured yet."));
    for (const [name, nights] of metrics) {
      const { unit, better } = nights.at(-1).row;
      // Of another kind a metric is another metric.
      const [same, others] = [true, false].map((like) =>
        nights.filter(({ row }) => (row.unit === unit && row.better === better) === like));
      const measured = new Set(nights.map(({ run }) => run));
      const gaps = runs.slice(runs.indexOf(nights[0].run)).filter((run) => !measured.has(run));
      const changes = site.changes.filter(([where, test, of, metric]) =>
        where === plan && of === key && metric === name && tests.includes(test));
      const title = name.replaceAll("_", " ");
      const history = new History(title, same, changes, unit);
      body.append(element("h3", {}, title), history.figure, history.said, history.tools);
      body.append(...leftOutNote(gaps, "gave no value"));
      body.append(...leftOutNote(others.map(({ run }) => run), "left out, in another unit or direction"));
      const since = changes.map((change) => element("li", {},
        element("a", { href: runFile(change[4]) }, `run ${change[4]}`), ": ",
        element("span", { class: change[5] }, change[6])));
      if (since.length) body.append(element("ul", { class: "changes" }, ...since));
    }
    if (metrics.length) body.append(nightsTable(place, metrics));
    if (count < all.length) {
      const more = element("button", { type: "button" }, `All ${all.length} runs`);
      more.addEventListener("click", () => draw(all.length));
      body.append(element("p", { class: "tools" }, more));
    }
  };
  await draw(MOST_NIGHTS);
}

function nightsTable(place, metrics) {
  const runs = new Map();
  for (const [name, nights] of metrics)
    for (const { run, row } of nights) {
      if (!runs.has(run[0])) runs.set(run[0], { run, rows: new Map() });
      runs.get(run[0]).rows.set(name, row);
    }
  const rows = [...runs.values()].sort((one, other) => (one.run[2] < other.run[2] ? 1 : -1)).map(({ run, rows }) => {
    const measured = [...rows.values()];
    const log = measured.find((row) => row.log)?.log;
    return [
      { text: String(run[0]), value: run[0], href: runFile(run[0]) },
      { text: run[2].slice(0, 10) },
      ...metrics.map(([name]) => {
        const row = rows.get(name);
        return row ? { text: quantity(row.median, row.unit), value: row.median, small: beneath(row, row.unit) } : { text: "–", kind: "missing" };
      }),
      { text: counts(measured.reduce((one, other) => (other.n > one.n ? other : one))), href: log ? `../${log}` : "" },
    ];
  });
  const columns = ["Run", "Day (UTC)", ...metrics.map(([name]) => name.replaceAll("_", " ")), "Replications"];
  return table(`nights-${place}`, "Its runs, the newest first: medians", columns, rows, 2);
}

function ratioBar(ratio, reach) {
  const x = (value) => 80 + 75 * Math.max(-1, Math.min(1, Math.log(value) / reach));
  const svg = shape("svg", { class: "ratio", viewBox: "0 0 160 18", "aria-hidden": "true" });
  svg.append(shape("path", { class: "even", d: "M80 0V18" }), shape("path", { class: "undecided", d: `M80 9H${x(ratio)}` }));
  svg.append(shape("circle", { class: "undecided", cx: x(ratio), cy: 9, r: 3.5 }));
  return svg;
}

// A run's rows by test, as it is called now, case and metric.
function byName(run) {
  const plan = site.runs.find(([number]) => number === run)?.[1];
  const renamed = site.renamed.filter(([of]) => of === plan);
  const newest = new Map(renamed.flatMap(([, key, tests]) => tests.map((test) => [`${test}\0${key}`, tests[0]])));
  return rowsOf(site.data.get(run)).map((row) => {
    const test = newest.get(`${row.test}\0${row.key}`) ?? row.test;
    return [`${test}\0${row.key}\0${row.name}`, row];
  });
}

function compareMedians(first, second) {
  const before = new Map(byName(first));
  const pairs = byName(second).map(([name, after]) => {
    const row = before.get(name);
    const comparable = row && row.unit === after.unit && row.median !== null && after.median !== null;
    const ratio = comparable && row.median > 0 && after.median > 0 ? after.median / row.median : null;
    const intervals = comparable && row.low !== null && after.low !== null;
    return {
      after, row, ratio,
      apart: intervals ? row.high < after.low || after.high < row.low : null,
      // A loss that rose from 0 is farther than any ratio.
      far: ratio !== null ? Math.abs(Math.log(ratio)) : comparable && row.median !== after.median ? Infinity : 0,
    };
  });
  return pairs.filter(({ row }) => row).sort((one, other) =>
    (other.apart === true) - (one.apart === true)
    || other.far - one.far || (one.far === Infinity ? other.after.median - one.after.median : 0));
}

// Where there is no ratio, as of a loss that was 0, both ends of it.
function ratioCell(row, after, ratio, apart) {
  if (ratio !== null) return { text: ratioText(ratio, apart), value: ratio };
  const differ = row.unit === after.unit && row.median !== null && after.median !== null && row.median !== after.median;
  if (!differ) return { text: "–", kind: "missing" };
  return { text: quantity(after.median, after.unit), small: `from ${quantity(row.median, row.unit)}` };
}

function showComparison(body, first, second) {
  body.replaceChildren();
  if (!site.data.has(first) || !site.data.has(second)) return;
  const pairs = compareMedians(first, second);
  const reach = Math.max(Math.log(1.05), ...pairs.map(({ ratio }) => Math.min(Math.log(8), Math.abs(Math.log(ratio ?? 1)))));
  // What all rows have in common stands once, and the ratio first: a phone has room for little more.
  const metrics = new Set(pairs.map(({ after }) => after.name));
  const nameOf = (metric) => metric.replaceAll("_", " ");
  const rows = pairs.map(({ after, row, ratio, apart }) => [
    { text: after.words, href: "" },
    ...(metrics.size > 1 ? [{ text: nameOf(after.name) }] : []),
    ratioCell(row, after, ratio, apart),
    ratio === null ? { text: "–", kind: "missing" } : { text: "", value: ratio, picture: ratioBar(ratio, reach) },
    { text: quantity(row.median, row.unit), value: row.median ?? NaN, small: beneath(row, row.unit) },
    { text: quantity(after.median, after.unit), value: after.median ?? NaN, small: beneath(after, after.unit) },
    { text: apart === null ? "–" : apart ? "apart" : "overlap" },
  ]);
  const named = metrics.size > 1 ? ["Case", "Metric"] : ["Case"];
  const columns = [...named, "Ratio", "Beside 1", `Run ${first}`, `Run ${second}`, "Intervals"];
  const metric = metrics.size === 1 ? `${nameOf([...metrics][0])} of run` : "Run";
  body.append(element("p", { class: "note" },
    `Medians and their 95 % intervals, unless one names another level; ratio: run ${second} to run ${first}. Intervals that are apart are no verdict:` +
    ` railgauge compare ${first} ${second} judges all cases together, and says what changed beside them.`));
  body.append(pairs.length ? table("compared", `${metric} ${first} and run ${second}, what is apart first`, columns, rows, named.length, "h2")
    : element("p", {}, "These runs have no case in common."));
}

function drawComparison(main) {
  // A page of a run leads here with its number, of two runs with both: #40, #39-40.
  const [, from, to] = /^#(?:(\d+)-)?(\d+)$/.exec(location.hash)?.map(Number) ?? [];
  const last = site.runs.find(([run]) => run === to) ?? site.runs.at(-1);
  const same = site.runs.filter((run) => run[1] === last?.[1] && run[2] <= last[2]);
  const body = element("div");
  const boxes = [from || same.at(-2)?.[0], last?.[0]].map((chosen, at) => {
    const options = [...site.runs].reverse().map(([run, plan, began]) => {
      const option = element("option", { value: run }, `run ${run}, ${visible(plan)}, ${began.slice(0, 10)}`);
      option.selected = run === chosen;
      return option;
    });
    return element("select", { "aria-label": at ? "Second run" : "First run" }, ...options);
  });
  const chosenRuns = () => boxes.map((box) => Number(box.value));
  const show = async () => {
    const [first, second] = chosenRuns();
    await loadRuns([[first], [second]]);
    // Who chose others meanwhile sees those.
    if (`${chosenRuns()}` === `${first},${second}`) showComparison(body, first, second);
  };
  for (const box of boxes) box.addEventListener("change", show);
  main.append(element("p", { class: "tools" }, boxes[0], " → ", boxes[1]), body);
  return show();
}

document.addEventListener("DOMContentLoaded", async () => {
  const main = document.querySelector("main");
  await load("nights");
  if ("compare" in main.dataset) await drawComparison(main);
  const sections = [...document.querySelectorAll("section.history")];
  await Promise.all(sections.map((section, place) => drawCase(section, place, main.dataset.key)));
  main.dataset.drawn = "";
});
