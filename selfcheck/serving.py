"""`selfcheck serve`: the same service as the judge's, without the lab, for hands and curl."""

from selfcheck import early, interrupts
from selfcheck.console import err, out
from selfcheck.logbook import Line
from selfcheck.process import start
from selfcheck.spec import BOTH, ServiceSpec
from selfcheck.trees import kit_root


def serve(tree: str, port: int) -> None:
    """Run the service until Ctrl-C, showing its log lines.

    Raises:
        Unavailable: it cannot be started, for example because the port is taken.
    """
    root = str(kit_root())
    folder = early.find_tree(tree, root)
    spec = ServiceSpec(folder, early.find_tree("solution", root), (), "", BOTH, {}, port)
    interrupts.raise_instead()
    service = start(spec)
    try:
        url = service.url("gateway")
        if not service.loaded():
            raise service.why_not_started()
        for fault in service.faults():
            err.print(f"{fault['file']}:{fault['line']} {fault['problem']}; the solution stands in", style="yellow")
        _explain(url, tree)
        service.log.watch(_show)
        service.wait()
    finally:
        service.stop()


def _explain(url: str, tree: str) -> None:
    out.print(f"The service runs on {url} with the exercises of {tree}, in memory. Ctrl-C ends it.", markup=False)
    out.print()
    commands = (
        (
            "send a message; the answer names the run",
            f"""curl -s {url}/chat -d '{{"session_id":"s1","text":"My lamp is broken"}}'""",
        ),
        ("watch a run, from its beginning", f"curl -N {url}/runs/RUN_ID/events"),
        ("resume after event 5", f"curl -N -H 'Last-Event-ID: 5' {url}/runs/RUN_ID/events"),
    )
    for what, command in commands:
        out.print(f"# {what}", style="dim", markup=False)
        out.print(command, markup=False, soft_wrap=True)
    out.print()


def _show(line: Line) -> None:
    fields = " ".join(f"{name}={value}" for name, value in line.items() if name not in {"at", "level", "room", "event"})
    out.print(f"{str(line['at'])[11:23]} {line['room']:8} {line['event']} {fields}", style="dim", markup=False)
