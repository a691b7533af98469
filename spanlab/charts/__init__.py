"""The pictures of the course: data in, a Vega-Lite specification out.

A chart knows no widget and runs no simulation. Its specification is written by Altair, which checks it, and made once;
afterwards only data and titles are put in, because writing a specification is slower than simulating ten minutes.
"""

from spanlab.charts.renderer import MIME, Figure, Scene, Spec, bundle
from spanlab.charts.servers import Servers, server_bars
from spanlab.charts.style import milliseconds, rounded, thousands

__all__ = [
    "MIME",
    "Figure",
    "Scene",
    "Servers",
    "Spec",
    "bundle",
    "milliseconds",
    "rounded",
    "server_bars",
    "thousands",
]
