"""`selfcheck serve`: the same service as the judge's, without the lab, for hands and curl."""

from collections.abc import Iterator
from contextlib import contextmanager

from selfcheck import early
from selfcheck.console import err, out
from selfcheck.processes.held import Service, start
from selfcheck.processes.logbook import Line
from selfcheck.recognising import recognised
from selfcheck.spec import BOTH, ServiceSpec
from selfcheck.texts import say
from selfcheck.trees import folder_of, kit_root
from selfcheck.wrapping import prose


def serve(tree: str, port: int) -> None:
    """Run the service until Ctrl-C, showing its log lines.

    Raises:
        Unavailable: it cannot be started, for example because the port is taken.
    """
    with serving(tree, port) as service:
        _explain(service.url("gateway"), tree)
        service.log.watch(_show)
        service.wait()
        service.settle()
        if service.log.all("not_started"):
            raise service.why_not_started()


@contextmanager
def serving(tree: str, port: int = 0) -> Iterator[Service]:
    """Start a service in memory without a lab, say what of the tree did not load, and end it when the block does.

    Raises:
        Misconfigured: there is no such tree.
        Unavailable: it cannot be started.
    """
    root = str(kit_root())
    spec = ServiceSpec(str(folder_of(tree)), early.find_tree("solution", root), (), "", BOTH, {}, port)
    service = start(spec)
    try:
        service.url("gateway")
        if not service.loaded():
            raise service.why_not_started()
        for fault in service.faults():
            where = str(fault["file"]) if fault["line"] is None else f"{fault['file']}:{fault['line']}"
            told = say("serve.stands_in", where=where, problem=recognised(str(fault["problem"])))
            err.print(str(told), style="yellow", markup=False)
        yield service
    finally:
        service.stop()


def _explain(url: str, tree: str) -> None:
    out.print(prose(str(say("serve.runs", url=url, tree=tree))))
    out.print()
    commands = (
        (
            say("serve.send"),
            f"""curl -s {url}/chat -d '{{"session_id":"s1","text":"My lamp is broken"}}'""",
        ),
        (say("serve.watch"), f"curl -N {url}/runs/RUN_ID/events"),
        (say("serve.resume"), f"curl -N -H 'Last-Event-ID: 5' {url}/runs/RUN_ID/events"),
    )
    for what, command in commands:
        out.print(f"# {what}", style="dim", markup=False)
        out.print(command, markup=False, soft_wrap=True)
    out.print()


def _show(line: Line) -> None:
    fields = " ".join(f"{name}={value}" for name, value in line.items() if name not in {"at", "level", "room", "event"})
    if line["event"] != "not_started":  # it is told at the end, in one line
        words = f"{str(line['at'])[11:23]} {line['room']:8} {line['event']} {fields}"
        out.print(words, style="dim", markup=False, soft_wrap=True)  # one line each, for whoever looks for something
