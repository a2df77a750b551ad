-- Version 1 of the schema. A later version is a file of its own beside this one (see schema.py); this one stays.

CREATE TABLE {schema}.runs (
  serial        bigint GENERATED ALWAYS AS IDENTITY,
  id            text COLLATE "C" CONSTRAINT runs_pkey PRIMARY KEY,
  session_id    text COLLATE "C" NOT NULL,
  user_id       text NOT NULL,
  status        text NOT NULL,
  attempt       integer NOT NULL,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  ordinal       integer NOT NULL,
  inputs        integer NOT NULL,
  cancel_asked  boolean NOT NULL DEFAULT false,
  archived_text text,
  -- Only an active run has these: who executes it, by the database's clock until when, and what a successor is told.
  owner         text,
  leased_until  timestamptz,
  resumed       text NOT NULL DEFAULT 'takeover',
  CONSTRAINT runs_session_ordinal UNIQUE (session_id, ordinal)
);

-- What makes two active runs of one session impossible, whatever the code does.
CREATE UNIQUE INDEX runs_one_active_per_session ON {schema}.runs (session_id)
  WHERE status IN ('running', 'streaming');

-- Runs that have ended are in none of these: looking for work costs the same however many there are.
CREATE INDEX runs_pending_by_session ON {schema}.runs (session_id, ordinal) WHERE status = 'pending';
CREATE INDEX runs_pending_by_age ON {schema}.runs (created_at, serial) WHERE status = 'pending' AND NOT cancel_asked;
CREATE INDEX runs_leases ON {schema}.runs (leased_until, serial) WHERE status IN ('running', 'streaming');
CREATE INDEX runs_unarchived ON {schema}.runs (updated_at, serial)
  WHERE status IN ('done', 'failed', 'cancelled') AND archived_text IS NULL;

CREATE TABLE {schema}.inputs (
  serial     bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT inputs_pkey PRIMARY KEY,
  session_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  user_id    text NOT NULL,
  text       text NOT NULL,
  created_at timestamptz NOT NULL,
  run_id     text COLLATE "C" NOT NULL,
  merged     boolean NOT NULL,
  status     text NOT NULL,
  CONSTRAINT inputs_session_message UNIQUE (session_id, message_id)
);

CREATE INDEX inputs_by_run ON {schema}.inputs (run_id, serial);
CREATE INDEX inputs_by_session ON {schema}.inputs (session_id, serial);

-- The event log. No foreign key: every insert selects its run anyway, and a check per row would cost a third of it.
CREATE TABLE {schema}.messages (
  run_id text COLLATE "C" NOT NULL,
  seq    bigint NOT NULL,
  kind   text NOT NULL,
  data   text NOT NULL,  -- not json: what is replayed has to be, byte for byte, what was live
  CONSTRAINT messages_run_seq PRIMARY KEY (run_id, seq)
);

CREATE TABLE {schema}.transitions (
  serial  bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT transitions_pkey PRIMARY KEY,
  run_id  text COLLATE "C" NOT NULL,
  source  text NOT NULL,
  target  text NOT NULL,
  attempt integer NOT NULL,
  at      timestamptz NOT NULL,
  why     text NOT NULL
);

CREATE INDEX transitions_by_run ON {schema}.transitions (run_id, serial);

CREATE VIEW {schema}.stored_runs AS
  SELECT id, session_id, user_id, status, attempt, created_at, updated_at, ordinal, inputs,
         (SELECT seq FROM {schema}.messages WHERE run_id = runs.id ORDER BY seq DESC LIMIT 1) AS last_seq,
         cancel_asked, archived_text
    FROM {schema}.runs;

-- The oldest pending run of each session that has no active one, unless its cancel was asked.
CREATE VIEW {schema}.claimable AS
  SELECT id, session_id, created_at, serial
    FROM {schema}.runs
   WHERE status = 'pending' AND NOT cancel_asked
     AND NOT EXISTS (SELECT FROM {schema}.runs AS active
                      WHERE active.session_id = runs.session_id AND active.status IN ('running', 'streaming'))
     AND NOT EXISTS (SELECT FROM {schema}.runs AS older
                      WHERE older.session_id = runs.session_id AND older.status = 'pending'
                        AND older.ordinal < runs.ordinal);
