"""How the random tests run: without deadlines, and the same ones every time where a change is judged."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "here", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.register_profile("ci", settings.get_profile("here"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
