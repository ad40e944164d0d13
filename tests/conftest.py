"""Settings of tests: random ones without deadlines, and the same every time in CI; compiled code is shared.

Processes share compiled code with each other and with the next run: it is stored in pytest's cache.
"""

import os

from hypothesis import HealthCheck, settings

from tests.browser import browser, page  # noqa: F401 (fixtures)

settings.register_profile(
    "here", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.register_profile("ci", settings.get_profile("here"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_configure(config):
    """Comes before anything is compiled, and before other processes are started: they inherit the environment."""
    if hasattr(config, "cache"):
        os.environ.setdefault("ENSUE_CACHE_DIR", str(config.cache.mkdir("compiled")))


def pytest_collection_modifyitems(items):
    """Begin with the slow tests, so that one process is not left with them in the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
