"""The whole bus: its three ports on one server."""

import re

from shared.adapters.redis.connect import Server
from shared.adapters.redis.input import RedisInputQueue
from shared.adapters.redis.keys import Keys
from shared.adapters.redis.marks import RedisMarks
from shared.adapters.redis.output import RedisOutputStream

_SPECIAL = re.compile(r"[][*?\\^-]")
"""What a pattern of the server's would not take literally."""


class RedisBus:
    """`output`, `queue` and `marks` of one installation. Make it with `connect`, give it back with `close`.

    `server` is what they talk to; nobody but tests and tools should need it.
    """

    def __init__(self, server: Server, prefix: str) -> None:
        keys = Keys(prefix)
        self.prefix = prefix
        self.server = server
        self.output = RedisOutputStream(server, keys)
        self.queue = RedisInputQueue(server, keys)
        self.marks = RedisMarks(server, keys)

    @classmethod
    async def connect(cls, url: str, *, prefix: str) -> "RedisBus":
        """Return the bus when the server at `url` has answered and will do.

        `prefix` begins every key, and the names of the connections in the server's CLIENT LIST.

        Raises:
            Unavailable: it did not answer within 3 s.
            Misconfigured: it refuses us, is too old, or `url` is no address. The message never holds the password.
        """
        server = Server(url, prefix)
        try:
            await server.check()
        except BaseException:
            await server.close()
            raise
        return cls(server, prefix)

    async def ping(self) -> None:
        """Return when the server answers.

        Raises:
            Unavailable: it did not within 3 s.
        """
        await self.server.ping()

    async def close(self) -> None:
        """Give back all connections. Calls afterwards raise `Unavailable`; closing twice is fine."""
        await self.output.close()
        await self.server.close()


async def delete_prefix(url: str, prefix: str) -> None:
    """Delete every key of one installation and nothing else: for tests, and after a self-check on shared services."""
    server = Server(url, prefix)
    pattern = _SPECIAL.sub(r"\\\g<0>", prefix) + ":*"
    try:
        cursor = b"0"
        while True:
            reply = await server.command("SCAN", cursor, "MATCH", pattern, "COUNT", 1000)
            assert isinstance(reply, list) and isinstance(reply[0], bytes) and isinstance(reply[1], list)
            keys = [key for key in reply[1] if isinstance(key, bytes)]
            if keys:
                await server.command("UNLINK", *keys)
            cursor = reply[0]
            if cursor == b"0":
                return
    finally:
        await server.close()
