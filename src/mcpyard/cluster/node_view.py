"""What one node knows of its cluster, and what follows from each answer of the store.

No input, no output: the loop that asks the store is `membership`, and the model that the rules are
proved with has another one.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from mcpyard.cluster.admission import CallAdmission
from mcpyard.cluster.lease import Lease, MemberWatch
from mcpyard.domain.cluster import Member, NodeState, Placement


class NodeView:
    """One node's view of its cluster.

    Attributes:
        name: Its own name.
        lease: Its own lease.
        admission: What it may do itself.
        members: The last list of members that it read.
        database_away: Whether the last question to the store was not answered.
    """

    def __init__(self, name: str, ttl: float, clock: Callable[[], float]) -> None:
        self.name = name
        self.lease = Lease(ttl)
        self.admission = CallAdmission(name, self.lease, clock)
        self.members: Sequence[Member] = ()
        self.database_away = False
        self._watch = MemberWatch()
        self._clock = clock

    @property
    def peers(self) -> list[Member]:
        """The other members of the last list."""
        return [each for each in self.members if each.node.name != self.name]

    @property
    def is_draining(self) -> bool:
        """Whether this node is to have no servers, by the last list."""
        own = next((each for each in self.members if each.node.name == self.name), None)
        return own is not None and own.state is NodeState.DRAINING

    def own_fence(self, server: UUID) -> int | None:
        """The fence under which this node may store what a server lists.

        0, which no placement has, where another node runs it; None where nothing is known of it.
        """
        placement = self.admission.placements.get(server)
        if placement is None:
            return None
        return placement.fence if self.name in {placement.node, placement.next_node} else 0

    def joined(self, epoch: int, asked_at: float) -> None:
        """The store took this node in."""
        self.lease.begin(epoch, asked_at)

    def beaten(self, asked_at: float, *, held: bool) -> None:
        """The store answered a beat that was sent at that moment."""
        if held:
            self.lease.renew(asked_at)
        else:
            self.lease.end()

    def listed(
        self, members: Sequence[Member], placements: Sequence[Placement], asked_at: float
    ) -> list[Placement]:
        """The store listed members and placements, asked at that moment; the placements' news."""
        self.members, self.database_away = members, False
        own = next((each for each in members if each.node.name == self.name), None)
        if own is not None and own.epoch > self.lease.epoch:
            # Taken over, or another daemon has the name: its placements are not this one's.
            self.lease.end()
        self._watch.seen(members, self._clock())
        news = self.admission.learn(placements, from_store=True)
        self.admission.confirm(asked_at)
        return news

    def store_lost(self) -> None:
        """The store did not answer."""
        self.database_away = True
        self._watch.lost()

    def dead(self) -> list[Member]:
        """The nodes whose servers are to be taken over."""
        return self._watch.dead(self.peers, self._clock())

    def is_silent(self, member: Member) -> bool:
        """Whether a member was seen not to beat for its whole time to live."""
        return self._watch.silent(member, self._clock())

    def age(self, member: Member) -> float:
        """Seconds since the beat of a member was seen to change."""
        return self._watch.age(member, self._clock())
