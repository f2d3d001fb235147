"""What both kinds of output have in common: moments, round trips, losses, base units."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from railgauge.exchange.hpcbench import file_layout
from railgauge.exchange.hpcbench.line_reader import Lines
from railgauge.exchange.hpcbench.rounding import settle_average

# Of a loss rate printed with three digits.
_HALF = 0.0005 + 1e-9


def base_value(value: Decimal | float, scale: float) -> float:
    """Return a printed value in base units, exactly where it was printed."""
    if isinstance(value, Decimal):
        return float(value * Decimal(repr(scale)))
    # Nine digits after the point of what is printed are far below what it means.
    return round(value * scale, 3 if scale > 1 else 15)


def read_moment(lines: Lines, template: str) -> datetime | None:
    """Go past the title and return its moment, or None where it has none."""
    text = lines.match(template)["moment"]
    if text == file_layout.MISSING:
        return None
    try:
        return file_layout.parse_moment(text)
    except ValueError as error:
        raise lines.problem(str(error)) from error


def read_round_trips(lines: Lines) -> tuple[int | None, tuple[dict[str, float], ...]]:
    """Go past the trials of a latency test and their summary.

    Return the size of the messages in bytes, and `rtt_mean` of each trial that has one.
    """
    texts: list[Decimal | None] = []
    while (trial := lines.try_match(file_layout.LATENCY_ROW)) is not None:
        if trial["number"] != str(len(texts) + 1):
            message = f"this is trial {trial['number']}, and {len(texts) + 1} would be next"
            raise lines.problem(message)
        texts.append(lines.number(trial["rtt"], "the round trip time"))
    if not texts:
        raise lines.unexpected(file_layout.LATENCY_ROW.format(number=1, rtt="…"))
    summary_texts = lines.match(file_layout.LATENCY_TRIALS)
    if summary_texts["trials"] != str(len(texts)):
        raise lines.problem(f"there are {len(texts)} trials above")
    size = lines.number(summary_texts["message"], "the message size")
    summary_texts = lines.match(file_layout.LATENCY_SUMMARY)
    names = ("average", "minimum", "maximum")
    summary = [
        number for name in names if (number := lines.number(summary_texts[name], name)) is not None
    ]
    printed = [text for text in texts if text is not None]
    if len(summary) != (3 if printed else 0):
        raise lines.problem("the summary doesn't go with the trials above")
    values = iter(_settled(lines, printed, summary))
    rows = tuple(
        {} if text is None else {"rtt_mean": base_value(next(values), file_layout.LATENCY_SCALE)}
        for text in texts
    )
    return None if size is None else int(size), rows


def count_losses(lines: Lines, metrics: dict[str, float]) -> None:
    """Put the exact loss rate in the place of the printed one; they have to agree."""
    sent, printed = metrics.get("sent_packets"), metrics.get("loss_rate")
    lost = metrics.get("lost_packets")
    if lost is None or not sent or printed is None or lost < 0:
        return
    if abs(lost / sent - printed) > _HALF:
        message = f"{lost:.0f} of {sent:.0f} packets lost is not a loss rate of {printed:g}"
        raise lines.problem(message)
    metrics |= {"lost_packets": lost, "loss_rate": lost / sent}


def _settled(lines: Lines, printed: list[Decimal], summary: list[Decimal]) -> list[float]:
    if not printed:
        return []
    average, minimum, maximum = summary
    try:
        return settle_average(printed, average, minimum, maximum)
    except ValueError as error:
        message = f"these are not the minimum, average and maximum of the trials: {error}"
        raise lines.problem(message) from error
