import asyncio
from uuid import UUID, uuid4

import pytest

from mcpyard.domain.desired import Owner, PolicyPatch
from mcpyard.domain.errors import DocumentMoved, NameTaken, ServerUnknown
from mcpyard.domain.model import Scope, Wanted
from mcpyard.domain.observed import Capabilities, Items
from tests.store.contract import Opener, added, opened

ODD = {
    "command": "npx",
    "args": ["-y", "文件"],
    "env": {"B": "1", "A": ""},
    "vendor": {"deep": [1, 2.50, None, True, 123456789012345678901234567890, "\ud800"]},
}
USER = Owner(Scope.USER)


class DefinitionsContract:
    async def test_a_definition_is_kept_exactly_as_it_was_given(self, opener: Opener) -> None:
        async with opened(opener) as store:
            made = await added(store, "fs", ODD)
            assert made in store.definitions.all()
        async with opened(opener) as store:
            assert store.definitions.all() == (made,)
            assert list(store.definitions.all()[0].definition) == list(ODD)
            assert store.definitions.all()[0].definition == ODD

    async def test_what_the_caller_does_with_its_own_object_later_changes_nothing(
        self, opener: Opener
    ) -> None:
        mine: dict[str, object] = {"command": "a"}
        async with opened(opener) as store:
            made = await added(store, "fs", mine)
            mine["command"] = "b"
            assert made in store.definitions.all()
            assert made.definition == {"command": "a"}

    async def test_a_name_is_given_once_whoever_asks_at_the_same_time(self, opener: Opener) -> None:
        async with opened(opener) as store:
            additions = (store.definitions.add_all({"fs": {"n": number}}) for number in range(8))
            made = [each for batch in await asyncio.gather(*additions) for each in batch]
            assert len(made) == 1
            assert store.definitions.all() == (*made,)

    async def test_many_are_added_at_once_but_those_whose_names_are_taken(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            there = await added(store, "fs", {"n": 0})
            definitions = {name: {"n": name} for name in ("a", "fs", "b")}
            more = await store.definitions.add_all(definitions)
            assert [each.name for each in more] == ["a", "b"]
            assert store.definitions.all() == (there, *more)
        async with opened(opener) as store:
            assert store.definitions.all() == (there, *more)
            assert [store.memory.identity(USER, each.name) for each in more] == [
                each.id for each in more
            ]

    async def test_of_two_edits_of_one_content_the_second_is_told(self, opener: Opener) -> None:
        async with opened(opener) as store:
            made = await added(store, "fs", {"n": 0})
            edits = (
                store.definitions.replace(made.id, {"n": number}, expected=made.digest)
                for number in (1, 2)
            )
            one, two = await asyncio.gather(*edits, return_exceptions=True)
            assert isinstance(two, DocumentMoved)
            assert store.definitions.all() == (one,)
            assert (await store.definitions.replace(made.id, {"n": 3})).definition == {"n": 3}

    async def test_a_digest_is_the_contents_alone(self, opener: Opener) -> None:
        async with opened(opener) as store:
            one = await added(store, "one", {"n": 0})
            two = await added(store, "two", {"n": 0})
            changed = await store.definitions.replace(one.id, {"n": 1}, expected=two.digest)
            assert one.digest == two.digest != changed.digest

    async def test_a_rename_keeps_the_id_and_frees_the_old_name(self, opener: Opener) -> None:
        async with opened(opener) as store:
            made = await added(store, "old", {"n": 0})
            renamed = await store.definitions.rename(made.id, "new")
            assert (renamed.id, renamed.digest) == (made.id, made.digest)
            assert store.memory.identity(USER, "new") == made.id
            other = await added(store, "old", {"n": 1})
            assert other.id != made.id
        async with opened(opener) as store:
            assert store.memory.identity(USER, "new") == made.id
            assert store.memory.identity(USER, "old") == other.id
            assert store.definitions.all() == (renamed, other)

    async def test_a_rename_that_memory_hears_of_again_changes_nothing(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            made = await added(store, "old", {"n": 0})
            await store.definitions.rename(made.id, "new")
            assert await store.memory.rename(USER, "old", "new") == made.id
        async with opened(opener) as store:
            assert store.memory.identity(USER, "new") == made.id

    async def test_content_and_name_change_together_or_not_at_all(self, opener: Opener) -> None:
        async with opened(opener) as store:
            made = await added(store, "one", {"n": 0})
            await added(store, "two", {"n": 0})
            with pytest.raises(NameTaken):
                await store.definitions.replace(made.id, {"n": 1}, name="two")
            assert made in store.definitions.all()
            changed = await store.definitions.replace(made.id, {"n": 1}, name="three")
            assert (changed.name, changed.definition) == ("three", {"n": 1})
        async with opened(opener) as store:
            assert changed in store.definitions.all()

    async def test_a_removed_server_takes_its_policy_and_tools_and_leaves_its_id(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            made = await added(store, "fs", {"n": 0})
            await store.policies.set(made.id, {"enabled": False})
            store.memory.keep_tools(made.id, [{"name": "t"}])
            store.memory.keep_offer(made.id, Capabilities(prompts=Items(({"name": "p"},))))
            assert await store.definitions.remove(made.id) == made
            assert (store.definitions.all(), store.policies.all()) == ((), {})
            assert store.memory.tools(made.id) == ()
            assert store.memory.offer(made.id) == Capabilities()
        async with opened(opener) as store:
            assert (store.definitions.all(), store.policies.all()) == ((), {})
            assert store.memory.tools(made.id) == ()
            assert store.memory.offer(made.id) == Capabilities()
            assert (await added(store, "fs", {"n": 1})).id == made.id

    async def test_an_id_that_is_not_there_is_told(self, opener: Opener) -> None:
        async with opened(opener) as store:
            with pytest.raises(ServerUnknown):
                await store.definitions.replace(UUID(int=1), {})
            with pytest.raises(ServerUnknown):
                await store.definitions.rename(UUID(int=1), "x")
            with pytest.raises(ServerUnknown):
                await store.definitions.remove(UUID(int=1))

    async def test_a_definition_has_the_id_that_its_name_had_before(self, opener: Opener) -> None:
        async with opened(opener) as store:
            identity = store.memory.identity(USER, "fs")
            assert (await added(store, "fs", {})).id == identity


class PoliciesContract:
    async def test_a_policy_is_there_after_a_restart(self, opener: Opener) -> None:
        server = uuid4()
        policy: PolicyPatch = {"wanted": Wanted.RUNNING, "tools": {"t": {"enabled": False}}}
        async with opened(opener) as store:
            await store.policies.set(server, {"timeout": 1})
            await store.policies.set(server, policy)
            assert store.policies.all() == {server: policy}
        async with opened(opener) as store:
            assert store.policies.all() == {server: policy}
            await store.policies.set(server, {})
            assert store.policies.all() == {}
        async with opened(opener) as store:
            assert store.policies.all() == {}

    async def test_many_policies_are_replaced_at_once(self, opener: Opener) -> None:
        one, two, three = uuid4(), uuid4(), uuid4()
        async with opened(opener) as store:
            await store.policies.set_all({one: {"timeout": 1}, two: {"timeout": 2}})
            await store.policies.set_all({one: {}, three: {"timeout": 3}})
            assert store.policies.all() == {two: {"timeout": 2}, three: {"timeout": 3}}
        async with opened(opener) as store:
            assert store.policies.all() == {two: {"timeout": 2}, three: {"timeout": 3}}

    async def test_of_many_changes_at_once_none_is_lost(self, opener: Opener) -> None:
        server = uuid4()
        async with opened(opener) as store:
            changes = (
                store.policies.change(server, lambda old, n=number: {**old, f"k{n}": n})
                for number in range(32)
            )
            await asyncio.gather(*changes)
            assert store.policies.all()[server] == {f"k{number}": number for number in range(32)}

    async def test_a_change_that_fails_changes_nothing(self, opener: Opener) -> None:
        server = uuid4()
        async with opened(opener) as store:
            await store.policies.set(server, {"n": 1})
            with pytest.raises(KeyError, match="absent"):
                await store.policies.change(server, lambda old: {"n": old["absent"]})
            assert store.policies.all() == {server: {"n": 1}}


class ProfilesContract:
    async def test_a_profile_is_kept_replaced_and_removed(self, opener: Opener) -> None:
        async with opened(opener) as store:
            await store.profiles.set("work", {"servers": ["a"]})
            await store.profiles.set("home", {})
            await store.profiles.set("work", {"servers": ["b"]})
        async with opened(opener) as store:
            assert store.profiles.all() == {"work": {"servers": ["b"]}, "home": {}}
            assert await store.profiles.remove("home")
            assert not await store.profiles.remove("home")
            assert store.profiles.all() == {"work": {"servers": ["b"]}}
        async with opened(opener) as store:
            assert store.profiles.all() == {"work": {"servers": ["b"]}}
