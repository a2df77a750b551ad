"""Where a connection starts: at its cursor, or behind a snapshot of all that was before."""

from dataclasses import dataclass

from gateway.frames import Form
from gateway.hub import Channel
from gateway.reading import Reading
from gateway.standing import Standing
from shared.ports import OutputStream, StoredRun


@dataclass(frozen=True, slots=True)
class Place:
    """The first seq that is sent one by one, and what goes before it, in the connection's form."""

    position: int
    before: tuple[bytes, ...] = ()


async def find_place(
    stored: StoredRun, start: int, cap: int, reading: Reading, channel: Channel, output: OutputStream, form: Form
) -> Place:
    """Return the place of a reader whose next event would be `start`.

    - A cursor ahead of the run's history gets a `gap`, and then everything so far as one `snapshot`.
    - One behind what is kept, or by more than `cap` events, gets the snapshot alone. It never ends before the cursor.
    """
    tail = -1 if stored.last_seq is None else stored.last_seq
    if start > tail + 1 and not channel.holds(start - 1):
        newest = max(tail, await reading.streamed(output))
        if start > newest + 1:
            gap = form.gap(start - 1, 0 if newest >= 0 else None, newest if newest >= 0 else None)
            return await _behind_snapshot(reading, form, gap)
    if stored.archived_text is not None and start < tail:
        return Place(tail, (form.snapshot(tail - 1, Standing(stored.archived_text)),))
    if tail + 1 - start > cap:
        return await _behind_snapshot(reading, form)
    return Place(start)


async def _behind_snapshot(reading: Reading, form: Form, *before: bytes) -> Place:
    last_seq, standing = await reading.standing()
    return Place(0, before) if last_seq < 0 else Place(last_seq + 1, (*before, form.snapshot(last_seq, standing)))
