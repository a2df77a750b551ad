"""What gateway, worker and the exercises have in common: values, rules and ports, and no I/O."""
