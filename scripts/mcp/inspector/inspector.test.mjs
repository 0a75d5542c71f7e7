// @ts-check
// The MCP Inspector's command line: what developers try a server with.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const { SERVICE_URL = '', MEMBER_TOKEN = '', INSPECTOR = '' } = process.env; // INSPECTOR: where it is installed

/** Runs it with the Node that it needs. @param {string[]} args */
async function inspect(...args) {
  const cli = `${INSPECTOR}/node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js`;
  const server = [`${SERVICE_URL}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${MEMBER_TOKEN}`];
  const { stdout } = await promisify(execFile)(`${INSPECTOR}/node_modules/.bin/node`, [cli, ...server, ...args]);
  return JSON.parse(stdout);
}

/** @type {[string, string[], RegExp][]} */
const calls = [
  ['search', ['query=customer charged twice'], /ticket:TX-400/],
  ['fetch', ['id=TX-400'], /Customer charged twice when a payment is retried/],
  ['search_tickets', ['query=charged twice', 'limit=2', 'filters={"open":false}'], /TX-400/],
  ['ask', ['question=Why were customers charged twice when they retried a payment?'], /TX-400/],
  ['find_duplicates', ['text=Paid twice for one order'], /TX-402/],
  ['search_documents', ['query=rotate the signing keys', 'threshold=0.1'], /"title":/],
  ['find_entity', ['name=wiktor'], /Wiktor/i],
  ['list_values', ['of=assignee', 'filters={"projects":["TX"]}'], /"label":"Noor"/],
  ['list_projects', [], /Checkout and Payments/],
];

for (const era of ['legacy', 'modern']) {
  test(`${era}: every tool, under a member's token`, async () => {
    // strict: a schema that some model provider refuses is a failure.
    const { tools } = await inspect('--protocol-era', era, '--method', 'tools/list', '--strict');
    assert.deepEqual(tools.map((/** @type {{name: string}} */ tool) => tool.name).sort(), calls.map(([tool]) => tool).sort());
    await Promise.all(calls.map(async ([tool, args, want]) => {
      const called = ['--protocol-era', era, '--method', 'tools/call', '--tool-name', tool];
      const { content, structuredContent } = await inspect(...called, ...args.flatMap((arg) => ['--tool-arg', arg]));
      assert.match(content[0].text, want, tool);
      assert.deepEqual(JSON.parse(content[0].text), structuredContent, tool);
    }));
    await assert.rejects(inspect('--protocol-era', era, '--method', 'tools/call', '--tool-name', 'fetch', '--tool-arg', 'id=ticket:MOB-152'), /isError|no such/i);
  });
}
