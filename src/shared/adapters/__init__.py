"""The adapters of the ports. Chosen in `bootstrap.py` and imported nowhere else."""
