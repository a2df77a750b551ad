-- Version 4: runs that were given back. Workers of version 3 go on beside this: they neither count nor take up anything.

-- How many of a run's attempts were handed over by an owner that had to end: none of those that it may fail. Beside
-- `attempt`, which stays the count of all claims, and the fence.
ALTER TABLE {schema}.runs ADD COLUMN handovers integer NOT NULL DEFAULT 0;

-- Whether whom it was given back by rings for it. A run that lost its owner is left to the sweeps.
ALTER TABLE {schema}.runs ADD COLUMN given_back boolean NOT NULL DEFAULT false;
