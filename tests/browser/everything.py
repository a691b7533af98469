"""Every picture and panel of the course in a notebook, and another with each move that lessons propose for a panel."""

from __future__ import annotations

from pathlib import Path

SETUP = """
import spanlab as sl
from spanlab.panels import compare, cuts, heat, index_sizes, key_line, latency, panel, plans, reads, shelf, stairs

purchases = sl.data("shop_flat").into()
purchases.apply_ddl("CREATE INDEX ByTime ON Purchases (BoughtAt)")
since = {"d": sl.data.day(90)}
QUERY = "SELECT Total FROM Purchases@{{FORCE_INDEX={}}} WHERE BoughtAt >= @d"
two_plans = {name: purchases.explain(QUERY.format(name), since) for name in ("_BASE_TABLE", "ByTime")}
"""
LOOK_ALIKES = ["hits_by_ulid", "hits_by_uuid1", "hits_by_uuid", "hits_by_sequence"]
PICTURES = {
    "compare": 'compare(["hits_by_time", "hits_by_uuid"], writes_per_second=12_000, nodes=10)',
    "compare_four": f"compare({LOOK_ALIKES}, writes_per_second=12_000, nodes=10)",
    "key_line_counter": 'key_line("seq", 8)',
    "key_line_reversed": 'key_line("bit_reversed", 8)',
    "stairs": 'stairs(sl.sweep("ulid", writes_per_second=12_000, nodes=10, shards=[1, 2, 4, 6, 8, 16]))',
    "cuts": 'cuts(sl.simulate("uuid4", writes_per_second=50_000, nodes=30, start="cold", minutes=13), 7)',
    "latency": 'latency({f"{n:,}/s": sl.simulate("now", writes_per_second=n, minutes=3) for n in (1_500, 1_900)})',
    "heat_time": 'heat("hits_by_time", history="0h")',
    "heat_uuid": 'heat("hits_by_uuid")',
    "riddle_p4": 'heat("p4")',
    "riddles": 'heat(["p1", "p2", "p3", "p4", "p5"])',
    "shelf": 'shelf(["cascade", "separate"])',
    "reads": "reads(two_plans)",
    "plans": "plans(two_plans)",
    "index_sizes": "index_sizes(purchases)",
}
MOVES = {
    "1A": ["nodes=30", "nodes=300", 'key="uuid4"', 'key="uuid4", nodes=4', "offered=1_500", "offered=1_900"],
    "2A": ['generator="bit_reversed"', 'generator="ulid", seconds=60', 'generator="uuid1", seconds=60', "keys=64"],
    "3A": ["shards=4", "shards=8", "shards=64", 'shards=16, expression="signed"'],
    "3B": ["percent=10", "percent=20", "percent=20, parts=4"],
    "4A": ["minute=13", 'key="(shard(16), ulid)", offered=12_000, minute=7', 'key="now", start=300'],
    "4B": ["ratio=0.0", "ratio=0.3", "ratio=0.55"],
    "5A": [
        'history="90d"',
        'workload="hot_row"',
        'workload="hits_with_index"',
        'workload="hits_by_user", minutes=30',
    ],
    "6A": ['layout="separate"', "ratio=2.5", "index=True", 'layout="in", purchases=0'],
    "7A": ["matched=20_000", "asked=0", "index=4", "index=-1"],
    "7B": ['led="time"', 'led="shards"', "even=3", "even=3, nodes=20"],
    "8A": ["percent=50", "offered=100_000", 'offered=100_000, due="ahead(1209600)"', 'form="plain"'],
    "8B": ["shards=8", 'shards=16, read="day"', "shards=16, offered=30_000"],
    "9A": [
        'index="(BoughtAt)"',
        'query="newest", index="(BoughtAt DESC)"',
        'query="join", family=False',
        'query="prefix", index="(BoughtAt)"',
    ],
    "A": ["nodes=60", 'key="uuid4", minute=13', 'key="uuid4", points=220', 'key="(shard(44), now)", points=220'],
    "B": ["shards=16", 'shards=16, reference="id"', "shards=16, offered=50_000"],
}
AT_REST = PICTURES | {f"panel_{name}": f'panel("{name}")' for name in MOVES}
MOVED = {
    f"panel_{name}_{number}": f'panel("{name}").set({move})'
    for name, moves in MOVES.items()
    for number, move in enumerate(moves, 1)
}
NOTEBOOKS = {"every_picture.ipynb": AT_REST, "every_move.ipynb": MOVED}


def write_notebook(path: Path) -> None:
    """Writes one of the two notebooks, run once, as a lesson is stored."""
    import nbformat
    from nbclient import NotebookClient
    from nbformat import v4

    cells = [v4.new_markdown_cell("# Every picture"), v4.new_code_cell(SETUP.strip())]
    cells += [v4.new_code_cell(source) for source in NOTEBOOKS[path.name].values()]
    notebook = v4.new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    NotebookClient(notebook, timeout=120, store_widget_state=False).execute()
    notebook.metadata.pop("widgets", None)
    nbformat.write(notebook, path)
