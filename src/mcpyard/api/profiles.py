"""The routes of the profiles: stored selections for the gateway."""

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.responses import answer
from mcpyard.yard.profiles import ProfileBook


class ProfileRoutes:
    """Answers from the profiles of one yard."""

    def __init__(self, profiles: ProfileBook) -> None:
        self._profiles = profiles

    async def profiles(self, _request: Request) -> Response:
        """Every profile."""
        return answer([each.view() for each in self._profiles.all()])

    async def create(self, request: Request) -> Response:
        """Store a new profile."""
        made = await self._profiles.create(await requests.members(request))
        return answer(made.view(), 201)

    async def profile(self, request: Request) -> Response:
        """One profile."""
        return answer(self._profiles.get(requests.part(request, "profile")).view())

    async def replace(self, request: Request) -> Response:
        """Put something else in place of what a profile says."""
        name = requests.part(request, "profile")
        changed = await self._profiles.replace(name, await requests.members(request))
        return answer(changed.view())

    async def remove(self, request: Request) -> Response:
        """Take a profile out."""
        await self._profiles.remove(requests.part(request, "profile"))
        return Response(status_code=204)
