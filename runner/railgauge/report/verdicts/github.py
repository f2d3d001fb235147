"""A verdict as GitHub's workflow commands, which become annotations of a job."""

from __future__ import annotations

from collections.abc import Iterator

from railgauge.base.characters import visible
from railgauge.compare.verdict import Verdict
from railgauge.plan.catalogue import Catalogue
from railgauge.report.verdicts.verdict_words import compared_names, headline, reason_lines, sentence

# GitHub shows so many of each kind for a step; the last one says how many more there are.
_MOST = 10


def workflow_commands(verdict: Verdict, catalogue: Catalogue) -> Iterator[str]:
    """Yield a line for each annotation: errors for what makes the gate fail, warnings for the rest.

    Where there are more than GitHub shows, the last says how many.
    """
    names = compared_names(verdict.comparison, catalogue)
    errors = [("Not measured", visible(problem)) for problem in verdict.problems]
    for result in verdict.slower:
        reasons = reason_lines(verdict.reasons.get(result.name[:2]))
        errors.append(
            (f"Slower: {names.with_test(result)}", "\n".join([sentence(result), *reasons]))
        )
    errors += [
        (f"Not measured: {names.with_test(lost)}", lost.judged.reason) for lost in verdict.lost
    ]
    warnings = []
    for result in verdict.unconfirmed:
        warnings.append((f"Not confirmed: {names.with_test(result)}", sentence(result)))
    if verdict.notes:
        warnings.append(("Note", "\n".join(verdict.notes)))
    warnings += [
        (f"Gone: {names.with_test(planned)}", "it is not in the second side any more")
        for planned in verdict.comparison.cases_only[0]
    ]
    for command, messages in (("error", errors), ("warning", warnings)):
        if len(messages) > _MOST:
            rest = len(messages) - _MOST + 1
            messages[_MOST - 1 :] = [(f"{rest:,} more", headline(verdict))]
        for title, message in messages:
            yield f"::{command} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    """Return text as a command's message: its own line ends and percent signs are encoded."""
    lines = (visible(line) for line in text.split("\n"))
    return "%0A".join(line.replace("%", "%25") for line in lines)


def _property(text: str) -> str:
    """Return text as the value of a command's property."""
    return visible(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
