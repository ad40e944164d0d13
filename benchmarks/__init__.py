"""How fast Ensue is, beside others, and how it grows: `python -m benchmarks`."""
