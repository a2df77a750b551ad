-- Version 3: what a run asks its user, and the sub-runs that it splits off.

-- The state is the one that was written. An open question is withdrawn by whatever ends its run or asks it to stop: that
-- is read off the run's row (`asked`), so neither can overlook a question that is being asked at the same moment.
CREATE TABLE {schema}.questions (
  serial       bigint GENERATED ALWAYS AS IDENTITY,
  id           text COLLATE "C" CONSTRAINT questions_pkey PRIMARY KEY,
  run_id       text COLLATE "C" NOT NULL,
  number       integer NOT NULL,
  text         text NOT NULL,
  default_text text NOT NULL,
  expires_at   timestamptz NOT NULL,
  state        text NOT NULL DEFAULT 'open',
  answer       text,
  standing     boolean NOT NULL DEFAULT true  -- false: its number is another's by now
);

CREATE UNIQUE INDEX questions_run_number ON {schema}.questions (run_id, number) WHERE standing;
CREATE INDEX questions_by_run ON {schema}.questions (run_id, serial);

CREATE VIEW {schema}.asked AS
  SELECT questions.id, run_id, session_id, number, text, default_text, expires_at,
         CASE WHEN state = 'open' AND (cancel_asked OR status NOT IN ('running', 'streaming')) THEN 'withdrawn'
              ELSE state END AS state,
         answer, questions.serial
    FROM {schema}.questions JOIN {schema}.runs ON runs.id = run_id;

CREATE TABLE {schema}.forks (
  run_id    text COLLATE "C" CONSTRAINT forks_pkey PRIMARY KEY,
  parent_id text COLLATE "C" NOT NULL,
  number    integer NOT NULL,
  title     text NOT NULL,
  standing  boolean NOT NULL DEFAULT true
);

CREATE UNIQUE INDEX forks_parent_number ON {schema}.forks (parent_id, number) WHERE standing;
CREATE INDEX forks_by_parent ON {schema}.forks (parent_id);

-- Of all runs these alone can be orphans: the character is the one that stands in the session of every sub-run
-- (`shared/forks.py`) and in no other. Looking for orphans costs the same however many runs have ended.
CREATE INDEX runs_unended_sub_runs ON {schema}.runs (created_at, serial)
  WHERE status IN ('pending', 'running', 'streaming') AND NOT cancel_asked AND strpos(session_id, chr(31)) > 0;
