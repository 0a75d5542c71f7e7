// @ts-check
// The search screen: what is typed, the address, and what of both is searched for.
import { html } from './dom.js';
import { useEffect, useMemo, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { beingTyped, chosenFrom, FACETS, filtersOf, keyOf, NAMES, only, pathsOf, spell, tell, without } from './facets.js';
import { FacetLists } from './facetlists.js';
import { useListKeys } from './keyboard.js';
import { Candidates, candidatesOf, idOf, Nothing, Notes, Pages, Result, Skeleton, Take, Told } from './results.js';
import { go, href } from './route.js';
import { isWeak, useSearches } from './searches.js';
import { Start } from './start.js';
import { Failure, Icon, projectNames, useLoad } from './ui.js';
import { Details } from './details.js';

/** @typedef {import('./api.js').SearchRequest} SearchRequest */
/** @typedef {import('./searches.js').Answer} Answer */
/** @typedef {import('./facets.js').Facet} Facet */
/** @typedef {{key: string, label: string, names: string[]}} Value a value of a facet: in the address, as it is shown, and as it is typed */

const PAGE = 10;
const TYPING = 120; // milliseconds after a key until keywords are looked up
const PAUSE = 650; // and until both searches run
const CHIPS = new RegExp(`(?:^|\\s)(?:-\\p{L}|-?(?:${NAMES.join('|')}):\\S)`, 'iu'); // what becomes one when the query is read
const FIRST = 'tasklens.first-results'; // a mark of performance
const SEARCHED = ['q', 'page', 'sort', ...FACETS.map((f) => f.param)]; // what of an address another search follows from

/** @param {URLSearchParams} params @returns {SearchRequest} */
function requestOf(params) {
  /** @type {SearchRequest} */
  const request = { query: (params.get('q') ?? '').trim(), limit: PAGE, explain: true, facets: true };
  const filters = filtersOf(Object.fromEntries(params));
  if (filters) request.filters = filters;
  const page = Math.min(Math.max(Number(params.get('page')) || 1, 1), 100);
  if (page > 1) request.offset = (page - 1) * PAGE;
  const sort = params.get('sort');
  if (sort === 'newest' || sort === 'updated') request.sort = sort;
  return request;
}

/** @param {{value: string, onClick: () => void}} props */
const AsText = ({ value, onClick }) => html`<button type="button" class="link small as-text" aria-label=${`Search for ${value} as text`} onClick=${onClick}>as text</button>`;

/** @param {URLSearchParams} params */
const searchedFor = (params) => JSON.stringify(SEARCHED.map((name) => params.get(name) ?? ''));

/** @param {{params: URLSearchParams, may: {write: boolean}}} props */
export function Search({ params, may }) {
  const inAddress = (params.get('q') ?? '').trim();
  const [text, setText] = useState(inAddress);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const searches = useSearches();
  const projects = useLoad((signal) => api.projects(signal), []);
  const names = useMemo(() => projectNames(projects.value), [projects.value]);
  const statuses = useLoad((signal) => api.statuses(signal), []);
  const filters = Object.fromEntries(FACETS.map((f) => [f.param, params.get(f.param) ?? '']));
  const filtered = FACETS.some((f) => filters[f.param]);
  const wanted = searchedFor(params);
  const open = params.get('open') ?? '';

  const ran = useRef(''); // the address whose results are shown, or under way
  const settled = useRef(text); // what needs no search by typing
  const timers = useRef(/** @type {number[]} */ ([]));
  const latest = useRef(text);
  latest.current = text;
  const now = useRef(params); // also for a pause that began at an earlier address
  now.current = params;

  // What a name of a filter may be completed to, before anything is found and beside it.
  const naming = /(?:^|\s)-?\p{L}*:/u.test(text);
  const known = useLoad(async (signal) => (naming ? api.facetValues(signal) : undefined), [naming]);

  /** The values of a facet that are known. @param {Facet} facet @returns {Value[]} */
  function valuesOf(facet) {
    if (facet.name === 'project') return (projects.value ?? []).map((p) => ({ key: String(p.project_id), label: names.get(String(p.project_id)) ?? p.name, names: [p.key, p.name] }));
    if (facet.name === 'status') return (statuses.value ?? []).map((s) => ({ key: s.name, label: s.name, names: [s.name] }));
    if (facet.name === 'open') return [{ key: 'true', label: 'open', names: ['open'] }, { key: 'false', label: 'done', names: ['done'] }];
    const found = searches.shown?.response.facets?.[facet.name] ?? [];
    const all = known.value?.[facet.name] ?? [];
    return [...all, ...found.filter((v) => !all.some((f) => f.value === v.value))].map((v) => ({ key: keyOf(facet, v), label: v.label, names: [v.label] }));
  }
  /** @param {Facet} facet */
  const labelOf = (facet) => valuesOf(facet).find((v) => v.key.toLowerCase() === filters[facet.param].toLowerCase())?.label ?? filters[facet.param];

  const typing = text.trim() === inAddress ? null : beingTyped(text, valuesOf);
  /** What is searched for: a filter that is still being typed is no word of it. @param {string} of */
  function queryOf(of) {
    if (of.trim() === inAddress) return inAddress;
    const at = beingTyped(of, valuesOf);
    return (at && !at.complete ? at.rest : of).trim();
  }

  /** Puts another text into the field, without searching for it. @param {string} next */
  function write(next) {
    timers.current.forEach(clearTimeout);
    settled.current = latest.current = next;
    setText(next);
  }

  /** The address of another state of this screen, with what has been typed. @param {Record<string, unknown>} changes */
  const addressWith = (changes) => new URLSearchParams(href('search', { ...Object.fromEntries(now.current), q: queryOf(latest.current), page: '', open: '', ...changes }).split(/\?(.*)/s)[1]);
  /** @param {URLSearchParams} next @param {boolean} [replace] */
  const show = (next, replace = false) => go(href('search', Object.fromEntries(next)), { replace });
  /** @param {Record<string, unknown>} changes */
  const change = (changes) => show(addressWith(changes));

  const again = () => searches.run(requestOf(params), ['hybrid'], { again: true });

  // The address is another: by a link, the history, a filter, a page, an order. What was typed has been searched for already.
  useEffect(() => {
    if (wanted === ran.current) return;
    ran.current = wanted;
    if (inAddress !== queryOf(latest.current)) write(inAddress);
    timers.current.forEach(clearTimeout);
    if (!inAddress && !filtered) searches.clear();
    else searches.run(requestOf(params), inAddress && searches.shown?.request.query !== inAddress ? ['keyword', 'hybrid'] : ['hybrid']);
  }, [wanted]);

  // Typing.
  useEffect(() => {
    if (text === settled.current) return;
    settled.current = text;
    const query = queryOf(text);
    if (!query && text.trim()) return;
    if (!query && !filtered) return submit(false);
    searches.point(false);
    const soon = setTimeout(() => query && searches.run(requestOf(addressWith({})), ['keyword']), TYPING);
    const later = setTimeout(() => submit(false), PAUSE);
    timers.current = [soon, later];
    return () => { clearTimeout(soon); clearTimeout(later); };
  }, [text]);

  /** Both searches, and the query into the address. @param {boolean} complete whether the last word is */
  function submit(complete) {
    timers.current.forEach(clearTimeout);
    settled.current = text; // also where Enter comes before the effect of the last key
    const next = addressWith(complete ? { q: text.trim() } : {});
    const request = requestOf(next);
    ran.current = searchedFor(next);
    if (ran.current !== searchedFor(now.current)) show(next, !complete); // else a result may have been opened meanwhile
    if (!request.query && !request.filters) searches.clear();
    else searches.run(request, request.query ? ['keyword', 'hybrid'] : ['hybrid'], complete ? { again: true, read: toChips } : {});
  }

  /** Filters among the words become chips, as the service has read them. @param {Answer} answer @returns {Answer} */
  function toChips(answer) {
    const { read_as: read, ...response } = answer.response;
    const more = read && latest.current.trim() === answer.request.query ? chosenFrom(read.filters ?? {}, filters, projects.value ?? []) : null;
    if (!read || !more || read.excluded) return answer; // no chip of the address can say what is left out
    write(read.text);
    const next = addressWith({ ...filters, ...more, q: read.text });
    ran.current = searchedFor(next);
    show(next, true);
    return { ...answer, request: requestOf(next), response };
  }

  const { shown, busy } = searches;
  const response = shown?.response;
  const candidates = shown ? candidatesOf(shown) : [];
  const read = response?.read_as && shown?.request.query === text.trim() ? response.read_as : null;

  /** Searches for other words. @param {string} words @param {Record<string, unknown>} [more] changes of the address */
  function reword(words, more) {
    write(words);
    change({ q: words.trim(), ...more });
    input.current?.focus();
  }

  /** Takes a filter back: a chip, or what was read among the words. @param {string} path @param {string} [key] what stands in its place @param {string} [phrase] and among the words */
  function drop(path, key = '', phrase = '') {
    const facet = FACETS.find((f) => f.member === path);
    // A filter whose value nothing has is text beside words.
    const unmeant = candidates.filter((c) => c.member === path).map(({ value }) => `${facet?.typed}:${value}`.toLowerCase());
    const kept = (read ? read.text : latest.current).replace(/([^\s"]+:)"([^"]*)"/g, (whole, name, value) => (unmeant.includes(`${name}${value}`.toLowerCase()) ? '' : whole))
      .split(/\s+/).filter((word) => !unmeant.includes(word.toLowerCase())).join(' ');
    const words = [kept, read ? spell(without(read.filters ?? {}, path)) : '', phrase && `"${phrase}"`].filter(Boolean).join(' ');
    if (read || unmeant.length > 0) write(words);
    change({ ...((read || unmeant.length > 0) && { q: words }), ...(facet && { [facet.param]: key }) });
    input.current?.focus();
  }

  /** Searches for what was read as a filter as a phrase, which is not read again. @param {string} path @param {string} value as it is shown */
  function asText(path, value) {
    const facet = FACETS.find((f) => f.member === path);
    const kept = read ? [read.text, ...(read.excluded ?? []).map((word) => `-${word}`).filter((word) => !read.text.includes(word)), spell(without(read.filters ?? {}, path))] : [latest.current];
    const words = [...kept, `"${value.replaceAll('"', '')}"`].map((part) => part.trim()).filter(Boolean).join(' ');
    reword(words, facet && { [facet.param]: '' });
  }

  /** @param {Facet} facet @param {Value} value */
  function choose(facet, value) {
    const rest = typing?.rest ?? text;
    reword(rest, { [facet.param]: value.key });
  }

  function close() {
    /** @type {HTMLElement | null | undefined} */ (list.current?.querySelector('a.result[aria-current]') ?? input.current)?.focus();
    show(addressWith({ page: params.get('page') ?? '' }));
  }
  useListKeys({ input, list, open: open !== '', onClose: close });

  const page = Math.floor((shown?.request.offset ?? 0) / PAGE) + 1;
  const chosen = response?.results.find((r) => idOf(r) === open);
  const active = FACETS.filter((f) => filters[f.param]);
  const reading = text.trim() === inAddress && shown?.request.query !== inAddress && CHIPS.test(text); // their row is kept, so that nothing moves
  const readPaths = read ? pathsOf(read.filters ?? {}) : [];
  const firstOther = shown?.near === undefined ? -1 : Math.max(shown.near - (shown.request.offset ?? 0), 0);
  const empty = response?.results.length === 0;
  useEffect(() => { if (shown && performance.getEntriesByName(FIRST).length === 0) performance.mark(FIRST); }, [shown]);

  const details = open && html`<${Details} key=${open} id=${open} result=${chosen} answer=${shown} projects=${projects.value} onClose=${close} />`;

  return html`<div class=${`search ${open ? 'with-details' : ''}`}>
    <form class="field" role="search" onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); submit(true); }}>
      <${Icon} name="search" />
      <input ref=${input} id="query" type="search" name="q" autocomplete="off" spellcheck=${false} maxlength="2000" autofocus dir="auto"
        placeholder="Describe it, or type a key" aria-label="Search tickets and projects"
        value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} />
      <kbd aria-hidden="true" title="Press / to search">/</kbd>
    </form>
    ${active.length > 0 || typing || read || reading || naming ? '' : html`<p class="filters-hint small muted">Type <code>:</code> for filters such as <code>is:open</code> <code>created:7d</code></p>`}
    ${/(?:^|\s):$/.test(text) && html`<div class="chips" role="group" aria-label="Filters to type">${NAMES.map((name) => html`<button type="button" class="chip" onClick=${() => { write(text.replace(/:$/, `${name}:`)); input.current?.focus(); }}>${name}:</button>`)}</div>`}
    ${(active.length > 0 || typing || read || reading) && html`<div class="chips">
      ${active.map((facet) => html`<button type="button" class="chip on" onClick=${() => change({ [facet.param]: '' })}
        aria-label=${`Remove the filter ${facet.title}: ${labelOf(facet)}`}>
        <span class="muted">${facet.title}</span> <span dir="auto">${labelOf(facet)}</span><${Icon} name="close" /></button><${AsText} value=${labelOf(facet)} onClick=${() => asText(facet.member, labelOf(facet))} />`)}
      ${readPaths.map((path) => tell(only(read?.filters ?? {}, path)).map(({ title, text: value }) => html`<button type="button" class="chip read" onClick=${() => drop(path)}
        aria-label=${`Remove the filter ${title}: ${value}`} title="Read among the words"><span class="muted">${title}</span> <span dir="auto">${value}</span><${Icon} name="close" /></button><${AsText} value=${value} onClick=${() => asText(path, value)} />`))}
      ${(read?.excluded ?? []).map((word) => html`<button type="button" class="chip read" onClick=${() => reword(text.replace(`-${word}`, word))}
        aria-label=${`Without ${word}: search for it instead`} title="Search for it instead"><span class="muted">Without</span> <span dir="auto">${word}</span><${Icon} name="close" /></button>`)}
      ${(typing?.values ?? []).map((value) => html`<button type="button" class="chip" onClick=${() => typing?.facet && choose(typing.facet, value)}><span class="muted">${typing?.facet?.title}</span> <span dir="auto">${value.label}</span></button>`)}
      ${typing && typing.values.length === 0 && html`<span class="small muted hint">Enter applies the filter <span dir="auto">${typing.name}:${typing.part}</span></span>`}
    </div>`}
    ${text.trim() === '' && !filtered ? open ? html`<h1 class="sr">Search</h1><div class="alone">${details}</div>` : html`<${Start} projects=${projects} may=${may} onChoose=${(/** @type {string} */ q) => { setText(q); input.current?.focus(); }}
      onProject=${(/** @type {number} */ id) => { change({ project: id }); input.current?.focus(); }} />` : html`
    <h1 class="sr">Search</h1>
    <div class="columns">
      <${FacetLists} response=${response} filters=${filters} room=${{ project: projects.problem ? 0 : projects.value?.length, status: statuses.problem ? 0 : statuses.value?.length }} labelOf=${(/** @type {Facet} */ facet, /** @type {import('./api.js').FacetValue} */ value) => (facet.name === 'project' && names.get(String(value.value))) || value.label}
        onChoose=${(/** @type {string} */ name, /** @type {string} */ key) => change({ [name]: key })} />
      <section class="found" aria-label="Results" aria-busy=${busy !== ''}>
        <${Told} searches=${searches} page=${page} again=${again} sort=${params.get('sort') ?? ''} onSort=${(/** @type {string} */ sort) => change({ sort })} />
        ${searches.problem && html`<div class=${shown ? 'toast' : ''}><${Failure} problem=${searches.problem} retry=${again} /></div>`}
        ${shown && html`<${Notes} answer=${shown} onTyped=${(/** @type {string} */ word) => reword(text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'u'), `"${word}"`))} /><${Candidates} list=${candidates} used=${[shown.request.filters, response?.read_as?.filters]} projects=${projects.value ?? []} onChoose=${(/** @type {string} */ path, /** @type {string} */ key) => drop(path, key)} onText=${(/** @type {string} */ path, /** @type {string} */ value) => drop(path, '', value)} />`}
        ${(shown ? empty && busy === 'hybrid' : busy !== '') && html`<${Skeleton} />`}
        ${shown && empty && !busy && !typing && response?.retrieval === 'hybrid' && html`<${Nothing} key=${JSON.stringify(shown.request)} answer=${shown} nameOf=${(/** @type {string} */ path) => { const facet = active.find((f) => f.member === path); return facet ? labelOf(facet) : ''; }}
          onDrop=${drop} onClear=${() => change(Object.fromEntries(FACETS.map((f) => [f.param, ''])))} />`}
        ${response && !empty && html`<ol class="results" ref=${list} start=${(shown?.request.offset ?? 0) + 1}
          onPointerMove=${() => searches.point(true)} onPointerLeave=${() => searches.point(false)}>
          ${response.results.map((result, i) => html`${i === firstOther && html`<li class="note small muted weaker">${isWeak(result) ? 'These only share a word with the query:' : 'The others, by date:'}</li>`}<${Result} key=${i} result=${result} open=${idOf(result) === open} model=${response.embedding_model} sort=${shown?.request.sort}
            link=${href('search', { ...Object.fromEntries(params), q: shown?.request.query, open: idOf(result) })} />`)}
        </ol>
        <${Pages} page=${page} more=${response.has_more} link=${(/** @type {number} */ n) => href('search', { ...Object.fromEntries(params), page: n > 1 ? n : '', open: '' })} />${shown && html`<${Take} key=${JSON.stringify(shown.request)} request=${{ ...shown.request, query: shown.key || shown.request.query }} />`}`}
      </section>
      ${details}
    </div>`}
  </div>`;
}
