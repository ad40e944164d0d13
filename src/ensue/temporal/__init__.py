"""Reasoning about time: what the temporal conditions of a body say about how far apart its events can be."""
