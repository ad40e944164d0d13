"""Detection while events arrive: what was sent, what waits for its time, what is given back, what changes.

The way of an event is `plain_rows` or `sent` (read), `waiting` (until its step is complete), the engine, `detections`.
"""
