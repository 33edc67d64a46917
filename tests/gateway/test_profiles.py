"""Profiles: stored selections of servers and tools for the gateway."""

from pathlib import Path

import pytest

from mcpyard.app import open_yard
from mcpyard.domain.errors import InputError, ProfileUnknown
from mcpyard.yard.profiles import Profile, ProfileBook, ToolOverride, VolatileProfiles, read_profile
from tests.api.asgi import asked_yard

WORK = {
    "name": "work",
    "servers": ["files", "git*"],
    "tools": {"files": {"rm": {"enabled": False}, "read": {"name": "look", "description": "d"}}},
}
SERVERS = {name: {"command": "true"} for name in ("files", "git", "git-hub", "mail")}


async def selected(profile: Profile) -> list[str]:
    async with open_yard(servers=SERVERS, environment={}) as yard:
        by_id = str(yard.server("mail").id)
        more = Profile(profile.name, (*profile.servers, by_id), profile.tools)
        names = [each.name for each in more.select(yard.desired.servers.values())]
        assert names.pop(names.index("mail")), "an id is as good as a name"
        return names


@pytest.mark.real
async def test_a_profile_shows_servers_by_name_by_id_and_by_pattern() -> None:
    assert await selected(Profile("p", ("files", "git*"))) == ["files", "git", "git-hub"]
    assert await selected(Profile("p", ("git",))) == ["git"]
    assert await selected(Profile("p", ("GIT*",))) == []


@pytest.mark.real
async def test_what_a_profile_says_of_a_tool_is_found_by_the_servers_name_or_id() -> None:
    async with open_yard(servers=SERVERS, environment={}) as yard:
        files, mail = yard.server("files"), yard.server("mail")
        profile = read_profile(
            "p", {"tools": {"files": {"a": {"name": "x"}}, str(mail.id): {"b": {"enabled": False}}}}
        )
        assert profile.override(files, "a") == ToolOverride(name="x")
        assert profile.override(mail, "b") == ToolOverride(enabled=False)
        assert profile.override(mail, "a") == ToolOverride()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "servers"}, "name"),
        ({"name": "a/b"}, "name"),
        ({"name": ".."}, "name"),
        ({"name": ""}, "name"),
        ({"name": " a"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"name": 5}, "name"),
        ({}, "name"),
        ({"name": "a", "server": []}, "server"),
        ({"name": "a", "servers": "*"}, "servers"),
        ({"name": "a", "servers": ["x", 5]}, "servers[1]"),
        ({"name": "a", "servers": [""]}, "servers[0]"),
        ({"name": "a", "tools": []}, "tools"),
        ({"name": "a", "tools": {"s": 1}}, "tools.s"),
        ({"name": "a", "tools": {"s": {"t": 1}}}, "tools.s.t"),
        ({"name": "a", "tools": {"s": {"t": {"enabled": 1}}}}, "tools.s.t.enabled"),
        ({"name": "a", "tools": {"s": {"t": {"name": "two words"}}}}, "tools.s.t.name"),
        ({"name": "a", "tools": {"s": {"t": {"name": 5}}}}, "tools.s.t.name"),
        ({"name": "a", "tools": {"s": {"t": {"description": 5}}}}, "tools.s.t.description"),
        ({"name": "a", "tools": {"s": {"t": {"other": 5}}}}, "tools.s.t.other"),
        (
            {"name": "a", "tools": {"s": {"t": {"name": "n"}}, "u": {"v": {"name": "n"}}}},
            "tools.u.v.name",
        ),
    ],
)
async def test_a_wrong_profile_is_refused_with_its_field_and_nothing_is_kept(
    body: dict[str, object], field: str
) -> None:
    changes: list[str] = []
    book = ProfileBook(VolatileProfiles(), changes.append)
    with pytest.raises(InputError) as refused:
        await book.create(body)
    assert [each.field for each in refused.value.problems] == [field]
    assert (book.all(), changes) == ([], [])


async def test_every_change_of_a_profile_is_told() -> None:
    changes: list[str] = []
    book = ProfileBook(VolatileProfiles(), changes.append)
    await book.create(WORK)
    await book.replace("work", {"servers": ["mail"]})
    assert book.get("work").servers == ("mail",)
    assert book.get("work") is book.get("work"), "read once, not at every request"
    await book.remove("work")
    assert changes == ["work"] * 3
    with pytest.raises(ProfileUnknown):
        await book.remove("work")


@pytest.mark.real
async def test_profiles_are_made_shown_replaced_and_removed_over_rest() -> None:
    async with asked_yard() as api:
        made = await api.post("/api/profiles", WORK)
        assert (made.status_code, made.json()) == (201, WORK)
        again = await api.post("/api/profiles", WORK)
        assert (again.status_code, again.json()["type"]) == (409, "urn:mcpyard:error:name-taken")
        assert (await api.get("/api/profiles")).json() == [WORK]
        changed = await api.client.put("/api/profiles/work", json={"servers": ["mail"]})
        assert changed.json() == {"name": "work", "servers": ["mail"], "tools": {}}
        assert (await api.get("/api/profiles/work")).json() == changed.json()
        refused = await api.client.put("/api/profiles/work", json={"servers": 5})
        assert (refused.status_code, refused.json()["problems"][0]["field"]) == (422, "servers")
        assert (await api.client.delete("/api/profiles/work")).status_code == 204
        gone = await api.get("/api/profiles/work")
        assert (gone.status_code, gone.json()["type"]) == (404, "urn:mcpyard:error:profile-unknown")


@pytest.mark.real
async def test_a_name_that_needs_quoting_is_one_part_of_the_path() -> None:
    async with asked_yard() as api:
        await api.post("/api/profiles", {"name": "my work?"})
        response = await api.get("/api/profiles/my%20work%3F")
        assert response.json() == {"name": "my work?", "servers": ["*"], "tools": {}}


@pytest.mark.real
async def test_a_home_keeps_profiles(tmp_path: Path) -> None:
    async with open_yard(home=tmp_path, environment={}) as yard:
        await yard.profiles.create(WORK)
    async with open_yard(home=tmp_path, environment={}) as yard:
        assert [each.view().to_dict() for each in yard.profiles.all()] == [WORK]
