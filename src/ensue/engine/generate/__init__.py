"""From plans to source: the parts that all operators share."""
