-- Remove entries of the input stream for good: out of the group's pending ones and out of the stream, in one go.
--
-- KEYS   stream
-- ARGV   group, then the ids

for i = 2, #ARGV do
  redis.call('XACK', KEYS[1], ARGV[1], ARGV[i])
  redis.call('XDEL', KEYS[1], ARGV[i])
end
