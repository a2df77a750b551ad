"""Random operations on questions and forks. Texts are few, so that much is asked and split off again."""

from dataclasses import replace

from shared.forks import Fork
from shared.forks import session_of as session_of_sub_run
from shared.run import ACTIVE
from tests.contract.player import SESSIONS, Operation, Player, Step, session_of, span_of
from tests.contract.store_operations import without_times
from tests.contract.values import a_message, a_run

NUMBERS, TEXTS = 2, 3


async def _run_id(player: Player, step: Step) -> str:
    """Choose a run that is active mostly: of the step's session if there is one, else of another, or a sub-run."""
    if step.n % 6:
        sessions = [f"s{(step.run + place) % SESSIONS}" for place in range(SESSIONS)]
        runs = [stored for session_id in sessions for stored in await player.ports.store.runs_of(session_id)]
        active = [stored.run.id for stored in runs if stored.run.status in ACTIVE]
        if active:
            return active[0]
    return await player.run_id(step)


async def _place(player: Player, step: Step) -> tuple[str, int]:
    """Choose such a run and an attempt: its own mostly."""
    run_id = await _run_id(player, step)
    stored = await player.ports.store.run(run_id)
    return run_id, (1 if stored is None else stored.run.attempt) + (step.n % 7 == 0) * (step.run % 3 - 1)


async def _ask(player: Player, step: Step) -> object:
    run_id, attempt = await _place(player, step)
    again = player.questions and step.n % 13 == 0
    question_id = player.questions[step.run % len(player.questions)] if again else f"q{len(player.questions)}"
    if not again:
        player.questions.append(question_id)
    number, text = step.run % NUMBERS, f"which {step.n % TEXTS}?"
    expires_at = player.ports.clock.now() + span_of(step)
    return await player.ports.questions.ask(question_id, run_id, attempt, number, text, f"any {step.n}", expires_at)


async def _question_id(player: Player, step: Step) -> str:
    """Choose a question of a run mostly, else a recent one of whichever run, or an unknown."""
    asked = await player.ports.questions.questions_of(await _run_id(player, step))
    if asked and step.n % 8:
        return asked[-1 - step.n // 8 % min(2, len(asked))].id
    return (player.questions or ["unknown"])[-1 - step.run % min(5, len(player.questions) or 1)]


async def _answer(player: Player, step: Step) -> object:
    session_id = None if step.n % 5 else session_of(step)
    return await player.ports.questions.answer(await _question_id(player, step), session_id, f"answer {step.n}")


async def _expire(player: Player, step: Step) -> object:
    question_id = await _question_id(player, step)
    question = await player.ports.questions.question(question_id)
    stored = None if question is None else await player.ports.store.run(question.run_id)
    attempt = 1 if stored is None else stored.run.attempt
    return await player.ports.questions.expire(question_id, attempt + (step.n % 6 == 0))


async def _questions(player: Player, step: Step) -> object:
    return list(await player.ports.questions.questions_of(await _run_id(player, step)))


async def _fork(player: Player, step: Step) -> object:
    parent_id, attempt = await _place(player, step)
    run_id = f"c{len(player.sub_runs)}"
    session_id = session_of_sub_run(parent_id, run_id)
    run, message = (
        a_run(player.ports, run_id, session_id),
        a_message(player.ports, "m", session_id, f"task {step.n % TEXTS}"),
    )
    player.sub_runs.append(run_id)
    return _timeless(await player.ports.forks.fork(parent_id, attempt, step.run % NUMBERS, f"{step.n}", run, message))


async def _forks(player: Player, step: Step) -> object:
    return [_timeless(fork) for fork in await player.ports.forks.forks_of(await _run_id(player, step))]


async def _orphans(player: Player, step: Step) -> object:
    return list(await player.ports.forks.orphans(1 + step.n % 4))


def _timeless(fork: Fork) -> Fork:
    stored = without_times(fork.stored)
    assert stored is not None
    return replace(fork, stored=stored)


ASKING_OPERATIONS: dict[str, Operation] = {
    "ask": _ask,
    "answer": _answer,
    "let pass": _expire,
    "questions": _questions,
    "fork": _fork,
    "forks": _forks,
    "orphans": _orphans,
}
