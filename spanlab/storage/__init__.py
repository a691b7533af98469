"""Rows in key order: tables, indexes, commits, schema changes, data sets."""

from spanlab.storage.commits import Commit
from spanlab.storage.counting import mutations
from spanlab.storage.data import DataSets, data
from spanlab.storage.database import Database
from spanlab.storage.loading import batches
from spanlab.storage.participants import participants
from spanlab.storage.schema_changes import backfill

__all__ = ["Commit", "DataSets", "Database", "backfill", "batches", "data", "mutations", "participants"]
