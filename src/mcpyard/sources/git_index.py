"""Whether git keeps a file, told from its index: no program is run for it."""

import struct
from pathlib import Path
from typing import Final

_LONGEST: Final = 0xFFF
_POINTER: Final = b"gitdir: "


def is_tracked(path: Path) -> bool:
    """Whether the repository that a file lies in has it in its index."""
    real = path.resolve()
    for folder in real.parents:
        if (folder / ".git").exists():
            return _has(_index(folder / ".git"), str(real.relative_to(folder)).encode())
    return False


def _has(index: bytes, name: bytes) -> bool:
    # Behind an entry's flags, which hold the length of its name, stands the name and a zero.
    return struct.pack(">H", min(len(name), _LONGEST)) + name + b"\0" in index


def _index(git: Path) -> bytes:
    try:
        if git.is_file():
            pointer = git.read_bytes().removeprefix(_POINTER).strip()
            git = git.parent / pointer.decode()
        return (git / "index").read_bytes()
    except (OSError, UnicodeError):
        return b""
