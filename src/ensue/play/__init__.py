"""The playground: a local page on which rules are written, and their detections are shown as one types.

`server.py` answers the page, and nobody else (`guard.py`). Rules are checked and run in child processes (`lane.py`,
`child.py`), which are killed where they take too long. `page/` is the page itself; it loads nothing from anywhere.
"""
