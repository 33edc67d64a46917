"""The operations on resources, prompts and log messages of servers."""

from typing import Final

from mcpyard.api.openapi.builders import Operations, body, many, one, operation, query
from mcpyard.api.openapi.servers import ONE

_FAULTS: Final = (404, 429, 502, 503, 504)

CONTENT: Final[Operations] = {
    f"GET {ONE}/resources listResources": operation(
        "List the resources of a server.", many("Resource", "The resources."), *_FAULTS
    ),
    f"GET {ONE}/resources/templates listResourceTemplates": operation(
        "List the resource templates of a server.",
        many("ResourceTemplate", "The templates."),
        *_FAULTS,
    ),
    f"GET {ONE}/resources/read readResource": operation(
        "Read a resource.",
        one("ResourceContents", "What it holds."),
        *(*_FAULTS, 422),
        parameters=[{**query("uri", "As the server itself calls it."), "required": True}],
    ),
    f"GET {ONE}/prompts listPrompts": operation(
        "List the prompts of a server.", many("Prompt", "The prompts."), *_FAULTS
    ),
    f"POST {ONE}/prompts/{{prompt}}/get getPrompt": operation(
        "Fill in a prompt.",
        one("FilledPrompt", "Its messages."),
        *_FAULTS,
        requestBody=body("PromptArguments", required=False),
    ),
    f"POST {ONE}/complete completeArgument": operation(
        "Complete the value of an argument of a prompt or of a resource template. The list is "
        "empty where the server does not complete anything.",
        one("Completion", "The values."),
        *_FAULTS,
        requestBody=body("ArgumentToComplete"),
    ),
    f"GET {ONE}/log-level getLogLevel": operation(
        "Show the level of the log messages that mcpyard asks a server for.",
        one("LogLevel", "The level."),
        404,
    ),
    f"PUT {ONE}/log-level setLogLevel": operation(
        "Ask a server for log messages of a level and above, until mcpyard ends. Clients of the "
        "gateway that want more still get more.",
        one("LogLevel", "The level."),
        404,
        requestBody=body("NewLogLevel"),
    ),
}
