"""The options of the command, its other commands, and what it says when it cannot do what it was asked."""

import json
import re
import shlex
import signal
import socket
from pathlib import Path

import httpx
import pytest

from selfcheck import trees
from selfcheck.symptoms import question
from selfcheck.texts import text
from shared.events import Json
from tests.support.judging import (
    SOLUTION,
    STARTER,
    STOPS_ITS_JUDGE_AT_5,
    Running,
    judge,
    solution_with,
    started,
    until,
)

STOPS_ITS_JUDGE = "import os\nwhile b'checks' not in open({!r}, 'rb').read(): pass\nos.kill(os.getppid(), 19)\n"


def said(*arguments: str, **changes: str) -> tuple[int, str, str]:
    """Return exit code and both outputs of a command."""
    with started(*arguments, changes=changes) as running:
        ended = running.ended()
        assert running.left_behind() == []
    return ended


# --- run --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "state"), [(2, "todo"), (6, "passed")])
def test_one_check_can_be_played_alone(number: int, state: str, tmp_path: Path) -> None:
    """The exit code is about that one."""
    judged = judge(STARTER, "--only", str(number), results=tmp_path / "results.json")
    assert judged.states == {number: state}
    assert (judged.code, judged.results["total"]) == (0 if state == "passed" else 1, 1)


def test_another_seed_is_another_shuffle(tmp_path: Path) -> None:
    """It is named in the results, and the solution is right with it."""
    judged = judge(SOLUTION, "--seed", "11", "--only", "2", results=tmp_path / "results.json")
    evidence = judged.checks[2]["evidence"]
    assert isinstance(evidence, dict)
    assert (judged.results["seed"], judged.code) == (11, 0)
    assert evidence["arrived"] != [0, 1, 2, 3, 5, 4, 7, 6, 2, 9, 8, 6]
    assert evidence["delivered"] == list(range(12))


def test_numbers_that_somebody_has_set_are_not_judged_with(tmp_path: Path) -> None:
    """They are for services of their own; the judge's numbers are those of the course."""
    numbers = {"KODA_MERGE_WINDOW": "60s", "KODA_REPLAY_CAP": "3", "KODA_MAX_CONNECTION_AGE": "10ms", "KODA_DRAIN": "x"}
    assert judge(SOLUTION, results=tmp_path / "results.json", changes=numbers).wrong == {}


def results_in(file: Path) -> dict[str, Json]:
    """Return what is in a file of results."""
    found: dict[str, Json] = json.loads(file.read_bytes())
    return found


def states_in(file: Path) -> list[tuple[int, str]]:
    """Return the states in a file of results."""
    checks = results_in(file)["checks"]
    assert isinstance(checks, list)
    return [(int(str(check["id"])), str(check["status"])) for check in checks if isinstance(check, dict)]


def test_a_kill_loses_no_result(tmp_path: Path) -> None:
    """Each is in the file before it is shown, and the file is a whole one; how many there will be is known."""
    file = tmp_path / "results.json"
    tree = solution_with(tmp_path / "tree", delivery=STOPS_ITS_JUDGE_AT_5)
    with started("run", "--tree", str(tree), "--json", str(file)) as running:
        running.until_it_says("3 two waiters")
        running.process.kill()
        running.ended()
    assert states_in(file) == [(1, "passed"), (2, "passed"), (3, "passed")]
    assert (results_in(file)["passed"], results_in(file)["total"]) == (3, 6)
    assert sorted(tmp_path.iterdir()) == [file, tree]


def test_older_results_are_gone_before_anything_is_played(tmp_path: Path) -> None:
    """Nobody takes them for those of a run that did not get as far."""
    file = tmp_path / "results.json"
    file.write_text('{"passed":6}', "utf-8")
    tree = solution_with(tmp_path / "tree", delivery=STOPS_ITS_JUDGE.format(str(file)))
    with started("run", "--tree", str(tree), "--json", str(file)) as running:
        until(lambda: "checks" in results_in(file), "new results")
        running.process.kill()
        running.ended()
    assert (states_in(file), results_in(file)["passed"], results_in(file)["total"]) == ([], 0, 6)


@pytest.mark.parametrize("name", ["no/such/folder/results.json", "."])
def test_results_that_cannot_be_written_are_one_line_and_nothing_is_played(name: str, tmp_path: Path) -> None:
    """The line names the place, the reason and what to do."""
    code, out, err = said("run", "--json", str(tmp_path / name))
    assert (code, out) == (3, "")
    assert re.fullmatch(
        r"selfcheck: --json: cannot write \S+: .+; name a file in a folder that you may write to\n", err
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run", "--nope"], "--nope"),
        (["run", "--only", "7"], "--only"),
        (["run", "--seed", "x"], "--seed"),
        (["run", "extra"], "extra"),
        (["nope"], "nope"),
        (["diff", "5"], "exercise"),
    ],
)
def test_a_mistake_in_the_command_is_named(arguments: list[str], named: str) -> None:
    """The code is that of a wrong usage, and nothing is played."""
    code, out, err = said(*arguments)
    assert (code, out) == (2, "")
    assert named in err.lower()
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["run", "watch", "hint 2", "reset 2 --yes", "serve", "chat"])
def test_a_tree_that_is_nowhere_is_a_wrong_usage(command: str, tmp_path: Path) -> None:
    """One line says so, whichever command was to look at it: nothing is played, written or waited for."""
    nowhere, home = tmp_path / "nowhere", tmp_path / "home"
    results = ["--json", str(tmp_path / "results.json")] if command == "run" else []
    told = f"selfcheck: --tree: there is no folder {nowhere}; name one that holds lifecycle.py and delivery.py\n"
    ended = said(*command.split(), "--tree", str(nowhere), *results, SELFCHECK_HOME=str(home))
    assert (ended, [*tmp_path.iterdir()]) == ((2, "", told), [])


def test_a_submission_that_is_nowhere_is_a_wrong_usage(tmp_path: Path) -> None:
    """So is a folder without one: nothing is graded."""
    out = tmp_path / "grades"
    empty = tmp_path / "empty"
    empty.mkdir()
    for place, problem in ((tmp_path / "nowhere", "is not there"), (empty, "there is no submission in")):
        code, said_, err = said("grade", str(place), "--out", str(out))
        assert (code, said_, out.exists()) == (2, "", False)
        assert err.startswith("selfcheck: DIR: ")
        assert problem in err


# --- hint -------------------------------------------------------------------------------------------------------------


def test_a_hint_is_for_what_the_last_run_has_seen(tmp_path: Path) -> None:
    """A mistake is recognised, its question is in the report, and it is the first hint; what it prints is not asked."""
    delivery = (
        "\ndef resume_from(last_event_id):\n    print('asked:', last_event_id)\n    return int(last_event_id or 0)\n"
    )
    tree, home = solution_with(tmp_path / "tree", delivery=delivery), {"SELFCHECK_HOME": str(tmp_path / "home")}
    judged = judge(tree, "--only", "4", changes=home)
    asked = text(question("last-received-again"), "en")
    assert (judged.states, judged.checks[4]["symptom"]) == ({4: "failed"}, "last-received-again")
    assert asked in " ".join(judged.out.split())
    assert "asked: 5\n" in judged.out  # in the scenario
    assert "asked: 5x" not in judged.out  # for the symptom
    code, out, err = said("hint", "3", "--tree", str(tree), **home)
    assert (code, err) == (0, "")
    assert asked in " ".join(out.split())
    assert said("hint", "3", "--tree", str(tree), **home)[1].startswith("Exercise 3, hint 2 of 3")


# --- diff -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [None, 2])
def test_the_difference_can_be_seen(number: int | None) -> None:
    """Of all exercises or of one, as a patch that can be read."""
    code, out, err = said("diff", *([] if number is None else [str(number)]))
    assert (code, err) == (0, "")
    assert out == trees.difference(number)


# --- serve ------------------------------------------------------------------------------------------------------------


def call(command: str, **names: str) -> httpx.Response:
    """Make the request that a printed `curl` command makes."""
    for name, value in names.items():
        command = command.replace(name, value)
    _, *words = shlex.split(command)
    (url,) = [word for word in words if word.startswith("http://")]
    headers = dict([words[words.index("-H") + 1].split(": ")]) if "-H" in words else {}
    body = words[words.index("-d") + 1] if "-d" in words else None
    return httpx.request("GET" if body is None else "POST", url, headers=headers, content=body, timeout=30)


def commands(running: Running) -> list[str]:
    """Return the commands that the service prints at its start."""
    text = running.until_it_says("Last-Event-ID")
    return [line for line in text.splitlines() if line.startswith("curl ")]


def ids(response: httpx.Response) -> list[int]:
    """Return the ids of a stream's events."""
    return [int(found) for found in re.findall(r"^id: (\d+)$", response.text, re.MULTILINE)]


def test_the_service_can_be_used_by_hand() -> None:
    """The three commands that it prints work as they stand: send, watch, resume. Ctrl-C ends it."""
    with started("serve", "--port", "0", changes={"KODA_FRAGMENT_PACE": "0s"}) as running:
        send, watch, resume = commands(running)
        answer = call(send)
        run_id = answer.json()["run_id"]
        whole = call(watch, RUN_ID=run_id)
        rest = call(resume, RUN_ID=run_id)
        assert (answer.status_code, whole.status_code, rest.status_code) == (202, 200, 200)
        assert ids(whole) == list(range(len(ids(whole))))
        assert whole.text.rstrip().rpartition("event: ")[2].startswith("done")
        assert ids(rest) == ids(whole)[6:]
        # What happens is shown, one line each however wide that is.
        running.until_it_says(f"run_moved run_id={run_id} source=pending target=running attempt=1 why=claimed")
        running.process.send_signal(signal.SIGINT)
        code, _, err = running.ended()
        assert (code, err, running.left_behind()) == (130, "stopped\n", [])


def test_there_is_no_lab_in_the_service_for_hands() -> None:
    """What the judge can do to its service nobody can do to this one, with any token or none."""
    with started("serve", "--port", "0") as running:
        url = shlex.split(commands(running)[1])[2].rpartition("/runs")[0]
        answers = [httpx.post(f"{url}/lab", headers={"x-lab-token": token}, content="[]") for token in ("", "x")]
        assert {answer.status_code for answer in answers} == {404}


def test_a_setting_that_is_none_ends_the_service_with_one_line() -> None:
    """It is named with what it should be, and the code is that of a wrong usage."""
    code, _, err = said("serve", "--port", "0", KODA_LEASE="soon")
    problem = "KODA_LEASE='soon' is not a duration such as 200ms, 15s, 10min or 6h"
    assert (code, err) == (2, f"selfcheck: settings: {problem}; change KODA_LEASE or unset it\n")


def test_a_port_that_is_taken_is_one_line() -> None:
    """It is named, with the option that chooses another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = said("serve", "--port", str(port))
    assert (code, out) == (3, "")
    problem = f"port {port} on 127.0.0.1 cannot be had: Address already in use"
    assert err == f"selfcheck: service: {problem}; choose another with --port\n"
