"""Errors of the translator."""

from __future__ import annotations


class TranslateError(Exception):
    """Code outside the subset that machine code is made from. The message names the function, the line and its text."""

    def __init__(self, message: str, function: str, line: int, text: str) -> None:
        super().__init__(f"{function}, line {line}: {message}\n    {text.strip()}")
        self.message = message
        self.function = function
        self.line = line
        self.text = text


class MachineError(Exception):
    """Raised where machine code cannot be compiled or loaded."""
