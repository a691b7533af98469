"""How every picture of the course looks: colours that colour-blind readers tell apart, a white card, words for numbers.

The colours are Okabe and Ito's, which differ in brightness as well as in hue. The white background stays in the dark
theme: no single grey is readable on both white and black. JupyterLab puts its dark theme under every chart, so each
colour of text and lines is given here; one that is left out would be white on white.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

BLUE, ORANGE, VERMILLION, SKY, GREEN, PURPLE = "#0072B2", "#E69F00", "#D55E00", "#56B4E9", "#009E73", "#CC79A7"
INK, GREY, PALE = "#222222", "#5F6368", "#E8EAED"
MARKS_AT_MOST = 2_000

CONFIG: dict[str, Any] = {
    "background": "white",
    "font": "Helvetica, Arial, sans-serif",
    "padding": 8,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": GREY,
        "tickColor": GREY,
    },
    "axisX": {"grid": False},
    "axisY": {"gridColor": "#EEEEEE", "domain": False, "ticks": False},
    "legend": {
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
    },
    "title": {
        "anchor": "start",
        "color": INK,
        "fontSize": 14,
        "subtitleFontSize": 12,
        "subtitleColor": GREY,
        "offset": 8,
    },
}


def thousands(value: float) -> str:
    """12000 -> "12,000": a figure as the text of the course writes it."""
    return f"{value:,.0f}"


def three_figures(value: float) -> float:
    """11987 -> 12000: as many figures as two runs of one load have in common."""
    return round(value, -max(0, len(str(int(value))) - 3))


def rounded(value: float) -> str:
    """11987 -> "12,000": three figures, in words."""
    return thousands(three_figures(value))


def milliseconds(value: float) -> str:
    """16.54 -> "16.5 ms", 408.9 -> "409 ms", 5721 -> "5.7 s"."""
    if value >= 1_000:
        return f"{value / 1_000:.1f} s"
    return f"{int(value + 0.5)} ms" if value >= 100 else f"{value:.1f} ms"


def apart(heights: list[float], gap: float) -> list[float]:
    """Where to write a label for each height, so that no two labels stand closer than `gap` (order is kept)."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed = list(heights)
    for lower, upper in pairwise(order):
        placed[upper] = max(placed[upper], placed[lower] + gap)
    return placed
