"""How far colours stand out from one another, and which ones the pages have in each theme."""

from __future__ import annotations

import re

from railgauge.base.assets import folder


def page_colours(scheme: str) -> dict[str, str]:
    """Return the style sheet's colours, `#rrggbb` by name, in the theme `light` or `dark`."""
    style = (folder("templates") / "html" / "style.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{\n(.*?)\}", style, re.DOTALL)[:2]
    return dict(re.findall(r"--(\w+): (#\w{6});", {"light": light, "dark": dark}[scheme]))


def contrast(foreground: str, background: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21, as WCAG 2.2 reckons it."""
    low, high = sorted((_luminance(foreground), _luminance(background)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb` or, as gnuplot writes it, `rgb(r, g, b)`."""
    if colour.startswith("#"):
        channels = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    else:
        channels = [int(channel) for channel in re.findall(r"\d+", colour)]
    shares = [channel / 255 for channel in channels]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
