"""Queries: plans as Spanner draws them, rows, and what they cost."""

from spanlab.query.database import Database
from spanlab.query.plans import Plan, Result
from spanlab.query.real_plans import read_plan
from spanlab.storage import DataSets

__all__ = ["Database", "Plan", "Result", "data", "read_plan"]

data = DataSets(Database)
"""The course's data sets, in databases that can be queried (`spanlab.storage.data`)."""
