"""A text that grows by fragments and never changes: appending copies a logarithmic part of it, not all of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Fragments:
    """A text in parts, each at least twice as long as the next. Equal to another when the texts are; `str` joins it."""

    parts: tuple[str, ...] = ()

    def plus(self, fragment: str) -> "Fragments":
        """Return the text with this behind it."""
        if not fragment:
            return self
        keep, size = len(self.parts), len(fragment)
        while keep and len(self.parts[keep - 1]) < 2 * size:
            keep -= 1
            size += len(self.parts[keep])
        return Fragments((*self.parts[:keep], "".join((*self.parts[keep:], fragment))))

    def __str__(self) -> str:
        return "".join(self.parts)

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Fragments) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))
