"""numpy, imported when something in it is first used: `from railgauge.base.arrays import np`.

The rooms that many commands import (base, stats, store, compare) take numpy from here: a command
that only lists or checks does without, and numpy's import takes longer than it does. Modules that
do so have annotations that aren't evaluated, and aliases of arrays' types in quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    import importlib
    from types import ModuleType

    class _Numpy(ModuleType):
        """Stands for numpy; what was asked for before is found without `__getattr__`."""

        def __getattr__(self, name: str) -> object:
            value = getattr(importlib.import_module("numpy"), name)
            setattr(self, name, value)
            return value

    np = _Numpy("numpy")
    # Only annotations name it.
    NDArray = None

__all__ = ["NDArray", "np"]
