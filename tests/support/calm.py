"""How properties are tried: a busy machine is no counterexample."""

from hypothesis import HealthCheck, settings

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
