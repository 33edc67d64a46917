"""One browser for the tests of a file, and yards with real servers for it to look at."""

import contextlib
import os
import shutil
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.api.daemon import SERVERS, Daemon, daemon, one
from tests.web.browsing import Visitor
from tests.web.machine import Machine, Window, machine, window

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = ["--disable-background-networking", "--disable-component-update", "--no-first-run"]


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """A browser; Debian's own, since nothing else is there without a download."""
    if not CHROMIUM and os.geteuid():
        pytest.skip("no Chromium, which only root can install: run scripts/setup as root")
    assert CHROMIUM, "no Chromium: run scripts/setup"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=QUIET, chromium_sandbox=False
        )
        yield opened
        opened.close()


@pytest.fixture
def yards(tmp_path: Path) -> Generator[Callable[..., Daemon]]:
    """Opens yards that are up until the test is over and its windows are closed."""
    with contextlib.ExitStack() as open_ones:

        def begin(*arguments: object) -> Daemon:
            return open_ones.enter_context(daemon(tmp_path / "home", *arguments))

        yield begin


@pytest.fixture(scope="module")
def module_yard(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    """A yard that is up for all tests of a file."""
    with daemon(tmp_path_factory.mktemp("yard") / "home") as up:
        yield up


@pytest.fixture
def yard(module_yard: Daemon) -> Generator[Daemon]:
    """A yard that is up, with no project and nothing in it."""
    yield module_yard
    for each in module_yard.get(SERVERS):
        module_yard.client.delete(one(each["id"]))


@pytest.fixture
def visitor(browser: Browser, yards: object, request: pytest.FixtureRequest) -> Generator[Visitor]:
    """Somebody who visits yards with the browser, and complains at the end if anything was odd."""
    # Whatever yard the test looks at must outlast its windows.
    del yards
    if "yard" in request.fixturenames:
        request.getfixturevalue("yard")
    somebody = Visitor(browser)
    yield somebody
    somebody.leave()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Machine]:
    """A yard on a machine with sample files, for all tests of a file."""
    with machine(tmp_path_factory.mktemp("machine")) as it:
        yield it


@pytest.fixture
def it(shared: Machine) -> Machine:
    """The machine with its files as they were."""
    shared.lay()
    return shared


@pytest.fixture(scope="module")
def open_window(browser: Browser, shared: Machine) -> Generator[Window]:
    """A window of the machine's yard, for all tests of a file."""
    with window(browser, shared.yard) as opened:
        yield opened
