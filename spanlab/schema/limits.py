"""The limits of one database (facts.md 12; the documentation's page `quotas`)."""

TABLES = 5_000
INDEXES = 10_000
INDEXES_ON_A_TABLE = 128
VIEWS = 5_000
VIEW_NESTING = 10
COLUMNS_OF_A_TABLE = 1_024
KEY_COLUMNS = 16
"""In a table's key, the inherited columns counted; in an index, the columns of the table's key counted."""

INTERLEAVING_DEPTH = 7
"""Levels below the root, so that eight tables may lie on one path (facts.md 3.3)."""

NAME_LENGTH = 128
STRING_LENGTH = 2_621_440
BYTES_LENGTH = 10_485_760
EXPRESSION_DEPTH = 20
"""How deep calls and operators may be nested in the expression of a column or a CHECK [emulator]."""

STATEMENT_BYTES = 10 * 2**20
"""The DDL of one schema change."""
