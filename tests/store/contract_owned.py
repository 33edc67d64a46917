from mcpyard.domain.stored import FileEdit
from mcpyard.domain.sync.plan import EntryDigest, EntryKey, OwnedEntry
from tests.store.contract import NOW, Opener, Stored, opened

KEY = EntryKey("/home/me/.mcp.json", ("mcpServers", "a.b"), "files")
OTHER = EntryKey("/home/me/.mcp.json", ("mcpServers",), "files")
ONE, TWO = EntryDigest("m", "w"), EntryDigest("m2", "w2", on=False, source="/r/mcpyard.toml")


async def a_unit(store: Stored) -> int:
    entry = await store.edits.add(FileEdit(NOW, "cli", "sync", KEY.path, None, b""))
    return entry.unit


class OwnedEntriesContract:
    async def test_what_a_unit_claims_is_unsettled_until_it_was_written(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            unit = await a_unit(store)
            await store.owned_entries.claim({KEY: ONE, OTHER: TWO}, unit)
        async with opened(opener) as store:
            owned = await store.owned_entries.all()
            assert owned == {
                KEY: OwnedEntry(ONE, settled=False),
                OTHER: OwnedEntry(TWO, settled=False),
            }
            await store.owned_entries.settle(unit)
        async with opened(opener) as store:
            assert await store.owned_entries.all() == {KEY: OwnedEntry(ONE), OTHER: OwnedEntry(TWO)}

    async def test_a_claim_remembers_what_was_written_before(self, opener: Opener) -> None:
        async with opened(opener) as store:
            await store.owned_entries.claim({KEY: ONE})
            unit = await a_unit(store)
            await store.owned_entries.claim({KEY: TWO}, unit)
            assert await store.owned_entries.all() == {KEY: OwnedEntry(TWO, ONE, settled=False)}
            await store.owned_entries.take_back(unit)
            assert await store.owned_entries.all() == {KEY: OwnedEntry(ONE)}

    async def test_what_is_given_up_comes_back_with_an_undo(self, opener: Opener) -> None:
        async with opened(opener) as store:
            await store.owned_entries.claim({KEY: ONE})
            unit = await a_unit(store)
            await store.owned_entries.claim({KEY: None}, unit)
            assert await store.owned_entries.all() == {KEY: OwnedEntry(ONE, ONE, settled=False)}
            await store.owned_entries.settle(unit)
            assert await store.owned_entries.all() == {}
        async with opened(opener) as store:
            await store.owned_entries.take_back(unit)
            assert await store.owned_entries.all() == {KEY: OwnedEntry(ONE)}

    async def test_a_new_entry_that_is_taken_back_is_nobodys(self, opener: Opener) -> None:
        async with opened(opener) as store:
            unit = await a_unit(store)
            await store.owned_entries.claim({KEY: ONE}, unit)
            await store.owned_entries.settle(unit)
            await store.owned_entries.take_back(unit)
            assert await store.owned_entries.all() == {}

    async def test_what_a_later_unit_claimed_stays(self, opener: Opener) -> None:
        async with opened(opener) as store:
            first, second = await a_unit(store), await a_unit(store)
            await store.owned_entries.claim({KEY: ONE, OTHER: ONE}, first)
            await store.owned_entries.settle(first)
            await store.owned_entries.claim({KEY: TWO}, second)
            await store.owned_entries.settle(second)
            await store.owned_entries.take_back(first)
            assert await store.owned_entries.all() == {KEY: OwnedEntry(TWO)}

    async def test_every_unit_that_is_taken_back_leads_to_what_was_before_it(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            units = [await a_unit(store) for _ in range(4)]
            for unit, written in zip(units, (ONE, TWO, None, ONE), strict=True):
                await store.owned_entries.claim({KEY: written}, unit)
                await store.owned_entries.settle(unit)
        async with opened(opener) as store:
            expected = ({}, {KEY: OwnedEntry(TWO, ONE)}, {KEY: OwnedEntry(ONE)}, {})
            for unit, owned in zip(reversed(units), expected, strict=True):
                await store.owned_entries.take_back(unit)
                assert await store.owned_entries.all() == owned

    async def test_what_later_units_wrote_alike_goes_with_the_first_of_them(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            units = [await a_unit(store) for _ in range(3)]
            for unit, written in zip(units, (ONE, TWO, ONE), strict=True):
                await store.owned_entries.claim({KEY: written}, unit)
            await store.owned_entries.take_back(units[0])
            assert await store.owned_entries.all() == {}

    async def test_without_a_unit_an_entry_is_given_up_for_good(self, opener: Opener) -> None:
        async with opened(opener) as store:
            for written in (ONE, TWO):
                await store.owned_entries.claim({KEY: written}, await a_unit(store))
            await store.owned_entries.claim({KEY: None})
            assert await store.owned_entries.all() == {}
