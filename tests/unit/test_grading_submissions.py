"""Submissions are found where learners put them, and read without trusting a byte of them."""

import os
import random
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from selfcheck.grading import submissions
from selfcheck.grading.submissions import Contents, Submission, find
from shared.errors import Misconfigured
from shared.foreign import MAX_SOURCE

BOTH = {"lifecycle.py": b"one", "delivery.py": b"two"}
FOUND = Contents(BOTH)


def put(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files, with their folders, and return the folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def under(prefix: str) -> dict[str, bytes]:
    """Return both files, as they are called under a folder."""
    return {f"{prefix}{name}": content for name, content in BOTH.items()}


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    """Write an archive and return it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


PLACES = ["", "starter/", "koda-lab/", "koda-lab/starter/"]


@pytest.mark.parametrize("prefix", PLACES)
def test_the_two_files_are_found_at_the_top_in_starter_and_one_folder_deep(prefix: str, tmp_path: Path) -> None:
    """In a folder and in an archive alike."""
    folder = put(tmp_path / "ann", under(prefix))
    assert Submission("ann", folder).read() == FOUND
    assert Submission("ann", zipped(tmp_path / "ann.zip", under(prefix))).read() == FOUND


def test_the_nearest_place_counts(tmp_path: Path) -> None:
    """A whole kit is handed in with its solution: the starter's folder is the learner's, and the solution's is not."""
    files = {**under("starter/"), "solution/lifecycle.py": b"x", "a/delivery.py": b"y", "__MACOSX/delivery.py": b"z"}
    assert Submission("kit", put(tmp_path / "kit", files)).read() == FOUND
    assert Submission("kit", zipped(tmp_path / "kit.zip", files)).read() == FOUND


def test_a_folder_of_submissions_has_one_in_each_folder_and_archive(tmp_path: Path) -> None:
    """In order of names, two of one name told apart; what is hidden, a link or another file is none."""
    place = tmp_path / "class"
    put(place, {**under("bob/"), **under("ann/starter/"), **under(".git/"), **under("__pycache__/"), "list.csv": b""})
    (place / "empty").mkdir()
    zipped(place / "bob.zip", BOTH)
    (place / "link").symlink_to(place / "bob")
    assert [(each.name, each.path.name) for each in find([str(place)])] == [
        ("ann", "ann"),
        ("bob", "bob"),
        ("bob (2)", "bob.zip"),
        ("empty", "empty"),
    ]


def test_a_submission_is_named_by_its_folder_and_counted_once(tmp_path: Path) -> None:
    """Given itself, and given again."""
    ann = put(tmp_path / "ann", under("starter/"))
    assert find([str(ann), f"{ann}/"]) == [Submission("ann", ann)]


@pytest.mark.parametrize("place", ["nowhere", "."])
def test_nothing_to_grade_is_said(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place that is not there, and one that is empty."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Misconfigured):
        find([place])


def test_a_missing_file_is_flagged(tmp_path: Path) -> None:
    """The other one is read."""
    assert Submission("a", put(tmp_path / "a", {"delivery.py": b"two"})).read() == Contents(
        {"delivery.py": b"two"}, ("missing-file",)
    )
    (tmp_path / "b").mkdir()
    assert Submission("b", tmp_path / "b").read() == Contents({}, ("missing-file",))


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Neither one in the place of a file, nor one in the place of a folder, nor one in an archive."""
    secret = put(tmp_path / "secret", BOTH)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "delivery.py").symlink_to(secret / "delivery.py")
    assert Submission("a", tmp_path / "a").read() == Contents({}, ("link", "missing-file"))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "starter").symlink_to(secret)
    assert Submission("b", tmp_path / "b").read() == Contents({}, ("link",))
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        entry = zipfile.ZipInfo("delivery.py")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, str(secret / "delivery.py"))
    assert Submission("c", tmp_path / "c.zip").read() == Contents({}, ("link", "missing-file"))


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """A pipe would never end, a folder has no bytes."""
    (tmp_path / "a" / "lifecycle.py").mkdir(parents=True)
    os.mkfifo(tmp_path / "a" / "delivery.py")
    assert Submission("a", tmp_path / "a").read() == Contents({}, ("unreadable",))


@pytest.mark.parametrize("thing", ["pipe", "folder"])
def test_what_is_no_file_does_not_cost_the_other_one(thing: str, tmp_path: Path) -> None:
    """It is flagged, and the file beside it is read."""
    tree = put(tmp_path / "a", {"lifecycle.py": b"one"})
    os.mkfifo(tree / "delivery.py") if thing == "pipe" else (tree / "delivery.py").mkdir()
    assert Submission("a", tree).read() == Contents({"lifecycle.py": b"one"}, ("unreadable",))


def test_no_more_is_read_than_a_file_may_have(tmp_path: Path) -> None:
    """One byte more, so that the loader sees that it is too large; also when it is packed very small."""
    large = {"lifecycle.py": bytes(40 * MAX_SOURCE), "delivery.py": b"two"}
    for each in (Submission("a", put(tmp_path / "a", large)), Submission("b", zipped(tmp_path / "b.zip", large))):
        assert {name: len(content) for name, content in each.read().files.items()} == {
            "lifecycle.py": MAX_SOURCE + 1,
            "delivery.py": 3,
        }


@pytest.mark.parametrize("prefix", ["../", "/", "a/../", "a/b/", "a/b/starter/", "starter/starter/x/", "./"])
def test_entries_that_lead_elsewhere_are_no_place(prefix: str, tmp_path: Path) -> None:
    """Names are compared and never opened, so none of them leads out; deeper than one folder nobody looks."""
    assert Submission("a", zipped(tmp_path / "a.zip", under(prefix))).read() == Contents({}, ("missing-file",))


def test_an_archive_that_is_none_is_flagged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a cut one, one whose contents do not match, one that is too large, one with too many entries."""
    dense = random.Random(0).randbytes(1000)
    whole = zipped(tmp_path / "a.zip", {"lifecycle.py": bytes(1000), "delivery.py": dense}).read_bytes()
    spoiled = whole.replace(b"PK\x03\x04", b"PK\x03\x05", 1)
    for content in (b"", b"no archive", whole[: len(whole) // 2], spoiled):
        (tmp_path / "b.zip").write_bytes(content)
        assert Submission("b", tmp_path / "b.zip").read() == Contents({}, ("unreadable",))
    monkeypatch.setattr(submissions, "MOST_ENTRIES", 1)
    assert Submission("a", tmp_path / "a.zip").read() == Contents({}, ("unreadable",))
    monkeypatch.setattr(submissions, "LARGEST_ARCHIVE", 10)
    assert Submission("a", tmp_path / "a.zip").read() == Contents({}, ("unreadable",))


def test_other_contents_have_another_fingerprint() -> None:
    """Also when the bytes of both files together are the same."""
    contents = [{}, {"delivery.py": b"ab"}, {"lifecycle.py": b"ab"}, {"delivery.py": b"a", "lifecycle.py": b"b"}]
    assert len({Contents(each).fingerprint for each in contents}) == len(contents)


def test_names_do_no_harm(tmp_path: Path) -> None:
    """What moves a terminal is replaced, and what is endless is cut."""
    put(tmp_path, {**under("\x1b[2Jann/"), **under("b" * 200 + "/")})
    assert [each.name for each in find([str(tmp_path)])] == ["_[2Jann", "b" * 80]
