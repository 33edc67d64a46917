"""The word that people read for how a server is."""

import pytest

from mcpyard.domain.display_status import DisplayStatus, status_of_phase
from mcpyard.domain.lifecycle import Phase


def test_every_phase_has_its_status_and_only_restarts_and_switches_need_more() -> None:
    statuses = {status_of_phase(phase) for phase in Phase}
    assert set(DisplayStatus) - statuses == {
        DisplayStatus.RESTARTING,
        DisplayStatus.DISABLED,
        DisplayStatus.FAILING,
    }


def test_a_failed_server_that_is_tried_again_is_failing() -> None:
    assert status_of_phase(Phase.FAILED, tries=3, tries_again=True) == "failing"
    assert status_of_phase(Phase.BACKOFF, tries=3, tries_again=True) == "retrying"


@pytest.mark.parametrize(
    ("phase", "tries", "enabled", "word"),
    [
        (Phase.CONNECTING, 0, True, "connecting"),
        (Phase.CONNECTING, 1, True, "retrying"),
        (Phase.BACKOFF, 1, True, "retrying"),
        (Phase.CONNECTED, 2, True, "connected"),
        (Phase.DEGRADED, 1, True, "degraded"),
        (Phase.FAILED, 3, True, "failed"),
        (Phase.STOPPED, 0, False, "disabled"),
        (Phase.STOPPING, 0, False, "stopping"),
        (Phase.NEEDS_AUTH, 0, True, "needs sign-in"),
        (Phase.NEEDS_APPROVAL, 0, True, "needs approval"),
    ],
)
def test_the_status_tells_a_first_try_from_another_and_off_from_stopped(
    phase: Phase, tries: int, enabled: bool, word: str
) -> None:
    assert status_of_phase(phase, tries=tries, enabled=enabled) == word


def test_the_words_of_other_languages_are_found_by_a_key_that_no_word_changes() -> None:
    assert DisplayStatus.NEEDS_AUTH.key == "status.needs_auth"
