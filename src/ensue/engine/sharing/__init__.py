"""Sharing among rules: those alike but for names and constants run as one rule with a table of constants.

`shapes` tells which rules are alike; `families` makes of these one rule that finds what any of them could find, and the
conditions that tell for which of them it counts.
"""
