"""The SQL of this package: files beside it, read once, with the schema's name put in."""

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

from psycopg import sql

from shared.errors import Misconfigured

FILES: Final = ("accepting.sql", "executing.sql", "reading.sql", "questioning.sql", "forking.sql")
SCHEMA: Final = ("schema.sql", "schema_2.sql", "schema_3.sql", "schema_4.sql")
"""The versions of the schema, in order: each file brings the version before it to its own."""

_NAMED: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)


def statements(schema: str) -> Mapping[str, bytes]:
    """Return every statement by its name."""
    named: dict[str, bytes] = {}
    for file in FILES:
        _, *parts = _NAMED.split(_text(file))
        named |= {name: composed(text.strip(), schema) for name, text in zip(parts[::2], parts[1::2], strict=True)}
    return named


def schema_steps(schema: str) -> Sequence[bytes]:
    """Return the scripts that make the schema, one per version."""
    return [composed(_text(file), schema) for file in SCHEMA]


def composed(text: str, schema: str) -> bytes:
    """Put the schema's name into a text, quoted as an identifier.

    Raises:
        Misconfigured: it is no plain name; quoting would allow it, people who read logs would not.
    """
    if _IDENTIFIER.fullmatch(schema) is None:
        problem = f"{schema!r} is no name for a schema"
        raise Misconfigured("store", problem, "take letters, digits and underscores (at most 63)")
    return sql.SQL(text).format(schema=sql.Identifier(schema)).as_bytes()


def _text(file: str) -> str:
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
