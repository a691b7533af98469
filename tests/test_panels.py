"""Panels: pure views, and widgets that move them as a reader would."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise

import ipywidgets as widgets
import pytest

from spanlab.charts import MIME, Figure, Scene
from spanlab.panels import Panel, compare, cuts, heat, key_line, latency, panel, stairs
from spanlab.panels.controls import Choice, Number
from spanlab.panels.heat import RIDDLES
from spanlab.panels.panel import LIVE
from spanlab.splits import simulate, sweep


def view_area(parameters, before):
    """A view without a simulation: the area of a rectangle."""
    area = parameters["width"] * parameters["height"]
    chart = {"description": f"area {area}", "mark": "bar", "ghost": before.state if before else None}
    edge = Figure("longest side", longest := max(parameters.values()), f"{longest} m")
    return Scene(chart, f"The area is {area}.", Figure("square metres", area, f"{area:,}"), area, (edge,))


@pytest.fixture
def area():
    heights = (("low", 1), ("high", 10))
    return Panel(
        "Area", (Number("width", "Width", (1, 2, 3, 100), 2), Choice("height", "Height", heights, 1)), view_area
    )


def find(root, kind):
    """The widgets of a kind under a widget, in order."""
    found = [root] if isinstance(root, kind) else []
    for child in getattr(root, "children", ()):
        found += find(child, kind)
    return found


def status(shown):
    return re.sub("<[^>]*>", "", shown._status.value.replace("<br>", " "))


# ------------------------------------------------------------------------------------------------------ the panel base


def test_it_shows_itself_live_still_and_as_text(area):
    data, metadata = area._repr_mimebundle_()
    assert set(data) == {LIVE, MIME, "text/plain"}
    assert data[LIVE]["model_id"] == area.widget.model_id
    assert data["text/plain"] == "Area: The area is 2." == repr(area)
    assert metadata[MIME]["embed_options"]["renderer"] == "svg"


def test_the_live_picture_is_set_not_printed(area):
    (output,) = area._picture.outputs
    assert output["output_type"] == "display_data"
    assert output["data"][MIME]["description"] == "area 2"
    area.set(width=3)
    (output,) = area._picture.outputs
    assert output["data"][MIME]["description"] == "area 3"


def test_every_control_has_a_name_and_every_slider_a_box_beside_it(area):
    for control in find(area.widget, (widgets.Dropdown, widgets.BoundedIntText)):
        assert control.description
    rows = [row for row in find(area.widget, widgets.HBox) if find(row, widgets.SelectionSlider)]
    assert len(rows) == 1
    assert find(rows[0], widgets.BoundedIntText)[0].description == "Width (1 to 100)"


def test_the_status_is_read_out_when_it_changes(area):
    assert '<p role="status" aria-live="polite"' in area._status.value
    assert status(area) == "The area is 2."
    area.set(height=10)
    assert (
        status(area) == "The area is 20. Height low → high: square metres rise from 2 to 20; longest side 2 m → 10 m."
    )


def test_slider_and_box_are_one_number(area):
    slider, box = find(area.widget, widgets.SelectionSlider)[0], find(area.widget, widgets.BoundedIntText)[0]
    slider.value = 100
    assert (box.value, area.parameters["width"]) == (100, 100)
    box.value = 1
    assert (slider.value, area.parameters["width"]) == (1, 1)
    for typed in (40, 7, 3, 99):  # between two stops, or at one
        box.value = typed
        assert (slider.value, box.value, area.parameters["width"]) == (typed, typed, typed)
    assert [step for _, step in slider.options] == [1, 2, 3, 99, 100]
    slider.value = 3  # drawn back from the number that was typed
    assert (slider.value, box.value, area.parameters["width"]) == (3, 3, 3)
    assert [step for _, step in slider.options] == [1, 2, 3, 99, 100]  # steps do not move under the hand
    box.value = 1_000  # the box keeps to its range
    assert (box.value, area.parameters["width"]) == (100, 100)


def test_each_move_draws_once(area):
    seen = []
    area._picture.observe(lambda change: seen.append(change["new"]), names="outputs")
    find(area.widget, widgets.SelectionSlider)[0].value = 100
    assert len(seen) == 1
    find(area.widget, widgets.BoundedIntText)[0].value = 40
    assert len(seen) == 2


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves on by itself: clock[0] is the time in seconds."""
    now = [0.0]
    monkeypatch.setattr(sys.modules[Panel.__module__], "monotonic", lambda: now[0])
    return now


def test_each_move_is_compared_with_what_was_shown_right_before(area):
    area.set(width=3).set(width=100)
    assert area.scene.chart["ghost"] == 3
    assert status(area).endswith("Width 3 → 100: square metres rise from 3 to 100; longest side 3 m → 100 m.")
    area.set(height=10)
    assert area.scene.chart["ghost"] == 100
    assert status(area).endswith("Height low → high: square metres rise from 100 to 1,000.")
    area.set(height=1)
    assert area.scene.chart["ghost"] == 1_000
    assert status(area).endswith("Height high → low: square metres fall from 1,000 to 100.")


def test_a_slider_that_is_dragged_is_one_move(area, clock):
    slider = find(area.widget, widgets.SelectionSlider)[0]
    for value in (3, 100):
        clock[0] += 0.4
        slider.value = value
    assert area.scene.chart["ghost"] == 2
    assert status(area).endswith("Width 2 → 100: square metres rise from 2 to 100; longest side 2 m → 100 m.")
    clock[0] += 0.6
    slider.value = 3
    assert area.scene.chart["ghost"] == 100
    assert status(area).endswith("Width 100 → 3: square metres fall from 100 to 3; longest side 100 m → 3 m.")


def test_a_drag_back_to_its_beginning_still_says_something(area, clock):
    slider = find(area.widget, widgets.SelectionSlider)[0]
    slider.value = 3
    slider.value = 2
    assert status(area).endswith("Width 3 → 2: square metres fall from 3 to 2; longest side 3 m → 2 m.")


def test_another_control_is_another_move_however_quick(area, clock):
    find(area.widget, widgets.SelectionSlider)[0].value = 3
    find(area.widget, widgets.Dropdown)[0].value = 10
    assert status(area).endswith("Height low → high: square metres rise from 3 to 30; longest side 3 m → 10 m.")


@pytest.mark.parametrize("after", [1_800, 1_815])  # 0.8 % apart: chance
def test_what_does_not_move_is_said(after):
    def view(parameters, before):
        writes = 1_800 if before is None else after
        return Scene({}, "x", Figure("writes/s", writes, str(writes)), None, (Figure("p99", writes, f"{writes} ms"),))

    flat = Panel("Flat", (Number("width", "Width", (1, 2), 1),), view)
    flat.set(width=2)
    assert status(flat).endswith(f"Width 1 → 2: writes/s stay at {after}.")


@pytest.mark.parametrize(
    ("move", "message"),
    [
        ({"depth": 1}, r"no control 'depth'; it has width, height"),
        ({"width": 101}, r"width=101 is out of range; give 1 to 100"),
        ({"height": 5}, r"height=5 is not offered; choose one of \[1, 10\]"),
    ],
)
def test_a_bad_move_says_what_is_allowed(area, move, message):
    with pytest.raises(ValueError, match=message):
        area.set(**move)


def test_an_unknown_panel_says_which_there_are():
    with pytest.raises(ValueError, match=r"There is no panel '1Z'; there are 1A"):
        panel("1Z")


def test_two_panels_do_not_move_one_another():
    one, other = panel("1A"), panel("1A")
    one.set(nodes=30)
    assert other.parameters["nodes"] == 3


# ------------------------------------------------------------------------------------ 1A: one key, many servers (L1)


@pytest.mark.parametrize("nodes", [3, 30, 300])
def test_1a_nodes_do_not_move_a_time_key(nodes):
    shown = panel("1A").set(nodes=nodes)
    assert repr(shown) == (
        f"1A · One key, many servers: 1,800 of 12,000 writes/s commit; 1 of {nodes} servers works; p99 409 ms."
    )
    bars = shown.scene.chart["datasets"]["servers0"]
    assert len(bars) == nodes
    assert [bar["server"] for bar in bars if bar["writes"] > 100] == [1]
    if nodes > 3:
        assert status(shown).endswith(f"Nodes 3 → {nodes}: committed writes/s stay at 1,800.")
        shown.set(nodes=3)
        assert status(shown).endswith(f"Nodes {nodes} → 3: committed writes/s stay at 1,800.")


def test_1a_a_random_key_uses_what_is_paid_for():
    shown = panel("1A").set(key="uuid4")
    assert shown.scene.headline[1] == pytest.approx(10_200, rel=0.04)
    assert "3 of 3 servers work" in shown.scene.sentence
    assert {bar["state"] for bar in shown.scene.chart["datasets"]["servers0"]} == {"CPU is full"}
    shown.set(nodes=4)
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert {bar["state"] for bar in shown.scene.chart["datasets"]["servers0"]} == {"has room"}


def states(shown):
    return [bar["state"] for bar in shown.scene.chart["datasets"]["servers0"]]


def test_1a_names_what_is_full():
    """A time key fills one split, not the CPU of its server: 1,800 of 3,500 writes/s (facts.md 1.6)."""
    assert states(panel("1A")) == ["its hot split is full", "has room", "has room"]
    assert states(panel("1A").set(key="uuid4", nodes=2)) == ["CPU is full"] * 2
    assert states(panel("1A").set(offered=1_500)) == ["has room"] * 3


def test_a_hot_row_fills_its_split_and_no_other_servers():
    """20 % of 12,000 go to one row; the other servers do more than half of a split's writes, and have room."""
    bars = compare(["hot_row"], writes_per_second=12_000, nodes=4).chart["datasets"]["servers0"]
    assert sorted(bar["state"] for bar in bars) == ["has room"] * 3 + ["its hot split is full"]
    assert min(bar["writes"] for bar in bars) > 1_800


def test_1a_the_cliff():
    shown = panel("1A").set(offered=1_500)
    assert "1,500 of 1,500 writes/s commit" in shown.scene.sentence
    assert "committed writes/s fall from 1,800 to 1,500; p99 409 ms → 29.7 ms." in status(shown)
    assert shown.scene.headline[1] == pytest.approx(1_500, rel=0.02)
    assert float(re.search(r"p99 ([\d.]+) ms", shown.scene.sentence)[1]) == pytest.approx(30, rel=0.1)
    shown.set(offered=1_900)
    assert "Offered writes/s 1,500 → 1,900: committed writes/s rise from 1,500 to 1,800; p99 29.7 ms → " in status(
        shown
    )
    assert float(re.search(r"p99 ([\d.]+) ms", shown.scene.sentence)[1]) == pytest.approx(409, rel=0.1)


def test_1a_a_counter_is_no_better_than_the_time():
    assert panel("1A").set(key="seq").scene.headline[1] == pytest.approx(1_800, rel=0.02)


# ------------------------------------------------------------------------------------------------- 2A: key printer (L2)


def bins(shown):
    return [part["keys"] for part in shown.scene.chart["datasets"]["parts"]]


def test_2a_a_counter_lands_on_one_place_and_a_reversed_one_in_every_part():
    shown = panel("2A")
    assert shown.scene.sentence.endswith("The fullest of 16 ranges holds 100 % of the new keys.")
    assert bins(shown) == [8] + [0] * 15
    assert [dot["label"] for dot in shown.scene.chart["datasets"]["dots"]] == list("12345678")
    shown.set(generator="bit_reversed", keys=16)
    assert bins(shown) == [1] * 16
    assert "holds 6.25 %" in status(shown)
    assert status(shown).endswith("How many keys 8 → 16: keys in the fullest range fall from 12.5 % to 6.25 %.")


def test_2a_a_minute_is_nothing_in_48_bits_of_milliseconds():
    shown = panel("2A").set(generator="ulid", seconds=60)
    assert bins(shown) == [8] + [0] * 15
    assert status(shown).endswith("Time between keys (s) 1 → 60: keys in the fullest range stay at 100 %.")
    shown.set(seconds=1)
    assert status(shown).endswith("Time between keys (s) 60 → 1: keys in the fullest range stay at 100 %.")


def test_2a_a_uuidv1_marches_and_wraps():
    """The low 32 bits of its clock lead: 2^32 units of 100 ns are 429.5 s, so ids 60 s apart wrap after seven."""
    dots = panel("2A").set(generator="uuid1", seconds=60, keys=16).scene.chart["datasets"]["dots"]
    places = [dot["place"] for dot in dots]
    assert places[:8] == sorted(places[:8])
    assert places[8] < places[7]
    step = 60 / (2**32 / 10_000_000)
    assert places == [pytest.approx(number * step % 1, abs=2e-3) for number in range(16)]


# ----------------------------------------------------------------------------------------------- 3A, 3B: shards (L3)


def gauge(shown, name):
    return next(row for row in shown.scene.chart["datasets"]["gauges"] if row["name"].startswith(name))


def test_3a_twice_the_shards_carry_it_and_double_the_scan():
    shown = panel("3A").set(shards=4)
    assert shown.scene.headline[1] == pytest.approx(7_190, rel=0.02)
    assert gauge(shown, "ranges")["words"] == "4"
    shown.set(shards=8)
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert gauge(shown, "ranges")["words"] == "8"
    assert gauge(shown, "committed")["alarm"] is False
    assert status(shown).endswith("rise from 7,200 to 12,000; p99 209 ms → 30.5 ms; scan ranges 4 → 8.")


def test_3a_more_shards_than_needed_only_cost():
    shown = panel("3A").set(shards=16)
    assert shown.scene.state[1] == pytest.approx(18.6, rel=0.1)
    shown.set(shards=64)
    assert shown.scene.state[1] == pytest.approx(16.5, rel=0.1)
    assert shown.scene.state[2] == 64


def test_3a_plain_mod_spreads_and_loses_half_of_the_rows():
    shown = panel("3A").set(shards=16, expression="signed")
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert "a one-day scan visits 31 ranges; 46.9 % of the rows lie outside shards 0–15." in shown.scene.sentence
    assert gauge(shown, "rows outside")["alarm"] is True
    assert status(shown).endswith("scan ranges 16 → 31; rows outside none → 46.9 %.")


def test_3b_a_giant_slows_everybody():
    shown = panel("3B").set(percent=10)
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    shown.set(percent=20)
    assert shown.scene.headline[1] == pytest.approx(8_480, rel=0.02)
    hottest = shown.scene.chart["datasets"]["hottest"]
    assert [row["full"] for row in hottest] == [True] + [False] * 9
    shown.set(parts=4)
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)


# ------------------------------------------------------------------------------------ 4A, 4B: how Spanner cuts (L4)


def test_4a_cuts_double_every_second_minute():
    shown = panel("4A")
    counts = [len(shown.set(minute=minute).scene.chart["datasets"]["splits"]) for minute in range(1, 14)]
    assert counts == [1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64]
    shown.set(minute=5)
    assert shown.scene.sentence == "Minute 5: 4 splits, 7,200 of 50,000 writes/s."
    assert {cell["heat"] for cell in shown.scene.chart["datasets"]["splits"]} == {"hot: 100"}
    assert status(shown).endswith("Minute 13 → 5: committed writes/s fall from 50,000 to 7,200; splits 64 → 4.")
    assert status(shown.set(minute=6)).endswith("Minute 5 → 6: committed writes/s stay at 7,200.")


def test_4a_sixteen_shards_stop_at_sixteen_splits():
    shown = panel("4A").set(key="(shard(16), ulid)", offered=12_000, minute=7)
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert shown.set(minute=6).scene.headline[1] == pytest.approx(7_190, rel=0.02)
    assert len(shown.set(minute=20).scene.chart["datasets"]["splits"]) == 16


def test_4a_split_points_buy_nothing_for_a_time_key():
    shown = panel("4A").set(key="now", start=300)
    heats = [cell["heat"] for cell in shown.scene.chart["datasets"]["splits"]]
    assert (len(heats), heats.count("idle"), heats.count("hot: 100")) == (300, 299, 1)
    assert shown.scene.headline[1] == pytest.approx(1_800, rel=0.02)


@pytest.mark.parametrize(("key", "committed"), [("hot_row", 1_800), ("ids(8)", 12_000)])
def test_4a_a_row_is_the_atom(key, committed):
    shown = panel("4A").set(key=key, offered=12_000, minute=20)
    assert shown.scene.headline[1] == pytest.approx(committed, rel=0.02)


@pytest.mark.parametrize(("ratio", "committed"), [(0.0, 12_000), (0.3, 2_760), (0.5, 1_870), (1.5, 1_800)])
def test_4b_the_law_of_moving_fronts(ratio, committed):
    shown = panel("4B").set(ratio=ratio)
    assert shown.scene.headline[1] == pytest.approx(committed, rel=0.08)
    assert shown.scene.chart["datasets"]["run"][-1]["ratio"] == ratio


def test_4b_has_one_control_with_its_range():
    shown = panel("4B")
    (box,) = find(shown.widget, (widgets.BoundedFloatText, widgets.Dropdown))
    assert box.description == "vτ ÷ w (0 to 1.5)"
    assert "vτ ÷ w 1 → 0: committed writes/s rise from 1,800 to 12,000." in status(shown.set(ratio=0.0))


# --------------------------------------------------------------------------------------------------- 5A: heat (L5)


def test_5a_age_flattens_a_diagonal():
    shown = panel("5A")
    assert repr(shown) == "5A · Heat: Brightest range changes 29 times in 30 columns: the hot place moves."
    shown.set(history="90d")
    assert "changes 0 times in 30 columns" in shown.scene.sentence
    assert status(shown).endswith("writes in the brightest range rise from 47 % to 100 %.")


def test_5a_a_random_key_has_no_bright_range():
    """64 ranges of equal size: each gets 1/64 of the writes, the brightest a little more by chance."""
    shown = panel("5A").set(workload="hits_by_uuid")
    assert status(shown).endswith("writes in the brightest range fall from 47 % to 2 %.")


def test_5a_a_hot_row_is_a_stripe():
    assert "changes 0 times in 30 columns" in panel("5A").set(workload="hot_row").scene.sentence


def test_5a_an_index_on_the_time_has_a_band_of_its_own():
    shown = panel("5A").set(workload="hits_with_index")
    keys = [row["key"] for row in shown.scene.chart["datasets"]["keys0"]]
    assert {"ByHitAt: first key", "Hits: first key"} <= set(keys)
    assert "the hot place moves" in shown.scene.sentence


@pytest.mark.parametrize("minutes", [5, 30])
def test_5a_two_columns_a_minute(minutes):
    assert f"in {2 * minutes} columns" in panel("5A").set(minutes=minutes).scene.sentence


# ---------------------------------------------------------------------------------------------- the benches of labs


def test_a_the_old_key_stays_at_1800_on_60_nodes():
    shown = panel("A").set(nodes=60, minute=20)
    assert shown.scene.headline[1] == pytest.approx(1_800, rel=0.02)
    assert "p99 5.7 s, 1 of 60 servers at work, mean CPU 1 %" in shown.scene.sentence


def test_a_a_cold_table_is_late_and_a_warm_one_is_not():
    shown = panel("A").set(key="uuid4")
    full = [shown.set(minute=minute).scene.headline[1] > 49_000 for minute in range(1, 21)]
    assert full[12:] == [True] * 8
    assert not any(full[:10])
    shown.set(points=220, minute=1)
    assert shown.scene.headline[1] == pytest.approx(50_000, rel=0.02)


def test_b_sixteen_shards_and_the_hidden_index():
    shown = panel("B")
    assert shown.scene.sentence == "1,800 of 12,000 writes/s commit; p99 409 ms; a one-day scan visits 1 range."
    assert shown.scene.headline[1] == pytest.approx(1_800, rel=0.02)
    shown.set(shards=16)
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert shown.scene.state[1] == pytest.approx(18.6, rel=0.1)
    shown.set(reference="id")
    assert shown.scene.headline[1] == pytest.approx(1_800, rel=0.02)
    assert "Spanner adds an index for the foreign key: IDX_LedgerEntries_EntryId" in shown.scene.sentence
    shown.set(reference="key")
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert "adds an index" not in shown.scene.sentence


def test_b_fifty_thousand_are_too_many_for_sixteen_shards():
    shown = panel("B").set(shards=16, nodes=30, offered=50_000)
    assert shown.scene.headline[1] == pytest.approx(28_700, rel=0.02)


# --------------------------------------------------------------------------------------------------- ready pictures


def test_a_key_line_of_eight_bit_reversed_ids():
    dots = key_line("bit_reversed", 8).chart["datasets"]["dots"]
    assert [dot["place"] for dot in dots] == [0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875, 0.0625]
    dots = key_line("seq", 8).chart["datasets"]["dots"]
    assert [(dot["place"], dot["level"]) for dot in dots] == [(0, level) for level in range(1, 9)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("uuid5", 8), "Did you mean uuid"), (("seq", 0), "n is 0; a whole number from 1 to 500")],
)
def test_a_key_line_that_cannot_be_drawn(arguments, message):
    with pytest.raises(ValueError, match=message):
        key_line(*arguments)


def test_heat_of_a_table_by_name_and_of_a_run():
    named = heat("hits_by_time", history="0h")
    assert repr(named) == "hits_by_time: Brightest range changes 89 times in 90 columns: the hot place moves."
    assert "no single hot place" in repr(heat("hits_by_uuid"))
    run = simulate("now", writes_per_second=1_000, nodes=3, minutes=5)
    assert "in 30 columns" in repr(heat(run))


def test_heat_of_two_side_by_side():
    both = heat(["hits_by_time", "hits_by_uuid"])
    assert repr(both) == f"{heat('hits_by_time')} {heat('hits_by_uuid')}"
    assert set(both.chart["datasets"]) == {"picture0", "keys0", "picture1", "keys1"}
    for number, name in enumerate(("hits_by_time", "hits_by_uuid")):
        assert both.chart["datasets"][f"picture{number}"] == heat(name).chart["datasets"]["picture0"]


@pytest.mark.parametrize("names", [[], ["hits_by_time"] * 3])
def test_heat_takes_one_or_two(names):
    with pytest.raises(ValueError, match=f"what is a list of {len(names)}; one or two"):
        heat(names)


@pytest.mark.parametrize("names", [["hits_by_time", "p1"], ["p1", "p9"]])
def test_heat_keeps_the_pictures_of_challenge_51_apart(names):
    with pytest.raises(ValueError, match="what has 'p1' beside others"):
        heat(names)


def test_heat_knows_its_tables():
    with pytest.raises(ValueError, match=r"no table 'hits_by_uid'.*Did you mean hits_by_uuid"):
        heat("hits_by_uid")


def test_the_pictures_of_challenge_51_show_what_they_should_and_do_not_say_it():
    """p1 moves through all rows, p2 is even, p3 stays, p4 wanders several times, p5 begins half-way."""
    run = {name: make().key_visualizer(64, 30, "0h") for name, make in RIDDLES.items()}
    assert run["p1"].brightest == sorted(run["p1"].brightest)
    assert len(set(run["p1"].brightest)) > 25
    assert run["p2"].brightest_share < 0.025
    assert len(set(run["p3"].brightest)) == 1
    falls = [later < earlier for earlier, later in pairwise(run["p4"].brightest)]
    assert sum(falls) >= 3  # a new slant begins each time
    load = run["p5"].writes.sum(axis=0)
    assert load[:15].max() < 0.1 * load[15:].min()
    for name in RIDDLES:
        scene = heat(name)
        text = repr(scene) + json.dumps({key: scene.chart[key] for key in ("description", "hconcat", "title")})
        assert not re.search("moves|stays|hot place|no single|sequential|roving|sudden", text)
        assert repr(scene).startswith(name)


def test_the_pictures_of_challenge_51_are_drawn_side_by_side_as_they_are_alone():
    together = heat(list(RIDDLES))
    assert repr(together) == " ".join(repr(heat(name)) for name in RIDDLES)
    for number, name in enumerate(RIDDLES):
        assert together.chart["datasets"][f"picture{number}"] == heat(name).chart["datasets"]["picture0"]
    assert [view["title"]["text"] for view in together.chart["hconcat"]] == list(RIDDLES)


def test_compare_shows_two_tables_that_differ_in_one_line():
    scene = compare(["hits_by_time", "hits_by_uuid"], writes_per_second=12_000, nodes=10)
    assert repr(scene) == (
        "hits_by_time: 1,800 of 12,000 writes/s commit; 1 of 10 servers works; p99 409 ms. "
        "hits_by_uuid: 12,000 of 12,000 writes/s commit; 10 of 10 servers work; p99 16.5 ms."
    )
    assert [len(scene.chart["datasets"][f"servers{number}"]) for number in (0, 1)] == [10, 10]


def test_compare_gives_the_same_bytes_each_time():
    def stored():
        return json.dumps(
            compare(["hits_by_time", "hits_by_uuid"], writes_per_second=12_000, nodes=10)._repr_mimebundle_()
        )

    assert stored() == stored()


def test_compare_knows_its_tables():
    with pytest.raises(ValueError, match=r"no table 'hits_by_tim'.*Did you mean hits_by_time\?"):
        compare(["hits_by_tim"], writes_per_second=12_000, nodes=10)


@pytest.mark.parametrize("tables", ["hits_by_time", [], ["hits_by_time"] * 5])
def test_compare_takes_one_to_four(tables):
    with pytest.raises(ValueError, match="a list of one to four names is wanted"):
        compare(tables, writes_per_second=12_000, nodes=10)


@pytest.mark.parametrize(
    ("table", "committed"),
    [("hits_by_counter", 1_800), ("hits_by_ulid", 1_800), ("hits_by_sequence", 12_000), ("hits_by_shard", 12_000)],
)
def test_the_ids_that_only_look_random(table, committed):
    scene = compare([table], writes_per_second=12_000, nodes=10)
    bars = scene.chart["datasets"]["servers0"]
    assert sum(bar["writes"] for bar in bars) == pytest.approx(committed, rel=0.02)


def test_stairs_of_a_sweep_of_shards():
    scene = stairs(sweep("ulid", writes_per_second=12_000, nodes=10, shards=[1, 2, 4, 8]))
    steps = scene.chart["datasets"]["steps"]
    assert [row["committed"] for row in steps] == pytest.approx([1_800, 3_600, 7_190, 12_000], rel=0.02)
    assert [row["cost"] for row in steps] == [1, 2, 4, 8]
    assert repr(scene).startswith("Committed of 12,000 writes/s, by shards: 1: 1,800, 2: 3,600, 4: 7,")


def test_stairs_of_a_sweep_of_nodes_cost_idle_servers():
    steps = stairs(sweep("now", writes_per_second=12_000, nodes=[3, 30])).chart["datasets"]["steps"]
    assert [row["cost"] for row in steps] == [2, 29]


def test_stairs_without_a_step():
    with pytest.raises(ValueError, match="rows is empty"):
        stairs([])


def test_cuts_of_a_run():
    run = simulate("uuid4", writes_per_second=50_000, nodes=30, start="cold", minutes=5)
    assert repr(cuts(run)) == "Minute 5: 4 splits, 7,200 of 50,000 writes/s."
    assert repr(cuts(run, 1)) == "Minute 1: 1 split, 1,800 of 50,000 writes/s."
    with pytest.raises(ValueError, match="minute is 6; the run has minutes 1 to 5"):
        cuts(run, 6)


def test_latency_of_two_runs():
    runs = {rate: simulate("now", writes_per_second=rate, nodes=3, minutes=2) for rate in (1_500, 1_900)}
    scene = latency({f"{rate:,}/s": run for rate, run in runs.items()})
    assert [end["ms"] for end in scene.chart["datasets"]["ends"]] == pytest.approx([30, 409], rel=0.1)
    assert "p99 of commits in the last minute: 1,500/s: " in repr(scene)


def test_servers_with_little_to_do_work_too():
    said = panel("1A").set(key="uuid4", nodes=10, offered=500).scene.sentence
    assert said.startswith("500 of 500 writes/s commit; 10 of 10 servers work;")
