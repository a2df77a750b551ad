"""The language in use: known before anything is read, and spoken to the last word."""

import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from client.effects import ShowEnd, ShowInterrupted
from selfcheck import entry, outcome, texts
from selfcheck.chat.screen import Screen
from shared.errors import Misconfigured
from shared.run import RunStatus

ROOT = Path(__file__).parents[2]
ENDED = """
import os, signal
from selfcheck import interrupts
interrupts.end_at_once()
interrupts.part_with("已停止")
os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.fixture
def chinese() -> Iterator[None]:
    """Speak Chinese."""
    texts.use("zh")
    yield
    texts.use("en")


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("", ""),
        ("run --only 3", "run --only 3"),
        ("--lang zh run --only 3", "run --only 3 --lang zh"),
        ("--lang=zh run", "run --lang=zh"),
        ("--lang zh", "--lang zh"),
        ("--only 3 --lang zh", "--only 3 --lang zh"),
    ],
)
def test_the_option_may_stand_before_the_sub_command(line: str, moved: str) -> None:
    """Where all of them have it, behind it."""
    assert entry._language_last(line.split()) == moved.split()


@pytest.mark.parametrize(("encoding", "word"), [("utf-8", "已停止"), ("gb18030", "已停止"), ("ascii", "???")])
def test_the_last_word_is_in_the_language(encoding: str, word: str) -> None:
    """As the terminal can show it."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", ENDED], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode(encoding)) == (130, f"{word}\n")


@pytest.mark.parametrize("arguments", [("hint", "2", "--lang", "zh"), ("run", "--only", "3", "--lang", "zh")])
def test_where_chinese_cannot_be_shown_it_is_english(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """One line says so, once; there is no question mark in the place of a word."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "SELFCHECK_HOME": str(tmp_path), "MOCK": "1"}
    command = [sys.executable, "-m", "selfcheck", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True, text=True)
    told = "this terminal cannot show Chinese (its encoding is ascii): what follows is in English"
    assert done.stderr == f"selfcheck: {told}\n"
    assert "??" not in done.stdout


@pytest.mark.usefixtures("chinese")
def test_what_a_command_could_not_do_is_told_in_the_language(capsys: pytest.CaptureFixture[str]) -> None:
    """Problem and remedy, and the word for a stop."""

    def fail() -> int:
        raise Misconfigured("settings", "REDIS_URL is set and DATABASE_URL is not", "set DATABASE_URL too, or MOCK=1")

    def stop() -> int:
        raise KeyboardInterrupt

    assert (outcome.said(fail), outcome.said(stop)) == (2, 130)
    assert capsys.readouterr().err.splitlines() == [
        "selfcheck: 设置：设置了 REDIS_URL，却没有设置 DATABASE_URL；把 DATABASE_URL 也设置上，或者设 MOCK=1",
        "已停止",
    ]


@pytest.mark.usefixtures("chinese")
def test_a_conversation_is_told_of_in_the_language() -> None:
    """Beside the replies, which are as they are."""
    err = StringIO()
    screen = Screen(Console(file=StringIO()), Console(file=err, no_color=True))
    screen.show(ShowInterrupted("r"))
    screen.void()
    screen.show(ShowEnd("r", RunStatus.FAILED, "no answer"))
    assert err.getvalue().splitlines() == ["(连接断开，正在重连)", "(已合并；前面的回复作废)", "(失败：no answer)"]
