"""Files that other people's programs wrote earlier, as runs in the database.

What stands where in them is said in the descriptions of those programs, in `import`.
"""

from railgauge.exchange.importing.tools import ImportResult, import_tool

__all__ = ["ImportResult", "import_tool"]
