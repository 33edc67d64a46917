from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from msgspec import structs

from mcpyard.domain.stored import CallQuery, CallRecord, DroppedField, FileEdit
from tests.store.contract import NOW, Opener, opened

ONE, TWO = UUID(int=1), UUID(int=2)


def a_call(number: int, server: UUID = ONE, tool: str = "t", outcome: str = "ok") -> CallRecord:
    at = NOW + timedelta(seconds=number)
    return CallRecord(at, "cli", server, f"s{server.int}", tool, 1.5, outcome, number, 2 * number)


def an_edit(number: int) -> FileEdit:
    at = NOW + timedelta(seconds=number)
    return FileEdit(at, "cli", "set", f"f{number}", b"a" * 1000, f"after {number}".encode())


class JournalContract:
    async def test_calls_are_shown_newest_first_as_they_were(self, opener: Opener) -> None:
        calls = [a_call(number) for number in range(5)]
        async with opened(opener) as store:
            for call in calls:
                store.journal.append(call)
            records = await store.journal.query(CallQuery())
            assert [each._replace(id=0) for each in records] == calls[::-1]
            assert [each.id for each in records] == sorted(
                (each.id for each in records), reverse=True
            )
        async with opened(opener) as store:
            assert await store.journal.query(CallQuery()) == records

    async def test_calls_that_nobody_asked_for_are_written_at_the_end(self, opener: Opener) -> None:
        async with opened(opener) as store:
            store.journal.append(a_call(1))
        async with opened(opener) as store:
            assert len(await store.journal.query(CallQuery())) == 1

    async def test_filters_narrow_what_is_shown(self, opener: Opener) -> None:
        async with opened(opener) as store:
            store.journal.append(a_call(1, ONE, "a", "ok"))
            store.journal.append(a_call(2, ONE, "b", "tool_error"))
            store.journal.append(a_call(3, TWO, "a", "timed-out"))

            async def sizes(query: CallQuery) -> list[int]:
                return [each.bytes_in for each in await store.journal.query(query)]

            assert await sizes(CallQuery(server=ONE)) == [2, 1]
            assert await sizes(CallQuery(tool="a")) == [3, 1]
            assert await sizes(CallQuery(outcome="tool_error")) == [2]
            assert await sizes(CallQuery(server=ONE, tool="a", outcome="ok")) == [1]
            assert await sizes(CallQuery(server=TWO, outcome="ok")) == []
            somebody = (await store.journal.query(CallQuery(limit=1)))[0].who
            assert await sizes(CallQuery(who=somebody, tool="b")) == [2]
            assert await sizes(CallQuery(who="nobody")) == []

    async def test_a_reader_pages_through_without_seeing_a_call_twice(self, opener: Opener) -> None:
        async with opened(opener) as store:
            for number in range(7):
                store.journal.append(a_call(number))
            seen: list[int] = []
            query = CallQuery(limit=3)
            while page := await store.journal.query(query):
                seen += [each.bytes_in for each in page]
                store.journal.append(a_call(100))
                query = structs.replace(query, before=page[-1].id)
            assert seen == [6, 5, 4, 3, 2, 1, 0]


class EditsContract:
    async def test_an_edit_can_be_looked_at_with_both_its_contents(self, opener: Opener) -> None:
        edit = an_edit(1)
        async with opened(opener) as store:
            entry = await store.edits.add(edit)
            assert (entry.at, entry.who, entry.kind, entry.path, entry.undone) == (
                edit.at,
                "cli",
                "set",
                "f1",
                False,
            )
        async with opened(opener) as store:
            assert await store.edits.together(entry.id) == [(entry, edit)]
            assert await store.edits.together(entry.id + 1) == []

    async def test_a_file_that_was_made_or_removed_has_one_content(self, opener: Opener) -> None:
        made = replace(an_edit(1), before=None)
        removed = replace(an_edit(2), after=None)
        emptied = replace(an_edit(3), after=b"")
        async with opened(opener) as store:
            entries = [await store.edits.add(each) for each in (made, removed, emptied)]
            stored = [await store.edits.together(each.id) for each in entries]
            assert [edit for [(_, edit)] in stored] == [made, removed, emptied]

    async def test_the_last_hundred_are_kept_and_listed_newest_first(self, opener: Opener) -> None:
        async with opened(opener) as store:
            for number in range(103):
                await store.edits.add(an_edit(number))
            paths = [each.path for each in await store.edits.recent()]
            assert paths == [f"f{number}" for number in range(102, 2, -1)]

    async def test_an_edit_is_marked_as_undone_and_back(self, opener: Opener) -> None:
        async with opened(opener) as store:
            entry = await store.edits.add(an_edit(1))
            assert await store.edits.mark_undone(entry.id) == structs.replace(entry, undone=True)
        async with opened(opener) as store:
            assert await store.edits.recent() == [structs.replace(entry, undone=True)]
            assert await store.edits.mark_undone(entry.id + 1) is None

    async def test_edits_made_together_are_one_unit(self, opener: Opener) -> None:
        async with opened(opener) as store:
            first = await store.edits.add(an_edit(1))
            second = await store.edits.add(an_edit(2), first.unit)
            alone = await store.edits.add(an_edit(3))
            assert (first.unit, second.unit, alone.unit) == (first.id, first.id, alone.id)
            together = await store.edits.together(first.unit)
            assert together == [(first, an_edit(1)), (second, an_edit(2))]
            recent = await store.edits.recent()
            assert [each.id for each in recent] == [alone.id, second.id, first.id]
            await store.edits.drop(first.unit)
            assert await store.edits.recent() == [alone]
            assert await store.edits.together(first.unit) == []

    async def test_a_unit_of_several_counts_as_one_of_the_last_hundred(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            first = await store.edits.add(an_edit(0))
            await store.edits.add(an_edit(0), first.unit)
            for number in range(1, 100):
                await store.edits.add(an_edit(number))
            assert len(await store.edits.recent()) == 101
            await store.edits.add(an_edit(100))
            assert len(await store.edits.recent()) == 100
            assert await store.edits.together(first.unit) == []


class DroppedFieldsContract:
    async def test_what_was_left_out_is_kept_by_place_and_name(self, opener: Opener) -> None:
        left = DroppedField("claude-code", "mark", {"future": {"deep": [1, None, "x"]}})
        other = DroppedField("codex", "other", {})
        async with opened(opener) as store:
            assert await store.dropped_fields.get("p", "n") is None
            await store.dropped_fields.set("p", "n", left)
            await store.dropped_fields.set("p", "m", other)
        async with opened(opener) as store:
            assert await store.dropped_fields.get("p", "n") == left
            assert await store.dropped_fields.get("q", "n") is None
            await store.dropped_fields.set("p", "n", other)
            assert await store.dropped_fields.get("p", "n") == other
            await store.dropped_fields.set("p", "n", None)
            assert await store.dropped_fields.get("p", "n") is None
            assert await store.dropped_fields.get("p", "m") == other
