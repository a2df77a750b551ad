"""What `--help` says: a line for the command, one for each sub-command and each option."""

from typing import Final

TEXTS: Final = {
    "selfcheck": "Check the four exercises of the Koda lab, end to end.",
    # sub-commands
    "run": "Play the six checks.",
    "watch": "Play the checks at every save, those first that it can affect.",
    "hint": "Show the next hint for an exercise: a question, the shape, nearly the code.",
    "diff": "Show what the solution changes in the starter.",
    "reset": "Put one exercise back as it came; a dated copy of the file is kept.",
    "doctor": "Say what the kit stands on: Python, packages, trees, ports, services, settings.",
    "verify": "Prove the kit: both trees, wrong submissions, texts, screens.",
    "grade": "Judge many submissions, each on its own and out of the solution's reach.",
    "serve": "Run the service for hands and curl, in memory, until Ctrl-C.",
    "chat": "Talk to the service: a small front end in the terminal, or with messages on standard input, one a line.",
    "experiment": "Break one promise of the house on purpose and see what becomes of it, beside a service as it is.",
    "interview": "Be asked what the lesson prepares for: think, reveal point by point, tick what you had.",
    # options of several
    "tree": "Folder with the exercises.",
    "lang": "en or zh; without it, what LANG says.",
    # options of one
    "only": "One check alone.",
    "seed": "Decides how the bus shuffles.",
    "repeat": "Play the whole so many times, and name what is flaky.",
    "json": "Also write the results to this file, after every check.",
    "junit": "The same as JUnit XML.",
    "real": "On a PostgreSQL and a Valkey started for this run.",
    "exit_zero": "Exit 0 also when a check does not pass.",
    "exercise": "One exercise; without it, all.",
    "hint_exercise": "The exercise.",
    "level": "Show this hint, whatever was seen before.",
    "again": "Start over with the first.",
    "reset_exercise": "The exercise to put back.",
    "reset_file": "Put back everything in its file, also when that is no Python any more.",
    "reset_yes": "Do not ask.",
    "poll": "Look for changes instead of listening: for a folder on another machine.",
    "port": "0 takes any free one.",
    "url": "A running gateway; without it, one in memory is started.",
    "session": "The session to talk in; without it, a new one.",
    "experiment_name": "Which one; without it, all are listed.",
    "no_wait": "Do not wait for Enter before it is shown.",
    "questions": "Questions; without it, all.",
    "list": "Only list the questions, and your best score.",
    "read": "Print everything at once, to be read.",
}
