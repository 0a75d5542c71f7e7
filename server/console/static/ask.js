// @ts-check
// Ask: the answer as it is written, with citations that lead to its sources.
import { html } from './dom.js';
import { useCallback, useEffect, useMemo, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { keysOf, Markdown } from './markdown.js';
import { go, href } from './route.js';
import { asProblem, Bar, Choice, decimal, Empty, Failure, Icon, useLoad } from './ui.js';

/** @typedef {import('./api.js').Source} Source */
/** @typedef {import('./api.js').QueryRequest} QueryRequest */
/** @typedef {{question: string, text: string, sources: Source[] | null, done: import('./api.js').QueryResponse | null, stopped: boolean}} Reply */

/** @type {[string, string][]} */
const CORPORA = [['tickets', 'Tickets'], ['documents', 'Documents'], ['all', 'Both']];

/** @param {{params: URLSearchParams}} props */
export function Ask({ params }) {
  const asked = params.get('q') ?? '';
  const corpus = params.get('corpus') ?? 'tickets';
  const project = params.get('project') ?? '';
  const [text, setText] = useState(asked);
  const [reply, setReply] = useState(/** @type {Reply | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {api.Problem | null} */ (null));
  const controller = useRef(new AbortController());
  const projects = useLoad((signal) => api.projects(signal), []);
  const keys = useMemo(() => keysOf(projects.value), [projects.value]);
  const statuses = useLoad((signal) => api.statuses(signal), []);

  /** @param {string} question */
  async function run(question) {
    controller.current.abort();
    const mine = (controller.current = new AbortController());
    /** @type {Reply} */
    let next = { question, text: '', sources: null, done: null, stopped: false };
    /** @param {Partial<Reply>} change */
    const update = (change) => {
      next = { ...next, ...change };
      if (controller.current === mine) setReply(next);
    };
    setReply(next);
    setProblem(null);
    setBusy(true);
    try {
      /** @type {QueryRequest} */
      const request = { question, corpus: /** @type {QueryRequest['corpus']} */ (corpus) };
      if (project && corpus !== 'documents') request.project_id = Number(project);
      const done = await api.ask(request, { sources: ({ sources }) => update({ sources }), delta: (delta) => update({ text: next.text + delta }) }, mine.signal);
      update({ text: done.answer, sources: done.sources, done });
    } catch (error) {
      if (mine.signal.aborted) update({ stopped: true });
      else if (controller.current === mine) setProblem(asProblem(error));
    } finally {
      if (controller.current === mine) setBusy(false);
    }
  }

  // A question in the address is asked: by this form, a link, or the history.
  useEffect(() => {
    setText(asked);
    if (asked) run(asked);
    else { controller.current.abort(); setReply(null); setProblem(null); setBusy(false); }
  }, [asked, corpus, project]);
  useEffect(() => () => controller.current.abort(), []);

  function submit() {
    const question = text.trim();
    if (!question) return;
    if (question === asked) run(question);
    else go(href('ask', { ...Object.fromEntries(params), q: question }));
  }

  return html`<div class="ask">
    <form class="question" onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); submit(); }}>
      <label class="sr" for="question">Your question</label>
      <textarea id="question" rows="2" dir="auto" maxlength="2000" placeholder="Ask about anything in the tickets and documents" value=${text} autofocus
        onInput=${(/** @type {any} */ e) => setText(e.target.value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) { e.preventDefault(); submit(); } }}></textarea>
      <div class="row">
        <${Choice} label="Answer from" value=${corpus} options=${CORPORA} onChange=${(/** @type {string} */ value) => go(href('ask', { ...Object.fromEntries(params), corpus: value === 'tickets' ? '' : value }))} />
        ${corpus !== 'documents' && html`<select aria-label="Project" value=${project} onChange=${(/** @type {any} */ e) => go(href('ask', { ...Object.fromEntries(params), project: e.target.value }))}>
          <option value="">All projects</option>${(projects.value ?? []).map((p) => html`<option value=${String(p.project_id)}>${p.name}</option>`)}</select>`}
        ${busy ? html`<button key="stop" type="button" class="button stop" onClick=${() => controller.current.abort()}><${Icon} name="stop" />Stop</button>`
      : html`<button key="ask" class="button primary">Ask</button>`}
      </div>
    </form>
    ${(reply || problem) && html`<h1 class="sr">Answer</h1>`}
    ${problem && html`<${Failure} problem=${problem} retry=${() => run(asked || text.trim())} />`}
    ${reply && !(problem && !reply.text) && html`<${Answer} reply=${reply} busy=${busy} keys=${keys} />`}
    ${!reply && !problem && html`<${Start} projects=${projects.value ?? []} statuses=${statuses.value ?? []} />`}
  </div>`;
}

/** @param {{reply: Reply, busy: boolean, keys: Set<string>}} props */
function Answer({ reply, busy, keys }) {
  const [lit, setLit] = useState(0);
  const [open, setOpen] = useState(/** @type {number[]} */ ([]));
  const [copied, setCopied] = useState(false);
  const { text, sources, done } = reply;
  const cited = new Set([...text.matchAll(/\[(\d+)\]/g)].map((m) => Number(m[1])));
  useEffect(() => { setOpen([]); setLit(0); setCopied(false); }, [reply.question]);

  /** @param {number} n */
  function show(n) {
    setLit(n);
    setOpen((before) => (before.includes(n) ? before : [...before, n]));
    const card = document.getElementById(`source-${n}`);
    card?.focus();
    card?.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
  }

  async function copy() {
    const list = (sources ?? []).map((s, i) => `[${i + 1}] ${nameOf(s)}`).filter((_, i) => cited.has(i + 1));
    await navigator.clipboard.writeText(`${text}\n\n${list.join('\n')}`.trim());
    setCopied(true);
  }

  if (done && done.sources.length === 0) return html`<${Abstained} done=${done} question=${reply.question} />`;
  return html`<div class="answered">
    <section class="answer" aria-label="Answer" aria-live="polite" aria-busy=${busy}>
      ${text === '' && busy ? html`<p class="muted"><span class="spinner"></span> ${sources ? 'Reading the sources …' : 'Looking for sources …'}</p>`
      : html`<${Cited} text=${text} count=${sources?.length ?? 0} keys=${keys} lit=${lit} onLight=${setLit} onOpen=${show} />`}
      ${reply.stopped && html`<p class="small muted">Stopped.</p>`}
      ${done?.low_similarity && html`<p class="small muted">No source is over the threshold: the answer rests on what the question names.</p>`}
      ${(done || reply.stopped) && text && html`<div class="row"><span class="small muted">${done ? `${done.model}${done.cached ? ' · from the cache' : ''}` : ''}</span>
        ${navigator.clipboard && html`<button type="button" class="button" onClick=${copy}><${Icon} name="copy" />${copied ? 'Copied' : 'Copy with sources'}</button>`}</div>`}
    </section>
    ${sources && sources.length > 0 && html`<section aria-labelledby="sources"><h2 id="sources">Sources</h2>
      <ol class="sources">${sources.map((source, i) => html`<li key=${i} id=${`source-${i + 1}`} tabindex="-1"
        class=${`source ${cited.has(i + 1) ? 'cited' : ''} ${lit === i + 1 ? 'lit' : ''}`} onPointerEnter=${() => setLit(i + 1)} onPointerLeave=${() => setLit(0)}>
        <${SourceCard} source=${source} number=${i + 1} open=${open.includes(i + 1)} onToggle=${() => setOpen(open.includes(i + 1) ? open.filter((n) => n !== i + 1) : [...open, i + 1])} /></li>`)}</ol></section>`}
  </div>`;
}

/** The text of an answer, with its citations as buttons. @param {{text: string, count: number, keys: Set<string>, lit: number, onLight: (n: number) => void, onOpen: (n: number) => void}} props */
function Cited({ text, count, keys, lit, onLight, onOpen }) {
  const cite = useCallback((/** @type {number} */ n) => n >= 1 && n <= count && html`<button type="button" class=${`cite ${lit === n ? 'lit' : ''}`} aria-label=${`Source ${n}`} onClick=${() => onOpen(n)}
    onPointerEnter=${() => onLight(n)} onPointerLeave=${() => onLight(0)} onFocus=${() => onLight(n)}>${n}</button>`, [count, lit]);
  return html`<${Markdown} text=${text} keys=${keys} cite=${cite} />`;
}

/** @param {Source} s */
const nameOf = (s) => (s.type === 'document' ? s.title : s.type === 'ticket' ? `${s.ticket_key} ${s.ticket_name}` : s.project_name);

/** @param {{source: Source, number: number, open: boolean, onToggle: () => void}} props */
function SourceCard({ source, number, open, onToggle }) {
  const link = source.type === 'document' ? href('documents', { id: source.document_id }) : href('search', { q: source.ticket_key ?? '', open: source.ticket_key });
  const name = (source.type === 'document' ? source.title : source.ticket_name) ?? '';
  const text = name && source.text.startsWith(`${name}\n`) ? source.text.slice(name.length).trim() : source.text;
  return html`<div class="head"><span class="number">${number}</span>
      ${source.type === 'project' ? html`<span class="name">Project</span>` : html`<a class="name" href=${link} dir="auto">${source.ticket_key && html`<span class="key">${source.ticket_key}</span> `}${source.type === 'document' ? source.title : source.ticket_name}</a>`}
      ${source.similarity !== null && html`<span class="near"><${Bar} label="Similarity" kind="meaning" value=${source.similarity} /><span>${decimal(source.similarity)}</span></span>`}</div>
    <p class=${`text ${open ? '' : 'clipped'}`} dir="auto">${text}</p>
    ${(text.length > 80 || text.includes('\n')) && html`<button type="button" class="link small" aria-expanded=${open} onClick=${onToggle}>${open ? 'Show less' : 'Show all'}<span class="sr"> of source ${number}</span></button>`}`;
}

/** @param {{done: import('./api.js').QueryResponse, question: string}} props */
function Abstained({ done, question }) {
  return html`<div role="status"><${Empty} icon="question" title="No answer to be found">
    <p>${done.answer}</p>
    ${done.best_similarity !== null && html`<div class="closest"><${Bar} label="Similarity of the nearest text" kind="meaning" value=${done.best_similarity} tick=${done.match_threshold} />
      <p class="small muted">The nearest text has a similarity of ${decimal(done.best_similarity)}; ${decimal(done.match_threshold)} is the threshold.</p></div>`}
    <p class="actions"><a class="button primary" href=${href('search', { q: question })}>Search for it instead</a></p><//></div>`;
}

/** Questions about what there is. @param {{projects: import('./api.js').Project[], statuses: import('./api.js').Status[]}} props */
function Start({ projects, statuses }) {
  const largest = [...projects].sort((a, b) => b.tickets - a.tickets).slice(0, 2);
  const open = statuses.find((s) => /block|progress/i.test(s.name)) ?? statuses[0];
  const questions = [...largest.map((p) => `What is ${p.name} about?`), ...largest.slice(0, 1).map((p) => (open ? `Which tickets of ${p.name} are ${open.name}?` : '')).filter(Boolean)];
  return html`<div class="start"><h1>Ask your tracker</h1>
    <p class="lead">The answer comes from tickets and documents that you may see, and shows which. If they do not say, it says so.</p>
    <div class="try">${questions.length > 0 && html`<h2>Try</h2><ul class="examples">${questions.map((q) => html`<li><a class="example" href=${href('ask', { q })}><${Icon} name="ask" />${q}</a></li>`)}</ul>`}</div></div>`;
}
