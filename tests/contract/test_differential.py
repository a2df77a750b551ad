"""The memory adapters and the real ones give the same answers to the same operations, whatever these are."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.forks import Fork
from shared.ports import Accepted, Claim, Ending, Resumed
from shared.questions import Answering, Question
from tests.contract.adapters import Opener, open_memory, opener_of
from tests.contract.operations import OPERATIONS, play, random_steps
from tests.contract.player import LIMIT, Step
from tests.support.calm import calm

steps = st.lists(
    st.builds(Step, st.sampled_from(sorted(OPERATIONS)), st.integers(0, LIMIT - 1), st.integers(0, LIMIT - 1)),
    min_size=1,
    max_size=60,
)


async def answers_of(opener: Opener, played: Sequence[Step]) -> list[object]:
    """Play steps on ports of their own."""
    async with opener() as ports:
        return await play(ports, played)


def assert_same_answers(played: Sequence[Step]) -> None:
    """Play on both, and show the first step whose answers differ with all that went before it."""
    real_opener = opener_of("real")
    memory, real = asyncio.run(answers_of(open_memory, played)), asyncio.run(answers_of(real_opener, played))
    for place, (ours, theirs) in enumerate(zip(memory, real, strict=True)):
        assert ours == theirs, f"memory and real differ at step {place}; played: {list(played[: place + 1])}"


@settings(calm, max_examples=20, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(played=steps)
def test_short_stories_are_answered_alike(played: list[Step]) -> None:
    """No sequence of operations tells the adapters apart; hypothesis looks for the shortest that does."""
    assert_same_answers(played)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_long_stories_are_answered_alike(seed: int) -> None:
    """Nor does a long one, in which runs pile up, are taken over, end, and are archived."""
    assert_same_answers(random_steps(seed, 400))


def test_stories_are_worth_playing() -> None:
    """Random steps reach the answers that matter, not only the misses, and the same seed gives the same answers."""
    played = random_steps(1, 3000)
    answers = asyncio.run(answers_of(open_memory, played))
    assert answers == asyncio.run(answers_of(open_memory, played))
    kinds = Counter(map(_kind, answers))
    wanted = {"claimed", "taken over", "retried", "opened", "merged", "replayed", "fenced", *Ending, True, False, None}
    wanted |= {"open", "answered", "expired", "answered late", "forked"}
    assert {kind: kinds[kind] for kind in wanted if kinds[kind] < 5} == {}
    claims = [(step.do, told) for step, told in zip(played, answers, strict=True) if isinstance(told, Claim)]
    assert sum(do == "take up" for do, _ in claims) >= 5
    assert sum(claim.handovers > 0 for _, claim in claims) >= 5
    # An order shows only where there is more than one.
    longer = Counter(step.do for step, told in zip(played, answers, strict=True) if isinstance(told, list) and told[1:])
    ordered = {
        "questions",
        "forks",
        "orphans",
        "waiting",
        "take",
        "reclaim",
        "archivable",
        "events",
        "entries",
        "follow",
    }
    assert {do: longer[do] for do in ordered if longer[do] < 5} == {}


def _kind(answer: object) -> object:
    match answer:
        case Claim(resumed=None):
            return "claimed"
        case Claim(resumed=why):
            return "retried" if why is Resumed.RETRY else "taken over"
        case Accepted(replayed=True):
            return "replayed"
        case Accepted(merged=merged):
            return "merged" if merged else "opened"
        case ("fenced", _, _):
            return "fenced"
        case Question(state=state):
            return state.value
        case Answering(counted=counted):
            return "answered" if counted else "answered late"
        case Fork():
            return "forked"
        case Ending() | bool() | None:
            return answer
        case _:
            return "other"
