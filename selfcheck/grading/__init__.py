"""Grading: many submissions, each judged on its own, out of reach of the solution and of each other.

Read it from `grade.py` (what is done, in which order) to `warden.py` (one process per place, which keeps what it
starts within bounds), `verdict.py` (the judge of one submission) and `cell.py` (where a submission's code runs).
"""
