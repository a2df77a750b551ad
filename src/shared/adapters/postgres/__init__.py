"""The store on PostgreSQL 13 or newer: six tables, one statement per call, and the database's own locks."""

from shared.adapters.postgres.store import PostgresStore, check_database, drop_schema

__all__ = ["PostgresStore", "check_database", "drop_schema"]
