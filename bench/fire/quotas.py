"""Quotas that are in force while a yard is used, and what must be true of them in the end."""

import asyncio

from bench.fire.callers import ModernCaller, OverQuotaError, RefusedError, Tally
from bench.fire.scene import TOKENS, Scene
from bench.measuring import Figures
from mcpyard.domain.callers import read_limits


async def unreturned(made: Scene) -> list[str]:
    """Calls that quotas still count though they are over: a token may not make as many as it may.

    A tool that never answers keeps all of them in flight at once, until they are out of time.
    """
    member = next(each for each in made.members if each.kind == "legacy")
    count = TOKENS * read_limits(made.limits).quotas.calls
    callers = [ModernCaller(made, Tally()) for _ in range(count)]

    async def refusal(caller: ModernCaller) -> str | None:
        await caller.meet()
        try:
            caller.result_in(await caller.call_tool(member, "hang", {"text": "x"}))
        except OverQuotaError as error:
            return f"a call when nothing was in flight: {error}"
        except RefusedError:
            return None
        finally:
            caller.line.hang_up()
        return "a call that hangs was answered"

    return [each for each in await asyncio.gather(*map(refusal, callers)) if each]


def show_quotas(figures: Figures, tally: Tally) -> None:
    """Say how often quotas were in the way: never would prove nothing."""
    figures.at_least("requests refused by a quota", tally.over_quota.total(), 1)
    for sentence, count in tally.over_quota.most_common():
        figures.show(f"  {sentence}", f"{count:,}")
    figures.show("sessions ended by a quota, and begun again", f"{tally.replaced:,}")
