"""What is wrong with a file, as a user is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from railgauge.base.errors import FileProblems


def problems(read: Callable[..., object], *arguments: Any, **options: Any) -> list[str]:
    """Return for what `read` refuses a file: `FILE:LINE:COLUMN: message` each."""
    with pytest.raises(FileProblems) as caught:
        read(*arguments, **options)
    return [str(problem) for problem in caught.value.problems]


def in_one_file(read: Callable[..., object], *arguments: Any, **options: Any) -> list[str]:
    """Return for what `read` refuses the only file: `LINE:COLUMN: message` each."""
    lines = problems(read, *arguments, **options)
    (file,) = {line.split(":", 1)[0] for line in lines}
    return [line.removeprefix(f"{file}:") for line in lines]
