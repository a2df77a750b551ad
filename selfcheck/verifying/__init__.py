"""`selfcheck verify`: the kit proves itself, part by part, and counts what was proved."""
