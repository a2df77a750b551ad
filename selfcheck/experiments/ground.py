"""The two services of an experiment: started together, as the judge starts its own, and ended together."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from selfcheck import early
from selfcheck.experiments.experiment import Experiment, Ground
from selfcheck.playing.stage import Stage
from selfcheck.processes.held import Service, start
from selfcheck.spec import BOTH, ServiceSpec, new_token
from selfcheck.trees import kit_root

SIDES: Final = (False, True)  # broken or not


@contextmanager
def services(experiment: Experiment) -> Iterator[tuple[Service, Service]]:
    """Start both services, the healthy one first, and end them when the block ends.

    They load while whoever started them does something else; `grounds` waits for them.
    """
    with ExitStack() as stack:
        healthy, broken = (_start(stack, experiment, side) for side in SIDES)
        yield healthy, broken


def _start(stack: ExitStack, experiment: Experiment, broken: bool) -> Service:
    tree = early.find_tree("solution", str(kit_root()))
    settings = {**early.LAB_SETTINGS, **experiment.settings, **(experiment.broken_settings if broken else {})}
    spec = ServiceSpec(tree, tree, (), new_token(), BOTH, settings, experiment=experiment.name, broken=broken)
    service = start(spec)
    stack.callback(service.stop)
    return service


@contextmanager
def grounds(started: tuple[Service, Service]) -> Iterator[tuple[Ground, Ground]]:
    """Wait until both services answer, and give a ground on each.

    Raises:
        Unavailable: one of them could not be started.
    """
    with ExitStack() as stack:
        healthy, broken = (_ground(stack, *each) for each in zip(started, SIDES, strict=True))
        yield healthy, broken


def _ground(stack: ExitStack, service: Service, broken: bool) -> Ground:
    url = service.url("gateway")
    if not service.loaded():
        raise service.why_not_started()
    return Ground(stack.enter_context(Stage(service, early.DEFAULT_SEED)), url, broken)
