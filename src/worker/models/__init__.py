"""Models behind one small port. `port.py` says what a model is; every other file here is one."""
