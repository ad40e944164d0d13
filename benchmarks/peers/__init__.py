"""The workloads as good users of DuckDB and of Polars write them: `duckdb_w1.sql`, `polars_w1.py` and so on.

Each is the fastest of the forms that were tried; the others are named at its top, with how much slower they were on a
million events in memory. All seven can be expressed in both, on a finished table.
"""
