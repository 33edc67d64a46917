"""What there is to see of servers: cards, counts, and the parts of a page that changed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from mcpyard.domain.errors import Problem, ServerUnknown
from mcpyard.domain.fixes import Fix
from mcpyard.domain.lifecycle import OPEN, Phase
from mcpyard.domain.model import Scope, Wanted
from mcpyard.web.badges import TONES, StatusBadge, badge_of
from mcpyard.web.change_tracker import ChangeTracker, PageChanges
from mcpyard.web.metrics import Metric
from mcpyard.web.server_screens.listing import ListChoice, ListedServer, sections_of
from mcpyard.web.server_screens.views import LIST, ONE, ROWS
from mcpyard.web.templating import Preferences, TemplateData, render
from mcpyard.yard.views.servers import Picture, ServerView, all_warnings


@dataclass(frozen=True, slots=True)
class Card:
    """A server as a card shows it.

    Attributes:
        record: Its record, without its tools.
        badge: Its status badge.
        metric: Its figures.
        era: `handshake` or `modern`; empty while it is not connected.
        folder: The folder in whose file something of it waits for approval.
        editable: Whether its definition can be changed from here.
        tools: Stands for its tools; another when they change.
        notes: What is odd about its definition, its tools or its behaviour.
        fixes: What can be done about it with one action.
        signed_in: Whether somebody is signed in at it.
        project: The folder of the project that it belongs to; empty for none.
    """

    record: ServerView
    badge: StatusBadge
    metric: Metric
    era: str
    folder: str
    editable: bool
    tools: str = ""
    notes: tuple[Problem, ...] = ()
    signed_in: bool = False
    fixes: tuple[Fix, ...] = ()
    project: str = ""

    @property
    def title(self) -> str:
        """What to call it above its name; empty where that says no more than the name."""
        title = (self.record.title or "").strip()
        return "" if title == self.record.name else title

    @property
    def description(self) -> str:
        """What to say about it; empty for nothing."""
        return (self.record.description or "").strip()

    @property
    def up(self) -> bool:
        """Whether it runs or tries to, so that it can be stopped."""
        return self.record.wanted is Wanted.RUNNING and self.record.phase is not Phase.FAILED


@dataclass(frozen=True, slots=True)
class Tiles:
    """How many servers there are of each tone, and how many tools."""

    total: int
    tones: dict[str, int]
    tools: int


class ServerPresenter:
    """Shows the servers of a yard."""

    def __init__(self, tracker: ChangeTracker) -> None:
        self.tracker = tracker
        self.yard = tracker.yard

    def record(self, ref: str) -> ServerView:
        """The record of a server, without its tools and without a look at its processes."""
        picture = self.tracker.picture(self.yard.server(ref).id)
        if picture is None:
            raise ServerUnknown(f'there is no server "{ref[:80]}"')
        return self.yard.record_of(picture, tools=False)

    def card(self, picture: Picture) -> Card:
        """The card of a server."""
        server, observed = picture
        return Card(
            record=self.yard.record_of(picture, tools=False),
            badge=self._badge(picture),
            metric=self.tracker.metrics.of(server.id),
            era=str(observed.session.era) if observed.session else "",
            folder=str(Path(server.waiting.owner.place).parent) if server.waiting else "",
            editable=str(server.owner.scope) in {"project", "user"},
            tools=observed.tools.digest,
            notes=all_warnings(server, observed),
            signed_in=self.yard.signed_in(server),
            fixes=self.yard.fixes.of(server, observed),
            project=_project_of(picture),
        )

    def cards(self, servers: Iterable[UUID]) -> list[Card]:
        """The cards of those of some servers that are still there."""
        pictures = map(self.tracker.picture, servers)
        return [self.card(each) for each in pictures if each]

    def listing(self, choice: ListChoice) -> TemplateData:
        """The list of all servers, the first of them with their cards."""
        sections = sections_of(map(self._listed, self.tracker.pictures()), choice)
        pages = [page for each in sections for page in each.pages if page.at_once]
        cards = self.cards(server for each in pages for server in each.servers)
        return {
            "choice": choice,
            "sections": sections,
            "cards": {each.record.id: each for each in cards},
        }

    def _listed(self, picture: Picture) -> ListedServer:
        server, metric = picture.server, self.tracker.metrics.of(picture.server.id)
        return ListedServer(
            server.id,
            server.name,
            self._badge(picture).tone,
            _project_of(picture),
            metric.last_call.timestamp() if metric.last_call else 0.0,
            metric.usage.rss if metric.usage else 0,
            server.config.tags[0] if server.config.tags else "",
        )

    def badges(self) -> dict[str, StatusBadge]:
        """How every server is, by its name."""
        return {each.server.name: self._badge(each) for each in self.tracker.pictures()}

    def tiles(self) -> Tiles:
        """The counts."""
        pictures = self.tracker.pictures()
        badges = map(self._badge, pictures)
        counts = Counter(each.tone for each in badges)
        tones = {tone: counts[tone] for tone in TONES}
        up = (each for each in pictures if each.observed.state.phase in OPEN)
        return Tiles(len(pictures), tones, sum(len(each.observed.tools.definitions) for each in up))

    def problems(self) -> list[str]:
        """What in the documents cannot be used, each with its place."""
        return [str(each) for each in self.yard.desired.problems]

    def frame(self, tab: str) -> TemplateData:
        """What a screen needs that gets no news of servers, but shows whether the yard is there."""
        return {"tab": tab, "view": tab, "tag": self.tracker.tag()}

    def news(self, preferences: Preferences, view: str, changes: PageChanges) -> str:
        """The parts of a page that changed, each with the place it belongs to."""
        if view in {LIST, ROWS}:
            return self._of_list(preferences, view, changes)
        return self._of_one(preferences, view.removeprefix(ONE), changes)

    def _badge(self, picture: Picture) -> StatusBadge:
        return badge_of(picture, self.tracker.restarted(picture.server.id))

    def _of_list(self, preferences: Preferences, view: str, changes: PageChanges) -> str:
        listed = changes.everything or changes.came or changes.gone
        data: TemplateData = {
            "everything": changes.everything,
            "rows": view == ROWS,
            "changed": self.cards(changes.servers),
            "came": self.cards(changes.came),
            "gone": changes.gone,
            "metrics": self.cards(changes.metrics),
            "tiles": self.tiles() if listed or changes.servers else None,
            "problems": self.problems() if changes.problems or changes.everything else None,
        }
        if changes.everything:
            data |= self.listing(preferences.listing)
        return render(preferences, "parts/news_list.html", data)

    def _of_one(self, preferences: Preferences, ref: str, changes: PageChanges) -> str:
        try:
            picture = self.tracker.picture(UUID(ref))
        except ValueError:
            return ""
        if picture is None:
            return render(preferences, "parts/gone.html", {"ref": ref})
        touched = picture.server.id in changes.servers | changes.metrics | changes.came
        if not (changes.everything or touched):
            return ""
        return render(preferences, "parts/news_one.html", {"card": self.card(picture)})


def _project_of(picture: Picture) -> str:
    owner = picture.server.owner
    return str(Path(owner.place).parent) if owner.scope is Scope.PROJECT else ""
