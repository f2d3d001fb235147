"""Settings in files, for what every command would be given again: the project's before the user's.

An option of the command line goes before all of them, then its environment variable.
"""

from __future__ import annotations

import functools
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from railgauge.base.errors import FileProblems, Problem
from railgauge.base.suggestion import suggest_or_list
from railgauge.base.units import parse_time

PROJECT = "railgauge.toml"

# Which option a key stands for, and whether its value is a path, from the file's own folder on.
KEYS: Mapping[str, bool] = {
    "db": True,
    "hosts": True,
    "spec": True,
    "report": True,
    "site": True,
    "notify": False,
    "wait": False,
    "margin": False,
}
_TIMES = ("wait", "margin")
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


def setting(key: str, default: str | None = None) -> Callable[[], str | None]:
    """Return what asks the files for `key` when an option needs its default."""
    assert key in KEYS
    return lambda: settings().get(key, default)


@functools.cache
def settings() -> Mapping[str, str]:
    """Return the values of all keys that a file sets; FileProblems with every mistake in them."""
    values: dict[str, str] = {}
    problems: list[Problem] = []
    for file in _files():
        values |= _read(file, problems)
    if problems:
        raise FileProblems(problems)
    return values


def user_file() -> Path:
    """Return where the user's own settings stand."""
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    # A relative one is to be ignored, as the XDG Base Directory Specification has it.
    base = Path(folder) if folder.startswith("/") else Path("~/.config").expanduser()
    return base / "railgauge" / "config.toml"


def _files() -> Iterator[Path]:
    """Yield the user's file and that of the nearest folder, from here up, as far as they exist."""
    start = Path.cwd()
    nearest = [file for folder in (start, *start.parents) if _exists(file := folder / PROJECT)]
    yield from (file for file in (user_file(), *nearest[:1]) if _exists(file))


def _exists(file: Path) -> bool:
    """Return whether it is there; if another user's folder hides it, it isn't meant for us."""
    try:
        return file.exists()
    except PermissionError:
        return False


def _read(file: Path, problems: list[Problem]) -> dict[str, str]:
    try:
        text = file.read_text(encoding="utf-8")
        written = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        problems.append(Problem(str(file), 1, 1, f"these settings can't be read: {reason}"))
        return {}
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (1, 1)
        message = f'not TOML: {_PLACE.sub("", str(error)).strip()}: write such as db = "runs.db"'
        problems.append(Problem(str(file), line, column, message))
        return {}
    values = {}
    for key, value in written.items():
        if reason := _mistake(key, value):
            problems.append(Problem(str(file), _line(text, key), 1, reason))
        else:
            values[key] = _from_folder(file.parent, key, value)
    return values


def _mistake(key: str, value: object) -> str:
    if key not in KEYS:
        return f"unknown setting {key!r}{suggest_or_list(key, KEYS)}"
    if not isinstance(value, str) or not value.strip():
        return f'{key!r} is no text: write such as {key} = "…"'
    if key in _TIMES:
        try:
            parse_time(value)
        except ValueError as error:
            return f"{key!r}: {error}"
    return ""


def _line(text: str, key: str) -> int:
    pattern = re.compile(rf"\s*\[?\s*[\"']?{re.escape(key)}\b")
    lines = text.split("\n")
    return next((number for number, line in enumerate(lines, 1) if pattern.match(line)), 1)


def _from_folder(folder: Path, key: str, value: str) -> str:
    """Return a path as seen from here; a URL, and a shipped report's bare name, are none."""
    if not KEYS[key] or "://" in value or (key == "spec" and not Path(value).suffix):
        return value
    return str(folder / Path(value).expanduser())
