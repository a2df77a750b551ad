-- Append events to a run's output stream, unless a later attempt has raised the fence.
--
-- KEYS   stream, fence, then one key per mark
-- ARGV   attempt, spare life (ms), then seq, kind and data of each event
-- returns -1 when fenced (nothing was appended), else the marks that are set: bit 0 for the first key, bit 1 ...

local stream, fence = KEYS[1], KEYS[2]
local attempt, life = tonumber(ARGV[1]), ARGV[2]

local raised = tonumber(redis.call('GET', fence))
if raised and attempt < raised then
  return -1
end
if not raised then
  redis.call('SET', fence, attempt, 'PX', life)
elseif attempt > raised then
  redis.call('SET', fence, attempt, 'KEEPTTL')
end

local begins = redis.call('EXISTS', stream) == 0
for i = 3, #ARGV, 3 do
  redis.call('XADD', stream, '*', 's', ARGV[i], 'k', ARGV[i + 1], 'd', ARGV[i + 2])
end
if begins then
  -- Nobody may be left to expire it: a stream whose writer is lost must not stay for ever.
  redis.call('PEXPIRE', stream, life)
end

local marks = 0
for i = 3, #KEYS do
  marks = marks + redis.call('EXISTS', KEYS[i]) * 2 ^ (i - 3)
end
return marks
