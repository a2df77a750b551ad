"""A small front end for a terminal."""
