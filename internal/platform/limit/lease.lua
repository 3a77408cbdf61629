-- Takes tokens out of one bucket for one node.
--
-- KEYS[1] holds the time when the bucket will be full again, in microseconds since 2026, by the clock of Redis: the clocks
-- of the nodes do not matter. ARGV: microseconds between two tokens; how many the bucket holds; how many are wanted; the
-- minimum that is of use; how many the node took locally during an outage; and 1 if the bucket may end in debt.
-- Returns how many were given, in how many microseconds the bucket will be full, and in how many the minimum is available.
local clock = redis.call('TIME')
local now = (tonumber(clock[1]) - 1767225600) * 1000000 + tonumber(clock[2])
local each, burst, want, least, spent = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local full = each * burst
local before = tonumber(redis.call('GET', KEYS[1]) or 0)
local due = math.max(before, now)
if spent > 0 then
  -- Several nodes report what they took. Together that empties the bucket at most.
  due = math.max(due, math.min(due + spent * each, now + full))
end
local have = (now + full - due) / each + 0.000001
local given = 0
if ARGV[6] == '1' then
  if want < 0 or have >= 0 then given = want end
else
  given = math.max(math.min(want, math.floor(have)), 0)
  if given < least then given = 0 end
end
due = math.max(due + given * each, now)
if due > now and due ~= before then
  redis.call('SET', KEYS[1], string.format('%.3f', due), 'PX', math.ceil((due - now) / 1000) + 1000)
elseif due <= now and before > now then
  redis.call('DEL', KEYS[1])
end
return {given, math.ceil(due - now), math.max(math.ceil(due + least * each - now - full), 0)}
