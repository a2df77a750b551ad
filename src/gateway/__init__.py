"""Accepts messages and shows runs: HTTP in, SSE out. Reading order: app.py, feed.py, sse.py."""
