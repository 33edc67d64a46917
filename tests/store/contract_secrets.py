from mcpyard.domain.stored import StoredSecret
from tests.store.contract import Opener, opened

VALUE = "ghp_a-value-that-nobody-may-read"


class SecretsContract:
    async def test_a_value_is_there_after_a_restart(self, opener: Opener) -> None:
        async with opened(opener) as store:
            assert store.secrets.all() == {}
            await store.secrets.set("TOKEN", VALUE)
            await store.secrets.set("OTHER", "")
            assert store.secrets.all()["TOKEN"] == StoredSecret(VALUE)
        async with opened(opener) as store:
            assert store.secrets.all() == {"TOKEN": StoredSecret(VALUE), "OTHER": StoredSecret("")}
            assert VALUE not in repr(store.secrets.all())

    async def test_a_value_in_the_key_ring_is_only_named(self, opener: Opener) -> None:
        async with opened(opener) as store:
            await store.secrets.set("TOKEN", VALUE)
            await store.secrets.set("TOKEN", None)
        async with opened(opener) as store:
            assert store.secrets.all() == {"TOKEN": StoredSecret(in_key_ring=True)}

    async def test_what_was_stored_is_restored_as_it_was(self, opener: Opener) -> None:
        async with opened(opener) as store:
            secrets = store.secrets
            assert await secrets.sealed("TOKEN") is None
            states: list[bytes | None] = [None]
            for value in (VALUE, "another", None):
                await secrets.set("TOKEN", value)
                states.append(await secrets.sealed("TOKEN"))
            assert len({*states}) == len(states)
            await secrets.restore("TOKEN", states[1])
            assert secrets.all() == {"TOKEN": StoredSecret(VALUE)}
            assert await secrets.sealed("TOKEN") == states[1]
            await secrets.restore("TOKEN", states[3])
            assert secrets.all() == {"TOKEN": StoredSecret(in_key_ring=True)}
            await secrets.restore("TOKEN", None)
        async with opened(opener) as store:
            assert store.secrets.all() == {}
            assert await store.secrets.sealed("TOKEN") is None

    async def test_each_change_is_told_and_nothing_else(self, opener: Opener) -> None:
        states: list[dict[str, StoredSecret]] = []
        async with opened(opener) as store:
            store.secrets.changed = lambda: states.append(dict(store.secrets.all()))
            await store.secrets.set("TOKEN", VALUE)
            await store.secrets.restore("TOKEN", None)
            await store.secrets.restore("TOKEN", None)
        assert states == [{"TOKEN": StoredSecret(VALUE)}, {}]


class SecretConsentsContract:
    async def test_consent_is_for_one_file_and_one_name(self, opener: Opener) -> None:
        async with opened(opener) as store:
            consents = store.secret_consents
            await consents.set("/a/.mcp.json", "TOKEN", allowed=True)
            await consents.set("/a/.mcp.json", "TOKEN", allowed=True)
            await consents.set("/b/.mcp.json", "KEY", allowed=True)
            await consents.set("/b/.mcp.json", "TOKEN", allowed=False)
        async with opened(opener) as store:
            pairs = {("/a/.mcp.json", "TOKEN"), ("/b/.mcp.json", "KEY")}
            assert {*store.secret_consents.all()} == pairs
            await store.secret_consents.set("/a/.mcp.json", "TOKEN", allowed=False)
            assert {*store.secret_consents.all()} == {("/b/.mcp.json", "KEY")}
