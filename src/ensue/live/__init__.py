"""Detection while events arrive: sent events, waiting events, detections, and changes of rules and tables.

An event passes through `plain_rows` or `sent` (read), `waiting` (until its step is complete), the engine, `detections`.
"""
