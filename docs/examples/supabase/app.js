// Signs in, searches in the database and asks through the Edge Function, always as the user.
// What comes from the data is shown as text, never as HTML.
const { url = '', key = '' } = document.body.dataset;
const client = supabase.createClient(url, key);
/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} text */
const item = (text) => Object.assign(document.createElement('li'), { textContent: text });

/**
 * Runs a form's action when it is sent, and shows its error. A new one ends the one before.
 * @param {string} id @param {(fields: (name: string) => string, signal: AbortSignal) => Promise<void>} action
 */
function on(id, action) {
  let running = new AbortController();
  at(id).addEventListener('submit', async (submit) => {
    submit.preventDefault();
    running.abort();
    const { signal } = running = new AbortController();
    const form = new FormData(/** @type {HTMLFormElement} */ (submit.target));
    at('error').textContent = '';
    try {
      await action((name) => String(form.get(name)), signal);
    } catch (error) {
      if (!signal.aborted) at('error').textContent = error instanceof Error ? error.message : String(error);
    }
  });
}

client.auth.onAuthStateChange((_, session) => {
  at('login').hidden = !!session;
  at('app').hidden = !session;
  at('user').textContent = session?.user.email ?? '';
  if (!session) for (const id of ['results', 'answer', 'sources', 'error']) at(id).textContent = '';
});
at('leave').onclick = () => client.auth.signOut({ scope: 'local' });

on('login', async (field) => {
  const { error } = await client.auth.signInWithPassword({ email: field('email'), password: field('password') });
  if (error) throw error;
});

// Without an embedding, search_hybrid is keyword search. Row-level security applies.
on('search', async (field, signal) => {
  const { data, error } = await client.rpc('search_hybrid', { query_text: field('text') }).abortSignal(signal);
  if (error) throw error;
  const found = data.map((row) => item(`${row.ticket_key ?? 'Project'} ${row.ticket_name ?? row.project_name}`));
  at('results').replaceChildren(...(found.length ? found : [item('Nothing found.')]));
});

on('ask', async (field, signal) => {
  at('answer').textContent = at('sources').textContent = '';
  const { data, error } = await client.functions.invoke('ask', { body: { question: field('text') }, signal });
  if (error) throw new Error((await error.context?.json?.().catch(() => null))?.detail ?? error.message);
  for await (const [event, value] of events(data.body)) {
    if (event === 'error') throw new Error(value.detail);
    if (event === 'delta') at('answer').append(value.text);
    if (event !== 'done') continue;
    value.sources.forEach((/** @type {any} */ source, /** @type {number} */ n) => {
      const name = source.title ?? [source.ticket_key, source.ticket_name ?? source.project_name].filter(Boolean).join(' ');
      if (source.cited) at('sources').append(Object.assign(item(name), { value: n + 1 })); // [n] in the answer
    });
    return;
  }
  throw new Error('The answer broke off.');
});

/**
 * Reads server-sent events, as the service writes them: one line of data each.
 * @param {ReadableStream<Uint8Array>} stream @returns {AsyncGenerator<[string, any], void>}
 */
async function* events(stream) {
  const reader = stream.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  for (let rest = ''; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const whole = (rest + value).split('\n\n');
    rest = whole.pop() ?? '';
    for (const text of whole) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(text) ?? [];
      if (event && data) yield [event, JSON.parse(data)];
    }
  }
}
