// Lists and calls through the gateway with the TypeScript SDK: node ts_client.mjs URL TOKEN ERA
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, token, era] = process.argv.slice(2);
const transport = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
});
const options = era === "modern" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "ts-client", version: "1" }, options);
await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool({ name: "mcp_echo_echo", arguments: { text: "hello" } });
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), content: result.content }));
await client.close();
