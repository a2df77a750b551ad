-- name: fork
-- As for a question: the shared lock holds off what would forbid it, and of two with one number at once the second
-- violates a constraint. A sub-run is the first and only run of its session.
WITH parent AS (
  SELECT id FROM {schema}.runs
   WHERE id = %(parent_id)s AND attempt = %(attempt)s AND status IN ('running', 'streaming') AND NOT cancel_asked
     FOR SHARE
), known AS (
  SELECT run_id FROM {schema}.forks
   WHERE run_id = %(run_id)s
      OR parent_id = %(parent_id)s AND number = %(number)s AND standing
         AND EXISTS (SELECT FROM {schema}.inputs WHERE inputs.run_id = forks.run_id AND NOT merged AND text = %(text)s)
), replaced AS (
  UPDATE {schema}.forks SET standing = false
    FROM parent
   WHERE parent_id = parent.id AND number = %(number)s AND standing AND NOT EXISTS (SELECT FROM known)
  RETURNING run_id
), free AS (
  SELECT count(*) FROM replaced  -- which has to be done before the insert below takes the number
), opened AS (
  INSERT INTO {schema}.runs (id, session_id, user_id, status, attempt, created_at, updated_at, ordinal, inputs)
  SELECT %(run_id)s, %(session_id)s, %(user_id)s, 'pending', 0, %(created_at)s, %(updated_at)s, 0, 1
    FROM parent WHERE NOT EXISTS (SELECT FROM known)
  RETURNING id, status
), told AS (
  INSERT INTO {schema}.inputs (session_id, message_id, user_id, text, created_at, run_id, merged, status, trace)
  SELECT %(message_session_id)s, %(message_id)s, %(sender_id)s, %(text)s, %(sent_at)s, id, false, status, %(trace)s
    FROM opened
), forked AS (
  INSERT INTO {schema}.forks (run_id, parent_id, number, title)
  SELECT id, %(parent_id)s, %(number)s, %(title)s FROM free, opened
  RETURNING run_id
)
SELECT run_id FROM forked
UNION ALL
(SELECT run_id FROM known, parent ORDER BY run_id = %(run_id)s DESC LIMIT 1)

-- name: fork_of
SELECT parent_id, number, title, stored_runs.*
  FROM {schema}.forks JOIN {schema}.stored_runs ON id = run_id WHERE run_id = %(run_id)s

-- name: forks_of
SELECT parent_id, number, title, stored_runs.*
  FROM {schema}.forks JOIN {schema}.stored_runs ON id = run_id
 WHERE parent_id = %(parent_id)s AND standing ORDER BY number

-- name: orphans
SELECT sub_run.id
  FROM {schema}.runs AS sub_run
  JOIN {schema}.forks ON run_id = sub_run.id
  JOIN {schema}.runs AS parent ON parent.id = parent_id
 WHERE sub_run.status IN ('pending', 'running', 'streaming') AND NOT sub_run.cancel_asked
   AND strpos(sub_run.session_id, chr(31)) > 0
   AND (NOT standing OR parent.cancel_asked OR parent.status IN ('done', 'failed', 'cancelled'))
 ORDER BY sub_run.created_at, sub_run.serial LIMIT %(limit)s
