"""The way from a fresh folder to a check: what is installed, when, and what is said when it cannot be."""

import re
from pathlib import Path

import pytest

from tests.support.kits import Kit, complaint
from tests.support.processes import ROOT

INSTALL = "python <-m> <pip> <install> <--editable> <.{}>"
SELFCHECK = "selfcheck <--exit-zero> <--tree> <starter>"
CORE, TEST, DEV = INSTALL.format(""), INSTALL.format("[test]"), INSTALL.format("[dev]")
COMPILED = "python <-m> <compileall> <-q> <src> <selfcheck>"
PYTEST = "python <-m> <pytest> <-n> <3> <--dist> <loadfile> <--no-loadscope-reorder>"


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    """A kit on a machine with Python 3.12 and make."""
    kit = Kit(tmp_path)
    kit.python("python3", "3.12.1")
    return kit


@pytest.fixture
def bare(tmp_path: Path) -> Kit:
    """A kit on a machine with make alone."""
    return Kit(tmp_path)


# what is done


def test_make_alone_lists_every_target(kit: Kit) -> None:
    """Nothing is installed for it, and no target is left out."""
    made = kit.make()
    listed = re.findall(r"^  make (\w+) ", made.out, re.MULTILINE)
    phony = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert (made.code, made.err, made.calls) == (0, "", [])
    assert sorted(listed) == sorted(phony[0].split())


def test_the_first_check_installs_and_the_second_only_checks(kit: Kit) -> None:
    """The core dependencies, once; then a call of the command and of nothing else."""
    first = kit.make("selfcheck")
    assert (first.code, first.err) == (0, "")
    assert first.calls == ["python3 <-m> <venv> <.venv>", CORE, COMPILED, SELFCHECK]
    assert kit.environment("MOCK", "SELFTEST") == ["1", "1"]
    assert kit.make("selfcheck").calls == [SELFCHECK]


def test_tree_and_arguments_are_passed_on(kit: Kit) -> None:
    """A tree's name may have a space in it; arguments are words."""
    made = kit.make("selfcheck", "TREE=my tree", "ARGS=--only 2 --seed 8")
    assert made.calls[-1] == "selfcheck <--exit-zero> <--tree> <my tree> <--only> <2> <--seed> <8>"


def test_the_tests_bring_their_own_dependencies(kit: Kit) -> None:
    """A check afterwards needs no less than is there."""
    assert kit.make("test", "ARGS=-k sse").calls[1:] == [TEST, COMPILED, f"{PYTEST} <-k> <sse>"]
    assert kit.make("selfcheck").calls == [SELFCHECK]


def test_a_check_does_not_bring_what_the_tests_need(kit: Kit) -> None:
    """The environment stays; what is missing is added."""
    kit.make("selfcheck")
    assert kit.make("test").calls == [TEST, COMPILED, PYTEST]


def test_everything_is_proved_after_one_installation(kit: Kit) -> None:
    """The tests come last, so that their summary is the last thing said."""
    made = kit.make("-j4", "check")
    assert (made.code, made.err) == (0, "")
    assert made.calls[1:3] == [DEV, COMPILED]
    assert made.calls[3:6] == ["ruff <check>", "ruff <format> <--check>", "python <-m> <mypy>"]
    assert made.calls[-1] == PYTEST
    assert len([call for call in made.calls if "<install>" in call]) == 1


@pytest.mark.parametrize("file", ["pyproject.toml", "constraints.txt"])
def test_what_decides_the_versions_decides_anew_when_it_changes(kit: Kit, file: str) -> None:
    """The environment itself is kept."""
    kit.make("selfcheck")
    kit.change(file)
    assert kit.make("selfcheck").calls == [CORE, COMPILED, SELFCHECK]


def test_the_service_is_served_from_the_core(kit: Kit) -> None:
    """A reader who wants to see it run needs no tools."""
    assert kit.make("serve", "ARGS=--port 0").calls[1:] == [CORE, COMPILED, "selfcheck <serve> <--port> <0>"]


# what has gone wrong


def test_a_folder_that_was_moved_makes_its_environment_anew(kit: Kit) -> None:
    """What is in it belongs to the other place: its scripts would run the code that is there."""
    kit.make("selfcheck")
    kit.move()
    assert kit.make("selfcheck").calls == ["python3 <-m> <venv> <.venv>", CORE, COMPILED, SELFCHECK]
    assert kit.make("selfcheck").calls == [SELFCHECK]


def test_an_environment_whose_interpreter_has_gone_is_made_anew(kit: Kit) -> None:
    """So it is after an upgrade of the machine's Python."""
    kit.make("selfcheck")
    (kit.folder / ".venv" / "bin" / "python").unlink()
    assert kit.make("selfcheck").calls == ["python3 <-m> <venv> <.venv>", CORE, COMPILED, SELFCHECK]


def test_an_environment_that_somebody_else_made_is_kept(kit: Kit) -> None:
    """It is used as it is, and only added to."""
    kit.make("selfcheck")
    for trace in (kit.folder / ".venv").glob(".*"):
        trace.unlink()
    assert kit.make("selfcheck").calls == [CORE, COMPILED, SELFCHECK]


def test_an_installation_that_failed_is_tried_again(kit: Kit) -> None:
    """It left no stamp, and nothing was run with what there was."""
    failed = kit.make("selfcheck", failing="pip install")
    assert failed.code != 0
    assert failed.calls == ["python3 <-m> <venv> <.venv>", CORE]
    assert kit.make("selfcheck").calls == [CORE, COMPILED, SELFCHECK]


def test_a_folder_that_cannot_be_written_to_is_no_obstacle(kit: Kit) -> None:
    """What is not compiled now is compiled when it is loaded."""
    made = kit.make("selfcheck", failing="compileall")
    assert (made.code, made.calls[-2:]) == (0, [COMPILED, SELFCHECK])


def test_a_failed_update_does_not_pass_for_an_installation(kit: Kit) -> None:
    """What was complete before is not taken for complete when pip gave up half way."""
    kit.make("test")
    kit.change("constraints.txt")
    kit.make("selfcheck", failing="pip install")
    assert kit.make("test").calls[:1] == [TEST]


def test_tests_that_fail_fail_make(kit: Kit) -> None:
    """And `check` with it."""
    assert kit.make("test", failing="pytest").code != 0
    assert kit.make("check", failing="mypy").code != 0


def test_clean_leaves_what_came_with_the_kit(kit: Kit) -> None:
    """All that was made is gone."""
    before = sorted(path.name for path in kit.folder.iterdir())
    kit.make("selfcheck")
    assert kit.make("clean").code == 0
    assert sorted(path.name for path in kit.folder.iterdir()) == before


# what is done for every change


def test_a_change_is_proved_by_the_check(kit: Kit) -> None:
    """From any folder, and so that the tests know where they are and their summary can be seen."""
    for tool in ("make", "node", "npm"):
        kit.tool(tool)
    made = kit.prove()
    assert (made.code, made.err) == (0, "")
    assert (made.calls[0][:9], made.calls[1:]) == ("node <-e>", ["make <check>"])
    assert kit.environment("CI", "PYTEST_ADDOPTS", "PWD") == ["true", "-v --durations=10 ", str(kit.folder)]


def test_node_is_installed_where_it_is_missing(kit: Kit) -> None:
    """And not without a word; whether it helped, the tests will say."""
    kit.tool("make")
    kit.tool("apt-get")
    made = kit.prove()
    assert made.calls == [
        "apt-get <update> <-qq>",
        "apt-get <install> <-y> <-qq> <--no-install-recommends> <nodejs> <npm>",
        "make <check>",
    ]
    assert made.out == (
        "Node 20 with npm is missing: installing Debian's\n"
        "Node 20 with npm is still missing: the tests that need it will fail\n"
    )


# which interpreter


def test_a_newer_interpreter_is_found_beside_an_old_one(bare: Kit) -> None:
    """The newest of those that are asked for by name."""
    bare.python("python3", "3.9.2")
    bare.python("python3.11", "3.11.4")
    bare.python("python3.12", "3.12.1")
    assert bare.make("selfcheck").calls[0] == "python3.12 <-m> <venv> <.venv>"


def test_the_interpreter_can_be_named(kit: Kit, tmp_path: Path) -> None:
    """By a path too, with a space in it."""
    (tmp_path / "other place").mkdir()
    kit.python("../other place/python", "3.13.0")
    made = kit.make("selfcheck", f"PYTHON={tmp_path}/other place/python")
    assert made.calls[0] == "python <-m> <venv> <.venv>"


def test_an_old_python_is_refused_in_one_line(bare: Kit) -> None:
    """Which one was found, and what to install."""
    bare.python("python3", "3.9.2")
    assert complaint(bare.make("selfcheck")) == (
        "Python 3.11 or later is needed and python3 is 3.9.2: install python3.12, or set PYTHON to another"
    )


def test_no_python_at_all_is_refused_in_one_line(bare: Kit) -> None:
    """The name that was looked for is in it."""
    assert complaint(bare.make("test", "PYTHON=python4")) == (
        "Python 3.11 or later is needed and there is no python4: install python3.12, or set PYTHON to another"
    )


def test_a_python_without_venv_is_refused_in_one_line(bare: Kit) -> None:
    """Debian keeps the module in a package of its own, which is named."""
    bare.python("python3", "3.11.2", venv=False)
    assert complaint(bare.make("check")) == (
        "Python 3.11.2 has no venv module: install the package python3.11-venv, or uv, and try again"
    )


def test_another_python_may_have_what_the_first_lacks(bare: Kit) -> None:
    """One without the module is passed over for one with it."""
    bare.python("python3", "3.11.2", venv=False)
    bare.python("python3.12", "3.12.1")
    assert bare.make("selfcheck").calls[0] == "python3.12 <-m> <venv> <.venv>"


# uv


def test_uv_is_used_when_it_is_there(bare: Kit) -> None:
    """It needs no venv module, and pins the same versions; pip comes into the environment all the same."""
    bare.python("python3", "3.11.2", venv=False)
    bare.uv()
    install = "uv <pip> <install> <--compile-bytecode> <--python> <.venv/bin/python>"
    pinned = "<-c> <constraints.txt> <-b> <constraints.txt>"
    assert bare.make("test").calls == [
        "uv <venv> <--quiet> <--seed> <--python> <python3> <.venv>",
        f"{install} {pinned} <--editable> <.[test]>",
        COMPILED,
        PYTEST,
    ]


def test_uv_looks_for_a_python_where_there_is_none(bare: Kit) -> None:
    """It knows more places than the path, and can fetch one."""
    bare.python("python3", "3.9.2")
    bare.uv()
    assert bare.make("selfcheck").calls[0] == "uv <venv> <--quiet> <--seed> <--python> <3.12> <.venv>"
