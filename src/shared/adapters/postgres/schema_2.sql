-- Version 2: a message keeps the trace of the request that brought it. Messages from before have none.

ALTER TABLE {schema}.inputs ADD COLUMN trace text NOT NULL DEFAULT '';
