"""Random operations on the ports, played one after the other, with answers that can be compared between adapters.

    answers = await play(ports, random_steps(seed=7, count=1000))

A step is three small values; what they mean depends on where the ports stand when it is played, so that most of a
random sequence does something. Two adapters that keep the contract stand at the same place after the same steps and
give the same answers. What is the service's own is normalised: a delivery's id is told by its number, the time of a
status change not at all.
"""

import random
from collections.abc import Sequence

from shared.errors import Fenced
from tests.contract.adapters import Ports
from tests.contract.asking_operations import ASKING_OPERATIONS
from tests.contract.bus_operations import BUS_OPERATIONS
from tests.contract.player import LIMIT, Player, Step
from tests.contract.store_operations import STORE_OPERATIONS
from tests.contract.values import A_MOMENT

OPERATIONS = STORE_OPERATIONS | ASKING_OPERATIONS | BUS_OPERATIONS

OFTEN = {"open": 7, "claim": 6, "append": 8, "finish": 8, "publish": 8, "release": 8, "take over": 8}
OFTEN |= {"join": 6, "put": 8, "set mark": 8, "ask": 6, "answer": 6, "fork": 6, "take up": 6}
WEIGHTS = dict.fromkeys(OPERATIONS, 4) | OFTEN | {"ask cancel": 2, "flush": 1}
"""How often each operation comes: often enough that runs live a while, seldom enough that they end."""


async def play(ports: Ports, steps: Sequence[Step]) -> list[object]:
    """Play steps on fresh ports and return the answer of each."""
    player = Player(ports)
    return [await _play_one(player, step) for step in steps]


async def _play_one(player: Player, step: Step) -> object:
    player.ports.clock.advance(A_MOMENT)
    try:
        return await OPERATIONS[step.do](player, step)
    except Fenced as refused:
        return "fenced", refused.run_id, refused.attempt


def random_steps(seed: int, count: int) -> list[Step]:
    """Return `count` steps; the same for the same seed."""
    chance = random.Random(seed)
    names, weights = list(WEIGHTS), list(WEIGHTS.values())
    return [
        Step(do, chance.randrange(LIMIT), chance.randrange(LIMIT)) for do in chance.choices(names, weights, k=count)
    ]
