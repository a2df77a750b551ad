"""What the doctor says."""

from typing import Final

TEXTS: Final = {
    "part_python": "Python",
    "part_packages": "Packages",
    "part_kit": "The kit",
    "part_ports": "Ports on 127.0.0.1",
    "part_services": "Real services",
    "part_settings": "Settings in force",
    "environment": "environment",
    "no_venv": "none of its own; make selfcheck makes one in .venv",
    "python_remedy": "Install Python 3.11 or newer, then: make clean selfcheck PYTHON=python3.11",
    "not_installed": "not installed",
    "install_remedy": "In this folder: pip install -c constraints.txt -e '.{extra}'",
    "trees": "starter/ and solution/",
    "untouched": "as the starter came",
    "touched": "exercises that are not the starter's: {numbers}",
    "tree_remedy": "Mend that line, or put the file back: selfcheck reset {number} --file",
    "outside": "differs from the starter outside the bodies",
    "outside_remedy": (
        "The checks still run. A grader will report it; git diff or selfcheck reset N --file puts it right."
    ),
    "home": "memory of runs and hints",
    "not_writable": "{place} cannot be written",
    "home_remedy": "Regressions and hint levels will not be remembered; SELFCHECK_HOME names another place.",
    "any_port": "any free port",
    "serve_port": "port {port}, for serve",
    "free": "free",
    "any_port_remedy": "The service has to listen on 127.0.0.1: a sandbox or firewall keeps it from that.",
    "serve_port_remedy": "Only selfcheck serve wants it: --port names another.",
    "lacks": "not installed: {names}",
    "can_start": "can start PostgreSQL and Valkey of its own",
    "answers": "answers and will do",
    "no_urls": "not set: everything runs in memory",
    "service_remedy": "Start it or correct the address; or unset both addresses, or set MOCK=1, to work in memory.",
    "settings": "KODA_ variables",
    "settings_read": "can be read; what is not the default is marked",
    "default": "(default {value})",
    "well": "All is well.",
    "bad": "To be put right: {count}. The checks will not come out right before.",
}
