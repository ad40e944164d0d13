"""Timelines: events and detections as one page that needs no network, or as a trace for Perfetto.

`scene.py` is the content, `choose.py` selects a part of it where there is too much, `columns.py` packs it as bytes,
`page.py` puts these into a page beside `page.css` and the scripts, and `timeline.py` is the object that people handle.
"""

from ensue.view.timeline import MOST_EVENTS, Timeline, timeline, timeline_of, traced

__all__ = ["MOST_EVENTS", "Timeline", "timeline", "timeline_of", "traced"]
