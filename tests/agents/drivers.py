"""One conversation with each library: the script of a model, and what the model was told.

A driver makes the calls of a script with the library's own loop, or with the loop that the page
about agents prints. It gives the last words of the model.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agents import Agent, Runner
from anthropic import Anthropic, AsyncAnthropic
from copilot import CopilotClient, PermissionHandler
from copilot.session_events import AssistantMessageDeltaData, SessionEvent
from google import genai
from google.genai import types
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from openai import AsyncOpenAI, OpenAI
from pydantic_ai import Agent as PydanticAgent

from mcpyard import AgentToolbox
from tests.agents.services.langchain_model import ScriptedChatModel
from tests.agents.services.script import FINAL, Script

if TYPE_CHECKING:
    from anthropic.types import MessageParam
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.responses import ResponseInputParam

ASK = "What do my notes say?"


@dataclass(frozen=True, slots=True)
class Driver:
    """How a library holds a conversation.

    Attributes:
        converse: With `await`.
        stream: The same while the model's words come in parts.
        block: Without an event loop of the caller's.
        limits: What the library itself does not do, by situation, and why.
        notes: The media that the service does not accept in a result; a note takes their place.
    """

    converse: Callable[[AgentToolbox, Script], Awaitable[str]]
    stream: Callable[[AgentToolbox, Script], Awaitable[str]] | None = None
    block: Callable[[AgentToolbox, Script], str] | None = None
    limits: dict[str, str] = field(default_factory=dict)
    notes: frozenset[str] = frozenset()


async def responses(box: AgentToolbox, script: Script, *, stream: bool = False) -> str:
    del script
    history: ResponseInputParam = [{"role": "user", "content": ASK}]
    tools = box.to_openai()
    async with AsyncOpenAI(max_retries=0) as client:
        while True:
            if stream:
                async with client.responses.stream(model="m", input=history, tools=tools) as answer:
                    response: Any = await answer.get_final_response()
            else:
                response = await client.responses.create(model="m", input=history, tools=tools)
            if not (items := await box.answer_openai(response)):
                return response.output_text
            history += items


def responses_blocking(box: AgentToolbox, script: Script) -> str:
    del script
    history: ResponseInputParam = [{"role": "user", "content": ASK}]
    with OpenAI(max_retries=0) as client:
        while True:
            response = client.responses.create(model="m", input=history, tools=box.to_openai())
            if not (items := box.run_sync(box.answer_openai(response))):
                return response.output_text
            history += items


async def chat(box: AgentToolbox, script: Script, *, stream: bool = False) -> str:
    del script
    history: list[ChatCompletionMessageParam] = [{"role": "user", "content": ASK}]
    tools = box.to_openai("chat")
    async with AsyncOpenAI(max_retries=0) as client:
        while True:
            completions = client.chat.completions
            if stream:
                async with completions.stream(model="m", messages=history, tools=tools) as answer:
                    completion: Any = await answer.get_final_completion()
            else:
                completion = await completions.create(model="m", messages=history, tools=tools)
            if not (messages := await box.answer_openai(completion)):
                return completion.choices[0].message.content or ""
            history += messages


def chat_blocking(box: AgentToolbox, script: Script) -> str:
    del script
    history: list[ChatCompletionMessageParam] = [{"role": "user", "content": ASK}]
    with OpenAI(max_retries=0) as client:
        while True:
            completion = client.chat.completions.create(
                model="m", messages=history, tools=box.to_openai("chat")
            )
            if not (messages := box.run_sync(box.answer_openai(completion))):
                return completion.choices[0].message.content or ""
            history += messages


async def anthropic(box: AgentToolbox, script: Script, *, stream: bool = False) -> str:
    del script
    history: list[MessageParam] = [{"role": "user", "content": ASK}]
    terms: dict[str, Any] = {"model": "m", "max_tokens": 99, "tools": box.to_anthropic()}
    async with AsyncAnthropic(max_retries=0) as client:
        while True:
            if stream:
                async with client.messages.stream(messages=history, **terms) as answer:
                    message: Any = await answer.get_final_message()
            else:
                message = await client.messages.create(messages=history, **terms)
            if not (messages := await box.answer_anthropic(message)):
                return message.content[-1].text
            history += messages


def anthropic_blocking(box: AgentToolbox, script: Script) -> str:
    del script
    history: list[MessageParam] = [{"role": "user", "content": ASK}]
    with Anthropic(max_retries=0) as client:
        while True:
            message: Any = client.messages.create(
                messages=history, model="m", max_tokens=99, tools=box.to_anthropic()
            )
            if not (messages := box.run_sync(box.answer_anthropic(message))):
                return message.content[-1].text
            history += messages


async def gemini(box: AgentToolbox, script: Script, *, stream: bool = False) -> str:
    del script
    history: list[types.Content] = [types.UserContent(ASK)]
    terms: dict[str, Any] = {
        "model": "m",
        "config": types.GenerateContentConfig(tools=box.to_gemini()),
    }
    client = genai.Client()
    models = client.aio.models
    while True:
        if stream:
            chunks = await models.generate_content_stream(contents=history, **terms)
            response: Any = [chunk async for chunk in chunks]
        else:
            response = [await models.generate_content(contents=history, **terms)]
        if not (contents := await box.answer_gemini(response)):
            return response[-1].text or ""
        history += contents


def gemini_blocking(box: AgentToolbox, script: Script) -> str:
    del script
    history: list[types.Content] = [types.UserContent(ASK)]
    config = types.GenerateContentConfig(tools=box.to_gemini())
    client = genai.Client()
    while True:
        response: Any = client.models.generate_content(model="m", contents=history, config=config)
        if not (contents := box.run_sync(box.answer_gemini(response))):
            return response.text or ""
        history += contents


async def openai_agents(box: AgentToolbox, script: Script) -> str:
    del script
    agent = Agent("helper", model="m", tools=box.to_openai_agents())
    return (await Runner.run(agent, ASK)).final_output


async def openai_agents_stream(box: AgentToolbox, script: Script) -> str:
    del script
    agent = Agent("helper", model="m", tools=box.to_openai_agents())
    result = Runner.run_streamed(agent, ASK)
    async for _ in result.stream_events():
        pass
    return result.final_output


def openai_agents_blocking(box: AgentToolbox, script: Script) -> str:
    del script
    agent = Agent("helper", model="m", tools=box.to_openai_agents())
    return Runner.run_sync(agent, ASK).final_output


def _pydantic_agent(box: AgentToolbox) -> PydanticAgent:
    return PydanticAgent("openai:gpt-5.5", toolsets=[box.to_pydantic_ai()], retries=3)


async def pydantic_ai(box: AgentToolbox, script: Script) -> str:
    del script
    return (await _pydantic_agent(box).run(ASK)).output


async def pydantic_ai_stream(box: AgentToolbox, script: Script) -> str:
    del script
    async with _pydantic_agent(box).run_stream_events(ASK) as events:
        last = [event async for event in events][-1]
    return last.result.output  # type: ignore[union-attr]


def pydantic_ai_blocking(box: AgentToolbox, script: Script) -> str:
    del script
    return _pydantic_agent(box).run_sync(ASK).output


async def langchain(box: AgentToolbox, script: Script, *, stream: bool = False) -> str:
    bound = ScriptedChatModel(script=script).bind_tools(box.to_langchain())
    messages: list[BaseMessage] = [HumanMessage(ASK)]
    while True:
        if stream:
            answer: Any = None
            async for chunk in bound.astream(messages):
                answer = chunk if answer is None else answer + chunk
        else:
            answer = await bound.ainvoke(messages)
        if not (added := await box.answer_langchain(answer)):
            return answer.text
        messages += added


def langchain_blocking(box: AgentToolbox, script: Script) -> str:
    tools = {tool.name: tool for tool in box.to_langchain()}
    bound = ScriptedChatModel(script=script).bind_tools([*tools.values()])
    messages: list[BaseMessage] = [HumanMessage(ASK)]
    while (answer := bound.invoke(messages)).tool_calls:
        assert isinstance(answer, AIMessage)
        messages += [answer, *(tools[call["name"]].invoke(call) for call in answer.tool_calls)]
    return answer.text


async def copilot(box: AgentToolbox, script: Script) -> str:
    del script
    async with CopilotClient() as client:
        session = await client.create_session(
            tools=box.to_copilot(), on_permission_request=PermissionHandler.approve_all
        )
        try:
            event = await session.send_and_wait(ASK, timeout=20)
        except asyncio.CancelledError:
            # To give up waiting leaves the work alone; this ends it.
            await session.abort()
            raise
        return event.data.content if event else ""  # type: ignore[union-attr]


async def copilot_stream(box: AgentToolbox, script: Script) -> str:
    del script
    pieces: list[str] = []

    def listen(event: SessionEvent) -> None:
        if isinstance(event.data, AssistantMessageDeltaData):
            pieces.append(event.data.delta_content)

    async with CopilotClient() as client:
        session = await client.create_session(
            tools=box.to_copilot(),
            on_permission_request=PermissionHandler.approve_all,
            streaming=True,
        )
        session.on(listen)
        await session.send_and_wait(ASK, timeout=20)
    return "".join(pieces)


async def ai_sdk(box: AgentToolbox, script: Script) -> str:
    """What the SDK does in its own language: execute, then convert for the model."""
    tools = box.to_ai_sdk()
    script.tools = [{"name": name} for name in tools]
    while calls := script.next():
        outputs = await asyncio.gather(
            *(tools[each.name]["execute"](each.parsed) for each in calls)
        )
        script.results += [
            tools[each.name]["toModelOutput"](output)
            for each, output in zip(calls, outputs, strict=True)
        ]
    return FINAL


def _streamed(
    converse: Callable[..., Awaitable[str]],
) -> Callable[[AgentToolbox, Script], Awaitable[str]]:
    return lambda box, script: converse(box, script, stream=True)


AUDIO = frozenset({"audio"})

DRIVERS: dict[str, Driver] = {
    "GitHub Copilot SDK": Driver(
        copilot,
        stream=copilot_stream,
        limits={"synchronous": "the SDK has coroutines only"},
    ),
    "Vercel AI SDK": Driver(
        ai_sdk,
        stream=ai_sdk,
        block=lambda box, script: box.run_sync(ai_sdk(box, script)),
        limits={"unknown tool": "the SDK refuses such a call before it reaches Python"},
    ),
    "OpenAI Responses": Driver(responses, _streamed(responses), responses_blocking, notes=AUDIO),
    "OpenAI Chat": Driver(chat, _streamed(chat), chat_blocking, notes=AUDIO | {"image"}),
    "OpenAI Agents SDK": Driver(
        openai_agents,
        openai_agents_stream,
        openai_agents_blocking,
        limits={"unknown tool": "the SDK ends the run with ModelBehaviorError"},
        notes=AUDIO,
    ),
    "Anthropic": Driver(anthropic, _streamed(anthropic), anthropic_blocking, notes=AUDIO),
    "LangChain": Driver(langchain, _streamed(langchain), langchain_blocking, notes=AUDIO),
    "Pydantic AI": Driver(pydantic_ai, pydantic_ai_stream, pydantic_ai_blocking, notes=AUDIO),
    "Gemini": Driver(gemini, _streamed(gemini), gemini_blocking, notes=AUDIO),
}
