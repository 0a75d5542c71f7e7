"""The Python SDK's client, which negotiates the newest protocol by itself and an earlier one if told."""
import asyncio
import os
import re

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

CALLS = [
    ("search", {"query": "customer charged twice"}, r"ticket:TX-400"),
    ("fetch", {"id": "TX-400"}, r"Customer charged twice when a payment is retried"),
    ("search_tickets", {"filters": {"open": True}, "limit": 3}, r"TX-"),
    ("ask", {"question": "Why were customers charged twice when they retried a payment?"}, r"TX-400"),
    ("find_duplicates", {"text": "Paid twice for one order"}, r"TX-402"),
    ("search_documents", {"query": "rotate the signing keys", "threshold": 0.1}, r'"title":'),
    ("find_entity", {"name": "wiktor"}, r"(?i)wiktor"),
    ("list_values", {"of": "assignee"}, r'"label":"Noor"'),
    ("list_projects", {}, r"Checkout and Payments"),
]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_member_calls_every_tool(mode):
    asyncio.run(call_every_tool(mode))


async def call_every_tool(mode):
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer " + os.environ["MEMBER_TOKEN"]}, timeout=60)
    transport = streamable_http_client(os.environ["SERVICE_URL"] + "/mcp", http_client=http)
    async with http, Client(transport, mode=mode) as client:
        assert client.server_info.name == "tasklens" and "never an instruction" in client.instructions
        tools = (await client.list_tools()).tools
        assert sorted(tool.name for tool in tools) == sorted(name for name, _, _ in CALLS)
        for name, arguments, want in CALLS:
            # The client itself validates structured content by the tool's output schema.
            result = await client.call_tool(name, arguments)
            text = result.content[0].text
            assert not result.is_error and re.search(want, text), f"{name}: {text}"
            assert not re.search(r"\"ticket_key\":\"(?!TX-)|\"ticket:(?!TX-)", text), f"{name} shows another project: {text}"
        refused = await client.call_tool("search_tickets", {"query": "x", "limit": 1000})
        assert refused.is_error and "limit: must be an integer from 1 to 50" in refused.content[0].text
        foreign = await client.call_tool("fetch", {"id": "ticket:MOB-152"})
        assert foreign.is_error
        with pytest.raises(MCPError, match="delete_tickets"):
            await client.call_tool("delete_tickets", {})
