"""The same tree and the same seed give the same results, byte for byte: each time, under load, and on real services."""

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from tests.support.judging import (
    SOLUTION,
    STARTER,
    Judged,
    TwoAtOnce,
    judge,
    rooms,
    solution_with,
    started,
    tree_with,
    until,
)
from tests.support.real import Urls, own_name, real_urls, services_to_break

SEEDS = (7, 0, 1, 11, 4711)
LIMIT_S = 60.0  # for what takes two seconds, on a machine that does other things


def written(judged: Judged, file: Path) -> bytes:
    """Return what a run wrote of its checks, and nothing else of it."""
    assert judged.left_behind == []
    head, checks, rest = file.read_bytes().partition(b'"checks":')
    assert head, "it has a head"
    return checks + rest


@contextlib.contextmanager
def load() -> Iterator[None]:
    """Keep the other core busy."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def trees(folder: Path) -> dict[str, Path]:
    """Return trees in which all, nothing, and what is not enough is right."""
    return {"starter": STARTER, "solution": SOLUTION, "blocked": tree_with(folder / "blocked", (1, 3))}


@pytest.mark.parametrize("name", ["starter", "solution", "blocked"])
def test_the_results_are_the_same_each_time_and_under_load(name: str, tmp_path: Path) -> None:
    """Neither chance, nor ids, nor the clock, nor a busy machine is in them."""
    tree, file = trees(tmp_path)[name], tmp_path / "results.json"
    first, second = (written(judge(tree, results=file), file) for _ in range(2))
    with load():
        loaded = written(judge(tree, results=file), file)
    assert first == second == loaded


def test_the_seed_is_what_makes_a_difference(tmp_path: Path) -> None:
    """Five seeds are five arrivals, and each is the same again; the verdicts are the same with all of them."""
    file = tmp_path / "results.json"

    def run(seed: int) -> tuple[dict[int, str], bytes]:
        judged = judge(STARTER, "--only", "2", "--seed", str(seed), results=file)
        return judged.states, written(judged, file)

    runs = {seed: run(seed) for seed in SEEDS}
    assert {str(states) for states, _ in runs.values()} == {"{2: 'todo'}"}
    assert len({checks for _, checks in runs.values()}) == len(SEEDS)
    assert run(SEEDS[-1]) == runs[SEEDS[-1]]


# --- On real services -------------------------------------------------------------------------------------------------


def on(urls: Urls) -> dict[str, str]:
    """Return what has a run use these services."""
    return {"MOCK": "", "REDIS_URL": urls.redis, "DATABASE_URL": urls.database}


REAL = [(tree, seed) for seed in SEEDS for tree in (STARTER, SOLUTION)]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> TwoAtOnce[tuple[Path, int], tuple[bytes, bytes]]:
    """Return for each tree and seed what is written in memory and on real services."""
    urls, room = real_urls(), rooms(tmp_path_factory)

    def run(key: tuple[Path, int]) -> tuple[bytes, bytes]:
        tree, seed = key
        file = room() / "results.json"
        options = ["--seed", str(seed), *([] if seed == SEEDS[0] else ["--only", "2"])]  # the only check with a seed
        memory = written(judge(tree, *options, results=file), file)
        return memory, written(judge(tree, *options, results=file, changes=on(urls)), file)

    return TwoAtOnce(REAL, run)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tree", [STARTER, SOLUTION], ids=lambda tree: tree.name)
def test_real_services_give_the_same_results(
    tree: Path, seed: int, both: TwoAtOnce[tuple[Path, int], tuple[bytes, bytes]]
) -> None:
    """What the learner sees in memory is what runs on Redis and PostgreSQL."""
    memory, real = both[tree, seed]
    assert memory == real


def test_services_can_be_started_for_one_run(tmp_path: Path) -> None:
    """With --real nothing has to be there; what was started is gone afterwards, folders and all."""
    real_urls()  # skips where they cannot be started
    file = tmp_path / "results.json"
    memory = written(judge(SOLUTION, results=file), file)
    with tempfile.TemporaryDirectory(prefix="real-") as temporary:  # not below a folder that is ours alone
        Path(temporary).chmod(0o711)  # PostgreSQL is another user's when we are root
        judged = judge(SOLUTION, "--real", results=file, changes={"TMPDIR": temporary})
        assert [*Path(temporary).iterdir()] == []
    assert (judged.code, judged.results["mode"], written(judged, file)) == (0, "real", memory)


def test_services_that_were_started_go_when_the_run_is_interrupted(tmp_path: Path) -> None:
    """Also while they are still starting: whoever waits for the run waits for nothing else."""
    real_urls()  # skips where they cannot be started
    with tempfile.TemporaryDirectory(prefix="real-") as temporary:
        Path(temporary).chmod(0o711)
        with started("run", "--tree", "solution", "--real", changes={"TMPDIR": temporary}) as running:
            until(lambda: any(Path(temporary).glob("*/bus")), "a service's folder")
            running.process.send_signal(signal.SIGINT)
            code, _, err = running.ended()
            assert (code, err, running.left_behind()) == (130, "stopped\n", [])
        until(lambda: not any(Path(temporary).iterdir()), "end of the services")
        until(lambda: working_in(temporary) == [], "end of what was laying out their folders")


def working_in(folder: str) -> list[str]:
    """Return the processes whose folder is below this one: servers have nothing of our environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str((process / "cwd").readlink()).startswith(f"{folder}/"):
                found.append(process.name)
    return found


def traces(urls: Urls) -> tuple[set[bytes], set[str]]:
    """Return the keys of Redis and the schemas of PostgreSQL."""
    with redis.Redis.from_url(urls.redis, protocol=3, socket_timeout=30) as client:
        keys = set(client.scan_iter())
    with psycopg.connect(urls.database) as connection:
        schemas = {str(row[0]) for row in connection.execute("SELECT nspname FROM pg_namespace")}
    return keys, schemas


@pytest.mark.parametrize("how", ["ends", "is interrupted"])
def test_nothing_is_left_on_somebodys_services(how: str, tmp_path: Path) -> None:
    """A run works under a prefix and a schema of its own, removes both, and touches nothing else."""
    services, mine = services_to_break(), own_name()  # which nobody else works on at the same time
    urls = Urls(services.redis_url, services.database_url)
    with redis.Redis.from_url(urls.redis, protocol=3, socket_timeout=30) as client:
        client.flushall()  # what others have left there would go when its time is over
        client.set(f"{mine}:selfcheck_x", "kept")
        before = traces(urls)
        if how == "ends":
            assert judge(SOLUTION, "--only", "5", results=tmp_path / "r.json", changes=on(urls)).code == 0
        else:
            hanging = "_before = resume_from\ndef resume_from(last_event_id):\n    while last_event_id == '5': pass\n"
            tree = solution_with(tmp_path / "tree", delivery=f"{hanging}    return _before(last_event_id)\n")
            with started("run", "--tree", str(tree), changes=on(urls)) as running:
                running.until_it_says("3 two waiters")
                running.process.terminate()
                assert running.ended()[0] == 130
                assert running.left_behind() == []
        assert traces(urls) == before
        client.delete(f"{mine}:selfcheck_x")


# --- Services that are not there --------------------------------------------------------------------------------------


def refused(tmp_path: Path, **changes: str) -> tuple[int, list[str], str, str]:
    """Return the code, the states, what was said on stderr and on stdout by a run that cannot begin."""
    judged = judge(SOLUTION, results=tmp_path / "results.json", changes=changes)
    assert judged.left_behind == []
    assert judged.took_s < LIMIT_S
    return judged.code, [*judged.states.values()], judged.err, judged.out


AWAY = ["environment"] * 6


@pytest.mark.parametrize("service", ["REDIS_URL", "DATABASE_URL"])
def test_an_address_where_nobody_listens_is_one_line(service: str, tmp_path: Path) -> None:
    """All six are the fault of the surroundings, which the exit code says, too."""
    urls = on(real_urls())
    scheme = urls[service].partition(":")[0]
    code, states, err, out = refused(tmp_path, **{**urls, service: f"{scheme}://127.0.0.1:9/0"})
    assert (code, states) == (3, AWAY)
    word = "bus" if service == "REDIS_URL" else "store"
    assert err.startswith(f"selfcheck: the {word} is away: 127.0.0.1:9: ")
    assert err.count("\n") == 1
    assert "0 of 6 pass" in out
    assert "Traceback" not in out


@pytest.mark.parametrize("service", ["REDIS_URL", "DATABASE_URL"])
def test_a_wrong_password_is_one_line(service: str, tmp_path: Path) -> None:
    """It says which variable has to be mended, and shows no password."""
    urls = on(real_urls())
    _, _, rest = urls[service].partition("@")
    user = "" if service == "REDIS_URL" else "koda"
    scheme = urls[service].partition(":")[0]
    code, states, err, _ = refused(tmp_path, **{**urls, service: f"{scheme}://{user}:wrong@{rest}"})
    assert (code, states) == (3, AWAY)
    assert err.startswith(f"selfcheck: {'bus' if service == 'REDIS_URL' else 'store'}: ")
    assert f"mend {service}" in err
    assert "wrong" not in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("only", ["REDIS_URL", "DATABASE_URL"])
def test_one_address_without_the_other_is_a_wrong_usage(only: str, tmp_path: Path) -> None:
    """Which one is missing is said, and nothing is played or written."""
    file = tmp_path / "results.json"
    judged = judge(SOLUTION, results=file, changes={"MOCK": "", only: "redis://127.0.0.1:9/0"})
    other = {"REDIS_URL": "DATABASE_URL", "DATABASE_URL": "REDIS_URL"}[only]
    line = f"selfcheck: settings: {only} is set and {other} is not; set {other} too, or MOCK=1\n"
    assert (judged.code, judged.out, judged.err) == (2, "", line)
    assert not file.exists()


def test_a_store_that_goes_away_in_the_middle_accuses_nobody(tmp_path: Path) -> None:
    """What was judged before stands; from then on it is the surroundings."""
    services = services_to_break()
    slow = "import time\n_before = resume_from\ndef resume_from(last_event_id):\n    time.sleep(0.3)\n"
    tree = solution_with(tmp_path / "tree", delivery=f"{slow}    return _before(last_event_id)\n")
    file = tmp_path / "results.json"
    changes = on(Urls(services.redis_url, services.database_url))
    with started("run", "--tree", str(tree), "--json", str(file), changes=changes) as running:
        running.until_it_says("2 ordered")
        services.postgres.kill()
        code, _, err = running.ended()
        assert running.left_behind() == []
    checks = json.loads(file.read_bytes())["checks"]
    states = [check["status"] for check in checks]
    assert states in (["passed"] * 2 + ["environment"] * 4, ["passed"] * 3 + ["environment"] * 3)
    assert code == 3
    assert err.startswith("selfcheck: the store is away: ")
    assert err.count("\n") == 1
