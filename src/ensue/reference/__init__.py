"""The reference: the meaning of a program, computed plainly and slowly from the definitions.

Every other execution is judged against it. It shares nothing with them but the language: syntax, checking, types.
"""

from ensue.errors import DetectError
from ensue.reference.detect import detect
from ensue.reference.matches import Event

__all__ = ["DetectError", "Event", "detect"]
