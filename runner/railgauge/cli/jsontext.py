"""What `--json` prints: any name in it means what it is, and does nothing to a terminal."""

from __future__ import annotations

import json
import re

from railgauge.base.characters import acts

_SPECIAL = re.compile(r"[^\n -~]")


def json_text(data: object) -> str:
    """Return `data` as JSON in which characters that would act stand as escapes."""
    return _SPECIAL.sub(_escaped, json.dumps(data, indent=2, ensure_ascii=False))


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return json.dumps(character)[1:-1] if acts(character) else character
