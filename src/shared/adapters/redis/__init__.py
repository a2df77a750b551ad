"""The bus on Redis (6.2 or newer) or Valkey: streams, a group, expiring keys, and Lua for what must be one step."""

from shared.adapters.redis.bus import RedisBus, delete_prefix

__all__ = ["RedisBus", "delete_prefix"]
