"""Argument templates of external engines: `{name}` for a parameter's value, `{{` for a brace."""

from __future__ import annotations

import re
import shlex

NAME = r"[a-z][a-z0-9_]{0,63}"
_PART = re.compile(rf"(\{{\{{|\}}\}}|[^{{}}]+)|\{{({NAME})\}}")
_BRACES = {"{{": "{", "}}": "}"}


def split_template(template: str) -> list[tuple[str, bool]]:
    """Return the parts of an argument, each with whether it is a placeholder's name.

    ValueError where a brace is neither doubled nor around a parameter's name.
    """
    parts: list[tuple[str, bool]] = []
    position = 0
    while position < len(template):
        part = _PART.match(template, position)
        if part is None:
            raise ValueError(
                f"{template!r} has a brace that is not around a parameter's name: "
                "write {name}, or {{ and }} for braces"
            )
        literal, name = part.groups()
        parts.append((name, True) if name else (_BRACES.get(literal, literal), False))
        position = part.end()
    return parts


def split_arguments(text: str) -> list[str]:
    """Return the arguments in `text` by a shell's rules for quotes; nothing else is special.

    ValueError where a quote stays open or nothing is there.
    """
    try:
        arguments = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{text!r} has a quote or backslash without its end: close it") from error
    if not arguments or not arguments[0]:
        raise ValueError("names no program: write the program and its arguments")
    return arguments
