"""Events of all types in one table."""


class Mixed:
    pass
