"""The panels of the course: controls, one picture, one sentence (`sl.panel("1A")`), and its ready pictures.

A panel holds no arithmetic: it is a pure function from parameters to a scene, and the wiring around it.
"""

from spanlab.errors import suggest
from spanlab.panels.benches import ledger, sale
from spanlab.panels.catalogue import catalogue, reads
from spanlab.panels.cutter import cutter, front_and_width
from spanlab.panels.family_shelf import family_shelf, shelf
from spanlab.panels.heat import heat, heat_panel
from spanlab.panels.index_price import index_price
from spanlab.panels.index_shards import index_shards
from spanlab.panels.key_printer import key_line, key_printer
from spanlab.panels.one_key import compare, one_key_many_servers
from spanlab.panels.panel import Panel
from spanlab.panels.pictures import cuts, latency, stairs
from spanlab.panels.plan_explorer import plan_explorer, plans
from spanlab.panels.servers import servers
from spanlab.panels.shards import giant, shards
from spanlab.panels.sparse import index_sizes, sparse

_PANELS = {
    "1A": one_key_many_servers,
    "2A": key_printer,
    "3A": shards,
    "3B": giant,
    "4A": cutter,
    "4B": front_and_width,
    "5A": heat_panel,
    "6A": family_shelf,
    "7A": catalogue,
    "7B": index_price,
    "8A": sparse,
    "8B": index_shards,
    "9A": plan_explorer,
    "A": sale,
    "B": ledger,
}


def panel(name: str) -> Panel:
    """The panel with that name, for example "1A". ValueError names the panels that exist."""
    if name not in _PANELS:
        raise ValueError(f"There is no panel {name!r}; there are {', '.join(_PANELS)}.{suggest(str(name), _PANELS)}")
    return _PANELS[name]()


__all__ = [
    "Panel",
    "compare",
    "cuts",
    "heat",
    "index_sizes",
    "key_line",
    "latency",
    "panel",
    "plans",
    "reads",
    "servers",
    "shelf",
    "stairs",
]
