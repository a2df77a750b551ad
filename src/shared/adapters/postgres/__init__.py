"""The store on PostgreSQL 13 or newer: four tables, one statement per call, and the database's own locks."""

from shared.adapters.postgres.store import PostgresStore, drop_schema

__all__ = ["PostgresStore", "drop_schema"]
