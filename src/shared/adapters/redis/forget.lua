-- Forget the consumers of a group that nothing was heard of for long and that have nothing pending.
--
-- KEYS   stream
-- ARGV   group, silence (ms)

local consumers = redis.pcall('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])
if consumers.err then
  return -- there is no such group, so there are none
end
for _, consumer in ipairs(consumers) do
  local about = {}
  for i = 1, #consumer, 2 do
    about[consumer[i]] = consumer[i + 1]
  end
  if about.pending == 0 and about.idle >= tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], about.name)
  end
end
