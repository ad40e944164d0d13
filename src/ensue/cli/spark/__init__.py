"""Whole Spark jobs from the command line: `ensue run --engine spark`, `ensue stream` and `ensue state`."""
