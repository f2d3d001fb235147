"""Loads templates, of which one at a time is compiled."""

from __future__ import annotations

import threading
from collections.abc import MutableMapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, Template


class TemplateLoader(FileSystemLoader):
    """Compiles a template in one thread at a time.

    Jinja reads numbers by `ast.literal_eval`, which in Python before 3.11.5 now and then raises a
    SystemError where two threads do so (python/cpython#106905).
    """

    _compiling = threading.RLock()

    def load(
        self,
        environment: Environment,
        name: str,
        globals: MutableMapping[str, Any] | None = None,  # noqa: A002 - Jinja's name for it
    ) -> Template:
        """See `BaseLoader.load`."""
        with self._compiling:
            return super().load(environment, name, globals)
