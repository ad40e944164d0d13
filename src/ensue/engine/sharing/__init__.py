"""Sharing among rules: rules that differ only in names and constants run as one rule with a table of constants.

`shapes` finds rules of one shape; `families` makes of these one rule with the matches of all of them, and the
conditions that decide to which of them a match belongs.
"""
