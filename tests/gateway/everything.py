"""A server with every tool, resource and prompt that the conformance suite calls by name.

`everything.py legacy` speaks the handshake era only, `everything.py modern` the other, both over
stdio.
"""

import asyncio
import json
import sys
from collections import defaultdict
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from tests.gateway import everything_content as content
from tests.gateway.everything_asking import (
    MODERN,
    InputRequired,
    ask,
    can,
    form,
    opened,
    roots,
    sampling,
)

Context = ServerRequestContext[Any, Any]
Call = types.CallToolRequestParams
WATCHED = "test://watched-resource"
PAUSE = 0.05

bus = InMemorySubscriptionBus()
cancelled: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
extras: list[str] = []


async def log(ctx: Context, message: str) -> None:
    related = ctx.request_id
    await ctx.session.send_log_message("info", message, related_request_id=related)  # pyright: ignore[reportDeprecated]


async def with_logging(ctx: Context, _call: Call) -> str:
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await log(ctx, message)
        await asyncio.sleep(PAUSE)
    return "logged"


async def with_progress(ctx: Context, _call: Call) -> str:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
        await asyncio.sleep(PAUSE)
    return "done"


async def fails(_ctx: Context, _call: Call) -> str:
    raise ValueError("This tool intentionally returns an error for testing")


async def samples(ctx: Context, call: Call) -> str:
    question = sampling((call.arguments or {}).get("prompt", "What is the capital of France?"))
    reply = (await ask(ctx, call, capital_question=question))["capital_question"]
    return f"LLM response: {reply.content.text}"


async def elicits(ctx: Context, call: Call) -> str:
    question = form((call.arguments or {})["message"], content.USER_FORM)
    return _summary("User response", (await ask(ctx, call, user=question))["user"])


async def elicits_defaults(ctx: Context, call: Call) -> str:
    answers = await ask(ctx, call, form=form("Take the defaults", content.DEFAULTS_FORM))
    return _summary("Elicitation completed", answers["form"])


async def elicits_enums(ctx: Context, call: Call) -> str:
    answers = await ask(ctx, call, form=form("Choose", content.ENUMS_FORM))
    return _summary("Elicitation completed", answers["form"])


def _summary(what: str, result: types.ElicitResult) -> str:
    return f"{what}: action={result.action}, content={json.dumps(result.content)}"


async def elicits_name(ctx: Context, call: Call) -> str:
    question = form("What is your name?", content.NAME_FORM)
    reply = (await ask(ctx, call, user_name=question))["user_name"]
    return f"Hello, {(reply.content or {}).get('name')}!"


async def lists_roots(ctx: Context, call: Call) -> str:
    reply = (await ask(ctx, call, client_roots=roots()))["client_roots"]
    return f"Roots: {', '.join(str(each.uri) for each in reply.roots)}"


async def keeps_state(ctx: Context, call: Call) -> str:
    opened(call)
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    await ask(ctx, call, "first", confirm=form("Please confirm", schema))
    return "state-ok"


async def asks_for_much(ctx: Context, call: Call) -> str:
    opened(call)
    await ask(
        ctx,
        call,
        "much",
        user_name=form("What is your name?", content.NAME_FORM),
        greeting=sampling("Generate a greeting", 50),
        client_roots=roots(),
    )
    return "all there"


async def asks_twice(ctx: Context, call: Call) -> str:
    if opened(call) != "2":
        await ask(ctx, call, "1", step1=form("Step 1: What is your name?", content.NAME_FORM))
    schema = {"type": "object", "properties": {"color": content.STRING}, "required": ["color"]}
    await ask(ctx, call, "2", step2=form("Step 2: What is your favorite color?", schema))
    return "both steps done"


async def asks_what_can_be(ctx: Context, call: Call) -> str:
    possible: dict[str, Any] = {
        "elicitation": form("What is your name?", content.NAME_FORM),
        "sampling": sampling("Hello?"),
        "roots": roots(),
    }
    await ask(ctx, call, **{key: each for key, each in possible.items() if can(ctx, key)})
    return "asked"


async def needs_sampling(ctx: Context, _call: Call) -> str:
    if can(ctx, "sampling"):
        return "fine"
    raise MCPError(
        types.MISSING_REQUIRED_CLIENT_CAPABILITY,
        "sampling is needed",
        {"requiredCapabilities": {"sampling": {}}},
    )


async def streams_and_asks(ctx: Context, call: Call) -> str:
    await ctx.session.report_progress(1, 2)
    return await elicits_name(ctx, call)


async def changes_tools(ctx: Context, _call: Call) -> str:
    extras.append(f"extra_{len(extras)}")
    if ctx.protocol_version == MODERN:
        await bus.publish(ToolsListChanged())
    else:
        await ctx.session.send_tool_list_changed()
    return "told"


async def changes_prompts(ctx: Context, _call: Call) -> str:
    if ctx.protocol_version == MODERN:
        await bus.publish(PromptsListChanged())
    else:
        await ctx.session.send_prompt_list_changed()
    return "told"


async def changes_resource(ctx: Context, _call: Call) -> str:
    if ctx.protocol_version == MODERN:
        await bus.publish(ResourceUpdated(uri=WATCHED))
    else:
        await ctx.session.send_resource_updated(WATCHED)
    return "told"


async def waits(ctx: Context, call: Call) -> str:
    await ctx.session.report_progress(0, 1)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        cancelled[(call.arguments or {})["tag"]].set()
        raise
    return "never"


async def tells_cancelled(_ctx: Context, call: Call) -> str:
    await asyncio.wait_for(cancelled[(call.arguments or {})["tag"]].wait(), 10)
    return "cancelled"


async def tells_arguments(_ctx: Context, call: Call) -> str:
    return json.dumps(call.arguments)


TOOLS = {
    "test_tool_with_logging": with_logging,
    "test_logging_tool": with_logging,
    "test_tool_with_progress": with_progress,
    "test_error_handling": fails,
    "test_sampling": samples,
    "test_elicitation": elicits,
    "test_elicitation_sep1034_defaults": elicits_defaults,
    "test_elicitation_sep1330_enums": elicits_enums,
    "test_input_required_result_elicitation": elicits_name,
    "test_input_required_result_sampling": samples,
    "test_input_required_result_list_roots": lists_roots,
    "test_input_required_result_request_state": keeps_state,
    "test_input_required_result_tampered_state": keeps_state,
    "test_input_required_result_multiple_inputs": asks_for_much,
    "test_input_required_result_multi_round": asks_twice,
    "test_input_required_result_capabilities": asks_what_can_be,
    "test_missing_capability": needs_sampling,
    "test_streaming_elicitation": streams_and_asks,
    "test_trigger_tool_change": changes_tools,
    "test_trigger_prompt_change": changes_prompts,
    "test_trigger_resource_change": changes_resource,
    "test_headers": tells_arguments,
    "json_schema_2020_12_tool": tells_arguments,
    "waits": waits,
    "cancelled": tells_cancelled,
}


async def list_tools(_ctx: Context, _params: object) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=name,
                description=f"The tool {name}",
                input_schema=content.SCHEMAS.get(name, content.NOTHING),
            )
            for name in (*content.FIXED, *TOOLS, *extras)
        ]
    )


async def call_tool(ctx: Context, call: Call) -> types.CallToolResult | types.InputRequiredResult:
    if fixed := content.FIXED.get(call.name):
        return types.CallToolResult(content=fixed)
    if call.name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, f"there is no tool {call.name}")
    try:
        return types.CallToolResult(content=[content.text(await TOOLS[call.name](ctx, call))])
    except InputRequired as required:
        return required.result
    except ValueError as error:
        return types.CallToolResult(content=[content.text(str(error))], is_error=True)


async def read(_ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    resource = content.read_resource(str(params.uri))
    if resource is None:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": str(params.uri)})
    return types.ReadResourceResult(contents=[resource])


async def get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    messages = None
    if params.name == "test_input_required_result_prompt":
        schema = {"type": "object", "properties": {"context": content.STRING}}
        try:
            question = form(
                "What context should the prompt use?", {**schema, "required": ["context"]}
            )
            await ask(ctx, params, user_context=question)
        except InputRequired as required:
            return required.result
        messages = [content.text("With the context")]
    blocks = messages or content.prompt_messages(params.name, params.arguments or {})
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=each) for each in blocks]
    )


async def complete(_ctx: Context, _params: object) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["paris", "park"], total=2))


async def nothing(_ctx: Context, _params: object) -> types.EmptyResult:
    return types.EmptyResult()


async def list_resources(_ctx: Context, _params: object) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=content.RESOURCES)


async def list_templates(_ctx: Context, _params: object) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=content.TEMPLATES)


async def list_prompts(_ctx: Context, _params: object) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=content.PROMPTS)


def server() -> Server[Any]:
    return Server(  # pyright: ignore[reportDeprecated]  the older era has log levels
        "everything",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
        on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing,
        on_subscriptions_listen=ListenHandler(bus),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=nothing,
    )


async def main(era: str) -> None:
    made = server()
    options = made.create_initialization_options(NotificationOptions(True, True, True))
    async with stdio_server() as (reader, writer):
        if era == "legacy":
            await serve_loop(made, reader, writer, lifespan_state={}, init_options=options)
        else:
            await made.run(reader, writer, options)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
