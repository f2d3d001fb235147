"""Sphinx: these pages as a site and the commands as a man page (`make docs`)."""

import posixpath
import re
from pathlib import Path

from sphinx.application import Sphinx

from railgauge import __version__
from railgauge.cli.engines import describe
from railgauge.plan.catalogue import load_catalogue

project = html_title = "railgauge"
version = release = __version__
extensions = ["myst_parser", "sphinx_click"]
myst_enable_extensions = ["attrs_inline"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [".*", "build", "demo", "dist", "engines", "runner", "tests"]
myst_heading_anchors = 4
html_theme = "furo"
html_copy_source = html_show_copyright = smartquotes = False
man_pages = [("docs/commands", "railgauge", "measure a cluster's network and machines", "", 1)]
_PARTS = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(
    r"<picture>.*?srcset=\"(.*?)\".*?alt=\"(.*?)\" src=\"(.*?)\".*?</picture>", re.DOTALL
)
_LINK = re.compile(r"\[([^]]+)\]\(([\w./-]+)\.md\)")


def order(lists: str) -> str:
    """Return the order of pages that lists of links, each below a heading, give."""
    text = (Path(__file__).parents[1] / lists).read_text(encoding="utf-8")
    orders = []
    for caption, links in _PARTS.findall(text):
        pages = (
            f"{' '.join(title.split())} </{posixpath.normpath(posixpath.join(lists, '..', page))}>"
            for title, page in _LINK.findall(links)
        )
        lines = ["```{toctree}", ":hidden:", f":caption: {caption}", *pages, "```"]
        orders.append("\n".join(lines))
    return "\n\n" + "\n\n".join(orders)


def engine_reference() -> str:
    """Return what each engine takes and reports, as `railgauge engines NAME` prints it."""
    lines = []
    for engine in load_catalogue().engines.values():
        about, *details = "\n".join(describe(engine)).splitlines()
        lines += ["", f"## {engine.name}", "", about]
        for line in filter(None, details):
            name, _, rest = re.sub(r"([\\`*_<\[\]])", r"\\\1", line).strip().partition(" ")
            item = line.startswith("  ")
            lines.append(f"- **{name}** {rest}" if item else f"\n### {name.capitalize()}\n")
    return "\n".join(lines)


def complete(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add to a page what is generated."""
    if page == root_doc:
        source[0] = _PICTURE.sub(
            r"![\2](\3){.only-light width=600px} ![\2](\1){.only-dark width=600px}", source[0]
        )
        source[0] += "\n\n```{toctree}\n:hidden:\nAll pages </docs/README>\n```"
        source[0] += order("docs/README.md")
    elif page == "docs/gallery/README":
        source[0] += order("docs/gallery/README.md")
    elif page == "docs/engines":
        source[0] += engine_reference()


def leave_out(_app: Sphinx, _context: object, lines: list[str]) -> None:
    """Leave out what the usage says already."""
    lines.clear()


def setup(app: Sphinx) -> None:
    """Have pages completed as they are read."""
    app.connect("source-read", complete)
    app.connect("sphinx-click-process-arguments", leave_out)
