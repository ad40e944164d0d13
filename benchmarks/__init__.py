"""Benchmarks of Ensue: its speed beside other systems, and its growth with events and keys: `python -m benchmarks`."""
