"""As much of JSON Schema (draft 2020-12) as our contract uses, and an assertion where it uses more."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from shared.events import Json

SAYS_NOTHING: Final = {"$schema", "$defs", "title", "description", "discriminator"}

_TYPES: Final[dict[str, Callable[[Json], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


class Schema:
    """A schema document, against whose parts values are held."""

    def __init__(self, document: dict[str, Json]) -> None:
        self._document = document

    def faults(self, value: Json, part: str) -> list[str]:
        """Return what is wrong with a value that is said to be `$defs.part`: nothing, when it is one."""
        return list(self._faults(value, {"$ref": f"#/$defs/{part}"}, "$"))

    def _faults(self, value: Json, schema: Json, at: str) -> Iterator[str]:
        assert isinstance(schema, dict)
        for keyword, wanted in schema.items():
            if keyword not in SAYS_NOTHING:
                yield from self._broken(keyword, wanted, value, schema, at)

    def _broken(self, keyword: str, wanted: Json, value: Json, schema: dict[str, Json], at: str) -> Iterator[str]:
        match keyword, wanted:
            case "$ref", str():
                yield from self._faults(value, self._at(wanted), at)
            case "anyOf", list():
                if all(list(self._faults(value, each, at)) for each in wanted):
                    yield f"{at}: {value!r} is none of the alternatives"
            case "type", str():
                if not _TYPES[wanted](value):
                    yield f"{at}: {value!r} is no {wanted}"
            case "enum", list():
                if value not in wanted:
                    yield f"{at}: {value!r} is not in {wanted}"
            case "required", list():
                missing = [name for name in wanted if isinstance(value, dict) and name not in value]
                yield from (f"{at}.{name}: is missing" for name in missing)
            case "properties", dict():
                for name in wanted.keys() & (value.keys() if isinstance(value, dict) else set()):
                    assert isinstance(value, dict)
                    yield from self._faults(value[name], wanted[name], f"{at}.{name}")
            case "additionalProperties", dict():
                assert "properties" not in schema and isinstance(value, dict)
                for name, each in value.items():
                    yield from self._faults(each, wanted, f"{at}.{name}")
            case "items", dict():
                for n, each in enumerate(value if isinstance(value, list) else []):
                    yield from self._faults(each, wanted, f"{at}[{n}]")
            case (("minimum" | "minLength" | "maxLength" | "pattern" | "format"), _):
                if not _within(keyword, wanted, value):
                    yield f"{at}: {value!r} breaks {keyword} {wanted}"
            case _:
                raise AssertionError(f"this keyword is not known here: {keyword}")

    def _at(self, pointer: str) -> Json:
        found: Json = self._document
        for step in pointer.removeprefix("#/").split("/"):
            assert isinstance(found, dict)
            found = found[step]
        return found


def _within(keyword: str, wanted: Json, value: Json) -> bool:
    match keyword, wanted, value:
        case "minimum", int(), int() | float():
            return value >= wanted
        case "minLength", int(), str():
            return len(value) >= wanted
        case "maxLength", int(), str():
            return len(value) <= wanted
        case "pattern", str(), str():
            return re.search(wanted, value) is not None
        case "format", "date-time", str():
            return datetime.fromisoformat(value).tzinfo is not None
    return not isinstance(value, str | int | float)  # a keyword is for values of its own kind
