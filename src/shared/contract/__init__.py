"""The contract of a session's line, as types: the frames (`frames.py`), and what stands in their `data` (`data.py`)."""
