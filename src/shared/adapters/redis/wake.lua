-- Wake a reader that blocks on a stream of its own.
--
-- KEYS   the reader's wake stream
-- ARGV   the number of the call (counts up, so that an id never falls behind the reader), life (ms)

redis.call('XADD', KEYS[1], 'MAXLEN', 1, ARGV[1] .. '-0', 'w', '')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
