"""Arrow's functions on columns, `pyarrow.compute`, imported when one is first called.

Importing it writes a Python function for each of Arrow's three hundred: a tenth of a short command's time, which needs
none of them where columns are read as they are.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    from pyarrow import compute

    function = globals()[name] = getattr(compute, name)
    return function
