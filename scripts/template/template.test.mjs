// The template for Supabase's CLI (docs/examples/supabase) over the demo: its function in Deno, and its page in a browser.
// A front joins what a Supabase project has under one address: Auth (a stand-in), PostgREST and the function.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { startAuth } from '../console/auth.mjs';
import { accessible, atEnd, finish, freePort, open, root, service, settings, sql, until } from '../console/kit.mjs';

const template = `${root}docs/examples/supabase/`;
const source = `${template}supabase/functions/ask/index.ts`;
const key = 'sb_publishable_check';
const QUESTION = 'Why were customers charged twice when they retried a payment?';
const member = { id: 'c0ffee00-0000-4000-8000-00000000000d', email: 'member@example.com', password: 'correct horse' };
let auth, ask, front, seen;

/** Serves requests until the tests end, and returns the address. */
async function serve(handler) {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${server.address().port}`;
}

/** Runs the function over a service. It may reach nothing else, and read no other setting: no key. */
async function run(address, file = source) {
  const port = await freePort();
  const child = spawn(`${root}node_modules/.bin/deno`, ['run', '--no-prompt', '--allow-env=TASKLENS_URL', `--allow-net=127.0.0.1:${port},${new URL(address).host}`, file], {
    env: { ...process.env, TASKLENS_URL: address, DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`, DENO_NO_UPDATE_CHECK: '1' }, stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (text) => { log += text; });
  atEnd(async () => { child.kill(); if (child.exitCode === null && child.signalCode === null) await once(child, 'exit'); });
  const url = `http://127.0.0.1:${port}`;
  await until('the function starts', () => { assert.equal(child.exitCode, null, log); return fetch(url, { method: 'OPTIONS' }).then((r) => r.ok, () => false); });
  return url;
}

const post = (url, token, { question = QUESTION, signal = AbortSignal.timeout(30_000) } = {}) => fetch(url, {
  method: 'POST', signal, headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }, body: JSON.stringify({ question }),
});
const failure = async (response) => {
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  return [response.status, (await response.json()).code];
};

before(async () => {
  sql(`insert into project_members select project_id, '${member.id}', 'viewer' from projects where key = 'TX' on conflict do nothing`);
  auth = await startAuth([member]);
  const { SUPABASE_URL, SUPABASE_REST_URL = `${SUPABASE_URL}/rest/v1` } = settings();
  ask = await run(await service({ AUTH: 'on', SUPABASE_URL: auth.url, SUPABASE_REST_URL }));
  const parts = { '/auth/v1': `${auth.url}/auth/v1`, '/rest/v1': SUPABASE_REST_URL, '/functions/v1/ask': ask };
  front = await serve(async (request, response) => {
    const [path, address] = Object.entries(parts).find(([start]) => request.url.startsWith(start)) ?? [];
    if (!path) return response.writeHead(404).end();
    seen?.push(request.method + path);
    const { host, connection, ...headers } = request.headers;
    const answer = await fetch(address + request.url.slice(path.length), {
      method: request.method, headers, ...(request.method === 'POST' && { body: request, duplex: 'half' }),
    });
    response.writeHead(answer.status, Object.fromEntries([...answer.headers].filter(([name]) => !/^(content-(encoding|length)|connection)$/.test(name))));
    for await (const part of answer.body ?? []) response.write(part);
    response.end();
  });
});
after(async () => {
  sql(`delete from project_members where user_id = '${member.id}'`);
  await finish();
});

test('an answer of what the user may see arrives as a stream, with its sources', async () => {
  const response = await post(ask, auth.sign(member));
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream']);
  const text = await response.text();
  assert.match(text, /^(?:: .*\n\n)?event: sources\n(.|\n)*event: delta\n(.|\n)*event: done\ndata: .*"ticket_key":"TX-400"[^{]*"cited":true/);
  const other = await post(ask, auth.sign({ id: 'c0ffee00-0000-4000-8000-00000000ffff' }));
  assert.match(await other.text(), /"sources":\[\]/, 'a user without a project');
});

test('what the service refuses is refused with its status and its words', async () => {
  assert.deepEqual(await failure(await post(ask)), [401, 'token_missing']);
  assert.deepEqual(await failure(await post(ask, key)), [401, 'token_invalid'], 'the publishable key is no user');
  assert.deepEqual(await failure(await post(ask, auth.sign(member, -60))), [401, 'token_expired']);
  assert.deepEqual(await failure(await post(ask, auth.sign(member), { question: '' })), [400, 'invalid']);
  assert.deepEqual(await failure(await fetch(ask)), [405, 'method_not_allowed']);
});

test('parts go out as they come, and a user who leaves ends the request', async () => {
  let begun = 0, ended = 0;
  const url = await run(await serve((request, response) => {
    response.on('close', () => { ended++; });
    if (++begun === 1) response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: delta\ndata: {"text":"first"}\n\n');
  }));
  const reader = (await post(url, 'x')).body.getReader();
  assert.match(new TextDecoder().decode((await reader.read()).value), /first/);
  assert.equal(ended, 0);
  await reader.cancel();
  await until('a stream ends', () => ended === 1);
  const leaving = new AbortController();
  const second = post(url, 'x', { signal: leaving.signal });
  await until('a second question arrives', () => begun === 2);
  leaving.abort();
  await assert.rejects(second, { name: 'AbortError' });
  await until('a request without an answer ends', () => ended === 2);
});

test('a service that is down, redirects, or does not answer in time', async () => {
  const down = await run(`http://127.0.0.1:${await freePort()}`);
  assert.deepEqual(await failure(await post(down, 'x')), [502, 'unavailable']);
  let followed = false;
  const elsewhere = await run(await serve((request, response) => {
    followed ||= request.url !== '/api/query';
    response.writeHead(307, { location: '/elsewhere' }).end();
  }));
  assert.deepEqual([await failure(await post(elsewhere, 'x')), followed], [[502, 'unavailable'], false]);
  const text = readFileSync(source, 'utf8');
  const hasty = `${process.env.TASKLENS_LOCAL}/hasty.ts`;
  writeFileSync(hasty, text.replace('60_000', '200'));
  assert.notEqual(readFileSync(hasty, 'utf8'), text);
  assert.deepEqual(await failure(await post(await run(await serve(() => {}), hasty), 'x')), [504, 'timeout']);
});

test('the page signs in, searches and asks as the user', async (t) => {
  const html = readFileSync(`${template}index.html`, 'utf8');
  const [, address, ours] = /data-url="([^"]+)" data-key="([^"]+)"/.exec(html);
  const site = await serve((request, response) => {
    const script = request.url === '/app.js';
    response.writeHead(200, { 'content-type': script ? 'text/javascript' : 'text/html' })
      .end(script ? readFileSync(`${template}app.js`) : html.replace(address, front).replace(ours, key));
  });
  seen = [];
  const page = await open(t, site, {
    also: [front, 'https://cdn.jsdelivr.net'], failing: true, // the wrong password
    // The very file of the package: the page's checksum refuses another.
    prepare: (it) => it.route('https://cdn.jsdelivr.net/npm/@supabase/supabase-js@*/**', (route) => route.fulfill({
      path: `${root}node_modules/@supabase/supabase-js${new URL(route.request().url()).pathname.split(/supabase-js@[^/]+/)[1]}`,
      contentType: 'text/javascript', headers: { 'access-control-allow-origin': '*' },
    })),
  });
  await page.getByLabel('Email').fill(member.email);
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Invalid login credentials').waitFor();
  await page.getByLabel('Password').fill(member.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Words').fill('password of the customer');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('#results li').first().waitFor();
  assert.deepEqual((await page.locator('#results li').allInnerTexts()).filter((text) => !/^(TX-|Project)/.test(text)), []);
  await page.getByLabel('Question').fill(QUESTION);
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.locator('#sources li', { hasText: 'TX-400' }).first().waitFor();
  assert.match(await page.locator('#answer').innerText(), /idempotency key.*\[\d\]/s);
  for (const part of ['POST/auth/v1', 'POST/rest/v1', 'POST/functions/v1/ask']) assert.ok(seen.includes(part), part);
  await accessible(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Email').waitFor();
  assert.equal(await page.locator('#answer').textContent(), '');
});
