// @ts-check
// Ask: a conversation, each answer as it is written, with citations that lead to its sources.
import { html } from './dom.js';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { FACETS, spell } from './facets.js';
import { keysOf, Markdown } from './markdown.js';
import { composes } from './keyboard.js';
import { Conditions } from './reading.js';
import { addressOf, Candidates, linesOf } from './results.js';
import { go, href } from './route.js';
import { everything } from './searches.js';
import { plainText } from './snippet.js';
import { Bar, Choice, Copy, count, date, decimal, Empty, Failure, Icon, ProjectOptions, useLoad } from './ui.js';

/** @typedef {import('./api.js').Source} Source */
/** @typedef {import('./api.js').QueryRequest} QueryRequest */
/** @typedef {import('./conversation.js').Turn} Turn */

/** @type {[string, string][]} */
const CORPORA = [['all', 'All'], ['tickets', 'Tickets'], ['documents', 'Documents']];
const SEARCHED = { tickets: 'tickets', documents: 'documents', all: 'tickets and documents' };
const MATCHED = / match(?:es)? .*?(?=(?:, by [\w ]+|, the \w+ \w+ first|\. (?:The|None) [\w ]+)?[:.]$)/; // the filters of an answer, which stand below it
const OFFLINE = 'offline-chat'; // the demo's model
const COUNTED = ['How many open bugs are there?', 'How many tickets were created per month?', 'How many open tickets are there per assignee?'];
/** @type {Record<string, string>} */
const GROUPS = { created: 'Filed', updated: 'Changed', resolved: 'Resolved', due: 'Due' };

/** @param {{params: URLSearchParams, conversation: ReturnType<typeof import('./conversation.js').useConversation>}} props */
export function Ask({ params, conversation: { turns, text, setText, ask, stop, clear } }) {
  const linked = params.get('q') ?? '';
  const corpus = params.get('corpus') ?? 'all';
  const project = params.get('project') ?? '';
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const projects = useLoad((signal) => api.projects(signal), []);
  const keys = useMemo(() => keysOf(projects.value), [projects.value]);
  const statuses = useLoad((signal) => api.statuses(signal), []);
  const busy = turns.at(-1)?.busy ?? false;

  /** @param {Record<string, unknown>} changes */
  const change = (changes) => go(href('ask', { ...Object.fromEntries(params), ...changes }));
  /** @param {string} question @param {Turn[]} [earlier] */
  function put(question, earlier) {
    /** @type {QueryRequest} */
    const request = { question, corpus: /** @type {QueryRequest['corpus']} */ (corpus) };
    if (project && corpus !== 'documents') request.project_id = Number(project);
    ask(request, earlier);
    if (turns.length === 0 || earlier) change({ q: question });
  }
  function submit() {
    if (!text.trim()) return;
    put(text.trim());
    setText('');
  }

  // A question in the address, of a link or the history, begins a conversation. The address of one is its first question.
  useEffect(() => {
    if (linked && !turns.some((turn) => turn.request.question === linked)) put(linked, []);
    else if (!linked && turns.length > 0) go(href('ask', { ...Object.fromEntries(params), q: turns[0].request.question }), { replace: true });
  }, [linked]);
  // What was pressed may be gone.
  useLayoutEffect(() => { if (busy || document.activeElement === document.body) field.current?.focus({ preventScroll: true }); }, [busy]);

  return html`<div class="ask">
    ${turns.length > 0 ? html`<h1 class="sr">Conversation</h1>` : html`<${Start} projects=${projects.value ?? []} statuses=${statuses.value ?? []} onChoose=${put} />`}
    ${turns.map((turn) => html`<${Exchange} key=${turn.id} turn=${turn} keys=${keys} onAgain=${() => ask(turn.request)} onAsk=${put}
      onElsewhere=${() => ask({ question: turn.request.question, corpus: 'documents' })} onReread=${(/** @type {import('./reading.js').Read} */ read) => ask({ ...turn.request, read_as: read }, turns.filter((one) => one !== turn))} />`)}
    <form class="question" onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); submit(); }}>
      <label class="sr" for="question">Your question</label>
      <textarea ref=${field} id="question" rows=${turns.length > 0 ? 1 : 2} dir="auto" maxlength="2000" placeholder=${`${turns.length > 0 ? 'Ask more' : 'Ask'} about the ${/** @type {Record<string, string>} */ (SEARCHED)[corpus] ?? SEARCHED.all}`} value=${text} autofocus
        onInput=${(/** @type {any} */ e) => setText(e.target.value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter' && !e.shiftKey && !composes(e)) { e.preventDefault(); submit(); } }}></textarea>
      <div class="row">
        <${Choice} label="Answer from" value=${corpus} options=${CORPORA} onChange=${(/** @type {string} */ value) => change({ corpus: value === 'all' ? '' : value })} />
        ${corpus !== 'documents' && html`<select aria-label="Project" value=${project} onChange=${(/** @type {any} */ e) => change({ project: e.target.value })}><${ProjectOptions} projects=${projects.value} /></select>`}
        ${turns.length > 0 && html`<button type="button" class="link small" onClick=${() => { clear(); change({ q: '' }); field.current?.focus(); }}>New conversation</button>`}
        ${busy ? html`<button key="stop" type="button" class="button stop" onClick=${stop}><${Icon} name="stop" />Stop</button>`
      : html`<button key="ask" class="button primary">Ask</button>`}
      </div>
    </form>
  </div>`;
}

/** A question, with its answer or what became of it. @param {{turn: Turn, keys: Set<string>, onAgain: () => void, onAsk: (question: string) => void, onReread: (read: import('./reading.js').Read) => void, onElsewhere: () => void}} props */
function Exchange({ turn, keys, onAgain, onAsk, onReread, onElsewhere }) {
  const { request, done, problem } = turn;
  const { question } = request;
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => place.current?.scrollIntoView(), []);
  const also = done && request.corpus === 'tickets' && !done.read_as && html`<${AlsoInDocuments} done=${done} question=${question} onAsk=${onElsewhere} />`;
  return html`<article class="turn" ref=${place}>
    <h2 dir="auto">${question}</h2>
    ${done?.question && done.question !== question && html`<p class="small muted" dir="auto">Texts are searched for by: ${done.question}</p>`}
    ${problem && html`<${Failure} problem=${problem} retry=${onAgain} />`}
    ${done && isUncounted(turn) ? html`<${Uncounted} done=${done} question=${question} onAsk=${onAsk} />`
    : done && done.sources.length === 0 && !done.read_as ? html`<${Abstained} done=${done} question=${question} />${also}`
    : !(problem && !turn.text) && html`<${Answer} turn=${turn} keys=${keys} onAgain=${onAgain} onAsk=${onAsk} onReread=${onReread}>${also}<//>`}
  </article>`;
}

/** @param {{turn: Turn, keys: Set<string>, onAgain: () => void, onAsk: (question: string) => void, onReread: (read: import('./reading.js').Read) => void, children?: any}} props */
function Answer({ turn, keys, onAgain, onAsk, onReread, children }) {
  const [lit, setLit] = useState(0);
  const [open, setOpen] = useState(/** @type {number[]} */ ([]));
  const { id, text, sources, done, busy, request } = turn;
  const cited = new Set(done ? done.sources.flatMap((s, i) => (s.cited ? [i + 1] : [])) : [...text.matchAll(/\[(\d+)\]/g)].map((m) => Number(m[1])));

  /** @param {number} n */
  function show(n) {
    setLit(n);
    setOpen((before) => (before.includes(n) ? before : [...before, n]));
    const card = document.getElementById(`source-${id}-${n}`);
    card?.focus();
    card?.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
  }

  const listed = done?.read_as && done.tickets && done.count ? searchOf(done.read_as, request) : null;
  const tickets = async () => `${text.split('\n')[0].replace(/\. The .*$/, ':')}\n\n${linesOf(await everything({ query: listed?.q ?? '', filters: request.project_id ? { projects: [request.project_id] } : undefined }))}`;
  const copied = () => `${text}\n\n${(sources ?? []).map((s, i) => `[${i + 1}] ${nameOf(s)} ${placeOf(s)}`.trim()).filter((_, i) => cited.has(i + 1)).join('\n')}`.trim();

  const cite = useCallback((/** @type {number} */ n) => n >= 1 && n <= (sources?.length ?? 0) && (!done || cited.has(n)) && html`<button type="button" class=${`cite ${lit === n ? 'lit' : ''}`} aria-label=${`Source ${n}`} onClick=${() => show(n)}
    onPointerEnter=${() => setLit(n)} onPointerLeave=${() => setLit(0)} onFocus=${() => setLit(n)}>${n}</button>`, [sources?.length, done, lit]);
  return html`<div class="answered">
    <div class="answer" aria-live="polite" aria-busy=${busy}>
      ${text === '' && busy ? html`<p class="muted"><span class="spinner"></span> Looking for an answer …</p>`
      : done?.read_as ? html`<${Figures} turn=${turn} done=${done} cite=${cite} onAsk=${onAsk} onReread=${onReread} />` : html`<${Markdown} text=${text} keys=${keys} cite=${cite} />`}
      ${!busy && !done && !turn.problem && html`<p class="small muted">Stopped. <button type="button" class="link" onClick=${onAgain}>Ask again</button></p>`}
      ${done?.low_similarity && !done.read_as && html`<p class="small muted">No source is over the threshold: the answer rests on what the question names.</p>`}
      ${done?.model === OFFLINE && !done.read_as && html`<p class="small muted">Quoted from the sources: no chat model is configured.</p>`}
      ${!busy && !turn.problem && !done?.candidates && text && html`<div class="row"><span class="small muted">${[done?.model, done?.cached && 'from the cache'].filter(Boolean).join(' · ')}</span>
        <button type="button" class="link small" onClick=${onAgain}>Repeat the question</button>
        <${Copy} text=${listed ? tickets : copied()}>${listed ? `Copy with ${done?.count === 1 ? 'its ticket' : `all ${count(Math.min(done?.count ?? 0, 1000))} tickets`}` : cited.size > 0 && sources?.length ? 'Copy with sources' : 'Copy'}<//></div>`}
      ${children}</div>
    ${sources && sources.length > 0 && html`<div><h3>Sources</h3>
      <ol class="sources">${sources.map((source, i) => html`<li key=${i} id=${`source-${id}-${i + 1}`} tabindex="-1"
        class=${`source ${cited.has(i + 1) ? 'cited' : ''} ${lit === i + 1 ? 'lit' : ''}`} onPointerEnter=${() => setLit(i + 1)} onPointerLeave=${() => setLit(0)}>
        <${SourceCard} source=${source} number=${i + 1} open=${open.includes(i + 1)} onToggle=${() => setOpen(open.includes(i + 1) ? open.filter((n) => n !== i + 1) : [...open, i + 1])} /></li>`)}</ol></div>`}
  </div>`;
}

/** What an answer counts, as a search. @param {import('./reading.js').Read} read @param {QueryRequest} request */
const searchOf = (read, request) => ({ q: `${read.text} ${spell(read.filters)}`.trim(), project: request.project_id });

/** An answer from figures: how the question was read, and what it counts. @param {{turn: Turn, done: import('./api.js').QueryResponse, cite: (n: number) => unknown, onAsk: (question: string) => void, onReread: (read: import('./reading.js').Read) => void}} props */
function Figures({ turn: { request }, done, cite, onAsk, onReread }) {
  const { read_as: read, candidates, groups, tickets, count: total } = done;
  if (!read) return null;
  /** @param {string} member @param {string} name @param {string} value */
  function choose(member, name, value) {
    const facet = FACETS.find((f) => f.member === member);
    onAsk(request.question.includes(value) ? request.question.replace(value, () => name) : `and ${facet?.typed} ${name}?`); // of an earlier question
  }
  if (candidates) return html`<${Candidates} list=${candidates} used=${[]} projects=${[]} onChoose=${choose} />`;
  const search = searchOf(read, request);
  const title = FACETS.find((f) => f.name === read.group_by)?.title ?? GROUPS[read.group_by] ?? read.group_by;
  return html`<p class="text" dir="auto">${done.answer.split('\n')[0].replace(MATCHED, '')}</p>
    ${total !== undefined && (search.q || search.project) && html`<p class="chips"><${Conditions} read=${read} onChange=${onReread} />
      <a class="chip" href=${href('search', search)}><${Icon} name="search" />${done.count_capped ? 'More than ' : ''}${count(total)} ${total === 1 ? 'ticket' : 'tickets'} in Search</a></p>`}
    ${groups && html`<${Groups} groups=${groups} title=${title} search=${search} read=${read} />`}
    ${tickets && html`<ol class="similar">${tickets.map((t, i) => html`<li key=${t.ticket_id}>
      <a href=${href('search', { q: t.ticket_key, open: t.ticket_key })}><span class="key">${t.ticket_key}</span><span class="name" dir="auto">${t.ticket_name}</span></a>${cite(i + 1)}
      <span class="meta muted"><span class="status">${t.status}</span>${t.assignee && html`<span dir="auto">${t.assignee}</span>`}${Object.entries({ Filed: t.created_at, Changed: t.updated_at, Resolved: t.resolved_at, Due: t.due_date }).map(([name, at]) => at && html`<span>${name} ${date(at)}${name === 'Changed' && t.changes && `: ${t.changes.join(', ')}`}</span>`)}</span></li>`)}</ol>`}`;
}

/**
 * Numbers of tickets, drawn: over time as columns from the left to the right, others as bars. Each leads to its tickets.
 * @param {{groups: api.GroupCount[], title?: string, search: Record<string, unknown>, read: NonNullable<import('./api.js').QueryResponse['read_as']>}} props
 */
function Groups({ groups, title, search, read }) {
  const most = Math.max(...groups.map((group) => group.count));
  const facet = FACETS.find((f) => f.name === read.group_by);
  const dated = Object.hasOwn(GROUPS, read.group_by);
  const shown = dated ? [...groups].reverse() : groups;
  /** @param {api.GroupCount} group */
  function link({ value, label }) {
    if (dated) {
      const [from, to] = spanOf(String(label), read.period);
      const within = read.filters[/** @type {'created'} */ (read.group_by)];
      const least = (/** @type {string | undefined} */ a, /** @type {string} */ b, /** @type {number} */ sign) => (a && (a > b) === (sign > 0) ? a : b);
      return href('search', { ...search, q: `${read.text} ${spell({ ...read.filters, [read.group_by]: { from: least(within?.from, from, 1), to: least(within?.to, to, -1) } })}`.trim() });
    }
    if (!facet || (value === undefined && !['assignee', 'reporter'].includes(facet.member))) return '';
    const own = facet.member === 'open' ? value : [value ?? null];
    return href('search', { ...search, q: `${read.text} ${spell({ ...read.filters, [facet.member]: own })}`.trim() });
  }
  return html`<div class="scroll" tabindex=${dated ? 0 : undefined}><table class=${dated ? 'groups columns-chart' : 'groups'}><thead><tr><th scope="col">${title}</th><th scope="col">Tickets</th></tr></thead>
    <tbody>${shown.map((group) => {
      const name = group.label ?? html`<span class="muted">none</span>`;
      const to = link(group);
      return html`<tr><td dir="auto">${to ? html`<a href=${to}>${name}</a>` : name}</td><td><span class="share" style=${dated ? { height: `${(group.count / most) * 96}px` } : { width: `calc((100% - 56px) * ${group.count / most})` }}></span><span class="n">${count(group.count)}</span></td></tr>`;
    })}</tbody></table></div>`;
}

/** The days of a period that is named by its year, month, or first day. @param {string} label @param {string} [period] @returns {[string, string]} */
function spanOf(label, period) {
  const [year, month = 1, first = 1] = label.split('-').map(Number);
  const end = period === 'year' ? [year, 12, 0] : period === 'quarter' ? [year, month + 2, 0] : period === 'month' ? [year, month, 0] : [year, month - 1, first + (period === 'week' ? 6 : 0)];
  const day = (/** @type {number[]} */ at) => new Date(Date.UTC(at[0], at[1], at[2])).toISOString().slice(0, 10);
  return [day([year, month - 1, first]), day(end)];
}

/** @param {Source} s */
const nameOf = (s) => (s.type === 'document' ? s.title : s.type === 'ticket' ? `${s.ticket_key} ${s.ticket_name}` : s.project_name);

/** Where a source is shown. @param {Source} s */
const linkOf = (s) => (s.type === 'document' ? href('documents', { id: s.document_id }) : href('search', s.ticket_key ? { q: s.ticket_key, open: s.ticket_key } : { project: s.project_id }));
/** Its address for others. @param {Source} s */
const placeOf = (s) => (s.type === 'ticket' ? addressOf(s) : new URL(linkOf(s), document.baseURI).href);

/** @param {{source: Source, number: number, open: boolean, onToggle: () => void}} props */
function SourceCard({ source, number, open, onToggle }) {
  const link = linkOf(source);
  const name = (source.type === 'document' ? source.title : source.ticket_name) ?? '';
  const text = name && source.text.startsWith(`${name}\n`) ? source.text.slice(name.length).trim() : source.text;
  return html`<div class="head"><span class="number">${number}</span>
      ${source.type === 'project' ? html`<span class="name">Project</span>` : html`<a class="name" href=${link} dir="auto">${source.ticket_key && html`<span class="key">${source.ticket_key}</span> `}${source.type === 'document' ? source.title : source.ticket_name}</a>`}
      ${source.similarity !== null && html`<span class="near"><${Bar} label="Similarity" kind="meaning" value=${source.similarity} /><span>${decimal(source.similarity)}</span></span>`}</div>
    <p class=${`text ${open ? '' : 'clipped'}`} dir="auto">${open ? text : plainText(text)}</p>
    ${(text.length > 80 || text.includes('\n')) && html`<button type="button" class="link small" aria-expanded=${open} onClick=${onToggle}>${open ? 'Show less' : 'Show all'}<span class="sr"> of source ${number}</span></button>`}`;
}

/** Whether a question for a number got none: it is not among what is counted, so what is near to it answers nothing. @param {Turn} turn */
const isUncounted = ({ request: { question }, done, text }) => done !== null && !done.read_as && /^\W*(?:how (?:many|often)|count|(?:the )?number of)\b/i.test(question)
  && (done.model === OFFLINE || !/\[\d+\]/.test(text));

/** @param {{done: import('./api.js').QueryResponse, question: string, onAsk: (question: string) => void}} props */
function Uncounted({ done, question, onAsk }) {
  return html`<div role="status"><${Empty} icon="question" title="This was not counted" level=${3}>
    <p>Tickets are counted by one or more of project, status, type, priority, person, label and words, within days, and by one of them or a period.${done.model === OFFLINE && ' No chat model is configured, so questions are read by simple rules.'} These are understood:</p>
    <p class="actions">${COUNTED.map((q) => html`<button type="button" class="button" onClick=${() => onAsk(q)}>${q}</button>`)}<a class="button primary" href=${href('search', { q: question })}>Search for it instead</a></p><//></div>`;
}

/** Documents that are nearer to a question than what its answer from tickets rests on. @param {{done: import('./api.js').QueryResponse, question: string, onAsk: () => void}} props */
function AlsoInDocuments({ done, question, onAsk }) {
  const found = useLoad((signal) => api.searchDocuments({ q: question, limit: 3, track: false }, signal), [question]);
  const least = done.sources.length > 0 ? done.best_similarity ?? 0 : done.match_threshold;
  const better = (found.value ?? []).filter((d) => d.similarity > least);
  return better.length > 0 && html`<p class="row also"><span>Also in Documents: ${better.map((d, i) => html`${i > 0 && ', '}<a href=${href('documents', { id: d.id, q: question })} dir="auto">${d.title}</a>`)}</span>
    <button type="button" class="button" onClick=${onAsk}>Ask the documents</button></p>`;
}

/** @param {{done: import('./api.js').QueryResponse, question: string}} props */
function Abstained({ done, question }) {
  return html`<div role="status"><${Empty} icon="question" title="No answer to be found" level=${3}>
    <p>${done.answer}</p>${done.model === OFFLINE && html`<p>No chat model is configured.</p>`}
    ${done.best_similarity !== null && html`<div class="closest"><${Bar} label="Similarity of the nearest text" kind="meaning" value=${done.best_similarity} tick=${done.match_threshold} />
      <p class="small muted">The nearest text has a similarity of ${decimal(done.best_similarity)}; ${decimal(done.match_threshold)} is the threshold.</p></div>`}
    <p class="actions"><a class="button primary" href=${href('search', { q: question })}>Search for it instead</a></p><//></div>`;
}

/** Questions about what there is. @param {{projects: import('./api.js').Project[], statuses: import('./api.js').Status[], onChoose: (question: string) => void}} props */
function Start({ projects, statuses, onChoose }) {
  const largest = [...projects].sort((a, b) => b.tickets - a.tickets).slice(0, 2);
  const open = statuses.find((s) => /block|progress/i.test(s.name)) ?? statuses[0];
  const questions = [...largest.map((p) => `What is ${p.name} about?`), ...largest.slice(0, 1).map((p) => (open ? `Which tickets of ${p.name} are ${open.name}?` : '')).filter(Boolean)];
  return html`<div class="start"><h1>Ask your tracker</h1>
    <p class="lead">The answer comes from tickets and documents that you may see, and shows which. If they do not say, it says so.</p>
    <div class="try">${questions.length > 0 && html`<h2>Try</h2><ul class="examples">${questions.map((q) => html`<li><button type="button" class="example" onClick=${() => onChoose(q)}><${Icon} name="ask" />${q}</button></li>`)}</ul>`}</div></div>`;
}
