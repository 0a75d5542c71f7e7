// @ts-check
// The list of a search, and what is said about it.
import { html } from './dom.js';
import { useState } from './hooks.js';
import * as api from './api.js';
import { FACETS, pathsOf, tell, only, without } from './facets.js';
import { go, href } from './route.js';
import { everything } from './searches.js';
import { settings } from './session.js';
import { Highlight, pieces, plain, splitName } from './snippet.js';
import { asProblem, Copy, count, date, Empty, Failure, FoundBy, Icon, inWords, useLoad } from './ui.js';

/** @typedef {import('./api.js').SearchResult} SearchResult */
/** @typedef {import('./searches.js').Answer} Answer */

/** What identifies a result in the address. @param {SearchResult} r */
export const idOf = (r) => (r.ticket_key ?? `project-${r.project_id}`);

/** How many tickets match; 0: not known. A facet ignores its own filter: one that is not filtered by counts what is found. @param {Answer} answer */
function totalOf({ request, response }) {
  const byProject = [request.filters, response.read_as?.filters, response.read_as?.filters?.not].some((f) => f?.projects);
  return byProject ? 0 : (response.facets?.project ?? []).reduce((sum, v) => sum + v.count, 0);
}

const ORDERS = { newest: ', the newest first', updated: ', the last updated first' };

/** One line that says what is shown, and the order, always there so that nothing moves. @param {{searches: ReturnType<typeof import('./searches.js').useSearches>, page: number, sort: string, again: () => void, onSort: (sort: string) => void}} props */
export function Told({ searches, page, sort, again, onSort }) {
  const { shown, held, busy, slow } = searches;
  const response = shown?.response;
  let text = '';
  if (busy && slow) text = busy === 'hybrid' && response ? 'Still searching by meaning …' : 'Still searching …';
  else if (busy === 'hybrid' && response?.retrieval === 'keyword') text = 'By keyword so far …';
  else if (!shown || !response) text = busy ? 'Searching …' : '';
  else if (response.results.length === 0) text = response.retrieval === 'keyword' ? 'Searching …' : 'No results';
  else {
    const total = totalOf(shown);
    const many = total > 0 ? `${count(total)}${response.facets_capped ? ' or more' : ''} ` : '';
    const chosen = shown.request.sort === 'newest' || shown.request.sort === 'updated' ? shown.request.sort : undefined;
    if (response.executed.length === 0) text = `${many}${total === 1 ? 'ticket' : many ? 'tickets' : 'Tickets'}${ORDERS[chosen ?? 'newest']}`;
    else text = `${many ? `${shown.near !== undefined && shown.near < total ? `${count(shown.near)} of ` : ''}${many}${total === 1 ? 'match' : 'matches'}` : `Page ${count(page)}`} ${response.executed.length === 2 ? `by ${inWords(response.embedding_model) ? 'similar words' : 'meaning'} and keywords` : 'by keyword'}${chosen ? ORDERS[chosen] : ''}`;
  }
  const degraded = response?.degraded && !busy;
  if (degraded) text = 'Matches by keyword only: the search by meaning did not answer in time.';
  const ranked = !response || response.executed.length > 0;
  return html`<div class="told">${degraded && html`<${Icon} name="alert" />`}<p role="status">${text}</p>
    ${degraded && html`<button type="button" class="link" onClick=${again}>Try again</button>`}
    ${busy && html`<span class="spinner" aria-hidden="true"></span>`}
    ${held && html`<button type="button" class="chip on" onClick=${searches.release}>Show results by meaning</button>`}
    <select class="sort" aria-label="Sort" value=${ranked || sort === 'updated' ? sort : ''} onChange=${(/** @type {any} */ e) => onSort(e.target.value)}>
      ${ranked && html`<option value="">Relevance</option>`}<option value=${ranked ? 'newest' : ''}>Newest</option><option value="updated">Last updated</option></select>
  </div>`;
}

// A pasted trace: a method with its file, a file with its line, or the name of an error before more.
const TRACE = /[\w$]\([\w$]+\.\w+(?::\d+)?\)|[\w$]+\.[a-z]{1,4}:\d+\b|\bTraceback \(|\w(?:Exception|Error)\b[:\s]+(?:\S+\s+){3}/;

const DATED = /(?:^|\s)-?(created|updated|resolved|due):(\S+)/i;

/** What the service made of the query that one would not expect. @param {{answer: Answer, onTyped: (word: string) => void}} props */
export function Notes({ answer, onTyped }) {
  const { request, response, lookedUp, key: read } = answer;
  const [, dated, day] = DATED.exec(request.query) ?? [];
  const asked = candidatesOf(answer).some(({ member }) => member === 'open'); // which is:opne is
  return html`${read && html`<p class="note small muted">${request.query.trim()} was read as the key ${read}.</p>`}
    ${(response.not_read ?? []).filter(({ text }) => !asked || !/^is:/i.test(text)).map(({ text, instead }) => html`<p class="note"><code dir="auto">${text}</code> was not read as a filter; its words are searched for.${instead && html` Try <code dir="auto">${instead}</code>.`}</p>`)}
    ${dated && !JSON.stringify(response.read_as?.filters ?? '').includes(`"${dated.toLowerCase()}"`) && html`<p class="note"><code dir="auto">${dated}:${day}</code> has no date, so its words are searched for. Try <code>${dated}:7d</code> or <code>${dated}:2025-03</code>.</p>`}
    ${lookedUp && html`<p class="note small muted">${request.query.trim()} is a key: it was looked up without the filters.</p>`}
    ${(response.unknown_keys ?? []).map((key) => html`<p class="note">There is no ticket <span class="key" dir="auto">${key}</span> that you may see.${response.results.length > 0 && key.toLowerCase() === request.query.trim().toLowerCase() ? ' These resemble it:' : ''}</p>`)}
    ${response.ignored && html`<p class="note small muted">No text that you may see contains <span dir="auto">${response.ignored.join(' ')}</span>, so it was not searched for.</p>`}
    ${(response.corrected ?? []).map(({ from, to }) => html`<p class="note small muted">No text that you may see contains <span dir="auto">${from}</span>; searched for <span dir="auto">${to.join(', ')}</span> instead. <button type="button" class="link" onClick=${() => onTyped(from)}>Search for <span dir="auto">${from}</span> as typed</button></p>`)}
    ${response.relaxed && html`<p class="note small muted">Nothing contains the phrase in quotes as it stands. Its words count one by one.</p>`}
    ${TRACE.test(request.query) && response.retrieval === 'hybrid' && response.results.length > 0 && !response.results.some((r) => r.kind === 'ticket' && r.exact) && !request.offset && html`<p class="note">No text that you may see holds this trace. These only resemble it, or share words with it:</p>`}`;
}

/** Names that an answer does not know, and what was typed as a filter and is none: is:opne, or assignee: alone. @param {Answer} answer @returns {api.Candidate[]} */
export function candidatesOf({ request: { query, filters }, response }) {
  const loose = [...query.trimEnd().matchAll(/(?<=^|\s)(\p{L}+):(\S*)(\s|$)/gu)].flatMap(([, name, value, more]) => {
    const facet = FACETS.find((f) => f.typed === name.toLowerCase());
    const isLoose = facet && (value === '' ? more === '' : facet.name === 'open' && filters?.open === undefined && response.read_as?.filters.open === undefined);
    return isLoose ? { member: facet.member, value, names: facet.name === 'open' ? ['open', 'done'] : [] } : [];
  });
  return [...(response.candidates ?? []), ...loose];
}

const MONTHS = Array.from({ length: 12 }, (_, month) => new Intl.DateTimeFormat('en', { month: 'long' }).format(new Date(2000, month)));
/** Whether a word is the other with letters too many, too few or in another order. @param {string} a @param {string} b */
function isMistyped(a, b) {
  if (!/^\p{L}+$/u.test(a) || a[0] !== b[0] || Math.abs(a.length - b.length) > 2) return false;
  return [...a].sort().join() === [...b].sort().join() || [[a, b], [b, a]].some(([x, y]) => RegExp([...x].join('.*')).test(y));
}

/**
 * What an unknown name of a filter may mean: names that resemble it, a month, or those that there are.
 * @param {{list: api.Candidate[], used: any[], projects: api.Project[], onChoose: (path: string, key: string, value: string) => void, onText?: (path: string, value: string) => void}} props used: filters that apply
 */
export function Candidates({ list, used, projects, onChoose, onText }) {
  const known = useLoad(async (signal) => (list.some((c) => c.names.length === 0) ? api.facetValues(signal) : undefined), [JSON.stringify(list)]);
  const apply = JSON.stringify(used);
  return list.map(({ member, value, names }) => {
    const facet = FACETS.find((f) => f.member === member);
    const title = (facet?.title ?? member).toLowerCase();
    const excluded = used.some((filters) => filters?.not && member in filters.not); // which no chip can say
    /** @param {string} name */
    const keyOf = (name) => String((member === 'open' ? name === 'open' : member === 'projects' && projects.find((p) => p.name === name || p.key === name)?.project_id) || name);
    const taken = value && names.find((name) => apply.includes(JSON.stringify(name)));
    const all = names.length > 0 ? [] : (known.value?.[facet?.name ?? ''] ?? []).map((v) => v.label);
    const mistyped = [...(member === 'projects' ? MONTHS : []), ...all].filter((name) => isMistyped(value.toLowerCase(), name.toLowerCase()));
    const near = [...mistyped, ...names].filter((name) => name !== taken);
    const others = near.length > 0 || taken ? near : all.slice(0, 6);
    return html`<div class="chips candidates" role="group" aria-label=${`Instead of the ${title} ${value}`}><p class="small">${value === '' ? html`Nothing follows <code>${facet?.typed}:</code>.` : member === 'open' ? html`<code dir="auto">is:${value}</code> is no filter.` : html`No ${title} is called <span dir="auto">“${value}”</span>.`}
      ${taken ? html` It was read as <strong dir="auto">${taken}</strong>.` : ''}${near.length > 0 ? ' Is it one of these?' : others.length > 0 ? ' There are:' : ''}</p>
      ${others.map((name) => (excluded ? html`<span class="chip" dir="auto">${name}</span>` : html`<button type="button" class="chip" dir="auto" onClick=${() => onChoose(member, keyOf(name), value)}>${name}</button>`))}
      ${onText && value && !excluded && html`<button type="button" class="link small" onClick=${() => onText(member, value)}><span>Search for “<bdi>${value}</bdi>” as text</span></button>`}</div>`;
  });
}

/** @param {{result: SearchResult, open: boolean, model?: string, sort?: string | null, link: string}} props */
export function Result({ result, open, model, sort, link }) {
  const title = result.ticket_name ?? result.project_name;
  const [name, excerpt] = splitName(pieces(result.highlight), title);
  const at = result.kind === 'ticket' && (sort === 'newest' ? result.created_at : result.updated_at);
  return html`<li><a class="result" href=${link} aria-current=${open ? 'true' : undefined}
    onClick=${(/** @type {MouseEvent} */ e) => { if (!e.metaKey && !e.ctrlKey && !e.shiftKey) { e.preventDefault(); go(link, { replace: e.detail === 0 && location.hash.includes('open=') }); } }}>
    <span class="head"><span class="key">${result.ticket_key ?? 'Project'}</span><span class="name" dir="auto"><${Highlight} pieces=${name} /></span></span>
    <span class="excerpt" dir="auto">${(excerpt.length > 0 || result.text.trim() !== title) && html`<${Highlight} pieces=${plain(excerpt)} />`}</span>
    <span class="meta"><${FoundBy} result=${result} model=${model} />${result.status && html`<span class="status">${result.status}</span>`}
      ${result.kind === 'ticket' && result.assignee && html`<span class="person" dir="auto">${result.assignee}</span>`}
      ${at && html`<time class="muted" datetime=${at} title=${sort === 'newest' ? 'Filed' : 'Changed'}>${date(at)}</time>`}<span class="muted project" dir="auto">${result.project_name}</span></span>
  </a></li>`;
}

/** Where a ticket can be seen by others: in its tracker, if that is known. @param {{ticket_key: string, url?: string | null}} t */
export const addressOf = ({ ticket_key: key, url }) => url || (settings.ticket_url ? settings.ticket_url.replaceAll('{key}', encodeURIComponent(key)) : new URL(href('search', { q: key, open: key }), document.baseURI).href);

/** Tickets as lines of a text. @param {SearchResult[]} results */
export const linesOf = (results) => results.flatMap((r) => (r.kind === 'ticket' ? `${r.ticket_key} ${r.ticket_name} ${addressOf(r)}` : [])).join('\n');

/** @type {[string, (r: Extract<SearchResult, {kind: 'ticket'}>) => unknown][]} */
const COLUMNS = [['Key', (r) => r.ticket_key], ['Name', (r) => r.ticket_name], ['Project', (r) => r.project_name], ['Status', (r) => r.status], ['Type', (r) => r.type], ['Priority', (r) => r.priority],
  ['Assignee', (r) => r.assignee], ['Reporter', (r) => r.reporter], ['Labels', (r) => (r.labels ?? []).join(', ')], ['Created', (r) => r.created_at], ['Updated', (r) => r.updated_at], ['Due', (r) => r.due_date], ['Link', addressOf]];

/** As a table for spreadsheets, in which no text is a formula. @param {SearchResult[]} results */
function tableOf(results) {
  /** @param {unknown} value */
  const cell = (value) => `"${String(value ?? '').replace(/^(?=[-=+@\t\r])/, "'").replaceAll('"', '""')}"`;
  return `\ufeff${[COLUMNS.map(([name]) => cell(name)), ...results.flatMap((r) => (r.kind === 'ticket' ? [COLUMNS.map(([, of]) => cell(of(r)))] : []))].map((row) => `${row.join(',')}\r\n`).join('')}`;
}

/** The whole list, to take along. @param {{request: api.SearchRequest}} props */
export function Take({ request }) {
  const [problem, setProblem] = useState(/** @type {api.Problem | null} */ (null));
  async function save() {
    try {
      const address = URL.createObjectURL(new Blob([tableOf(await everything(request))], { type: 'text/csv' }));
      Object.assign(document.createElement('a'), { href: address, download: 'tickets.csv' }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      setProblem(null);
    } catch (error) {
      setProblem(asProblem(error));
    }
  }
  return html`<p class="row end take small"><${Copy} kind="link" text=${async () => linesOf(await everything(request))}>Copy keys and links<//>
    <button type="button" class="link" onClick=${save}>Save as CSV</button> <span class="muted">all tickets found, up to ${count(1000)}</span></p>${problem && html`<${Failure} problem=${problem} retry=${save} />`}`;
}

/** @param {{page: number, more: boolean, link: (page: number) => string}} props */
export function Pages({ page, more, link }) {
  if (page === 1 && !more) return null;
  return html`<nav class="pages" aria-label="Pages">
    ${page > 1 ? html`<a class="button" href=${link(page - 1)} rel="prev"><${Icon} name="left" />Previous</a>` : html`<span></span>`}
    <span class="muted small">Page ${count(page)}</span>
    ${more ? html`<a class="button" href=${link(page + 1)} rel="next">Next<${Icon} name="right" /></a>` : html`<span></span>`}
  </nav>`;
}

export const Skeleton = () => html`<ol class="results" aria-hidden="true">${[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => html`<li key=${i}><span class="result skeleton"><i></i><i></i><i></i></span></li>`)}</ol>`;

/**
 * An empty list: which of the filters leaves nothing, and how much there is without it.
 * @param {{answer: Answer, nameOf: (path: string) => string, onDrop: (path: string) => void, onClear: () => void}} props
 */
export function Nothing({ answer, nameOf, onDrop, onClear }) {
  const { request, response } = answer;
  const read = response.read_as;
  const query = read ? read.text : request.query;
  /** @type {Record<string, any>} */
  const filters = { ...request.filters, ...read?.filters };
  const paths = pathsOf(filters);
  const counted = useLoad((signal) => Promise.all(paths.slice(0, 6).map(async (path) => {
    const rest = without(filters, path);
    if (!query && Object.keys(rest).length === 0) return { path, found: true, total: 0 };
    const asked = { ...request, query, filters: rest, offset: 0, limit: 1, explain: false, log: false };
    const found = await api.search(asked, signal);
    return { path, found: found.results.length > 0, total: totalOf({ request: asked, response: found }) };
  })), []);
  const causes = (counted.value ?? []).filter((c) => c.found);
  /** @param {string} path */
  const told = (path) => tell(only(filters, path)).map(({ title, text }) => `${title} ${nameOf(path) || text}`).join(', ');
  return html`<${Empty} icon="search" title="Nothing found">
    ${query && html`<p>No ticket that you may see ${paths.length > 0 ? 'and that passes the filters ' : ''}is near “${query.replaceAll('"', '')}” in meaning or contains its words.</p>`}
    ${counted.value && paths.length > 0 && causes.length === 0 && html`<p>No single filter causes it${query ? ': without any one of them there is nothing either' : ''}.</p>`}
    ${causes.map(({ path, total }) => html`<p class="cause">The filter <strong dir="auto">${told(path)}</strong> leaves nothing${total > 0 ? ` of ${count(total)} ${total === 1 ? 'match' : 'matches'}` : ''}.</p>`)}
    <p class="actions">${causes.map(({ path }) => html`<button type="button" class="button" onClick=${() => onDrop(path)}>Without <span dir="auto">${told(path)}</span></button>`)}
      ${request.filters && causes.length !== 1 && query && html`<button type="button" class="button" onClick=${onClear}>Search without filters</button>`}
      ${query && html`<a class="button" href=${href('ask', { q: query })}>Ask it as a question</a>`}</p>
  <//>`;
}
