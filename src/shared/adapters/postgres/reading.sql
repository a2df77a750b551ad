-- name: ping
SELECT 1

-- name: run
SELECT * FROM {schema}.stored_runs WHERE id = %(run_id)s

-- name: events
SELECT run_id, seq, kind, data FROM {schema}.messages
 WHERE run_id = %(run_id)s AND seq >= %(start)s ORDER BY seq LIMIT %(limit)s

-- name: runs_of
SELECT * FROM {schema}.stored_runs WHERE session_id = %(session_id)s ORDER BY ordinal

-- name: inputs_of
SELECT message_id, session_id, user_id, text, created_at, run_id, merged, status, trace
  FROM {schema}.inputs WHERE session_id = %(session_id)s ORDER BY serial

-- name: session_events
SELECT ordinal, run_id, seq, kind, data
  FROM {schema}.runs JOIN {schema}.messages ON run_id = id
 WHERE session_id = %(session_id)s
   AND ordinal >= %(ordinal)s AND (ordinal > %(ordinal)s OR seq > %(seq)s)
   AND ordinal <= ALL (SELECT ordinal FROM {schema}.runs
                        WHERE session_id = %(session_id)s AND status IN ('pending', 'running', 'streaming'))
 ORDER BY ordinal, seq LIMIT %(limit)s

-- name: archivable
SELECT id FROM {schema}.runs
 WHERE status IN ('done', 'failed', 'cancelled') AND archived_text IS NULL AND updated_at < %(ended_before)s
 ORDER BY updated_at, serial LIMIT %(limit)s

-- name: archive
WITH archived AS (
  UPDATE {schema}.runs SET archived_text = %(text)s
   WHERE id = %(run_id)s AND status IN ('done', 'failed', 'cancelled') AND archived_text IS NULL
  RETURNING id
), dropped AS (
  DELETE FROM {schema}.messages USING archived
   WHERE run_id = id AND kind NOT IN ('done', 'failed', 'cancelled')
), dropped_questions AS (
  DELETE FROM {schema}.questions USING archived WHERE run_id = archived.id
), dropped_forks AS (
  -- What a run still needs stays: the parent its forks until it has ended, the sub-run its parent until then.
  DELETE FROM {schema}.forks USING archived
   WHERE (run_id = archived.id OR parent_id = archived.id)
     AND NOT EXISTS (SELECT FROM {schema}.runs
                      WHERE runs.id IN (forks.run_id, forks.parent_id)
                        AND status IN ('pending', 'running', 'streaming'))
)
SELECT id FROM archived
