"""The bytes of a text file, known to be UTF-8."""

from pathlib import Path

from ensue.data.errors import DataError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_text_file(path: Path) -> bytes:
    """What is in the file, without a byte order mark."""
    data = path.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    try:
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line} is not UTF-8 text; save the file as UTF-8.") from None
    return data
