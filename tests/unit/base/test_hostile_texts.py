"""Texts that act, in every name, value and sentence: everywhere they show as text."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support import command_line
from tests.support.published_samples import fill, plain, publish

from railgauge.base.characters import acts, visible
from railgauge.report.figures.gnuplot import find_gnuplot

# What got out is called evil: a tag, an attribute, a link, a file.
_TEXT = (
    "<evil a='1'><script>evil()</script>\" evil='2' &amp; &#60;evil> ]]> --> </title></style>"
    " 50 % of_a^b ~c # $d$ {e} \\ \\\\ \\input{evil} \\immediate\\write18{touch evil} ^^5cinput"
    ' `touch evil` $(touch evil) @{} \'; !touch evil; system("touch evil") |evil| [evil](evil:1)'
    " {{ 7 * 7 }} {% evil %} << 7 * 7 >> <% evil %> "
    "\n::error::evil\r\n!touch evil\nsystem('touch evil')\nset print 'evil'\nprint 1\n"
    "\t\x1b[31m\x1b]0;evil\x07\x9b1m\x85\u202eevil\u200f\u2028\u2029\u2066\ufeff\ufffe"
    " äöü → 東京 😀"
)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "＝")
_LONG = "value 0.9"


def hostile(field: str) -> str:
    """Return the field's name among what acts, and first what makes a formula of it."""
    start = _FORMULAS[len(field) % len(_FORMULAS)]
    return f"{start}{field}{_TEXT}{'long ' * 1000 if field == _LONG else ''}"


@dataclass(frozen=True, slots=True)
class Outputs:
    """What was made of a hostile database in `folder`, and of one whose texts are harmless."""

    folder: Path
    files: Mapping[str, bytes]
    harmless: Mapping[str, bytes]

    def of(self, *endings: str) -> dict[str, str]:
        texts = {
            name: content.decode("utf-8")
            for name, content in self.files.items()
            if name.endswith(endings)
        }
        assert texts
        return texts


@pytest.fixture(scope="module")
def outputs(
    tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]
) -> Outputs:
    """Make everything of two databases, as that takes a while."""
    require(find_gnuplot(), "gnuplot")
    folder = tmp_path_factory.mktemp("hostile")
    files = []
    for name, words in (("plain", plain), ("hostile", hostile)):
        fill(folder / f"{name}.db", words)
        files.append(publish(folder / f"{name}.db", folder / name, words))
    return Outputs(folder, files[1], files[0])


class _Page(HTMLParser):
    """Collects a page's tags with the names of their attributes, its links, text and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[tuple[str, str]] = set()
        self.links: list[str] = []
        self.scripts: list[str] = []
        self._text: list[str] = []
        self._in = ""
        self.feed(text)
        self.close()

    @property
    def text(self) -> str:
        return " ".join("".join(self._text).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        self.tags |= {(tag, name) for name, _ in attrs} | {(tag, "")}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        (self.scripts if self._in == "script" else self._text).append(data)


def _rendered(text: str) -> str:
    return " ".join(visible(text).split())


def test_nothing_is_executed_and_no_file_is_called_as_a_text_says(outputs: Outputs) -> None:
    assert [path for path in outputs.folder.rglob("*") if path.name.startswith("evil")] == []
    inside = {path.resolve().relative_to(outputs.folder) for path in outputs.folder.rglob("*")}
    assert {path.parts[0] for path in inside} <= {
        *("plain", "hostile"),
        *(f"{name}.db{end}" for name in ("plain", "hostile") for end in ("", "-wal", "-shm")),
    }


def test_pages_have_no_tags_attributes_links_or_scripts_but_their_own(outputs: Outputs) -> None:
    pages = [
        _Page(text.decode()) for name, text in outputs.harmless.items() if name.endswith(".html")
    ]
    allowed_tags = set[tuple[str, str]]().union(*(page.tags for page in pages))
    scripts = {script for page in pages for script in page.scripts if "{" in script}
    for name, text in outputs.of(".html").items():
        page = _Page(text)
        assert page.tags <= allowed_tags, name
        assert {script for script in page.scripts if "function" in script} <= scripts, name
        assert not [link for link in page.links if re.match(r"\s*(?!data)\w+:", link)], name


@pytest.mark.parametrize(
    "field",
    [
        *("report title", "table title", "label", "footnote", "figure title", "error message"),
        *("suspicion", "fact", "skipped", "warning", "controller", "plan", "test"),
    ],
)
def test_a_report_shows_texts_as_they_are(outputs: Outputs, field: str) -> None:
    assert _rendered(hostile(field)) in _Page(outputs.files["own/index.html"].decode()).text


@pytest.mark.parametrize("field", ["heading", "paragraph", "notes", "figure notes"])
def test_what_authors_write_is_only_broken_into_lines(outputs: Outputs, field: str) -> None:
    text = _Page(outputs.files["own/index.html"].decode()).text
    lines = hostile(field).splitlines()
    if field in ("heading", "paragraph"):
        lines = [re.sub(r"[ \t\n]+", " ", hostile(field))]
    assert all(_rendered(line) in text for line in lines)


@pytest.mark.parametrize("field", ["plan", "test", "link-a-b"])
def test_a_site_shows_names_as_they_are(outputs: Outputs, field: str) -> None:
    pages = outputs.of(".html")
    assert any(
        _rendered(hostile(field)) in _Page(pages[name]).text for name in pages if "site/" in name
    )


def test_no_output_has_characters_that_act(outputs: Outputs) -> None:
    endings = (".html", ".tex", ".txt", ".svg", ".plot", ".dat", ".md", ".json", "output", "_log")
    texts = {
        **outputs.of(*endings),
        **{name: text.decode() for name, text in outputs.files.items() if "printed/" in name},
    }
    # The exports are data: there texts are what they are.
    del texts["all.json"]
    allowed = {name: "\n\t" if name.endswith(("svg", "html")) else "\n" for name in texts}
    assert {
        name: sorted({c for c in text if acts(c)} - set(allowed[name]))
        for name, text in texts.items()
        if {c for c in text if acts(c)} - set(allowed[name])
    } == {}


def test_no_field_of_a_csv_file_is_a_formula(outputs: Outputs) -> None:
    for name, text in outputs.of(".csv").items():
        for line in csv.reader(io.StringIO(text, newline="")):
            for field in line:
                if field.startswith(("=", "+", "-", "@", "\t", "\r", "＝")):
                    # Numbers and dashes are none.
                    assert re.fullmatch(r"-+|[-+]?[\d.]+(e[-+]?\d+)?", field), (name, field[:60])


def test_json_and_exports_have_the_texts_themselves(outputs: Outputs) -> None:
    for name, text in outputs.of(".json").items():
        if name != "all.json":
            json.loads(text)
    rows = [json.loads(line) for line in outputs.files["all.json"].decode().split("\n") if line]
    assert {row["test"] for row in rows} == {hostile("test")}
    assert {row["client_host"] for row in rows} == {hostile(host) for host in "abc"}
    assert json.loads(outputs.files["printed/list.json"])[0]["plan"] == hostile("plan")
    facts = json.loads(outputs.files["printed/show.json"])["facts"][hostile("a")]
    assert facts[hostile("fact")] == hostile(_LONG)


def test_pictures_are_well_formed_and_have_no_elements_but_their_own(outputs: Outputs) -> None:
    def tags(content: bytes) -> set[str]:
        return {element.tag for element in ElementTree.fromstring(content).iter()}

    harmless = [text for name, text in outputs.harmless.items() if name.endswith(".svg")]
    allowed_tags = set[str]().union(*map(tags, harmless))
    for name, text in outputs.of(".svg").items():
        assert tags(text.encode()) <= allowed_tags, name


def test_gnuplot_scripts_run_again_and_execute_nothing(outputs: Outputs, tmp_path: Path) -> None:
    for number, name in enumerate(outputs.of(".plot")):
        folder = tmp_path / str(number)
        folder.mkdir()
        script = outputs.folder / "hostile/made" / name
        before = {script.name, script.with_suffix(".dat").name}
        for file in before:
            shutil.copy(script.with_name(file), folder)
        run = subprocess.run(
            [find_gnuplot(), script.name], cwd=folder, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, (name, run.stderr)
        after = {path.name for path in folder.iterdir()} - before
        assert after
        assert {file.rpartition(".")[2] for file in after} <= {"svg", "tex", "pdf", "eps"}, name


def test_documents_compile_and_execute_nothing(
    outputs: Outputs, tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    require(shutil.which("pdflatex"), "pdflatex")
    for kind, name in (("own", "everything"), ("default", "report")):
        folder = tmp_path / kind
        shutil.copytree(outputs.folder / "hostile/made" / kind, folder)
        # To be misled by a text it has to be there.
        (folder / "evil.tex").write_text(r"\typeout{EVIL WAS READ}")
        run = subprocess.run(
            ["pdflatex", "-shell-escape", "-interaction=nonstopmode", "-halt-on-error", name],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        stdout = run.stdout.decode("utf-8", "replace")
        assert run.returncode == 0, stdout[-3000:]
        assert "EVIL WAS READ" not in stdout
        assert not (folder / "evil").exists()


def test_a_text_stays_in_its_place_of_a_table_in_markdown(outputs: Outputs) -> None:
    text = outputs.of("compared/all.md")["compared/all.md"]
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert tables
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables}) == 1
    assert not re.search(r"(?<!\\)[<`]evil|(?<!\\)\[evil|^::", text, re.MULTILINE)


@pytest.mark.parametrize("arguments", [["check"], ["report", "--spec"], ["show", "1", "--db"]])
def test_messages_about_files_do_nothing_to_a_terminal(
    tmp_path: Path, arguments: list[str]
) -> None:
    name = "\x1b[31m\u202eevil\x07\x9b.yaml"
    (tmp_path / name).write_text("name: ['\\e[31m\u202e'\n")
    (tmp_path / "railgauge.db").touch()
    run = command_line.run(
        [*command_line.COMMAND, *arguments, name],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    stderr = run.stderr.decode("utf-8")
    assert run.returncode == 2, stderr
    assert "evil" in stderr
    assert {c for c in run.stdout.decode("utf-8") + stderr if acts(c)} <= {"\n"}
