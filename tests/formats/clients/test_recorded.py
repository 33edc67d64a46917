"""Our verdicts beside the recorded answers of the real programs."""

import json

import pytest

from tests.real_clients.drawing import COUNTS, drawn
from tests.real_clients.verdicts import FACTS, WHICH, recorded, verdict


@pytest.mark.spec("F7.4")
@pytest.mark.parametrize("which", WHICH)
def test_every_recorded_entry_is_judged_as_its_program_judged_it(which: str) -> None:
    _, answers = recorded(which)
    assert len(answers) == COUNTS[which]
    wrong = [
        (json.dumps(entry), answer, ours)
        for entry, answer in answers
        if (ours := verdict(which, entry)) != answer
    ]
    assert wrong == []


@pytest.mark.spec("F7.4")
@pytest.mark.parametrize("which", WHICH)
def test_facts_and_answers_are_of_one_version_and_of_the_entries_that_are_drawn(
    which: str,
) -> None:
    version, answers = recorded(which)
    assert version == FACTS[which].version
    assert [entry for entry, _ in answers] == json.loads(json.dumps(drawn(which)))
