"""Every number of the system, once.

Each can be set by an environment variable of the same name with `KODA_` in front: `KODA_LEASE=15s`,
`KODA_FLUSH_EVERY=200ms`, `KODA_MAX_TEXT=8000`. A duration is a number with `ms`, `s`, `min` or `h` behind it.
`selfcheck doctor` shows which values are in force and where they come from.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from datetime import timedelta
from typing import Final

from shared.errors import Misconfigured

PREFIX: Final = "KODA_"

_UNITS: Final = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_DURATION: Final = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|min|h)", re.ASCII)
_WHOLE: Final = re.compile(r"\d{1,12}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}", re.ASCII)


def _wrong(variable: str, value: str, expected: str) -> Misconfigured:
    return Misconfigured("settings", f"{variable}={value!r} is not {expected}", f"change {variable} or unset it")


def parse_duration(variable: str, value: str) -> timedelta:
    """Read a duration such as `15s` or `200ms`.

    Raises:
        Misconfigured: the text is not a number with a unit behind it. The message names the variable.
    """
    match = _DURATION.fullmatch(value)
    if match is None:
        raise _wrong(variable, value, "a duration such as 200ms, 15s, 10min or 6h")
    return timedelta(seconds=float(match[1]) * _UNITS[match[2]])


def _parse_whole(variable: str, value: str) -> int:
    if _WHOLE.fullmatch(value) is None:
        raise _wrong(variable, value, "a whole number")
    return int(value)


def _parse_name(variable: str, value: str) -> str:
    if _NAME.fullmatch(value) is None:
        raise _wrong(variable, value, "a name of letters, digits and underscores (at most 41)")
    return value


def _merge_window(environment: Mapping[str, str]) -> timedelta:
    value = environment.get(f"{PREFIX}MERGE_WINDOW")
    return timedelta(seconds=30) if value is None else parse_duration(f"{PREFIX}MERGE_WINDOW", value)


def _merge_window_at_import() -> timedelta:
    """Return the merge window. A value that cannot be read is told when the settings are, not to whoever imports."""
    try:
        return _merge_window(os.environ)
    except Misconfigured:
        return _merge_window({})


MERGE_WINDOW: Final = _merge_window_at_import()
"""How young (strictly) a run must be to take one more message: 30 s.

The merge criteria, the expiry of the rerun mark and the front end's hint all refer to this one value, which is why it
is a constant that exercises can import and not a field below.
"""


# `zero` says that a setting may be zero. All others would stop the system with it, or have it turn without a pause.


def _seconds(value: float, why: str, *, zero: bool = False) -> timedelta:
    default: timedelta = field(default=timedelta(seconds=value), metadata={"why": why, "zero": zero})
    return default


def _whole(value: int, why: str, *, zero: bool = False) -> int:
    default: int = field(default=value, metadata={"why": why, "zero": zero})
    return default


def _name(value: str, why: str) -> str:
    default: str = field(default=value, metadata={"why": why, "zero": False})
    return default


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The numbers in force. Immutable; made once per process by `Settings.from_environment`."""

    prefix: str = _name("koda", "begins every key of ours on the bus")
    schema: str = _name("koda", "the SQL schema that holds our tables")

    heartbeat: timedelta = _seconds(15, "silence after which a waiter gets a comment and the run's status is re-read")
    retry: timedelta = _seconds(1, "how long a client waits before it reconnects (SSE `retry`)", zero=True)
    reorder_limit: int = _whole(64, "events held behind a hole before it is filled from the store", zero=True)
    reorder_wait: timedelta = _seconds(2, "how long a hole may stay open before it is filled from the store", zero=True)
    replay_cap: int = _whole(2000, "events replayed one by one; more are sent as one snapshot", zero=True)
    max_connection_age: timedelta = _seconds(600, "a stream ends at 80 to 100 % of this, so that clients spread out")
    send_timeout: timedelta = _seconds(10, "a client that takes nothing for this long is dropped")
    request_timeout: timedelta = _seconds(10, "how long a client may take to send a request's head, and its body")
    keep_alive: timedelta = _seconds(75, "how long a connection is kept for another request: longer than proxies do")
    max_text: int = _whole(8000, "code points in a message")
    max_body: int = _whole(64 * 1024, "bytes in a request body")
    max_waiters: int = _whole(10_000, "streams open at once in one gateway")
    max_run_waiters: int = _whole(2_000, "streams open at once on one run in one gateway")
    ping_every: timedelta = _seconds(15, "how often a socket's client is pinged, and its session looked up for runs")
    pong_wait: timedelta = _seconds(10, "a socket from which nothing comes for this long after a ping is closed")
    max_sockets: int = _whole(10_000, "sockets open at once in one gateway")
    max_session_sockets: int = _whole(100, "sockets open at once on one session in one gateway")

    flush_rows: int = _whole(32, "events after which the writer flushes to the store")
    flush_every: timedelta = _seconds(0.2, "age of the oldest unflushed event at which the writer flushes", zero=True)
    lease: timedelta = _seconds(15, "how long a claim holds without being renewed")
    renew_every: timedelta = _seconds(5, "how often a worker renews all its leases, in one statement")
    max_attempts: int = _whole(3, "attempts of one run that may fail, or lose their worker, before the run has failed")
    backoff_cap: timedelta = _seconds(
        10, "the longest pause before the next attempt (1 s · 2ⁿ, with jitter)", zero=True
    )
    first_piece_wait: timedelta = _seconds(30, "how long a model may be silent before its first piece")
    next_piece_wait: timedelta = _seconds(30, "how long a model may be silent between two pieces")
    max_attempt_age: timedelta = _seconds(600, "how long one attempt of a run may take")
    drain: timedelta = _seconds(10, "how long a process may take to end after SIGTERM", zero=True)
    max_report: int = _whole(64 * 1024, "characters of a report of a run, such as a tool's result, that its log keeps")
    max_forks: int = _whole(64, "sub-runs that a run may split off, until it begins again")
    concurrency: int = _whole(64, "runs that one worker executes at once")
    look_every: timedelta = _seconds(0.5, "how often the marks are read while the model is silent")
    sweep_every: timedelta = _seconds(5, "how often lost doorbells, dead owners and old logs are looked for")
    model: str = _name("scripted", "which model answers: scripted, or openai with the OPENAI_ variables")
    fragment_pace: timedelta = _seconds(0.04, "the scripted model's pause between two fragments", zero=True)

    retention: timedelta = _seconds(6 * 3600, "age at which an ended run's rows become one text", zero=True)
    out_stream_ttl: timedelta = _seconds(900, "how long an ended run's output stream is kept", zero=True)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Read the settings that `environment` overrides; all others keep their defaults.

        Raises:
            Misconfigured: a value cannot be read or would not work. The message names the variable and what it should
                look like.
        """
        _merge_window(environment)
        given: dict[str, timedelta | int | str] = {}
        for setting in fields(cls):
            variable = variable_of(setting)
            if variable in environment:
                given[setting.name] = _parse_like(setting, variable, environment[variable])
        settings = cls(**given)  # type: ignore[arg-type]  # each value was parsed by its own field's type
        if settings.renew_every >= settings.lease:
            problem = (
                f"{PREFIX}RENEW_EVERY ({settings.renew_every}) is not shorter than {PREFIX}LEASE ({settings.lease})"
            )
            raise Misconfigured("settings", problem, "change one of them")
        return settings


def variable_of(setting: "Field[object]") -> str:
    """Return the environment variable that overrides this field of `Settings`."""
    return PREFIX + setting.name.upper()


def _parse_like(setting: "Field[object]", variable: str, value: str) -> timedelta | int | str:
    parsed: timedelta | int | str
    if isinstance(setting.default, timedelta):
        parsed = parse_duration(variable, value)
    elif isinstance(setting.default, int):
        parsed = _parse_whole(variable, value)
    else:
        parsed = _parse_name(variable, value)
    if not parsed and not setting.metadata["zero"]:
        raise _wrong(variable, value, "more than zero")
    return parsed
