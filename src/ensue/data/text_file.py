"""The bytes of a text file, known to be UTF-8."""

from pathlib import Path

from ensue.data.errors import DataError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_text_file(path: Path) -> bytes:
    """Content of the file, without a byte order mark."""
    return utf8(path.read_bytes(), path)


def utf8(data: bytes, name: object) -> bytes:
    """The bytes without a byte order mark, if they are UTF-8; `name` is their name in messages."""
    data = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}:{line} is not UTF-8 text; save the file as UTF-8.") from None
    return data
