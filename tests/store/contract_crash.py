"""A program that writes to a store and says what it was promised, until it is killed.

Each worker repeats a round of steps on a server of its own. What the store holds of it after any
number of steps is a function of that number, so the one who kills it can tell whether every
promise was kept: `python contract_crash.py FOLDER STEP...`, one step for each worker to begin at.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from mcpyard.store.sqlite.store import Store

if TYPE_CHECKING:
    from tests.store.contract import Stored

ROUND = 6
"""Steps after which a worker's server is gone again."""


async def step(store: "Stored", worker: int, number: int) -> None:
    """The step of a worker that leads from `number` steps to one more."""
    mine = held(store, worker)
    match number % ROUND:
        case 0:
            await store.definitions.add_all({f"w{worker}": {"step": number, "fill": "x" * 500}})
        case 1:
            await store.policies.set(id_of(mine), {"step": number})
        case 2:
            await store.definitions.replace(id_of(mine), {"step": number, "fill": "y" * 5000})
        case 3:
            await store.definitions.rename(id_of(mine), f"w{worker}-renamed")
        case 4:
            await store.policies.set(id_of(mine), {"step": number, "wanted": "running"})
        case _:
            await store.definitions.remove(id_of(mine))


def expected(worker: int, steps: int) -> tuple[str, dict[str, object], dict[str, object]] | None:
    """Name, definition and policy of a worker's server after so many steps."""
    base, done = steps - steps % ROUND, steps % ROUND
    if done == 0:
        return None
    name = f"w{worker}" if done < 4 else f"w{worker}-renamed"
    short: dict[str, object] = {"step": base, "fill": "x" * 500}
    long: dict[str, object] = {"step": base + 2, "fill": "y" * 5000}
    policies: list[dict[str, object]] = [
        {},
        {"step": base + 1},
        {"step": base + 4, "wanted": "running"},
    ]
    return name, short if done < 3 else long, policies[(done >= 2) + (done >= 5)]


def held(
    store: "Stored", worker: int
) -> tuple[UUID, tuple[str, dict[str, object], dict[str, object]]] | None:
    """What a store holds of a worker's server."""
    for each in store.definitions.all():
        if each.name.removesuffix("-renamed") == f"w{worker}":
            policy = dict(store.policies.all().get(each.id, {}))
            return each.id, (each.name, dict(each.definition), policy)
    return None


def id_of(mine: tuple[UUID, object] | None) -> UUID:
    assert mine is not None
    return mine[0]


async def work(store: "Stored", worker: int, number: int) -> None:
    while True:
        await step(store, worker, number)
        number += 1
        os.write(1, f"{worker} {number}\n".encode())


async def main() -> None:
    store = await Store.open(Path(sys.argv[1]))
    begun = enumerate(map(int, sys.argv[2:]))
    await asyncio.gather(*(work(store, worker, number) for worker, number in begun))


if __name__ == "__main__":
    asyncio.run(main())
