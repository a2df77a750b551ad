"""Frames that are begun ahead of time and completed together."""

import pytest
from websockets.frames import Frame, Opcode

from gateway.framing import begun, completed, text_of

SIZES = [1, 2, 125, 126, 127, 255, 256, 65_535, 65_536, 1 << 20]


def test_completed_frames_are_those_of_the_library() -> None:
    """Length for length, frames that are completed in one piece are what `websockets` makes of the same texts."""
    texts = [b"x" * (size - 1) + b"!" for size in SIZES]
    frames = completed([begun(text[:-1], 1) for text in texts], b"!")
    assert frames == b"".join(Frame(Opcode.TEXT, text).serialize(mask=False) for text in texts)


@pytest.mark.parametrize("size", SIZES)
def test_a_frame_gives_its_text_back(size: int) -> None:
    """For a server that frames texts by itself: what was begun is the text without its end."""
    assert text_of(begun(b"x" * (size - 1), 1)) == b"x" * (size - 1)
