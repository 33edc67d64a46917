import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from mcpyard.domain.definition.approval import ApprovedEntry
from mcpyard.domain.errors import NameTaken
from mcpyard.domain.model import LocalConfig, RemoteConfig, ToolPolicy, Transport, Wanted
from mcpyard.domain.stored import Approval, CallToken, LoginSession
from mcpyard.wire.remote.credentials import Credentials
from tests.store.contract import LATER, NOW, Opener, opened

ACCESS, REFRESH = "access-7f3a", "refresh-9b1c"
OTHER, RENEWED = "other-31d0", "renewed-5e2f"
SIGNED_IN = Credentials(
    "https://issuer.example",
    "https://a.example/mcp",
    client='{"client_id": "c"}',
    access_token=ACCESS,
    refresh_token=REFRESH,
    expires_at=1.5,
    scope="x",
)


def a_token(name: str = "laptop") -> CallToken:
    return CallToken(uuid4(), name, f"hash of {name} {uuid4()}", "work", NOW)


class TokensContract:
    async def test_a_token_is_found_by_its_hash_until_it_is_revoked(self, opener: Opener) -> None:
        token = a_token()
        async with opened(opener) as store:
            await store.tokens.add(token)
            assert store.tokens.by_hash(token.hash) == token
            assert store.tokens.by_hash("another") is None
        async with opened(opener) as store:
            assert store.tokens.by_hash(token.hash) == token
            revoked = await store.tokens.revoke(token.id, LATER)
            assert revoked == replace(token, revoked=LATER)
            assert store.tokens.by_hash(token.hash) is None
            assert await store.tokens.revoke(token.id, LATER + timedelta(1)) == revoked
        async with opened(opener) as store:
            assert store.tokens.by_hash(token.hash) is None
            assert store.tokens.all() == (revoked,)

    async def test_the_expiry_of_a_token_is_kept(self, opener: Opener) -> None:
        token = replace(a_token(), expires=LATER)
        async with opened(opener) as store:
            await store.tokens.add(token)
        async with opened(opener) as store:
            assert store.tokens.by_hash(token.hash) == token, "the caller compares the time"
            assert await store.tokens.revoke(token.id, NOW) == replace(token, revoked=NOW)

    async def test_a_name_is_free_again_when_its_token_is_revoked(self, opener: Opener) -> None:
        one, two = a_token(), a_token()
        async with opened(opener) as store:
            await store.tokens.add(one)
            with pytest.raises(NameTaken, match="laptop"):
                await store.tokens.add(two)
            assert store.tokens.all() == (one,)
            await store.tokens.revoke(one.id, LATER)
            await store.tokens.add(two)
            assert store.tokens.by_hash(two.hash) == two
            assert await store.tokens.revoke(UUID(int=1), LATER) is None

    async def test_the_first_use_is_noted_for_good_and_the_others_at_once_here(
        self, opener: Opener
    ) -> None:
        token = a_token()
        async with opened(opener) as store:
            await store.tokens.add(token)
            store.tokens.used(token.id, NOW)
            store.tokens.used(token.id, NOW + timedelta(seconds=5))
            store.tokens.used(UUID(int=1), NOW)
            assert store.tokens.all()[0].last_used == NOW + timedelta(seconds=5)
        async with opened(opener) as store:
            assert store.tokens.all() == (replace(token, last_used=NOW),)
            store.tokens.used(token.id, LATER)
            store.tokens.used(token.id, LATER + timedelta(seconds=5))
            await store.tokens.revoke(token.id, LATER)
            assert store.tokens.all()[0].last_used == LATER + timedelta(seconds=5)
        async with opened(opener) as store:
            assert store.tokens.all()[0].last_used == LATER


class SessionsContract:
    async def test_a_session_lasts_until_it_runs_out(self, opener: Opener) -> None:
        session = LoginSession("cookie", "key", NOW, LATER)
        async with opened(opener) as store:
            await store.sessions.add(session)
        async with opened(opener) as store:
            assert store.sessions.get("cookie", NOW) == session
            assert store.sessions.get("cookie", LATER) is None
            assert store.sessions.get("another", NOW) is None

    async def test_a_session_that_is_added_again_lasts_longer(self, opener: Opener) -> None:
        session = LoginSession("cookie", "key", NOW, LATER)
        longer = replace(session, expires=LATER + timedelta(1))
        async with opened(opener) as store:
            await store.sessions.add(session)
            await store.sessions.add(longer)
            assert store.sessions.get("cookie", LATER) == longer
        async with opened(opener) as store:
            assert store.sessions.get("cookie", LATER) == longer

    async def test_a_browser_that_is_shut_out_stays_out(self, opener: Opener) -> None:
        async with opened(opener) as store:
            await store.sessions.add(LoginSession("cookie", "key", NOW, LATER))
            await store.sessions.remove("cookie")
            await store.sessions.remove("never")
            assert store.sessions.get("cookie", NOW) is None
        async with opened(opener) as store:
            assert store.sessions.get("cookie", NOW) is None

    async def test_what_has_run_out_is_forgotten_when_the_next_comes_in(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            await store.sessions.add(LoginSession("old", "key", NOW, LATER))
            await store.sessions.add_link("link", LATER)
            await store.sessions.add(LoginSession("new", "key", LATER, LATER + timedelta(1)))
            assert store.sessions.get("old", NOW) is None
            assert not await store.sessions.take_link("link", NOW)
        async with opened(opener) as store:
            assert store.sessions.get("old", NOW) is None
            assert store.sessions.get("new", LATER) is not None

    async def test_a_link_lets_exactly_one_in(self, opener: Opener) -> None:
        async with opened(opener) as store:
            await store.sessions.add_link("link", LATER)
            await store.sessions.add_link("late", LATER)
            taken = (store.sessions.take_link("link", NOW) for _ in range(8))
            assert sorted(await asyncio.gather(*taken)) == [False] * 7 + [True]
            assert not await store.sessions.take_link("late", LATER)
            assert not await store.sessions.take_link("never", NOW)
        async with opened(opener) as store:
            assert not await store.sessions.take_link("link", NOW)


ENTRIES = {
    "files": ApprovedEntry(
        LocalConfig(
            command=["run", "${A}"],
            environment={"TOKEN": "${TOKEN:-}", "MODE": "x"},
            cwd="/srv",
            inherit=["*"],
            fallback=["other"],
            tools={"read": ToolPolicy(description="Reads.")},
        )
    ),
    "remote": ApprovedEntry(
        RemoteConfig(url="http://h/${A}", headers={"X": "${B}"}, transport=Transport.SSE),
        shadows=True,
    ),
    "found": ApprovedEntry(RemoteConfig(url="https://h"), gone=True),
    "edited": ApprovedEntry(LocalConfig(command=["old"]), edit=LocalConfig(command=["new"])),
    "resting": ApprovedEntry(LocalConfig(command=["run"], enabled=False, wanted=Wanted.STOPPED)),
}


class ApprovalsContract:
    async def test_the_last_word_on_a_folder_counts(self, opener: Opener) -> None:
        last = Approval("a", LATER, ENTRIES)
        async with opened(opener) as store:
            await store.approvals.set(Approval("a", NOW, {}))
            await store.approvals.set(Approval("b", NOW))
            await store.approvals.set(last)
        async with opened(opener) as store:
            assert store.approvals.all() == {"a": last, "b": Approval("b", NOW)}

    async def test_entries_that_came_changed_or_are_gone_are_what_was_said_last(
        self, opener: Opener
    ) -> None:
        less = {name: each for name, each in ENTRIES.items() if name != "remote"}
        changed = {**less, "files": ENTRIES["resting"], "remote": ENTRIES["found"]}
        for entries in (less, ENTRIES, changed, {}, changed, less):
            async with opened(opener) as store:
                await store.approvals.set(Approval("b", NOW, ENTRIES))
                await store.approvals.set(Approval("a", NOW, less))
                await store.approvals.set(Approval("a", NOW, entries))
            async with opened(opener) as store:
                assert store.approvals.all()["a"].entries == entries
                assert store.approvals.all()["b"].entries == ENTRIES

    async def test_of_approvals_of_one_folder_at_once_the_last_counts(self, opener: Opener) -> None:
        less = {"found": ENTRIES["found"]}
        async with opened(opener) as store:
            variants = (ENTRIES, less, {**less, "resting": ENTRIES["resting"]}, less)
            await asyncio.gather(
                *(store.approvals.set(Approval("a", NOW, each)) for each in variants)
            )
            await store.approvals.set(Approval("a", NOW, {**less, "files": ENTRIES["files"]}))
        async with opened(opener) as store:
            assert store.approvals.all()["a"].entries == {**less, "files": ENTRIES["files"]}


class CredentialsContract:
    async def test_credentials_are_there_after_a_restart(self, opener: Opener) -> None:
        async with opened(opener) as store:
            assert await store.credentials.get(SIGNED_IN.resource) is None
            await store.credentials.put(SIGNED_IN)
        async with opened(opener) as store:
            assert await store.credentials.get(SIGNED_IN.resource) == SIGNED_IN
            assert await store.credentials.get("https://b.example") is None

    async def test_of_two_issuers_the_set_that_was_put_last_counts(self, opener: Opener) -> None:
        other = replace(SIGNED_IN, issuer="https://other.example", access_token=OTHER)
        renewed = replace(SIGNED_IN, access_token=RENEWED)
        async with opened(opener) as store:
            await store.credentials.put(SIGNED_IN)
            await store.credentials.put(other)
            assert await store.credentials.get(SIGNED_IN.resource) == other
            await store.credentials.put(renewed)
            assert await store.credentials.get(SIGNED_IN.resource) == renewed

    async def test_sets_that_are_put_at_once_can_all_be_read(self, opener: Opener) -> None:
        sets = [replace(SIGNED_IN, resource=f"https://{each}.example") for each in range(8)]
        async with opened(opener) as store:
            await asyncio.gather(*map(store.credentials.put, sets))
            credentials = await asyncio.gather(
                *(store.credentials.get(each.resource) for each in sets)
            )
            assert credentials == sets
