// A proxy of the demo's model that can delay, fail, or return a hostile text.
import { createServer } from 'node:http';
import { atEnd, settings } from './kit.mjs';

export async function startModel() {
  const upstream = settings().OPENAI_BASE_URL;
  const model = { fails: '', held: '', says: '', asked: [], release() { this.held = ''; waiting.splice(0).forEach((go) => go()); } };
  const waiting = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const kind = request.url.includes('embeddings') ? 'embeddings' : 'chat';
    model.asked.push({ kind, body: body.toString() });
    if (model.held.includes(kind)) {
      await new Promise((resolve) => { waiting.push(resolve); response.on('close', resolve); });
      if (response.destroyed) return;
    }
    if (model.fails.includes(kind)) {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"out of order"}}');
    } else if (model.says && kind === 'chat') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = (delta, finish_reason = null) => response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'offline-chat', choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
      for (const text of model.says.match(/.{1,9}/gs)) event({ content: text });
      event({}, 'stop');
      response.end('data: [DONE]\n\n');
    } else {
      const answer = await fetch(upstream + request.url.replace(/^\/v1/, ''), { method: request.method, headers: { 'content-type': 'application/json', authorization: 'Bearer x' }, body });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') });
      for await (const chunk of answer.body) response.write(chunk);
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => { model.release(); server.closeAllConnections(); server.close(); });
  model.url = `http://127.0.0.1:${server.address().port}/v1`;
  return model;
}
