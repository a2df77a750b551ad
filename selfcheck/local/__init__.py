"""A Valkey and a PostgreSQL of our own, for as long as they are needed."""
