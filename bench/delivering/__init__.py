"""The parts of `bench/delivery.py`: servers and references, readers and writers in processes of their own, measures."""
