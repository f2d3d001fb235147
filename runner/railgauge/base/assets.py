"""Where the folders that aren't Python stand, in a checkout or a wheel, and what ships in them."""

from __future__ import annotations

from pathlib import Path

from railgauge.base.errors import InputError
from railgauge.base.suggestion import suggest_or_list

_PACKAGE = Path(__file__).resolve().parents[1]
_SUFFIX = ".yaml"


def folder(name: str) -> Path:
    """Return the folder `name`: one of engines, schema, templates, reports, plans, or in one."""
    installed = _PACKAGE / "_assets"
    return (installed if installed.is_dir() else _PACKAGE.parent.parent) / name


def shipped(kind: str) -> dict[str, Path]:
    """Return the YAML files of the folder `kind` that ship, by the name that commands take."""
    return {path.stem: path for path in sorted(folder(kind).glob(f"*{_SUFFIX}"))}


def find_shipped(kind: str, text: str) -> Path:
    """Return the file that `text` names: a path, or a shipped file of the folder `kind`.

    Raises InputError where it is neither, or where a file of that name here says something else:
    nobody can know which of the two is meant.
    """
    path = Path(text)
    files = shipped(kind)
    if path.suffix or len(path.parts) != 1 or (path.exists() and text not in files):
        return path
    noun = Path(kind).name.removesuffix("s")
    places = (path, Path(f"{text}{_SUFFIX}"), Path(kind) / f"{text}{_SUFFIX}")
    own_files = [place for place in places if place.is_file()]
    if text not in files:
        own = f": did you mean {str(own_files[0])!r}?" if own_files else ""
        hint = own or suggest_or_list(text, files)
        raise InputError(f"there is no {noun} {text!r}{hint}; or name its file, with its folder")
    for file in own_files:
        if file.read_bytes() != files[text].read_bytes():
            raise InputError(
                f"the {noun} {text!r} ships with railgauge, and {str(file)!r} is here: write "
                f"./{file} for that, or {files[text]} for the shipped one"
            )
    return files[text]
