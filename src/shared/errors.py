"""Every error this project raises, by the decision its reader has to take.

    KodaError
    ├── CallerError            your mistake: change the call            HTTP
    │   ├── InvalidField         a field's value                         422
    │   ├── UnknownRun           no such run                             404
    │   ├── RunEnded             the run takes no more of this           409
    │   ├── UnknownQuestion      no such question, or not for you        404
    │   ├── QuestionClosed       it has its answer, or wants none        409
    │   └── SessionBusy          the session has a run that has not ended 409
    ├── LostOwnership          stop: somebody else owns this now
    │   ├── Fenced               a write with an attempt that is not the run's
    │   └── IllegalTransition    a move the table does not allow (also a ValueError)
    └── Unavailable            try again: a service is away              503
        └── Misconfigured        not before the settings are mended      (exit 3)

Fields come first, the text is built from them. Errors of libraries stop at the adapter, chained as the cause.
"""

from shared.run import RunStatus


class KodaError(Exception):
    """The root of the tree. Never raised itself."""


class CallerError(KodaError):
    """The caller's mistake. Repeating the same call gives the same answer."""


class InvalidField(CallerError):
    """A field of a request has a value that cannot be taken. `field` names it as the caller wrote it."""

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        super().__init__(f"{field}: {problem}")


class UnknownRun(CallerError):
    """No run has this id: it never existed, or it belongs to another installation."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"there is no run {run_id!r}; POST /chat opens one and answers its id")


class RunEnded(CallerError):
    """The run has ended and `action` needs one that has not."""

    def __init__(self, run_id: str, status: RunStatus, action: str) -> None:
        self.run_id = run_id
        self.status = status
        self.action = action
        super().__init__(f"cannot {action} run {run_id!r}: it has ended as {status}")


class UnknownQuestion(CallerError):
    """No question with this id is this caller's to answer: it never was, or its run or session is another."""

    def __init__(self, question_id: str) -> None:
        self.question_id = question_id
        super().__init__(f"there is no question {question_id!r} here; the event `question` brings its id")


class QuestionClosed(CallerError):
    """The question takes no answer any more. `answer` is the one that counted, None when nobody's did."""

    def __init__(self, question_id: str, state: str, answer: str | None) -> None:
        self.question_id = question_id
        self.state = state
        self.answer = answer
        super().__init__(f"question {question_id!r} takes no more answers: it is {state}")


class SessionBusy(CallerError):
    """The session has a run that has not ended, and the caller wanted none to wait for."""

    def __init__(self, session_id: str, run_id: str) -> None:
        self.session_id = session_id
        self.run_id = run_id
        super().__init__(
            f"session {session_id!r} is busy with run {run_id!r}; wait for its end, or send another if_active"
        )


class LostOwnership(KodaError):
    """Whoever gets this no longer owns the run: stop writing, drop what is buffered, take the next one."""


class Fenced(LostOwnership):
    """A write carried an attempt that is not (or no longer) the run's current one. Nothing was written."""

    def __init__(self, run_id: str, attempt: int) -> None:
        self.run_id = run_id
        self.attempt = attempt
        super().__init__(f"attempt {attempt} of run {run_id!r} may not write: a later attempt owns it, or it has ended")


class IllegalTransition(LostOwnership, ValueError):
    """The transition table does not allow this move. Nothing was changed."""

    def __init__(self, current: RunStatus, target: RunStatus) -> None:
        self.current = current
        self.target = target
        super().__init__(f"illegal transition: {current} → {target}")


class Unavailable(KodaError):
    """A service did not do its part; the same call may work later. `service` is "bus" or "store"."""

    def __init__(self, service: str, problem: str) -> None:
        self.service = service
        self.problem = problem
        super().__init__(f"the {service} is away: {problem}")


class Misconfigured(Unavailable):
    """Waiting will not help: the address, the rights, the version or a setting has to change first."""

    def __init__(self, service: str, problem: str, remedy: str) -> None:
        self.remedy = remedy
        super().__init__(service, problem)
        self.args = (f"{service}: {problem}; {remedy}",)
