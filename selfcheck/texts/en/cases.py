"""The cases of the probes: what an exercise was asked, as it is written in code, with a word about why."""

from typing import Final

TEXTS: Final = {
    # should_merge
    "no_run": "should_merge(None: the session has no run)",
    "a_run": "should_merge(a {status} run, {age})",
    "created_now": "created this instant",
    "age": "{seconds} s old",
    "age_almost": "a microsecond younger than 30 s",
    "age_exactly": "exactly 30 s old",
    "age_day": "a day and a second old",
    "age_zone": "{seconds} s old, its time in the zone {zone}",
    # resume_from
    "header_absent": "{call}, the header is absent",
    "header_empty": "{call}, the header is empty",
    "digits": "{call}, {count} digits",
    "superscript": "{call}, for which isdigit() is true and int() raises",
    "arabic": "{call}, which int() reads as 3",
    # SeqOrderer
    "offers": "offers {offers}",
    "gap_closes": "{seqs} (a gap that closes)",
    "frees_all": "{seqs} (the missing number frees the whole run)",
    "again_below": "{seqs} (re-delivered below the pointer)",
    "again_held": "{seqs} (re-delivered while held, and after)",
    "starts_at": "{seqs} to an orderer that starts at {start}",
    "never_begins": "{seqs} (0 never comes)",
    "empty_texts": "{seqs} with empty texts",
    "interleaved": "two orderers, offers interleaved",
    "random_order": "200 numbers, each twice, in random order",
    "backwards": "offers {first} down to 0",
}
