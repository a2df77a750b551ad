"""Executes runs: queue in, events out. Reading order: consumer.py, executor.py, writer.py."""
