"""Schemas: the objects of a database, and the rules that Spanner enforces on them."""

from spanlab.schema.schema import Schema

__all__ = ["Schema"]
