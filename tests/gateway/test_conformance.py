"""The official conformance suite against the gateway, in both scored sets, nothing excused."""

import sys
from pathlib import Path

import pytest

from tests.gateway.serving import everything, served
from tests.gateway.suite import conformance, needs_suite
from tests.gateway.upstream_driver import driving

pytestmark = [pytest.mark.real, needs_suite]

HAND = Path(__file__).with_name("upstream_hand.py")

NOT_OURS = ("tasks-", "auth/dpop", "auth/wif", "auth/client-cred", "auth/enterprise")
"""Optional extensions, which nobody scores."""


def failed(report: str) -> list[str]:
    """The scenarios that failed, those of extensions aside."""
    marked = [line[2:] for line in report.splitlines() if line.startswith("✗ ")]
    return [each for each in marked if not each.startswith(NOT_OURS)]


@pytest.mark.parametrize("client", ["2025-11-25", "2026-07-28"])
async def test_the_gateway_conforms_in_front_of_a_server_of_the_same_era(client: str) -> None:
    era = "modern" if client == "2026-07-28" else "legacy"
    async with served({"everything": everything(era)}, open_door=True) as yard:
        url = yard.gateway("/servers/everything")
        code, report = await conformance("server", "--url", url, "--requirements", client)
    assert failed(report) == [], report
    assert code == 0, report


@pytest.mark.timeout(180)
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_our_upstream_side_conforms_sign_in_included(revision: str, tmp_path: Path) -> None:
    hand = f"{sys.executable} -I -S {HAND} {tmp_path / 'driver'}"
    async with driving(tmp_path / "driver"):
        options = ("--command", hand, "--requirements", revision, "--timeout", "120000")
        code, report = await conformance("client", *options)
    assert failed(report) == [], report
    assert code == 0, report
