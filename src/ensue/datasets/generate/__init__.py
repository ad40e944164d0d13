"""Makes the events of data sets: a file for each, with the same events at each call and on every platform."""
