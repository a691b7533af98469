"""The heat map: writes over time and key, as Key Visualizer draws them.

Time runs to the right, keys run down in key order, brightness is load (facts.md 11). It is drawn as one picture, not as
thousands of marks: a small PNG whose pixels are the cells, blown up without smoothing. The PNG is written here, and not
compressed, so that its bytes are the same with every version of every library.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from functools import cache
from typing import Any

import numpy as np

from spanlab.charts.figure import Heading, Rows, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import INK
from spanlab.splits.heat import HeatMap

HEIGHT, SMALL = 320, 220
LABELS = 9  # row labels that fit beside the picture
# black over purple and orange to pale yellow: brightness alone tells the order, for every kind of colour vision
STOPS = np.array([[10, 8, 36], [70, 20, 110], [187, 55, 84], [249, 142, 9], [252, 255, 200]], float)


def heat_maps(*maps: tuple[Heading, HeatMap], caption: list[str], description: str) -> Spec:
    """One or more heat maps side by side, each with its heading; more than two are small, and without names of keys."""
    data: dict[str, Rows] = {}
    for number, (_, one) in enumerate(maps):
        rows, columns = one.writes.shape
        labels = _labels(one) if len(maps) <= 2 else []
        box = {"left": 0, "right": columns * one.column_s / 60, "top": 0, "bottom": rows}
        data |= {f"picture{number}": [box | {"url": data_url(png(shades(one.writes)))}], f"keys{number}": labels}
    headings = [heading for heading, _ in maps]
    text = ["Brightness: a range's part of the busiest column's writes; black none, pale a quarter or more.", *caption]
    return fill(_shape(len(maps)), data, headings=headings, caption=text, description=description)


def shades(load: np.ndarray) -> np.ndarray:
    """Loads (row x time) as shades 0 to 255, on a logarithmic scale: else one hot row would leave all others black.

    Full brightness is a quarter of all writes at the busiest time: two maps of one load can be compared.
    """
    full = 0.25 * float(load.sum(axis=0).max(initial=0.0))
    if full <= 0:
        return np.zeros(load.shape, np.uint8)
    part = np.minimum(load / full, 1.0)
    return np.round(255 * np.log1p(100 * part) / np.log1p(100)).astype(np.uint8)


def png(shade: np.ndarray) -> bytes:
    """The shades (rows from above) as a PNG with a palette."""
    high, wide = shade.shape
    place = np.linspace(0, len(STOPS) - 1, 256)
    palette = (
        np.stack([np.interp(place, range(len(STOPS)), channel) for channel in STOPS.T], 1).round().astype(np.uint8)
    )
    pixels = b"".join(b"\0" + row.tobytes() for row in shade)
    header = struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"PLTE", palette.round().astype(np.uint8).tobytes())
        + _chunk(b"IDAT", _stored(pixels))
        + _chunk(b"IEND", b"")
    )


def data_url(picture: bytes) -> str:
    return "data:image/png;base64," + b64encode(picture).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _stored(content: bytes) -> bytes:
    """A zlib stream of stored blocks (RFC 1950 and 1951): what a compressor makes differs from version to version."""
    most = 65_535
    blocks = [content[at : at + most] for at in range(0, len(content), most)]
    stream = b"\x78\x01"
    for number, block in enumerate(blocks, 1):
        stream += struct.pack("<BHH", number == len(blocks), len(block), ~len(block) & 0xFFFF) + block
    return stream + struct.pack(">I", zlib.adler32(content))


def _labels(one: HeatMap) -> Rows:
    """Some of the row labels, spread over the height: the first of each table or index, and some between."""
    step = max(1, len(one.labels) // LABELS)
    labels: Rows = []
    for row, label in enumerate(one.labels):
        begins = row == 0 or one.bands[row] != one.bands[row - 1]
        if begins and labels and row - labels[-1]["row"] < step / 2:
            labels.pop()
        if begins or row - labels[-1]["row"] >= step:
            labels.append({"row": row + 0.5, "key": f"{one.bands[row]}: first key" if begins else label})
    return labels


@cache
def _shape(maps: int) -> Spec:
    import altair as alt

    width, height = (520, HEIGHT) if maps == 1 else (280, HEIGHT) if maps == 2 else (650 // maps, SMALL)
    spec = shape([_view(alt, number, width, height) for number in range(maps)], spacing=12)
    # Vega draws sharp cells with this; the schema of Vega-Lite does not list it
    spec["config"]["image"] = {"smooth": False}
    return spec


def _view(alt: Any, number: int, width: int, height: int) -> Any:
    picture, keys = alt.NamedData(f"picture{number}"), alt.NamedData(f"keys{number}")
    down = alt.Scale(reverse=True, zero=False, nice=False)
    y = alt.Y("top:Q", scale=down, title=None, axis=None)
    image = (
        alt.Chart(picture)
        .mark_image(aspect=False)
        .encode(
            x=alt.X(
                "left:Q",
                title="minutes",
                scale=alt.Scale(nice=False, zero=False),
                axis=alt.Axis(grid=False, tickMinStep=1),
            ),
            x2="right",
            y=y,
            y2="bottom",
            url="url:N",
        )
    )
    label = (
        alt.Chart(keys)
        .mark_text(align="right", dx=-6, fontSize=10, color=INK, limit=150)
        .encode(x=alt.value(0), y=alt.Y("row:Q", scale=down, axis=None), text="key:N")
    )
    return alt.layer(image, label).properties(width=width, height=height)
