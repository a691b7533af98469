"""Pictures are data: each must be complete, valid, the same at every run, and readable by everyone."""

from __future__ import annotations

import json
import struct
import zlib
from itertools import combinations, pairwise

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from spanlab.charts import MIME, Scene, Servers, bundle, milliseconds, rounded, server_bars, style, thousands
from spanlab.charts.curves import latency_curves
from spanlab.charts.front import front
from spanlab.charts.gauges import Gauge, gauges
from spanlab.charts.heat import data_url, heat_maps, png, shades
from spanlab.charts.hottest import hottest_splits
from spanlab.charts.key_line import in_parts, key_line
from spanlab.charts.stairs import Step, stairs
from spanlab.charts.strip import Minutes, heat_word, split_strip
from spanlab.splits.heat import HeatMap

WORDS = {"caption": ["Made for a test."], "description": "a picture for a test"}
HEADING = ("Heading", "what stands under it")
LIMITS = ["has room", "its hot split is full", "has room"]
HOT = Servers("one", "a key that grows", [0, 1_800.4, 0], 12_000, 1_800, 3_500, "study", limits=LIMITS)
EVEN = Servers("two", "a key that does not", [1_200] * 10, 12_000, 1_800, 3_500, "study", before=[1_800, 0, 0])
STEPS = [Step("1", 1_799, 1), Step("8", 11_990, 8)]
MAP = HeatMap(np.eye(64, 30) * 400, ["ByTime"] * 20 + ["Hits"] * 44, [f"T({row})" for row in range(64)], 30.0)


def splits(*scores):
    return [
        {"cpu_usage_score": score, "split_start": f"T({number})", "writes_per_second": 18.0 * score}
        for number, score in enumerate(scores)
    ]


CHARTS = {
    "server bars": server_bars(HOT, description="three servers"),
    "two server bars": server_bars(HOT, EVEN, description="three servers and ten"),
    "many server bars": server_bars(Servers("many", "", [40] * 300, 12_000, 1_800, 3_500, "study"), description="300"),
    "key line": key_line([0.5, 0.25, 0.75, 0.125], title="t", subtitle="s", description="four keys"),
    "gauges": gauges([Gauge("ms", 20, 1_000, "20 ms", lowest=10)], title="t", subtitle="s", **WORDS),
    "split strip": split_strip(Minutes([1_800, 3_600], 12_000, 2), splits(100, 60, 10, 0), heading=HEADING, **WORDS),
    "front": front([(0.5, 1_800), (1, 1_800)], [(1, 1_801)], heading=HEADING, **WORDS),
    "hottest splits": hottest_splits([100.0, 1_900.0], ceiling=1_800, heading=HEADING, **WORDS),
    "stairs": stairs(STEPS, offered=12_000, step="shards", cost="ranges", title="t", **WORDS),
    "latency curves": latency_curves({"a": np.full(600, 16.5), "b": np.full(600, 409)}, heading=HEADING, **WORDS),
    "heat maps": heat_maps((HEADING, MAP), (HEADING, MAP), **WORDS),
    "small heat maps": heat_maps(*[(HEADING, MAP)] * 5, **WORDS),
}


def walk(node):
    """Every dict in a specification."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


@pytest.fixture(params=CHARTS)
def chart(request):
    return CHARTS[request.param]


# ------------------------------------------------------------------------------------------------- the renderer


def test_a_chart_is_sent_as_what_jupyterlab_draws_by_itself(chart):
    data, metadata = bundle(chart, "one line")
    assert MIME == "application/vnd.vegalite.v5+json"
    assert data[MIME]["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
    assert data["text/plain"] == "one line"
    assert metadata == {MIME: {"embed_options": {"renderer": "svg", "actions": False}}}


def test_a_chart_without_a_line_is_its_description(chart):
    assert bundle(chart)[0]["text/plain"] == chart["description"]


def test_from_the_first_picture_on_altair_itself_shows_charts_our_way(chart):
    assert alt.renderers.active == "spanlab"
    data, metadata = alt.Chart(alt.Data(values=[{"x": 1}])).mark_bar().encode(x="x:Q")._repr_mimebundle_(None, None)
    assert data[MIME]["$schema"].endswith("/v5.json")
    assert metadata[MIME]["embed_options"]["actions"] is False


def test_a_scene_shows_its_picture_and_its_sentence(chart):
    data, _ = Scene(chart, "All is well.")._repr_mimebundle_()
    assert data["text/plain"] == "All is well." == repr(Scene(chart, "All is well."))
    assert data[MIME]["datasets"]


# -------------------------------------------------------------------------------------------- what holds for all


def test_the_specification_with_its_data_is_valid(chart):
    config = {key: value for key, value in chart["config"].items() if key != "image"}  # goes to Vega as it is
    alt.Chart.from_dict(chart | {"config": config}, validate=True)


def test_it_is_plain_json_of_rounded_numbers(chart):
    text = json.dumps(chart, allow_nan=False)
    assert json.loads(text) == chart
    for rows in chart["datasets"].values():
        for value in (value for row in rows for value in row.values()):
            assert not isinstance(value, float) or value == round(value, 5)


def test_it_can_be_read_by_those_who_do_not_see_it(chart):
    assert len(chart["description"]) > 2
    axes = [place for node in walk(chart) for place in (node.get("x"), node.get("y")) if isinstance(place, dict)]
    shown = [axis for axis in axes if "axis" in axis and axis["axis"] is not None]
    assert all(axis.get("title", "") != "" for axis in shown)


def test_it_has_at_most_2000_marks(chart):
    assert sum(len(rows) for rows in chart["datasets"].values()) <= style.MARKS_AT_MOST


def test_every_text_and_line_has_a_colour_of_its_own(chart):
    """The dark theme of JupyterLab would paint it white, on the white card."""
    config = chart["config"]
    assert config["background"] == "white"
    for part, keys in {
        "title": ("color", "subtitleColor"),
        "legend": ("labelColor", "titleColor"),
        "axis": ("labelColor", "titleColor", "domainColor", "tickColor"),
        "axisY": ("gridColor",),
    }.items():
        assert set(keys) <= set(config[part])
    for node in walk(chart):
        mark = node.get("mark")
        if isinstance(mark, dict) and mark["type"] in ("text", "rule", "line"):
            assert "color" in mark or "color" in node["encoding"], node


def luminance(colour: str) -> float:
    """Relative luminance, as the Web Content Accessibility Guidelines define it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_stands_out_from_the_card():
    for colour in (style.INK, style.GREY):
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5
    for colour in (style.BLUE, style.VERMILLION):  # 3:1 is asked of marks
        assert 1.05 / (luminance(colour) + 0.05) >= 3


# The matrices of Machado, Oliveira and Fernandes (2009) for three kinds of colour blindness, on linear RGB.
BLINDNESS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


@pytest.mark.parametrize("kind", BLINDNESS)
def test_colour_blind_readers_tell_the_colours_apart(kind):
    def seen(colour: str) -> list[float]:
        linear = [(int(colour[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5)]
        return [max(0.0, sum(a * b for a, b in zip(row, linear, strict=True))) ** (1 / 2.2) for row in BLINDNESS[kind]]

    for one, other in combinations((style.BLUE, style.VERMILLION, style.PALE), 2):
        assert sum((a - b) ** 2 for a, b in zip(seen(one), seen(other), strict=True)) ** 0.5 > 0.25


# ---------------------------------------------------------------------------------------------------- words, labels


@given(st.lists(st.integers(0, 10_000), max_size=6), st.integers(1, 500))
def test_labels_stand_apart_in_the_order_of_their_heights(heights, gap):
    places = style.apart([float(height) for height in heights], gap)
    assert all(place >= height for place, height in zip(places, heights, strict=True))
    ordered = sorted(zip(heights, places, strict=True))
    assert all(upper[1] - lower[1] >= gap for lower, upper in pairwise(ordered) if lower[0] != upper[0])
    assert all(upper - lower >= gap for lower, upper in pairwise(sorted(places)))


@pytest.mark.parametrize(("value", "words"), [(16.54, "16.5 ms"), (408.5, "409 ms"), (5_721, "5.7 s")])
def test_milliseconds(value, words):
    assert milliseconds(value) == words


@pytest.mark.parametrize(
    ("value", "words"), [(0, "0"), (1_797, "1,800"), (11_987, "12,000"), (6_993, "6,990"), (949.6, "950"), (12, "12")]
)
def test_three_figures(value, words):
    assert rounded(value) == words


def test_thousands():
    assert thousands(12_000) == "12,000"


# ------------------------------------------------------------------------------------------------------ server bars


def test_each_server_has_a_bar_and_a_slot_to_compare_it_with():
    rows = server_bars(HOT, description="d")["datasets"]["servers0"]
    assert [row["server"] for row in rows] == [1, 2, 3]
    assert [row["writes"] for row in rows] == [1_800, 0, 0]
    assert {row["slot"] for row in rows} == {3_500}


def test_what_is_full_stays_with_its_server_and_has_a_colour_of_its_own():
    rows = server_bars(HOT, description="d")["datasets"]["servers0"]
    assert (rows[0]["writes"], rows[0]["state"]) == (1_800, "its hot split is full")
    assert [row["state"] for row in rows][1:] == ["has room"] * 2
    assert {row["state"] for row in server_bars(EVEN, description="d")["datasets"]["servers0"]} == {"has room"}
    fields = [one for one in walk(server_bars(HOT, description="d")) if one.get("field") == "state"]
    (colour,) = (one for one in fields if "scale" in one)
    assert colour["scale"]["domain"] == ["has room", "its hot split is full", "CPU is full"]
    assert len(set(colour["scale"]["range"])) == 3


def test_the_even_share_is_offered_load_by_servers():
    lines = {row["line"]: row for row in server_bars(EVEN, description="d")["datasets"]["lines0"]}
    assert (lines["share"]["height"], lines["share"]["label"]) == (1_200, "even share 1,200")
    assert (lines["split"]["height"], lines["node"]["height"]) == (1_800, 3_500)


def test_a_share_above_the_axis_is_drawn_at_its_end_and_says_so():
    one = Servers("", "", [1_800], 12_000, 1_800, 3_500, "study")
    share = next(row for row in server_bars(one, description="d")["datasets"]["lines0"] if row["line"] == "share")
    assert (share["height"], share["label"]) == (4_000, "even share 12,000 ↑")


def test_the_ghost_shows_the_bars_before_and_no_more_servers_than_there_are():
    fewer = Servers("", "", [1_800, 0], 12_000, 1_800, 3_500, "study", before=[1, 1_500, 2])
    assert [row["before"] for row in server_bars(fewer, description="d")["datasets"]["servers0"]] == [1_500, 2]
    assert ["before" in row for row in server_bars(EVEN, description="d")["datasets"]["servers0"]] == [True] * 3 + [
        False
    ] * 7


def test_lines_are_named_once_where_they_are_alike_and_at_each_where_not():
    """Pictures of one load on as many servers share their lines; three servers and ten do not."""

    def named(*pictures):
        views = server_bars(*pictures, description="d")["hconcat"]
        return [any(layer["mark"]["type"] == "text" for layer in view["layer"]) for view in views]

    assert named(EVEN, EVEN) == [False, True]
    assert named(HOT, EVEN) == [True, True]


def test_the_caption_names_the_preset_and_what_is_known():
    text = " ".join(server_bars(HOT, description="d")["title"]["text"])
    assert "“study”" in text
    assert "Google publishes no ceiling for one split" in text


def test_pictures_do_not_leak_into_one_another():
    first = json.dumps(server_bars(HOT, EVEN, description="d"))
    server_bars(EVEN, HOT, description="other")
    assert json.dumps(server_bars(HOT, EVEN, description="d")) == first


# ----------------------------------------------------------------------------------------------------------- key line


def test_keys_that_land_on_one_place_are_stacked():
    data = key_line([0.0, 0.5, 0.001, 0.999], title="", subtitle="", description="d")["datasets"]
    assert [(dot["number"], dot["level"]) for dot in data["dots"]] == [(1, 1), (2, 1), (3, 2), (4, 1)]
    assert [dot["label"] for dot in data["dots"]] == ["1", "2", "3", "4"]
    assert [part["keys"] for part in data["parts"]] == [2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert data["parts"][0]["percent"] == 50


def test_many_keys_go_without_numbers():
    dots = key_line([0.0] * 17, title="", subtitle="", description="d")["datasets"]["dots"]
    assert {dot["label"] for dot in dots} == {""}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.integers(1, 64))
def test_each_place_falls_into_one_part(places, parts):
    counts = in_parts(places, parts)
    assert len(counts) == parts
    assert sum(counts) == len(places)


# ------------------------------------------------------------------------------------------------------------- gauges


@pytest.mark.parametrize(
    ("gauge", "value", "part"),
    [
        (Gauge("writes", 0, 12_000, ""), 6_000, 0.5),
        (Gauge("writes", 0, 12_000, ""), 20_000, 1.0),
        (Gauge("ms", 0, 1_000, "", lowest=10), 100, 0.5),  # half-way between 10 and 1,000 on a logarithmic scale
        (Gauge("ms", 0, 1_000, "", lowest=10), 3, 0.0),
    ],
)
def test_where_a_value_stands_on_its_scale(gauge, value, part):
    assert gauge.part(value) == pytest.approx(part)


def test_a_gauge_remembers_where_it_stood():
    spec = gauges([Gauge("a", 1, 4, "1", before=2), Gauge("b", 1, 4, "1", alarm=True)], title="", subtitle="", **WORDS)
    assert spec["datasets"]["gauges"] == [
        {"place": 0, "name": "a", "whole": 1, "part": 0.25, "words": "1", "alarm": False, "before": 0.5},
        {"place": 1, "name": "b", "whole": 1, "part": 0.25, "words": "1", "alarm": True},
    ]


# -------------------------------------------------------------------------------------------------- splits and minutes


@pytest.mark.parametrize(
    ("score", "writes", "word"),
    [
        (0, 0, "idle"),
        (10, 200, "below 50"),
        (50, 900, "warm: 50 to 99"),
        (99, 1_790, "warm: 50 to 99"),
        (100, 1_800, "hot: 100"),
    ],
)
def test_a_split_is_warm_from_50_and_hot_at_100(score, writes, word):
    assert heat_word(score, writes) == word


def test_the_strip_has_a_cell_for_each_split_and_marks_the_minute():
    data = split_strip(Minutes([1_800, 3_600], 12_000, 2), splits(100, 50, 0, 10), heading=HEADING, **WORDS)["datasets"]
    assert [(cell["from"], cell["to"]) for cell in data["splits"]] == [(0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1)]
    assert [row["chosen"] for row in data["minutes"]] == [False, True]


def test_the_hottest_ten_are_shown_sorted():
    rows = hottest_splits([float(n) for n in range(20)], ceiling=18, heading=HEADING, **WORDS)["datasets"]["hottest"]
    assert [row["writes"] for row in rows] == [19, 18, 17, 16, 15, 14, 13, 12, 11, 10]
    assert [row["full"] for row in rows] == [True, True] + [False] * 8


def test_stairs_mark_what_falls_short():
    rows = stairs(STEPS, offered=12_000, step="shards", cost="ranges", title="t", **WORDS)["datasets"]["steps"]
    assert [(row["step"], row["short"], row["label"]) for row in rows] == [("1", True, "1,800"), ("8", False, "12,000")]


# ------------------------------------------------------------------------------------------------------------- curves


def test_a_curve_has_at_most_200_points_and_keeps_its_mean():
    values = np.arange(1_200, dtype=float)
    points = latency_curves({"a": values}, heading=HEADING, **WORDS)["datasets"]["points"]
    assert len(points) == 200
    assert np.mean([point["ms"] for point in points]) == pytest.approx(values.mean(), abs=0.1)
    assert points[-1]["minute"] == 20


def test_more_curves_than_can_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="curves has 6 entries; 1 to 5"):
        latency_curves({str(number): [1.0] for number in range(6)}, heading=HEADING, **WORDS)


# ---------------------------------------------------------------------------------------------------------- heat maps


@given(arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=40)))
def test_a_png_is_read_back_by_a_decoder_that_others_wrote(shade):
    picture = png(shade)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(picture):
        length, kind = struct.unpack(">I4s", picture[at : at + 8])
        content = picture[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + content) == struct.unpack(">I", picture[at + 8 + length : at + 12 + length])[0]
        chunks[kind], at = content, at + 12 + length
    wide, high, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert ((high, wide), depth, colour) == (shade.shape, 8, 3)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(high, wide + 1)
    assert (rows[:, 0] == 0).all()
    assert (rows[:, 1:] == shade).all()


def test_a_png_larger_than_a_stored_block_is_whole():
    shade = np.random.default_rng(0).integers(0, 256, (300, 300), np.uint8)  # 90,300 bytes: two blocks
    start = png(shade).index(b"IDAT") + 4
    assert zlib.decompressobj().decompress(png(shade)[start:])[1:301] == shade[0].tobytes()


def test_the_palette_rises_in_brightness():
    palette = png(np.zeros((1, 1), np.uint8))
    colours = np.frombuffer(palette[palette.index(b"PLTE") + 4 :][:768], np.uint8).reshape(256, 3)
    light = [luminance("#" + bytes(colour).hex()) for colour in colours]
    assert all(upper >= lower - 1e-4 for lower, upper in pairwise(light))
    assert light[-1] - light[0] > 0.9


def test_shades_compare_with_all_writes_of_the_busiest_time():
    load = np.array([[25.0, 0.0], [75.0, 50.0]])  # columns of 100 and 50: a quarter of 100 is full brightness
    assert shades(load).tolist() == [[255, 0], [255, 255]]
    assert shades(np.zeros((2, 2))).tolist() == [[0, 0], [0, 0]]
    even = shades(np.full((64, 10), 3.0))
    assert len(np.unique(even)) == 1
    assert 0 < even[0, 0] < 255


def test_each_table_and_index_is_labelled_where_it_begins():
    labels = [(row["row"], row["key"]) for row in heat_maps((HEADING, MAP), **WORDS)["datasets"]["keys0"]]
    assert (0.5, "ByTime: first key") in labels
    assert (20.5, "Hits: first key") in labels
    assert len(labels) <= 12


@pytest.mark.parametrize("maps", [1, 2, 3, 5])
def test_maps_side_by_side_fit_into_a_notebook(maps):
    """JupyterLab leaves some 850 pixels; up to two maps have names of keys beside them, 150 pixels at most."""
    chart = heat_maps(*[(HEADING, MAP)] * maps, **WORDS)
    named = [bool(chart["datasets"][f"keys{number}"]) for number in range(maps)]
    assert named == [maps <= 2] * maps
    wide = sum(view["width"] + 150 * with_names for view, with_names in zip(chart["hconcat"], named, strict=True))
    assert wide + 12 * (maps - 1) <= 880
    assert all(view["width"] >= 120 for view in chart["hconcat"])


def test_the_picture_spans_the_minutes_of_the_map():
    (box,) = heat_maps((HEADING, MAP), **WORDS)["datasets"]["picture0"]
    assert (box["left"], box["right"], box["top"], box["bottom"]) == (0, 15, 0, 64)
    assert box["url"] == data_url(png(shades(MAP.writes)))
