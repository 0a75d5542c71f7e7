// @ts-check
// Search: keywords alone while one types, both searches on a pause or Enter. The last answer wins.
import { html } from './dom.js';
import { useEffect, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { beingTyped, chosenFrom, FACETS, filtersOf, isChosen, keyOf, tell } from './facets.js';
import { go, href } from './route.js';
import { asProblem, count, Empty, Failure, FoundBy, Highlight, Icon, pieces, splitName, useLoad } from './ui.js';
import { Details } from './details.js';

/** @typedef {import('./api.js').SearchResponse} SearchResponse */
/** @typedef {import('./api.js').SearchResult} SearchResult */
/** @typedef {import('./api.js').SearchRequest} SearchRequest */
/** @typedef {{request: SearchRequest, response: SearchResponse}} Answer */
/** @typedef {{key: string, label: string, short?: string}} Value a value of a facet, by what it is known */

const PAGE = 10;
const TYPING = 120; // milliseconds after a key until keywords are looked up
const PAUSE = 650; // and until both searches run
const FIRST = 'tasklens.first-results'; // a mark of performance
const SLOW = 1000; // after which a search says that it is still at it

/** What identifies a result in the address. @param {SearchResult} r */
const idOf = (r) => (r.ticket_key ?? `project-${r.project_id}`);

/** @param {URLSearchParams} params @param {string} query @returns {SearchRequest} */
function requestOf(params, query) {
  /** @type {SearchRequest} */
  const request = { query, limit: PAGE, explain: true, facets: true };
  const filters = filtersOf(Object.fromEntries(params));
  if (filters) request.filters = filters;
  const page = Math.min(Math.max(Number(params.get('page')) || 1, 1), 100);
  if (page > 1) request.offset = (page - 1) * PAGE;
  if (params.get('fusion') === 'convex' || params.get('fusion') === 'rrf') request.fusion = /** @type {'rrf' | 'convex'} */ (params.get('fusion'));
  return request;
}

/** The searches of one screen: what is shown, what is under way, and what waits until the pointer has left the list. */
function useSearches() {
  const [shown, setShown] = useState(/** @type {Answer | null} */ (null));
  const [held, setHeld] = useState(/** @type {Answer | null} */ (null));
  const [busy, setBusy] = useState(/** @type {'' | 'keyword' | 'hybrid'} */ (''));
  const [slow, setSlow] = useState(false);
  const [problem, setProblem] = useState(/** @type {api.Problem | null} */ (null));
  const state = useRef({ controller: new AbortController(), pointing: false, request: '' });

  /** @param {SearchRequest} request @param {('keyword' | 'hybrid')[]} kinds @param {(answer: Answer) => Answer} [read] what an answer makes of itself */
  function run(request, kinds, read = (answer) => answer) {
    const mine = state.current;
    mine.controller.abort();
    const controller = (mine.controller = new AbortController());
    const last = kinds[kinds.length - 1];
    let answered = false;
    setBusy(last);
    setSlow(false);
    setProblem(null);
    setHeld(null);
    const timer = setTimeout(() => setSlow(true), SLOW);
    controller.signal.addEventListener('abort', () => clearTimeout(timer));
    for (const retrieval of kinds) {
      api.search({ ...request, retrieval }, controller.signal).then((response) => {
        if (controller.signal.aborted || (retrieval === 'keyword' && answered)) return;
        const answer = retrieval === last ? read({ request, response }) : { request, response };
        if (retrieval === 'hybrid' && mine.pointing && state.current.request === JSON.stringify(request)) setHeld(answer);
        else setShown(answer);
        mine.request = JSON.stringify(request);
        if (retrieval === last) {
          answered = true;
          clearTimeout(timer);
          setBusy('');
          setSlow(false);
        }
      }, (error) => {
        if (controller.signal.aborted || api.isAbort(error) || (retrieval !== last)) return;
        clearTimeout(timer);
        setBusy('');
        setSlow(false);
        setProblem(asProblem(error));
      });
    }
  }

  function clear() {
    state.current.controller.abort();
    setShown(null);
    setHeld(null);
    setBusy('');
    setProblem(null);
  }

  function release() {
    if (held) {
      setShown(held);
      setHeld(null);
    }
  }

  return {
    shown, held, busy, slow, problem, run, clear, release,
    /** @param {boolean} is whether the user is about to click in the list */
    point(is) {
      state.current.pointing = is;
      if (!is) release();
    },
  };
}

/** @param {{params: URLSearchParams}} props */
export function Search({ params }) {
  const inAddress = params.get('q') ?? '';
  const [text, setText] = useState(inAddress);
  const typed = useRef(inAddress); // what this screen has put into the address itself
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const searches = useSearches();
  const projects = useLoad((signal) => api.projects(signal), []);
  const statuses = useLoad((signal) => api.statuses(signal), []);
  const filters = Object.fromEntries(FACETS.map((f) => [f.param, params.get(f.param) ?? '']));
  const filtered = FACETS.some((f) => filters[f.param]);
  const narrowed = JSON.stringify([filters, params.get('page'), params.get('fusion')]);
  const open = params.get('open') ?? '';

  const settled = useRef(text); // what needs no search by typing
  const searched = useRef(''); // filters whose results are shown already
  const timers = useRef(/** @type {number[]} */ ([]));
  const latest = useRef(text);
  latest.current = text;

  /** The values of a facet that are known, and how they are shown. @param {import('./facets.js').Facet} facet @returns {Value[]} */
  function valuesOf(facet) {
    if (facet.name === 'project') return (projects.value ?? []).map((p) => ({ key: String(p.project_id), label: p.name, short: p.key }));
    if (facet.name === 'status') return (statuses.value ?? []).map((s) => ({ key: s.name, label: s.name }));
    if (facet.name === 'open') return [{ key: 'true', label: 'open' }, { key: 'false', label: 'done' }];
    return (searches.shown?.response.facets?.[facet.name] ?? []).map((v) => ({ key: keyOf(facet, v), label: v.label }));
  }
  /** @param {import('./facets.js').Facet} facet */
  const labelOf = (facet) => valuesOf(facet).find((v) => v.key.toLowerCase() === filters[facet.param].toLowerCase())?.label ?? filters[facet.param];

  /** Values that a filter at the end of the text may mean. @param {string} of @returns {{facet: import('./facets.js').Facet, rest: string, exact: boolean, values: Value[]} | null} */
  function suggest(of) {
    const at = beingTyped(of);
    if (!at) return null;
    const values = valuesOf(at.facet);
    const names = (/** @type {Value} */ v) => [v.short ?? '', v.label].map((name) => name.toLowerCase());
    return { ...at, exact: values.some((v) => names(v).includes(at.part)), values: values.filter((v) => names(v).some((name) => name.includes(at.part))).slice(0, 8) };
  }
  const offered = suggest(text);
  /** What is searched for: a filter that is still being typed is no word of it. @param {string} of */
  function queryOf(of) {
    const at = suggest(of);
    return (at && !at.exact && at.values.length > 0 ? at.rest : of).trim();
  }

  /** Another state of this screen, with what has been typed. @param {Record<string, unknown>} changes @param {boolean} [replace] */
  function change(changes, replace) {
    const next = { ...Object.fromEntries(params), q: queryOf(text), page: '', open: '', ...changes };
    typed.current = next.q;
    go(href('search', next), { replace });
  }

  const again = () => searches.run(requestOf(params, queryOf(text)), ['hybrid']);
  const listed = () => change(Object.fromEntries(FACETS.map((f) => [f.param, ''])));

  // The address was changed by a link or the history.
  useEffect(() => {
    if (inAddress === typed.current) return;
    typed.current = settled.current = latest.current = inAddress;
    setText(inAddress);
    if (inAddress.trim() || filtered) searches.run(requestOf(params, inAddress.trim()), ['keyword', 'hybrid']);
    else searches.clear();
  }, [inAddress]);

  // Filters, page and ranking are deliberate: both searches at once, and keywords alone until they are done.
  const first = useRef(true);
  useEffect(() => {
    timers.current.forEach(clearTimeout);
    const query = queryOf(latest.current);
    if (searched.current === narrowed) {
      // What was typed has become chips: its results are here.
    } else if (query || filtered) {
      searches.run(requestOf(params, query), !searches.shown && query ? ['keyword', 'hybrid'] : ['hybrid']);
    } else if (!first.current) {
      searches.clear();
    }
    searched.current = '';
    first.current = false;
  }, [narrowed]);

  // Typing.
  useEffect(() => {
    if (text === settled.current) return;
    settled.current = text;
    const query = queryOf(text);
    if (!query && text.trim()) return;
    if (!query && !filtered) {
      searches.clear();
      change({ q: '' }, true);
      return;
    }
    searches.point(false);
    const request = requestOf(new URLSearchParams({ ...filters, fusion: params.get('fusion') ?? '' }), query);
    const soon = setTimeout(() => searches.run(request, ['keyword']), TYPING);
    const later = setTimeout(() => submit(false), PAUSE);
    timers.current = [soon, later];
    return () => { clearTimeout(soon); clearTimeout(later); };
  }, [text]);

  /** Both searches, and the query into the address. @param {boolean} complete whether the last word is */
  function submit(complete) {
    timers.current.forEach(clearTimeout);
    settled.current = text; // also where Enter comes before the effect of the last key
    const query = complete ? text.trim() : queryOf(text);
    change({ q: query }, !complete);
    if (!query && !filtered) return searches.clear();
    const request = requestOf(new URLSearchParams({ ...filters, fusion: params.get('fusion') ?? '' }), query);
    const kinds = /** @type {('keyword' | 'hybrid')[]} */ (!query || searches.shown?.request.query === query ? ['hybrid'] : ['keyword', 'hybrid']);
    searches.run(request, kinds, complete ? toChips : undefined);
  }

  /** Filters among the words become chips, as the service has read them. @param {Answer} answer @returns {Answer} */
  function toChips(answer) {
    const { read_as: read, ...response } = answer.response;
    const more = read && latest.current.trim() === answer.request.query ? chosenFrom(read.filters ?? {}, filters, projects.value ?? []) : null;
    if (!read || !more) return answer;
    const next = { ...filters, ...more };
    settled.current = latest.current = read.text;
    setText(read.text);
    searched.current = JSON.stringify([next, null, params.get('fusion')]);
    if (searched.current === narrowed) searched.current = '';
    change({ q: read.text, ...more }, true);
    return { request: requestOf(new URLSearchParams({ ...next, fusion: params.get('fusion') ?? '' }), read.text), response };
  }

  /** @param {import('./facets.js').Facet} facet @param {Value} value */
  function choose(facet, value) {
    const rest = beingTyped(text)?.rest ?? text;
    settled.current = latest.current = rest;
    setText(rest);
    change({ q: rest.trim(), [facet.param]: value.key });
    input.current?.focus();
  }

  // Keys: / goes to the field, arrows move, Enter opens, Escape closes.
  useEffect(() => {
    /** @param {KeyboardEvent} e */
    function key(e) {
      const rows = /** @type {HTMLElement[]} */ ([...(list.current?.querySelectorAll('a.result') ?? [])]);
      const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
      const typing = document.activeElement === input.current;
      if (document.querySelector('dialog[open]')) return;
      if (e.key === 'ArrowDown' && (typing || at >= 0) && rows[at + 1]) rows[at + 1].focus();
      else if (e.key === 'ArrowUp' && at >= 0) (rows[at - 1] ?? input.current)?.focus();
      else if (e.key === 'Escape' && open) {
        change({ page: params.get('page') ?? '', open: '' });
        rows.find((row) => row.getAttribute('aria-current') === 'true')?.focus();
      } else return;
      e.preventDefault();
    }
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, [open, params]);

  const { shown, busy } = searches;
  const response = shown?.response;
  const page = Math.floor((shown?.request.offset ?? 0) / PAGE) + 1;
  // Not while both searches are about to answer: the passage and the arithmetic would change under the reader's eyes.
  const chosen = busy === 'hybrid' && response?.retrieval === 'keyword' ? undefined : response?.results.find((r) => idOf(r) === open);
  const active = FACETS.filter((f) => filters[f.param]);
  const read = response?.read_as && shown?.request.query === text.trim() ? response.read_as : null;
  useEffect(() => { if (shown && performance.getEntriesByName(FIRST).length === 0) performance.mark(FIRST); }, [shown]);

  return html`<div class=${`search ${chosen ? 'with-details' : ''}`}>
    <form class="field" role="search" onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); submit(true); }}>
      <${Icon} name="search" />
      <input ref=${input} id="query" type="search" name="q" autocomplete="off" spellcheck=${false} maxlength="2000" autofocus dir="auto"
        placeholder="Describe it, or type a key or exact words" aria-label="Search tickets and projects"
        value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} />
      <kbd aria-hidden="true" title="Press / to search">/</kbd>
    </form>
    ${(active.length > 0 || offered || read) && html`<div class="chips">
      ${active.map((facet) => html`<button type="button" class="chip on" onClick=${() => change({ [facet.param]: '' })}
        aria-label=${`Remove the filter ${facet.title}: ${labelOf(facet)}`}>
        <span class="muted">${facet.title}</span> <span dir="auto">${labelOf(facet)}</span><${Icon} name="close" /></button>`)}
      ${read && tell(read.filters ?? {}).map(({ title, text: value }) => html`<span class="chip read" title="A filter among the words"><span class="muted">${title}</span> <span dir="auto">${value}</span></span>`)}
      ${(offered?.values ?? []).map((value) => html`<button type="button" class="chip" onClick=${() => offered && choose(offered.facet, value)}><span class="muted">${offered?.facet.title}</span> <span dir="auto">${value.label}</span></button>`)}
    </div>`}
    ${text.trim() === '' && !filtered ? html`<${Start} projects=${projects} onChoose=${(/** @type {string} */ q) => { setText(q); input.current?.focus(); }}
      onProject=${(/** @type {number} */ id) => { change({ project: id }); input.current?.focus(); }} />` : html`
    <h1 class="sr">Search</h1>
    <div class="columns">
      <${Facets} response=${response} filters=${filters} room=${{ project: projects.value?.length, status: statuses.value?.length }} onChoose=${(/** @type {string} */ name, /** @type {string} */ key) => change({ [name]: key })} />
      <section class="found" aria-label="Results" aria-busy=${busy !== ''}>
        <${Told} searches=${searches} page=${page} again=${again} />
        ${searches.problem && html`<div class=${shown ? 'toast' : ''}><${Failure} problem=${searches.problem} retry=${again} /></div>`}
        ${response?.relaxed && html`<p class="small muted">Nothing contains the phrase in quotes as it stands. Its words count one by one.</p>`}
        ${!shown && !searches.problem && html`<${Skeleton} />`}
        ${response && response.results.length === 0 && busy !== 'keyword' && html`<${Nothing} busy=${busy} query=${shown?.request.query} filtered=${active.length > 0} onClear=${listed} />`}
        ${response && response.results.length > 0 && html`<ol class="results" ref=${list} start=${(shown?.request.offset ?? 0) + 1}
          onPointerMove=${() => searches.point(true)} onPointerLeave=${() => searches.point(false)}>
          ${response.results.map((result, i) => html`<${Result} key=${i} result=${result} open=${idOf(result) === open}
            link=${href('search', { ...Object.fromEntries(params), q: shown?.request.query, open: idOf(result) })} />`)}
        </ol>
        <${Pages} page=${page} more=${response.has_more} link=${(/** @type {number} */ n) => href('search', { ...Object.fromEntries(params), page: n > 1 ? n : '', open: '' })} />`}
      </section>
      ${chosen && shown && html`<${Details} key=${open} result=${chosen} answer=${shown} onClose=${() => change({ page: params.get('page') ?? '', open: '' })} />`}
    </div>`}
  </div>`;
}

/** One line that says what is shown, always there so that nothing moves. @param {{searches: ReturnType<typeof useSearches>, page: number, again: () => void}} props */
function Told({ searches, page, again }) {
  const { shown, held, busy, slow } = searches;
  const response = shown?.response;
  let text = '';
  if (busy && slow) text = busy === 'hybrid' && response ? 'Still searching by meaning …' : 'Still searching …';
  else if (busy === 'hybrid' && response?.retrieval === 'keyword') text = 'By keyword so far …';
  else if (!response) text = busy ? 'Searching …' : '';
  else if (response.results.length === 0) text = 'No results';
  else {
    // A facet ignores its own filter: one that is not filtered by counts what is found.
    const byProject = [shown.request.filters, response.read_as?.filters, response.read_as?.filters?.not].some((f) => f?.projects);
    const counted = byProject ? [] : response.facets?.project ?? [];
    const total = counted.reduce((sum, v) => sum + v.count, 0);
    const many = total > 0 ? `${count(total)}${response.facets_capped ? ' or more' : ''} ` : '';
    if (response.executed.length === 0) text = `${many}${total === 1 ? 'ticket' : many ? 'tickets' : 'Tickets'}, the newest first`;
    else text = `${many ? `${many}${total === 1 ? 'match' : 'matches'}` : `Page ${count(page)}`} ${response.executed.length === 2 ? 'by meaning and keywords' : 'by keyword'}`;
  }
  const degraded = response?.degraded && !busy;
  if (degraded) text = 'Matches by keyword only: the search by meaning did not answer in time.';
  return html`<div class="told">${degraded && html`<${Icon} name="alert" />`}<p role="status">${text}</p>
    ${degraded && html`<button type="button" class="link" onClick=${again}>Try again</button>`}
    ${busy && html`<span class="spinner" aria-hidden="true"></span>`}
    ${held && html`<button type="button" class="chip on" onClick=${searches.release}>Show results by meaning</button>`}
  </div>`;
}

/** @param {{result: SearchResult, open: boolean, link: string}} props */
function Result({ result, open, link }) {
  const title = result.ticket_name ?? result.project_name;
  const [name, excerpt] = splitName(pieces(result.highlight), title);
  return html`<li><a class="result" href=${link} aria-current=${open ? 'true' : undefined}
    onClick=${(/** @type {MouseEvent} */ e) => { if (!e.metaKey && !e.ctrlKey && !e.shiftKey) { e.preventDefault(); go(link); } }}>
    <span class="head"><span class="key">${result.ticket_key ?? 'Project'}</span><span class="name" dir="auto"><${Highlight} pieces=${name} /></span></span>
    <span class="excerpt" dir="auto">${excerpt.length > 0 || result.text.trim() !== title ? html`<${Highlight} pieces=${excerpt} />` : 'No description.'}</span>
    <span class="meta"><${FoundBy} result=${result} />${result.status && html`<span class="status">${result.status}</span>`}<span class="muted">${result.project_name}</span></span>
  </a></li>`;
}

const FEW = 7; // values of a facet that show at first

const ROW = 27.5; // pixels of one of them

/** room: how many values the open facets can have, so that their counts move nothing. @param {{response?: SearchResponse, filters: Record<string, string>, room: Record<string, number | undefined>, onChoose: (name: string, key: string) => void}} props */
function Facets({ response, filters, room, onChoose }) {
  const [all, setAll] = useState('');
  const [shown, setShown] = useState(false);
  const facets = response?.facets;
  return html`<aside class=${`facets ${shown ? 'shown' : ''}`} aria-label="Filters">
    <button type="button" class="button wide-off" aria-expanded=${shown} onClick=${() => setShown(!shown)}><${Icon} name="filter" />Filters</button>
    ${FACETS.map((facet, place) => {
      const values = facets?.[facet.name] ?? [];
      const few = all === facet.name ? values : values.slice(0, FEW);
      return html`<details class="facet" open=${place < 2}><summary><span>${facet.title}</span>${facets && values.length > 0 && html`<span class="count">${count(values.length)}</span>`}<${Icon} name="right" /></summary>
        <div style=${place < 2 ? { minHeight: `${ROW * Math.min(room[facet.name] ?? FEW, FEW + 1)}px` } : undefined}>${facets && values.length === 0 && html`<p class="small muted">None</p>`}
        <ul>${few.map((value, i) => html`<li key=${i}><button type="button" aria-pressed=${isChosen(facet, value, filters[facet.param])} onClick=${() => onChoose(facet.param, isChosen(facet, value, filters[facet.param]) ? '' : keyOf(facet, value))}>
          <span class="name" dir="auto">${value.label}</span><span class="count">${count(value.count)}</span></button></li>`)}</ul>
        ${values.length > few.length && html`<button type="button" class="link small" onClick=${() => setAll(facet.name)}>${count(values.length - few.length)} more</button>`}</div>
      </details>`;
    })}
  </aside>`;
}

/** @param {{page: number, more: boolean, link: (page: number) => string}} props */
function Pages({ page, more, link }) {
  if (page === 1 && !more) return null;
  return html`<nav class="pages" aria-label="Pages">
    ${page > 1 ? html`<a class="button" href=${link(page - 1)} rel="prev"><${Icon} name="left" />Previous</a>` : html`<span></span>`}
    <span class="muted small">Page ${count(page)}</span>
    ${more ? html`<a class="button" href=${link(page + 1)} rel="next">Next<${Icon} name="right" /></a>` : html`<span></span>`}
  </nav>`;
}

const Skeleton = () => html`<ol class="results" aria-hidden="true">${[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => html`<li key=${i}><span class="result skeleton"><i></i><i></i><i></i></span></li>`)}</ol>`;

/** @param {{query?: string, busy: string, filtered: boolean, onClear: () => void}} props */
function Nothing({ query, busy, filtered, onClear }) {
  if (busy) return html`<${Skeleton} />`;
  return html`<${Empty} icon="search" title="Nothing found">
    <p>No ticket that you may see is near “${query?.replaceAll('"', '')}” in meaning or contains its words.</p>
    <p class="actions">${filtered && html`<button type="button" class="button" onClick=${onClear}>Search without filters</button>`}
      <a class="button" href=${href('ask', { q: query })}>Ask it as a question</a></p>
  <//>`;
}

/** Before anything is searched for: examples out of what there is. @param {{projects: any, onChoose: (query: string) => void, onProject: (id: number) => void}} props */
function Start({ projects, onChoose, onProject }) {
  const list = /** @type {import('./api.js').Project[] | undefined} */ (projects.value);
  const examples = useLoad(async (signal) => {
    const largest = [...(list ?? [])].sort((a, b) => b.tickets - a.tickets).slice(0, 4);
    const found = await Promise.all(largest.map((p) => api.search({ query: p.name, project_id: p.project_id, retrieval: 'keyword', limit: 4 }, signal)));
    const tickets = found.map((f) => f.results.filter((r) => r.ticket_name)).filter((f) => f.length > 0);
    return { of: list, queries: [...tickets.map((f) => f[0].ticket_name ?? ''), ...tickets.slice(0, 1).map((f) => (f[1] ?? f[0]).ticket_key ?? '')] };
  }, [list]);
  const queries = examples.value?.queries ?? [];
  // All at once, so that nothing moves.
  const shown = list && (examples.problem || examples.value?.of === list) ? list : [];
  if (projects.problem) return html`<${Failure} problem=${projects.problem} retry=${projects.again} />`;
  if (list && list.length === 0) {
    return html`<h1 class="sr">Search</h1><${Empty} icon="search" title="There is nothing to search yet"><p>You are a member of no project, or the projects have no tickets. An administrator can add you to one.</p><//>`;
  }
  return html`<div class="start">
    <h1>Find it by what it means</h1>
    <p class="lead">Describe a problem in your own words, or type a key. Exact matches and similar meanings come in one list.</p>
    <div class="try">${queries.length > 0 && html`<h2>Try</h2><ul class="examples">${queries.map((text) => html`<li><button type="button" class="example" onClick=${() => onChoose(text)}><${Icon} name="search" />${text}</button></li>`)}</ul>`}</div>
    ${shown.length > 0 && html`<h2>Projects</h2>`}
    <ul class="tiles">${shown.map((p) => html`<li><button type="button" class="tile" onClick=${() => onProject(p.project_id)} title=${`Search in ${p.name}`}>
      <span class="key">${p.key}</span><span class="name">${p.name}</span><span class="muted small">${count(p.tickets)} ${p.tickets === 1 ? 'ticket' : 'tickets'}</span></button></li>`)}</ul>
  </div>`;
}

