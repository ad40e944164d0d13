"""The subset of Python that becomes machine code: the functions that every unit has, and the source of kernels.

Structures and generated code are written in it, and `machine` translates it.
"""
