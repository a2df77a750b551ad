-- Raise a run's fence; never lower it.
--
-- KEYS   fence
-- ARGV   attempt, spare life (ms)

local raised = tonumber(redis.call('GET', KEYS[1]))
if not raised then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
elseif raised < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
end
