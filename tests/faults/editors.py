"""The ways in which editors save a file; only one of them ever writes the draft."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

BETWEEN_STEPS = 0.03
"""Seconds an editor may take between two steps of one save."""


async def truncate_and_write(path: Path, draft: bytes, text: bytes) -> None:
    del draft
    path.write_bytes(text)


async def rename_over(path: Path, draft: bytes, text: bytes) -> None:
    del draft
    fresh = path.with_name(".mcp.json.tmp")
    fresh.write_bytes(text)
    fresh.replace(path)


async def back_up_and_rename(path: Path, draft: bytes, text: bytes) -> None:
    del draft
    moved = path.with_name(".mcp.json~")
    path.rename(moved)
    await asyncio.sleep(BETWEEN_STEPS)
    fresh = path.with_name("4913")
    fresh.write_bytes(text)
    fresh.rename(path)
    moved.unlink()


async def delete_and_create(path: Path, draft: bytes, text: bytes) -> None:
    del draft
    path.unlink()
    await asyncio.sleep(BETWEEN_STEPS)
    path.write_bytes(text)


async def save_twice(path: Path, draft: bytes, text: bytes) -> None:
    path.write_bytes(draft)
    await asyncio.sleep(BETWEEN_STEPS)
    path.write_bytes(text)


async def write_in_two_steps(path: Path, draft: bytes, text: bytes) -> None:
    del draft
    half = len(text) // 2
    with path.open("wb", 0) as file:
        file.write(text[:half])
        await asyncio.sleep(BETWEEN_STEPS)
        file.write(text[half:])


SaveMethod = Callable[[Path, bytes, bytes], Awaitable[None]]

WAYS: tuple[SaveMethod, ...] = (
    truncate_and_write,
    rename_over,
    back_up_and_rename,
    delete_and_create,
    save_twice,
    write_in_two_steps,
)
