-- name: claim
WITH candidate AS (
  SELECT id FROM {schema}.claimable ORDER BY created_at, serial LIMIT 1 FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE {schema}.runs
     SET status = 'running', attempt = attempt + 1, updated_at = %(now)s,
         owner = %(owner)s, leased_until = now() + %(lease)s
   WHERE id IN (SELECT id FROM candidate) AND status = 'pending'
  RETURNING *
), audit AS (
  INSERT INTO {schema}.transitions (run_id, source, target, attempt, at, why)
  SELECT id, 'pending', status, attempt, updated_at, 'claimed' FROM claimed
)
SELECT id, session_id, user_id, status, attempt, created_at, updated_at, NULL, handovers FROM claimed

-- name: claim_of_session
WITH candidate AS (
  SELECT id FROM {schema}.claimable WHERE session_id = %(session_id)s LIMIT 1 FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE {schema}.runs
     SET status = 'running', attempt = attempt + 1, updated_at = %(now)s,
         owner = %(owner)s, leased_until = now() + %(lease)s
   WHERE id IN (SELECT id FROM candidate) AND status = 'pending'
  RETURNING *
), audit AS (
  INSERT INTO {schema}.transitions (run_id, source, target, attempt, at, why)
  SELECT id, 'pending', status, attempt, updated_at, 'claimed' FROM claimed
)
SELECT id, session_id, user_id, status, attempt, created_at, updated_at, NULL, handovers FROM claimed

-- name: take_over
WITH free AS (
  SELECT id, resumed FROM {schema}.runs
   WHERE status IN ('running', 'streaming') AND leased_until <= now()
   ORDER BY leased_until, serial LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE {schema}.runs
   SET attempt = attempt + 1, updated_at = %(now)s, owner = %(owner)s, leased_until = now() + %(lease)s,
       resumed = 'takeover', given_back = false
  FROM free
 WHERE runs.id = free.id
RETURNING runs.id, session_id, user_id, status, attempt, created_at, updated_at, free.resumed, handovers

-- name: take_up
-- A session has one active run at the most, so there is no order here.
WITH free AS (
  SELECT id, resumed FROM {schema}.runs
   WHERE session_id = %(session_id)s AND status IN ('running', 'streaming') AND given_back AND leased_until <= now()
   FOR UPDATE SKIP LOCKED
)
UPDATE {schema}.runs
   SET attempt = attempt + 1, updated_at = %(now)s, owner = %(owner)s, leased_until = now() + %(lease)s,
       resumed = 'takeover', given_back = false
  FROM free
 WHERE runs.id = free.id
RETURNING runs.id, session_id, user_id, status, attempt, created_at, updated_at, free.resumed, handovers

-- name: renew
WITH renewed AS (
  UPDATE {schema}.runs SET leased_until = now() + %(lease)s
   WHERE owner = %(owner)s AND status IN ('running', 'streaming')
  RETURNING serial, id, attempt, cancel_asked
)
SELECT id, attempt, cancel_asked FROM renewed ORDER BY serial

-- name: release
-- Who gives back twice, because the first answer was lost, hands over once: the second time there is no owner.
UPDATE {schema}.runs
   SET owner = NULL, leased_until = now() + %(after)s, resumed = %(why)s, given_back = true,
       handovers = handovers + (owner IS NOT NULL AND NOT %(counts)s)::integer
 WHERE id = %(run_id)s AND attempt = %(attempt)s AND status IN ('running', 'streaming')

-- name: messages_of
SELECT message_id, session_id, user_id, text, created_at, trace
  FROM {schema}.inputs WHERE run_id = %(run_id)s ORDER BY serial

-- name: move
-- A run that becomes active without a claim is nobody's: free to be taken over at once.
WITH moved AS (
  UPDATE {schema}.runs
     SET status = %(target)s, updated_at = %(now)s,
         owner = CASE WHEN %(target)s IN ('running', 'streaming') THEN owner END,
         leased_until = CASE WHEN %(target)s IN ('running', 'streaming') THEN coalesce(leased_until, now()) END
   WHERE id = %(run_id)s AND attempt = %(attempt)s AND status = %(source)s
  RETURNING id, attempt, updated_at
)
INSERT INTO {schema}.transitions (run_id, source, target, attempt, at, why)
SELECT id, %(source)s, %(target)s, attempt, updated_at, %(why)s FROM moved

-- name: append
-- The shared lock holds off a take-over until these rows are in; after one, the condition no longer holds.
WITH owned AS (
  SELECT id FROM {schema}.runs
   WHERE id = %(run_id)s AND attempt = %(attempt)s AND status IN ('running', 'streaming') FOR SHARE
), written AS (
  INSERT INTO {schema}.messages (run_id, seq, kind, data)
  SELECT id, seq, kind, data
    FROM owned, unnest(%(seqs)b::bigint[], %(kinds)b::text[], %(data)b::text[]) AS event (seq, kind, data)
  ON CONFLICT DO NOTHING
)
SELECT id FROM owned

-- name: finish
-- The row is locked first, so that what is decided about it is decided about its newest state: a message that joined a
-- moment before is seen, one that comes a moment later finds the run ended.
WITH held AS (
  SELECT id, status = %(source)s AND attempt = %(attempt)s AS mine,
         coalesce(inputs <= %(inputs_read)s::integer, true) AS all_read
    FROM {schema}.runs WHERE id = %(run_id)s FOR UPDATE
), ended AS (
  UPDATE {schema}.runs
     SET status = %(target)s, updated_at = %(now)s, owner = NULL, leased_until = NULL, given_back = false
    FROM held
   WHERE runs.id = held.id AND mine AND all_read
  RETURNING runs.id, attempt, updated_at
), audit AS (
  INSERT INTO {schema}.transitions (run_id, source, target, attempt, at, why)
  SELECT id, %(source)s, %(target)s, attempt, updated_at, %(why)s FROM ended
), written AS (
  INSERT INTO {schema}.messages (run_id, seq, kind, data)
  SELECT id, seq, kind, data
    FROM ended, unnest(%(seqs)b::bigint[], %(kinds)b::text[], %(data)b::text[]) AS event (seq, kind, data)
  ON CONFLICT DO NOTHING
)
SELECT mine, all_read FROM held

-- name: ask_cancel
UPDATE {schema}.runs SET cancel_asked = true
 WHERE id = %(run_id)s AND status IN ('pending', 'running', 'streaming') AND NOT cancel_asked

-- name: waiting_sessions
SELECT session_id FROM {schema}.claimable ORDER BY created_at, serial LIMIT %(limit)s
