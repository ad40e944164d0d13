"""Reasoning about time: how far apart the events of a body can be, from its temporal conditions."""
