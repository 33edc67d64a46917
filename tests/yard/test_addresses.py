"""Which server an address belongs to."""

from uuid import UUID, uuid4

import pytest

from mcpyard.domain.observed import Capabilities, Items, Observed, Tools
from mcpyard.domain.tool import ToolDefinition
from mcpyard.store.memory import VolatileMemory
from mcpyard.yard import resource_uris
from mcpyard.yard.book import ToolBook
from mcpyard.yard.resource_uris import AddressBook

A, B = uuid4(), uuid4()


def lists(server: UUID, *uris: str, templates: tuple[str, ...] = ()) -> Observed:
    resources = Items(tuple({"uri": uri} for uri in uris))
    return Observed(
        server,
        offer=Capabilities(resources, Items(tuple({"uriTemplate": each} for each in templates))),
    )


@pytest.mark.spec("F4.1")
def test_the_first_to_list_an_address_keeps_it_in_every_later_run() -> None:
    memory = VolatileMemory()
    book = AddressBook(memory)
    book.claim(lists(B, "x://1", templates=("x://{a}",)), {A, B})
    book.claim(lists(A, "x://1", "x://2", templates=("x://{a}",)), {A, B})
    again = AddressBook(memory)
    again.claim(lists(A, "x://1", "x://2", templates=("x://{a}",)), {A, B})
    again.claim(lists(B, "x://1", "x://2"), {A, B})
    holders = {each: again.holder(each, {A, B}) for each in ("x://1", "x://2", "x://{a}", "x://3")}
    assert holders == {"x://1": B, "x://2": A, "x://{a}": B, "x://3": None}


def test_an_address_of_a_server_that_is_gone_goes_to_the_next_that_lists_it() -> None:
    book = AddressBook(VolatileMemory())
    book.claim(lists(A, "x://1"), {A})
    assert book.holder("x://1", {B}) is None
    book.claim(lists(B, "x://1"), {B})
    assert book.holder("x://1", {A, B}) == B


def test_the_address_of_a_tools_user_interface_belongs_to_its_server() -> None:
    book = AddressBook(VolatileMemory())
    tool = ToolDefinition("t", {"_meta": {"ui": {"resourceUri": "https://x/page"}}})
    book.claim(Observed(A, tools=Tools((tool,), "1")), {A})
    book.claim(lists(B, "https://x/page"), {A, B})
    assert book.holder("https://x/page", {A, B}) == A


def test_addresses_that_carry_their_owner_need_no_claim() -> None:
    memory = VolatileMemory()
    AddressBook(memory).claim(lists(A, "ui://x", "skill://y"), {A})
    assert not memory.exposed_names()


def test_a_server_cannot_fill_the_disk_with_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_uris, "MOST_CLAIMS", 3)
    memory = VolatileMemory()
    for round_ in range(4):
        AddressBook(memory).claim(lists(A, f"x://{round_}/1", f"x://{round_}/2"), {A})
    assert len(memory.exposed_names()) == 3
    book = AddressBook(memory)
    book.claim(lists(B, "x://0/1"), {B})
    book.claim(lists(A, "x://9"), {A, B})
    assert book.holder("x://9", {A, B}) == A


def test_a_list_that_is_the_same_is_not_looked_at_again() -> None:
    memory = VolatileMemory()
    book = AddressBook(memory)
    listed = lists(A, "x://1")
    book.claim(listed, {A})
    before = dict(memory.exposed_names())
    memory.exposed_names = lambda: pytest.fail("the list was looked at")
    book.claim(listed, {A})
    del memory.exposed_names
    assert memory.exposed_names() == before


def test_a_claim_that_cannot_be_read_is_none() -> None:
    memory = VolatileMemory()
    book = AddressBook(memory)
    book.claim(lists(A, "x://1"), {A})
    memory.keep_names(dict.fromkeys(memory.exposed_names(), "no id"))
    assert book.holder("x://1", {A}) is None


def test_claims_leave_the_names_of_tools_alone() -> None:
    memory = VolatileMemory()
    book = ToolBook(memory)
    book.addresses.claim(lists(A, "x://1", "t"), {A})
    assert len(memory.exposed_names()) == 2
    book.remove(A)
    assert book.addresses.holder("t", {A}) == A
