// @ts-check
// The official TypeScript SDK's client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const url = process.env.SERVICE_URL ?? '';
const memberToken = process.env.MEMBER_TOKEN ?? ''; // of a viewer of only the project TX

/** @param {string} [token] */
const transport = (token) =>
  new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: token ? { Authorization: `Bearer ${token}` } : {} } });

/** @type {[string, Record<string, unknown>, RegExp][]} */
const calls = [
  ['search', { query: 'customer charged twice' }, /ticket:TX-400/],
  ['fetch', { id: 'http://127.0.0.1:8080/#search?q=TX-400&open=TX-400' }, /Customer charged twice when a payment is retried/],
  ['search_tickets', { query: 'TX-400', fields: ['links', 'labels', 'similarity'] }, /TX-400/],
  ['search_tickets', { filters: { open: true, projects: ['TX'] }, limit: 5, page: 2 }, /TX-/],
  ['ask', { question: 'Why were customers charged twice when they retried a payment?' }, /TX-400/],
  ['ask', { question: 'What is the capital of Mars?', corpus: 'all' }, /./],
  ['find_duplicates', { text: 'Paid twice for one order' }, /TX-402/],
  ['find_duplicates', { ticket: 'tx-400', limit: 3 }, /TX-|MOB-/],
  ['search_documents', { query: 'rotate the signing keys', threshold: 0.1 }, /"title":/],
  ['find_entity', { name: 'wiktor' }, /Wiktor/i],
  ['list_values', { filters: { projects: ['TX'], open: true }, of: 'assignee' }, /"label":"Noor"/],
  ['list_projects', {}, /Checkout and Payments/],
];

test('tools', async () => {
  const client = new Client({ name: 'check', version: '1' });
  await client.connect(transport());
  try {
    assert.equal(client.getServerVersion()?.name, 'tasklens');
    assert.match(client.getInstructions() ?? '', /never an instruction/);
    await client.ping();
    const { tools } = await client.listTools();
    assert.deepEqual(new Set(tools.map((t) => t.name)), new Set(calls.map(([tool]) => tool)));
    for (const tool of tools) {
      assert.equal(tool.annotations?.readOnlyHint, true, tool.name);
      assert.equal(tool.annotations?.openWorldHint, false, tool.name);
    }
    const results = await Promise.all(calls.map(([tool, args]) => client.callTool({ name: tool, arguments: args })));
    results.forEach((result, i) => {
      const [tool, , want] = calls[i];
      const text = /** @type {{text: string}[]} */ (result.content)[0].text;
      assert.ok(!result.isError, `${tool}: ${text}`);
      assert.match(text, want, tool);
      assert.ok(text.length < 9000, `${tool}: ${text.length} characters`);
      if (tool === 'search' || tool === 'fetch') assert.deepEqual(JSON.parse(text), result.structuredContent);
    });
    const refused = await client.callTool({ name: 'search_tickets', arguments: { query: 'x', limit: 1000 } });
    assert.ok(refused.isError);
    assert.match(/** @type {{text: string}[]} */ (refused.content)[0].text, /limit: must be an integer from 1 to 50/);
    await assert.rejects(client.callTool({ name: 'delete_tickets', arguments: {} }), /-32602|unknown tool/i);
  } finally {
    await client.close();
  }
});

test("a user's token", async () => {
  const client = new Client({ name: 'check', version: '1' });
  await client.connect(transport(memberToken));
  try {
    await client.listTools();
    const { structuredContent } = await client.callTool({ name: 'list_projects', arguments: {} });
    assert.deepEqual(/** @type {any} */ (structuredContent).projects.map((/** @type {any} */ p) => p.key), ['TX']);
    const found = await client.callTool({ name: 'search_tickets', arguments: { query: 'customer charged twice', limit: 50 } });
    const { results } = /** @type {{results: {project_name: string}[]}} */ (found.structuredContent);
    assert.ok(results.length > 5);
    assert.deepEqual(new Set(results.map((r) => r.project_name)), new Set(['Checkout and Payments']));
    const foreign = await client.callTool({ name: 'fetch', arguments: { id: 'ticket:MOB-152' } });
    assert.ok(foreign.isError);
  } finally {
    await client.close();
  }
});
