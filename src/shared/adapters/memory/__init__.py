"""The ports inside one process: what the services mean, written out, and nothing that is stored anywhere.

`MemoryBus` is the server that the three ports of the bus share; `MemoryStore` is the database. Both keep to the
contract that `tests/contract/` runs on every adapter, so what works here works on Redis and PostgreSQL.
"""

from shared.adapters.memory.bus import MemoryBus, MemoryInputQueue, MemoryMarks, MemoryOutputStream
from shared.adapters.memory.store import MemoryStore

__all__ = ["MemoryBus", "MemoryInputQueue", "MemoryMarks", "MemoryOutputStream", "MemoryStore"]
