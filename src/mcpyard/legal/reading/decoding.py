"""The text of a file: UTF-8, UTF-16 with its mark, or GB18030."""

import codecs
from pathlib import Path
from typing import Final

from mcpyard.legal.model import BrokenText
from mcpyard.legal.notices import say_here

LARGEST_TEXT: Final = 16 * 1024 * 1024


def decoded(file: Path) -> str:
    """The text of a file.

    Raises:
        BrokenText: It is empty, too large, or in an encoding that is not read.
    """
    if file.stat().st_size > LARGEST_TEXT:
        raise BrokenText(say_here("too_large", size=LARGEST_TEXT // 1024 // 1024))
    text = decode(file.read_bytes())
    if not text.strip():
        raise BrokenText(say_here("empty_file"))
    return text


def decode(content: bytes) -> str:
    """The text of bytes.

    Raises:
        BrokenText: They are in an encoding that is not read.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        # Lines of both encodings in one file: half of it would be read as other characters.
        if any(map(_is_utf8, content.splitlines())):
            raise BrokenText(say_here("not_utf8"), line) from error
    try:
        return content.decode("gb18030")
    except UnicodeDecodeError as error:
        raise BrokenText(say_here("not_utf8"), line) from error


def _is_utf8(line: bytes) -> bool:
    """Whether a line has Chinese characters and is UTF-8; two bytes of GB18030 may look so too."""
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return any("\u3000" <= letter <= "\u9fff" for letter in text)
