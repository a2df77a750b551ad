-- name: ask
-- The shared lock holds off an end, a cancel and a take-over until the question is in; after one, the condition no longer
-- holds. Of two that ask with one number at once, the second violates a constraint.
WITH owned AS (
  SELECT id FROM {schema}.runs
   WHERE id = %(run_id)s AND attempt = %(attempt)s AND status IN ('running', 'streaming') AND NOT cancel_asked FOR SHARE
), known AS (
  SELECT id FROM {schema}.questions
   WHERE id = %(question_id)s
      OR run_id = %(run_id)s AND number = %(number)s AND standing AND text = %(text)s
), replaced AS (
  UPDATE {schema}.questions
     SET standing = false, state = CASE WHEN state = 'open' THEN 'withdrawn' ELSE state END
    FROM owned
   WHERE run_id = owned.id AND number = %(number)s AND standing AND NOT EXISTS (SELECT FROM known)
  RETURNING run_id
), free AS (
  SELECT count(*) FROM replaced  -- which has to be done before the insert below takes the number
), asked AS (
  INSERT INTO {schema}.questions (id, run_id, number, text, default_text, expires_at)
  SELECT %(question_id)s, owned.id, %(number)s, %(text)s, %(default)s, %(expires_at)s
    FROM free, owned WHERE NOT EXISTS (SELECT FROM known)
  RETURNING id
)
SELECT id FROM asked
UNION ALL
(SELECT known.id FROM known, owned ORDER BY known.id = %(question_id)s DESC LIMIT 1)

-- name: answer
-- Both rows are locked, the run's first, so that what is decided about them is decided about their newest state.
WITH held AS (
  SELECT questions.id, run_id, session_id, number, text, default_text, expires_at, state, answer,
         status IN ('running', 'streaming') AND NOT cancel_asked AS unhindered
    FROM {schema}.runs JOIN {schema}.questions ON run_id = runs.id
   WHERE questions.id = %(question_id)s AND session_id = coalesce(%(session_id)s, session_id)
     FOR SHARE OF runs FOR UPDATE OF questions
), answered AS (
  UPDATE {schema}.questions SET state = 'answered', answer = %(text)s
    FROM held WHERE questions.id = held.id AND held.state = 'open' AND unhindered
)
SELECT id, run_id, session_id, number, text, default_text, expires_at,
       CASE WHEN state <> 'open' THEN state WHEN unhindered THEN 'answered' ELSE 'withdrawn' END,
       CASE WHEN state = 'open' AND unhindered THEN %(text)s ELSE answer END,
       state = 'open' AND unhindered
  FROM held

-- name: expire
WITH held AS (
  SELECT questions.id, run_id, session_id, number, text, default_text, expires_at, state, answer, cancel_asked,
         attempt = %(attempt)s AND status IN ('running', 'streaming') AS mine
    FROM {schema}.runs JOIN {schema}.questions ON run_id = runs.id
   WHERE questions.id = %(question_id)s
     FOR SHARE OF runs FOR UPDATE OF questions
), expired AS (
  UPDATE {schema}.questions SET state = 'expired'
    FROM held WHERE questions.id = held.id AND held.state = 'open' AND mine AND NOT cancel_asked
)
SELECT id, run_id, session_id, number, text, default_text, expires_at,
       CASE WHEN state <> 'open' THEN state WHEN cancel_asked THEN 'withdrawn' ELSE 'expired' END, answer, mine
  FROM held

-- name: question
SELECT id, run_id, session_id, number, text, default_text, expires_at, state, answer
  FROM {schema}.asked WHERE id = %(question_id)s

-- name: questions_of
SELECT id, run_id, session_id, number, text, default_text, expires_at, state, answer
  FROM {schema}.asked WHERE run_id = %(run_id)s ORDER BY serial
