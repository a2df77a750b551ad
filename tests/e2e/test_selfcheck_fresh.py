"""The self-check as somebody meets it for the first time: on the starter, and on the solution."""

import sys
from pathlib import Path

import pytest

from shared.events import Json
from tests.support.judging import SOLUTION, STARTER, Judged, judge, started

TO_DO = {1: "todo", 2: "todo", 4: "todo", 5: "todo"}


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return the starter, judged."""
    return judge(STARTER, results=tmp_path_factory.mktemp("starter") / "results.json")


@pytest.fixture(scope="module")
def solution(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return the solution, judged."""
    return judge(SOLUTION, results=tmp_path_factory.mktemp("solution") / "results.json")


def evidence(judged: Judged, number: int) -> dict[str, Json]:
    """Return what a check has to show."""
    shown = judged.checks[number]["evidence"]
    assert isinstance(shown, dict)
    return shown


def seqs(judged: Judged, name: str) -> list[Json]:
    """Return seqs that check 2 has to show."""
    shown = evidence(judged, 2)[name]
    assert isinstance(shown, list)
    return shown


def test_the_starter_passes_exactly_3_and_6_and_the_rest_is_to_do(starter: Judged) -> None:
    """Six results, in order, each with the place to open; the exit code says that something does not pass."""
    assert list(starter.states) == [1, 2, 3, 4, 5, 6]
    assert starter.wrong == TO_DO
    assert (starter.code, starter.err, starter.left_behind) == (1, "", [])
    assert (starter.results["passed"], starter.results["total"], starter.results["mode"]) == (2, 6, "mock")
    places = {number: str(starter.checks[number]["where"]).rpartition(":")[0] for number in TO_DO}
    lifecycle, delivery = str(STARTER / "lifecycle.py"), str(STARTER / "delivery.py")
    root = f"{STARTER.parent}/"
    assert places == {
        1: lifecycle.removeprefix(root), 2: delivery.removeprefix(root), 4: delivery.removeprefix(root),
        5: lifecycle.removeprefix(root),
    }  # fmt: skip


def test_what_the_starter_delivers_is_visibly_scrambled(starter: Judged) -> None:
    """The bus delivers in another order than it was written, and so does the starter."""
    assert seqs(starter, "arrived")[:6] == seqs(starter, "delivered")[:6] == [0, 1, 2, 3, 5, 4]
    reply, sentence = str(evidence(starter, 2)["reply"]), "Thank you for writing in. I am sorry that"
    assert reply.startswith("Thank you for writing")
    assert sentence not in reply


def test_each_to_do_says_what_is_wrong(starter: Judged) -> None:
    """Rule, case, right answer and the starter's, in four lines."""
    told = {number: (starter.checks[number]["expected"], starter.checks[number]["actual"]) for number in (4, 5)}
    assert told == {
        4: ("the first event after reconnecting is 6", "the first event is 0"),
        5: ("merged: True, run_id: run-1", "merged: False, run_id: run-2"),
    }
    assert all(starter.checks[number][name] for number in TO_DO for name in ("broken_rule", "given", "expected"))
    assert evidence(starter, 1)["status_after"] == "streaming"


def test_the_solution_passes_all_six(solution: Judged) -> None:
    """Nothing is said of what is wrong, and the exit code is 0."""
    assert (solution.wrong, solution.code, solution.err, solution.left_behind) == ({}, 0, "", [])
    assert (solution.results["passed"], solution.results["total"]) == (6, 6)
    assert {check["broken_rule"] for check in solution.checks.values()} == {""}
    assert "6 of 6 pass" in solution.out


def test_the_solution_delivers_in_order_what_did_not_arrive_so(solution: Judged) -> None:
    """The first twelve are 0 to 11, though the bus shuffled them as it did the starter's."""
    assert seqs(solution, "arrived") == [0, 1, 2, 3, 5, 4, 7, 6, 2, 9, 8, 6]
    assert seqs(solution, "delivered") == list(range(12))
    assert str(evidence(solution, 2)["reply"]).startswith("Thank you for writing in. I am sorry that")


def test_the_solution_resumes_behind_the_cut(solution: Judged) -> None:
    """Six are received, the last is 5; the first after it is 6; nothing comes twice and nothing is missing."""
    shown = evidence(solution, 4)
    probe = shown.pop("probe")
    assert shown == {
        "received_before": 6, "last_before": 5, "status_at_reconnect": "streaming", "first_after": 6, "duplicates": [],
        "missing": [],
    }  # fmt: skip
    assert str(probe).endswith("cases right")


def test_the_solution_merges_and_reruns(solution: Judged) -> None:
    """Both answers name one run, the worker says from where it went on, and the reply has the exchange in it."""
    shown = evidence(solution, 5)
    assert shown["first_answer"] == {"run_id": "run-1", "merged": False}
    assert shown["second_answer"] == {"run_id": "run-1", "merged": True}
    assert (shown["reruns_from_seq"], shown["messages"]) == (9, 2)
    assert "exchange" in str(shown["reply"])


def test_the_solution_has_two_waiters_and_four_runs(solution: Judged) -> None:
    """Every event reaches both; outside the window each second message opens a run."""
    held = evidence(solution, 3)
    assert held["events_per_waiter"] == {"waiter A": held["events"], "waiter B": held["events"]}
    assert evidence(solution, 6)["runs"] == [
        {"previous": "run-1", "age_s": 30, "status": "streaming", "merged": False, "run": "run-2"},
        {"previous": "run-3", "age_s": 86_401, "status": "streaming", "merged": False, "run": "run-4"},
        {"previous": "run-5", "age_s": 0, "status": "done", "merged": False, "run": "run-6"},
    ]


def test_the_solution_refuses_a_late_write(solution: Judged) -> None:
    """All 36 pairs are right, and the worker that wakes late is refused, which is logged."""
    shown = evidence(solution, 1)
    matrix = shown.pop("matrix")
    assert isinstance(matrix, dict)
    assert [sum(cell == "yes" for cell in row) for row in matrix.values() if isinstance(row, list)] == [
        3,
        4,
        3,
        0,
        0,
        0,
    ]
    assert shown == {"late_write": "refused", "logged_as_illegal": True, "status_after": "done", "events_added": 0}


def test_a_course_may_ask_for_no_exit_code(tmp_path: Path) -> None:
    """With --exit-zero what does not pass is told and is no error."""
    judged = judge(STARTER, "--exit-zero", results=tmp_path / "results.json")
    assert (judged.code, judged.wrong) == (0, TO_DO)


@pytest.mark.parametrize(
    "program",
    [[sys.executable, "-m", "selfcheck"], [str(Path(sys.executable).with_name("selfcheck"))]],
    ids=["module", "command"],
)
def test_selftest_1_makes_a_bare_call_run_the_checks(program: list[str]) -> None:
    """By its module and by its name; without SELFTEST it says what there is."""
    with started("--tree", "solution", changes={"SELFTEST": "1"}, program=program) as running:
        code, out, _ = running.ended()
        assert (code, "6 of 6 pass" in out) == (0, True)
    with started(program=program) as running:
        code, _, err = running.ended()
        assert (code, "Commands:" in err) == (2, True)
