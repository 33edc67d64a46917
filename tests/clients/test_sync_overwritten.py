"""A program without a lock overwrites what a sync wrote: the sync repeats it, and knows its own."""

from pathlib import Path

import pytest

from mcpyard.domain.errors import DocumentMoved
from tests.clients import machine
from tests.clients.syncing import ALL, TEXTS, contents, five_servers, states, sync_of, terms


class Overwriting:
    """Writes back what it read before, with a setting of its own, some times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.it: machine.Machine | None = None

    async def __call__(self) -> None:
        if self.it is not None and self.times > 0:
            self.times -= 1
            text = TEXTS["gemini"].replace("GitHub", f"t{self.times}")
            self.it.path("gemini").write_text(text)


@pytest.mark.spec("F7.2")
async def test_what_was_overwritten_is_written_again_and_undone_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Overwriting(1)
    monkeypatch.setattr(machine, "paused", program)
    async with five_servers(tmp_path) as it:
        program.it = it
        view = await sync_of(it).apply(ALL, terms(it))
        [warning] = view.warnings
        message = "was overwritten by its program; the edit was repeated"
        assert warning.message == f"{it.path('gemini')} {message}"
        assert set(states(await sync_of(it).plan(ALL, terms(it)), "files").values()) == {"same"}
        await it.yard.clients.undo(view.edit)
        planned = await sync_of(it).plan(ALL, terms(it))
        assert set(states(planned, "files").values()) == {"missing"}
        assert it.path("gemini").read_text() == TEXTS["gemini"].replace("GitHub", "t0")


@pytest.mark.spec("F7.2")
async def test_what_is_overwritten_every_time_is_given_up_and_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Overwriting(9)
    monkeypatch.setattr(machine, "paused", program)
    async with five_servers(tmp_path) as it:
        program.it, before = it, contents(it)
        with pytest.raises(DocumentMoved):
            await sync_of(it).apply(ALL, terms(it))
        program.it = None
        assert {**contents(it), "gemini": None} == {**before, "gemini": None}
        planned = await sync_of(it).plan(ALL, terms(it))
        assert set(states(planned, "files").values()) == {"missing"}
