"""The catalogue as `selfcheck verify` judges it: as the command does, only sooner; and what is catalogued wrongly."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from selfcheck.early import DEFAULT_SEED
from selfcheck.grading.orders import Limits, Order, Place
from selfcheck.grading.wardens import Held
from selfcheck.trees import kit_root
from selfcheck.verifying.kit import Kit
from selfcheck.verifying.submissions import PROGRAM, Verdict, judge_all
from tests.mutants.catalog import MUTANTS, VARIANTS, Mutant, write
from tests.mutants.resumes import resume
from tests.mutants.submission import FAILED
from tests.support.judging import judge, started

BY_NAME = {mutant.name: mutant for mutant in (*MUTANTS, *VARIANTS)}
RIGHT, WRONG = VARIANTS[0], BY_NAME["if-for-while"]
ENDS, RAISES = BY_NAME["os-exit-in-lifecycle"], BY_NAME["naive-against-aware"]

WITHOUT_PYTEST = (
    *(sys.executable, "-c"),
    "import sys; sys.modules['pytest'] = None; from selfcheck.entry import main; main()",
)

LEAVES = resume(
    "leaves-a-process",
    "starts a process that has nothing in common with it, and ends",
    """
    nothing = subprocess.DEVNULL
    subprocess.Popen(["sleep", "600"], stdin=nothing, stdout=nothing, stderr=nothing, env={}, start_new_session=True)
    os._exit(0)
    """,
    FAILED,
    b"import os\nimport subprocess\n",
)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Verdict]:
    """Return what becomes of some, by what is wrong with their entry in the catalogue."""
    entries: dict[str, Mutant] = {
        "nothing": WRONG,
        "the symptom": replace(WRONG, recognised_as=("nothing-comes-out",)),
        "the state": replace(WRONG, states=("hung",)),
        "the check": replace(WRONG, caught_by=(4,)),
        "it is right": replace(RIGHT, caught_by=(1,), states=FAILED),
        "it is wrong": replace(WRONG, caught_by=(), states=()),
        "it leaves something": LEAVES,
    }
    named = [replace(mutant, name=name) for name, mutant in entries.items()]
    return judge_all(Kit(kit_root()), tmp_path_factory.mktemp("verify"), named, lambda verdict: None, jobs=2)


def test_an_entry_that_is_right_has_no_complaint(verdicts: Mapping[str, Verdict]) -> None:
    """The state and the symptom are named."""
    verdict = verdicts["nothing"]
    assert (verdict.complaint, verdict.states, verdict.symptoms) == ("", {2: "failed"}, {2: "if-for-while"})


@pytest.mark.parametrize("wrong", ["the symptom", "the state", "the check", "it is right", "it is wrong"])
def test_an_entry_that_is_wrong_is_found(wrong: str, verdicts: Mapping[str, Verdict]) -> None:
    """Whatever is wrong with it; and it is told what was expected, and what came."""
    assert verdicts[wrong].complaint.startswith("expected ")
    assert str(verdicts[wrong].expected()) != str(verdicts[wrong].seen())


def test_what_is_left_behind_is_found(verdicts: Mapping[str, Verdict]) -> None:
    """And ended."""
    verdict = verdicts["it leaves something"]
    said, _, pids = str(verdict.actual()).partition(": ")
    assert (verdict.complaint, said) == (f"left behind: ['{pids}']", "processes that outlived it")
    assert pids
    assert [pid for pid in pids.split() if Path("/proc", pid).exists()] == []


@pytest.mark.parametrize("mutant", [WRONG, ENDS, RAISES], ids=lambda mutant: mutant.name)
def test_a_verdict_is_the_commands(mutant: Mutant, tmp_path: Path) -> None:
    """Every word of it, though its judge and its services are forked and not started."""
    tree = write(mutant, tmp_path / "tree")
    warden = Held(Place(0, str(tmp_path / "base"), "", 0, Limits(), DEFAULT_SEED), PROGRAM)
    try:
        said = [*warden.carry_out(Order(str(tmp_path)))]
    finally:
        warden.close()
    assert [each.kind for each in said] == [*["judged"] * 6, "end"]
    assert [each.check for each in said[:-1]] == judge(tree).results["checks"]


def test_the_command_judges_those_that_are_named(tmp_path: Path) -> None:
    """It prints a line for each, and writes its states and symptoms; nothing of it stays behind. Tests need not run."""
    file, temporary = tmp_path / "verify.json", tmp_path / "temporary"
    temporary.mkdir()
    asked = ("verify", "if-for-while", "--json", str(file))
    with started(*asked, program=WITHOUT_PYTEST, changes={"TMPDIR": str(temporary)}) as running:
        code, said, err = running.ended()
        assert running.left_behind() == []
    assert (code, err) == (0, "")
    assert "if-for-while  2 failed (if-for-while)\n" in said
    submission = {"name": "if-for-while", "exercise": 2, "complaint": ""}
    seen = {"states": {"2": "failed"}, "symptoms": {"2": "if-for-while"}}
    assert json.loads(file.read_bytes())["submissions"] == [{**submission, **seen}]
    assert [*temporary.iterdir()] == []


def test_a_name_that_none_has_is_a_mistake() -> None:
    """Nothing was proved, and nobody should think so."""
    with started("verify", "no-such-name") as running:
        assert running.ended() == (2, "", "selfcheck: No submission of tests/mutants has such a name.\n")
