-- Version 4: how many of a run's attempts were handed over by an owner that had to end. They are none of those it may
-- fail. Beside `attempt`, which stays the count of all claims, and the fence: workers of version 3 go on beside this.

ALTER TABLE {schema}.runs ADD COLUMN handovers integer NOT NULL DEFAULT 0;
