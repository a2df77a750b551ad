"""The lab: what lives in the service's process beside the service, for the judge's sake."""
