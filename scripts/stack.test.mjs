// The running demo, as its user finds it: SERVICE_URL is its service. With AUTH=on, only what needs
// a token.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

const service = process.env.SERVICE_URL;
const protectedByTokens = process.env.AUTH === 'on';
const open = { skip: protectedByTokens && 'it needs a token' };

function run(script, args, cwd = '.') {
  const { status, stdout, stderr } = spawnSync(`${process.cwd()}/scripts/${script}`, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `${script}: ${stderr}`);
  return script === 'import' ? stderr + stdout : stdout.trim();
}

// An object with these members, and others.
const like = (actual, expected) => assert.deepEqual({ ...actual, ...expected }, actual);
const psql = (sql) => run('psql', ['-XqAt', '-c', sql]);

async function ask(path, body, token) {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(service + path, { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), headers, signal: AbortSignal.timeout(60_000) });
  return { status: response.status, ...(await response.json()) };
}

test('it searches and answers', open, async () => {
  const ready = await ask('/readyz');
  assert.equal(ready.status, 'ready');
  const paraphrase = await ask('/api/hybrid-search', { query: 'resolve login issue', limit: 2 });
  assert.ok(paraphrase.results.some((hit) => hit.ticket_name === 'Fix authentication bug'));
  const [first] = (await ask('/api/hybrid-search', { query: 'TX-400', limit: 3 })).results;
  like(first, { kind: 'ticket', ticket_key: 'TX-400', exact: true });
  const [document] = (await ask('/api/knowledge/entities/wiktor')).results;
  like(document, { matched_entity: 'Wiktor', matched_type: 'person' });
  const answer = await ask('/api/query', { question: 'Why were customers charged twice when they retried a payment?' });
  assert.ok(answer.sources.some((source) => source.ticket_key === 'TX-400' && source.cited));
});

test('a question that found nothing is in the query log a moment later', open, async () => {
  const question = 'How do I bake sourdough bread?';
  assert.deepEqual((await ask('/api/query', { question })).sources, []);
  for (const end = Date.now() + 10_000; !psql('select question from unanswered_questions()').includes(question); await pause(100)) {
    assert.ok(Date.now() < end);
  }
});

// From another folder, by a relative path.
test('a second import embeds nothing', open, () => {
  const chunks = () => psql('select count(*), md5(string_agg(chunk_id::text, null order by chunk_id)) from chunks');
  const before = chunks();
  assert.match(run('import', ['sample'], 'supabase'), /182 tickets and 316 comments; left out: 0 rows, 0 fields, 0 links/);
  assert.equal(chunks(), before);
  assert.equal(psql('select count(*) from tickets'), '182');
});

test('a member sees their own projects only, and nobody without a token', { skip: !protectedByTokens && 'all may see everything' }, async () => {
  const user = 'c0ffee00-0000-4000-8000-000000000002';
  psql(`insert into project_members select project_id, '${user}', 'member' from projects where key = 'TX' on conflict do nothing`);
  const token = run('token', [user]);
  assert.equal((await ask('/api/projects')).status, 401);
  assert.deepEqual((await ask('/api/projects', undefined, token)).results.map((project) => project.key), ['TX']);
  const [first] = (await ask('/api/hybrid-search', { query: 'TX-400', limit: 3 }, token)).results;
  like(first, { ticket_key: 'TX-400', exact: true });
});
