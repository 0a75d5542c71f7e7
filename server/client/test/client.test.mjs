// The built client against a service (SERVICE_URL, with AUTH=off) and, for what a service cannot be made to send, against responses written here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTasklens, ProblemError } from 'tasklens-client';

const url = process.env.SERVICE_URL;
const QUESTION = 'Why were customers charged twice when they retried a payment?';
const all = async (events) => { const list = []; for await (const event of events) list.push(event); return list; };
/** A client whose every request gets one response. */
const answering = (body, init) => createTasklens({ url: 'http://127.0.0.1', fetch: async () => new Response(body, init) });
/** A body that arrives in pieces of one byte. */
const inBytes = (text) => new ReadableStream({
  start(controller) {
    for (const byte of new TextEncoder().encode(text)) controller.enqueue(Uint8Array.of(byte));
    controller.close();
  },
});

test('a search', async () => {
  const { data } = await createTasklens({ url: `${url}/` }).POST('/api/hybrid-search', { body: { query: 'TX-400', limit: 3 } });
  assert.equal(data.results[0].ticket_key, 'TX-400');
});

test('an answer as events, whose deltas are the answer', async () => {
  const events = await all(createTasklens({ url }).ask(QUESTION));
  const done = events.at(-1);
  assert.equal(events[0].event, 'sources');
  assert.ok(events[0].data.sources.some((source) => source.ticket_key === 'TX-400'));
  assert.ok(events.length > 2);
  assert.deepEqual(new Set(events.slice(1, -1).map(({ event }) => event)), new Set(['delta']));
  assert.equal(done.event, 'done');
  assert.equal(events.slice(1, -1).map(({ data }) => data.text).join(''), done.data.answer);
  assert.ok(done.data.sources.some((source) => source.cited));
});

test('a question with options', async () => {
  const [sources] = await all(createTasklens({ url }).ask({ question: 'How are idempotency keys derived?', corpus: 'documents', top_k: 1 }));
  assert.deepEqual(sources.data.sources.map(({ type }) => type), ['document']);
});

test('a problem is thrown', async () => {
  await assert.rejects(createTasklens({ url }).POST('/api/hybrid-search', { body: { query: 'x', limit: 200 } }), (error) => {
    assert.ok(error instanceof ProblemError);
    const { status, code, title, detail, message, errors, requestId, retryAfter } = error;
    assert.deepEqual({ status, code, title, detail, message, errors, retryAfter }, {
      status: 400, code: 'invalid', title: 'Bad Request', detail: 'The request is not valid.', message: 'The request is not valid.',
      errors: [{ field: 'limit', message: 'must be an integer from 1 to 100' }], retryAfter: undefined,
    });
    assert.ok(requestId);
    return true;
  });
  await assert.rejects(all(createTasklens({ url }).ask('')), { name: 'ProblemError', code: 'invalid' });
});

test('a call that is aborted', async () => {
  const tasklens = createTasklens({ url });
  await assert.rejects(tasklens.POST('/api/hybrid-search', { body: { query: 'x' }, signal: AbortSignal.abort() }), { name: 'AbortError' });
  await assert.rejects(all(tasklens.ask(QUESTION, { signal: AbortSignal.abort() })), { name: 'AbortError' });
  const controller = new AbortController();
  const events = tasklens.ask(QUESTION, { signal: controller.signal });
  assert.equal((await events.next()).value.event, 'sources');
  controller.abort();
  await assert.rejects(events.next(), { name: 'AbortError' });
  assert.deepEqual(await events.next(), { value: undefined, done: true });
});

test('an abort reaches the request, and ends a stream of which more has arrived', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = createTasklens({ url: 'http://127.0.0.1', fetch: (request) => new Promise((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason));
    controller.abort();
  }) });
  await assert.rejects(waiting.ask('x', { signal }).next(), { name: 'AbortError' });
  const second = new AbortController();
  const events = answering('event: delta\ndata: {"text":"a"}\n\nevent: delta\ndata: {"text":"b"}\n\n').ask('x', { signal: second.signal });
  assert.equal((await events.next()).value.data.text, 'a');
  second.abort();
  await assert.rejects(events.next(), { name: 'AbortError' });
});

test('leaving the loop ends the request', async () => {
  let ended = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('event: sources\ndata: {"sources":[]}\n\n')),
    cancel() { ended = true; },
  });
  for await (const { event } of answering(body).ask(QUESTION)) {
    assert.equal(event, 'sources');
    break;
  }
  assert.ok(ended);
});

test('the token is asked for before each request and sent', async () => {
  let asked = 0;
  const tasklens = createTasklens({ url, token: async () => { asked++; return process.env.USER_TOKEN; } });
  assert.equal((await tasklens.GET('/api/me')).data.role, 'none');
  assert.deepEqual((await tasklens.POST('/api/hybrid-search', { body: { query: 'TX-400' } })).data.results, []);
  await all(tasklens.ask(QUESTION));
  assert.equal(asked, 3);
  const without = createTasklens({ url, token: () => undefined });
  assert.equal((await without.GET('/api/me')).data.role, 'service');
});

test('a stream in any pieces, with comments, CR LF and more than ASCII', async () => {
  const events = await all(answering(inBytes(': alive\r\n\r\nevent: delta\r\ndata: {"text":"Zürich 漢"}\r\n\r\n\nevent:done\ndata:{"answer":\ndata:"Zürich 漢"}\n\n')).ask('x'));
  assert.deepEqual(events, [{ event: 'delta', data: { text: 'Zürich 漢' } }, { event: 'done', data: { answer: 'Zürich 漢' } }]);
});

test('an event without a name is not one of the name before it', async () => {
  const events = await all(answering('event: delta\ndata: {"text":"a"}\n\ndata: {"text":"b"}\n\nevent: done\ndata: {}\n\n').ask('x'));
  assert.deepEqual(events.map(({ event }) => event), ['delta', '', 'done']);
});

test('an event error is thrown', async () => {
  const problem = { type: 'about:blank', title: 'Gateway Timeout', status: 504, code: 'timeout', detail: 'Too slow.', request_id: 'r' };
  const events = answering(`event: delta\ndata: {"text":"a"}\n\nevent: error\ndata: ${JSON.stringify(problem)}\n\n`).ask('x');
  assert.equal((await events.next()).value.data.text, 'a');
  await assert.rejects(events.next(), { name: 'ProblemError', code: 'timeout', status: 504, requestId: 'r' });
});

test('a stream that breaks off is no answer', async () => {
  await assert.rejects(all(answering('event: delta\ndata: {"text":"a"}\n\n').ask('x')), /ended before/);
});

test('when to try again', async () => {
  const problem = { type: 'about:blank', title: 'Too Many Requests', status: 429, code: 'rate_limited', detail: 'Too many.', request_id: 'r' };
  const limited = answering(JSON.stringify(problem), { status: 429, headers: { 'content-type': 'application/problem+json; charset=utf-8', 'retry-after': '7' } });
  await assert.rejects(limited.GET('/api/me'), { code: 'rate_limited', retryAfter: 7 });
});

test('a failure that is no problem', async () => {
  const proxy = answering('<h1>Bad Gateway</h1>', { status: 502, statusText: 'Bad Gateway', headers: { 'content-type': 'text/html', 'x-request-id': 'r' } });
  await assert.rejects(proxy.GET('/api/me'), { name: 'ProblemError', code: 'unknown', status: 502, title: 'Bad Gateway', requestId: 'r' });
});
