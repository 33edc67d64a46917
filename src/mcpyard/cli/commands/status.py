"""`mcpyard status`: whether mcpyard runs, where, what does not work, and how its servers are."""

import json
from collections import Counter
from pathlib import Path

from mcpyard.cli.output import clean
from mcpyard.cli.printing import JsonObject, decode_object, decode_objects
from mcpyard.client.discovery import RunningYard, find_yard
from mcpyard.domain.edges import EXIT_UNREACHABLE
from mcpyard.store.home import Home


def show_status(home: Path, *, as_json: bool) -> int:
    """Print the status of mcpyard itself; exits with 4 where it is not running."""
    yard = find_yard(home)
    running = Home(home).running() if yard else None
    record: dict[str, object] = {"running": running is not None, "home": str(home)}
    if yard and running:
        record |= {"url": running.url, "pid": running.pid, **_details(yard)}
    if as_json:
        print(json.dumps(record))
    else:
        _print(record)
    return 0 if running else EXIT_UNREACHABLE


def _details(yard: RunningYard) -> dict[str, object]:
    servers = decode_objects(yard.get("/api/mcp/servers?tools=0"))
    counts = Counter(str(each["status"]) for each in servers)
    degraded = decode_object(yard.get("/readyz")).get("degraded")
    return {
        **({"degraded": degraded} if degraded else {}),
        "version": decode_object(yard.get("/api/openapi.json"))["info"]["version"],
        "servers": {
            "total": len(servers),
            "connected": counts["connected"],
            "failing": counts["error"],
        },
    }


def _print(record: JsonObject) -> None:
    if not record["running"]:
        print(f"mcpyard is not running (home: {record['home']})")
        print("start it: mcpyard up")
        return
    servers = record["servers"]
    counts = f"{servers['connected']} connected, {servers['failing']} failing"
    degraded = record.get("degraded", [])
    rows = {
        "status": "running, degraded" if degraded else "running",
        "version": record["version"],
        "address": record["url"],
        "pid": record["pid"],
        "servers": f"{servers['total']} ({counts})",
        "home": record["home"],
    }
    for key, value in rows.items():
        print(f"{key:8} {value}")
    for each in degraded:
        print(f"{each['component']}: {clean(each['detail'])}")
        print(f"  {clean(each['hint'])}")
