"""What evidence is called where people read it: the names of its fields, and the words among its values."""

from typing import Final

TEXTS: Final = {
    # fields
    "probe": "probe",
    "late_write": "late write",
    "logged_as_illegal": "logged as illegal",
    "status_after": "status after",
    "events_added": "events added",
    "arrived": "arrived",
    "delivered": "delivered",
    "reply": "reply",
    "events": "events",
    "events_per_waiter": "events per waiter",
    "waiter_A": "waiter A",
    "waiter_B": "waiter B",
    "received_before": "received before",
    "last_before": "last before",
    "status_at_reconnect": "status at reconnect",
    "first_after": "first after",
    "duplicates": "duplicates",
    "missing": "missing",
    "first_answer": "first answer",
    "second_answer": "second answer",
    "run_id": "run id",
    "merged": "merged",
    "reruns_from_seq": "reruns from seq",
    "messages": "messages",
    "runs": "runs",
    "previous": "previous",
    "age_s": "age s",
    "status": "status",
    "run": "run",
    # values
    "cases_right": "{right} of {cases} cases right",
    "refused": "refused",
    "carried_out": "carried out",
}
