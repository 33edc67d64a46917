"""What must be true of a yard when the fire is over."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import psutil

from bench.fire.members import BROKEN, MISSING, RESTING, Member
from bench.fire.scene import Scene, one
from tests.faults.hosting import family

TIMEOUT = 90.0
LOOK_AGAIN = 0.25
STATUSES = {
    BROKEN: ("error", "error"),
    MISSING: ("error", "error"),
    RESTING: ("disconnected", "stopped"),
}


async def recovered(scene: Scene) -> dict[str, dict[str, Any]]:
    """The records, once every server shows what it must and lives, or when the time is up."""
    loop = asyncio.get_running_loop()
    until = loop.time() + TIMEOUT
    records = await scene.records()
    while loop.time() < until and (any(statuses_off(scene, records)) or _is_outdated(records)):
        await asyncio.sleep(LOOK_AGAIN)
        await scene.heal()
        records = await scene.records()
    return records


def _is_outdated(records: dict[str, dict[str, Any]]) -> bool:
    """Whether a process that a record names has ended, which nobody has noticed yet."""
    pids = [record["pid"] for record in records.values() if record.get("pid")]
    return not all(map(psutil.pid_exists, pids))


def statuses_off(scene: Scene, records: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Servers whose status is not what their kind must show."""
    for member in scene.members:
        record = records.get(member.name, {})
        displayed = record.get("status"), record.get("state")
        if displayed != STATUSES.get(member.kind, ("connected", "running")):
            yield f"{member.name} shows {displayed} {record.get('phase')} {record.get('error')}"


async def lies(scene: Scene, records: dict[str, dict[str, Any]]) -> list[str]:
    """Everything a record says that the world does not."""
    wrong = [*statuses_off(scene, records)]
    for member in scene.members:
        record = records.get(member.name, {})
        if not member.callable:
            wrong += [f"{member.name} has a process"] if record.get("pid") else []
        elif record.get("status") == "connected":
            wrong += await _untrue_answer(scene, member, record)
    return wrong


async def _untrue_answer(scene: Scene, member: Member, record: dict[str, Any]) -> list[str]:
    """What the living server itself says otherwise: its name, pid and the definition it runs."""
    path, body = one(member.name, "tools", "nonce", "call"), {"arguments": {"text": "last"}}
    answer = await scene.http.post(path, json=body)
    if answer.status_code != 200:
        return [f"{member.name} is shown connected but answers {answer.text[:200]}"]
    name, tag, pid, _ = answer.json()["content"][0]["text"].split(" ")
    pids = {record["pid"], scene.remotes.pid if scene.remotes else None}
    if name != member.name or int(pid) not in pids:
        return [f"{member.name} is shown with {record['pid']} but {name} {pid} answers"]
    if int(tag) not in member.tags:
        return [f"{member.name} runs {tag}, but {member.tags} was acknowledged"]
    return []


def lost_changes(scene: Scene, records: dict[str, dict[str, Any]]) -> list[str]:
    """Acknowledged edits that are neither in their owner's document nor in the record."""
    text = json.loads(scene.project.read_text())["mcpServers"]
    lost: list[str] = []
    for member in (each for each in scene.members if each.callable):
        launches = [member.launch(tag) for tag in member.tags]
        if member.scope == "project":
            written = {key: text[member.name].get(key) for key in launches[0]}
            if written not in launches:
                lost.append(f"{member.name}: the file has {written}, not {member.tags}")
        if "args" in launches[0] and {"args": records[member.name]["args"]} not in launches:
            lost.append(f"{member.name}: the record has another than {member.tags}")
    return lost


def _children(pid: int) -> list[psutil.Process]:
    """What is below a process, which may end at any moment."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def strays(scene: Scene, records: dict[str, dict[str, Any]]) -> set[int]:
    """Living processes of this yard that no server accounts for, and zombies."""
    pids = {record["pid"] for record in records.values() if record["pid"]}
    below = {each.pid for pid in pids for each in _children(pid)}
    held = psutil.Process(scene.pid).children(recursive=True)
    zombies = {each.pid for each in held if each.status() == psutil.STATUS_ZOMBIE}
    # What a server detached before the keeper saw it is the keeper's when that server is killed:
    # it cannot tell whose it is, and ends it with itself at the latest.
    detached = scene.daemons().keys() - {each.pid for each in held}
    return (family(scene.pid) - pids - below) | zombies | detached
