"""Recognise English sentences of the catalogue where they come back as text, so that they can be shown in Chinese.

Services do not know languages: what goes wrong in them, and in the loader of a tree, is said in English, in errors and
on log lines. The areas below have those sentences as templates. What matches one of them becomes the message that it
is, with what stood in its places; whatever else is a value, and stays as it is. English comes out as it went in.

An error that a command of ours raises is worded in the same way: plain English where it is raised, and a template in
`texts/*/faults.py`. A test reads all of them from the source.
"""

import re
from functools import cache
from typing import Final

from selfcheck.texts import Message, Words, area_texts, say
from shared.errors import KodaError, Misconfigured, Unavailable

AREAS: Final = ("faults", "strays")

_PLACE = re.compile(r"\{(\w+)\}")


def recognised(sentence: str, areas: tuple[str, ...] = AREAS) -> Words:
    """Return the message that a sentence is, what is in its places recognised as well; else the sentence."""
    for key, pattern in _patterns(areas):
        match = pattern.fullmatch(sentence)
        if match is not None:
            return Message(key, {place: recognised(filled, areas) for place, filled in match.groupdict().items()})
    return sentence


def explained(fault: KodaError) -> Words:
    """Return the text of an error, in words."""
    if isinstance(fault, Misconfigured):
        problem, remedy = recognised(fault.problem), recognised(fault.remedy)
        return say("console.misconfigured", service=service_name(fault), problem=problem, remedy=remedy)
    if isinstance(fault, Unavailable):
        return say("console.away", service=service_name(fault), problem=recognised(fault.problem))
    return recognised(str(fault))


def service_name(fault: Unavailable) -> Words:
    """Return what the service is called that did not do its part; one that is not ours by its own word."""
    return say(f"services.{fault.service}") if fault.service in area_texts("en", "services") else fault.service


@cache
def _patterns(areas: tuple[str, ...]) -> list[tuple[str, "re.Pattern[str]"]]:
    """Return all templates as patterns: those first that say more of their own, for others may match as well."""
    found = [(f"{area}.{name}", template) for area in areas for name, template in area_texts("en", area).items()]
    found.sort(key=lambda each: len(_PLACE.sub("", each[1])), reverse=True)
    return [(key, _pattern(template)) for key, template in found]


def _pattern(template: str) -> "re.Pattern[str]":
    parts = _PLACE.split(template)
    literals = [re.escape(part) for part in parts[::2]]
    seen: set[str] = set()
    built = literals[0]
    for place, literal in zip(parts[1::2], literals[1:], strict=True):
        built += (f"(?P={place})" if place in seen else f"(?P<{place}>.+?)") + literal
        seen.add(place)
    return re.compile(built, re.DOTALL)
