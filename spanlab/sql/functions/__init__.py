"""The functions of GoogleSQL that the course knows, by theme, in one table."""

from spanlab.sql.functions import arrays, numbers, texts, times
from spanlab.sql.functions.registry import FUNCTIONS, Fault, Overload

__all__ = ["FUNCTIONS", "Fault", "Overload", "arrays", "numbers", "texts", "times"]
