-- name: latest_run
SELECT * FROM {schema}.stored_runs WHERE session_id = %(session_id)s ORDER BY ordinal DESC LIMIT 1

-- name: open_run
-- Of two that open a run of one session at once, the second waits for the first and then violates one of the
-- constraints: the session has the message already, or it has to take the next ordinal.
WITH opened AS (
  INSERT INTO {schema}.runs (id, session_id, user_id, status, attempt, created_at, updated_at, ordinal, inputs)
  SELECT %(run_id)s, %(session_id)s, %(user_id)s, 'pending', 0, %(created_at)s, %(updated_at)s,
         coalesce(max(ordinal) + 1, 0), 1
    FROM {schema}.runs WHERE session_id = %(session_id)s
  RETURNING id, status
)
INSERT INTO {schema}.inputs (session_id, message_id, user_id, text, created_at, run_id, merged, status, trace)
SELECT %(message_session_id)s, %(message_id)s, %(sender_id)s, %(text)s, %(sent_at)s, id, false, status, %(trace)s
  FROM opened
RETURNING run_id, merged, status

-- name: join_run
-- The update locks the run's row, so this either comes before its end, which then sees one message more, or finds it
-- ended.
WITH joined AS (
  UPDATE {schema}.runs SET inputs = inputs + 1
   WHERE id = %(run_id)s AND status IN ('running', 'streaming') AND NOT cancel_asked
  RETURNING id, status
)
INSERT INTO {schema}.inputs (session_id, message_id, user_id, text, created_at, run_id, merged, status, trace)
SELECT %(message_session_id)s, %(message_id)s, %(sender_id)s, %(text)s, %(sent_at)s, id, true, status, %(trace)s
  FROM joined
RETURNING run_id, merged, status

-- name: find_message
SELECT message_id, session_id, user_id, text, created_at, run_id, merged, status, trace
  FROM {schema}.inputs WHERE session_id = %(session_id)s AND message_id = %(message_id)s
