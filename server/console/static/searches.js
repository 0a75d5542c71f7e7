// @ts-check
// The searches of one screen: keywords alone while one types, both searches on a pause or Enter. The last request wins.
import { useRef, useState } from './hooks.js';
import * as api from './api.js';
import { asProblem } from './ui.js';

/** @typedef {import('./api.js').SearchRequest} SearchRequest */
/** @typedef {'keyword' | 'hybrid'} Retrieval */
/**
 * request: as it was sent; lookedUp: without the filters of the request, as its query is a key; key: which one, if it has no
 * dash; near: how many come before those that only share a word, where they are sorted by date.
 * @typedef {{request: SearchRequest, response: import('./api.js').SearchResponse, lookedUp?: boolean, key?: string, near?: number}} Answer
 */
/** @typedef {{shown: Answer | null, held: Answer | null, busy: '' | Retrieval, slow: boolean, problem: api.Problem | null}} Shown held: what waits until the pointer has left the list */

const NEAREST = 300; // results that come before the rest by date
const SLOW = 1000; // milliseconds after which a search says that it is still at it
const KEY = /^\s*([\p{L}_][\p{L}\p{N}_]*?)(-|[ _]?)(\d+)\s*$/u; // also without its dash

/**
 * A search; without filters, and with a dash, where the query is a key alone and the service knows it as one.
 * @param {SearchRequest} request @param {AbortSignal} signal @returns {Promise<Answer>}
 */
async function answerTo(request, signal) {
  const { filters, ...bare } = request;
  const [, project, dash, number] = KEY.exec(request.query) ?? [];
  if (number && (filters || dash !== '-')) {
    const key = `${project}-${number}`;
    const response = await api.search({ ...bare, query: key }, signal);
    const found = response.results[0]?.ticket_key;
    if (found?.toLowerCase() === key.toLowerCase()) return { request: bare, response, lookedUp: Boolean(filters), key: dash === '-' ? '' : found };
    if (dash === '-' && response.unknown_keys?.some((unknown) => unknown.toLowerCase() === key.toLowerCase())) return { request: bare, response, lookedUp: true };
  }
  if (isDated(request)) return pageByDate(request, signal);
  return { request, response: await api.search(request, signal) };
}

/** Whether words are sorted by date. @param {SearchRequest} request */
const isDated = ({ query, sort }) => query !== '' && (sort === 'newest' || sort === 'updated');

/** Whether a result shares a word of the query and nothing else. @param {api.SearchResult} r */
export const isWeak = (r) => !r.vector_rank && !r.keyword_rank && !(r.kind === 'ticket' && r.exact);

/** @param {api.SearchResult} r */
const idOf = (r) => r.ticket_id ?? `project ${r.project_id}`;

/**
 * By date, as far as is asked for: first what is near or has the words, at most the nearest 300, then the rest as the service sorts
 * it. Projects show no date and stand last. Without words to be near to it is the service's order.
 * @param {SearchRequest} request @param {number} most @param {AbortSignal} [signal] @returns {Promise<Answer>}
 */
async function byDate({ sort, ...request }, most, signal) {
  const { offset, limit, ...bare } = request;
  const nearest = await api.searchAll(bare, NEAREST, signal);
  if (nearest.executed.length === 0) return { request, response: await api.searchAll({ ...bare, sort }, most, signal) };
  const at = (/** @type {api.SearchResult} */ r) => (r.kind === 'ticket' ? (sort === 'newest' ? r.created_at : r.updated_at) : '');
  const near = nearest.results.filter((r) => !isWeak(r)).sort((a, b) => at(b).localeCompare(at(a)));
  const held = new Set(near.map(idOf));
  const all = near.length < most ? await api.searchAll({ ...bare, sort, facets: false, log: false }, most, signal) : { results: [], has_more: true };
  const others = all.results.filter((r) => !held.has(idOf(r)));
  const tickets = others.filter((r) => r.kind === 'ticket');
  const results = [...near, ...(all.has_more ? tickets : [...tickets, ...others.filter((r) => r.kind !== 'ticket')])];
  return { request, response: { ...nearest, results, has_more: all.has_more }, near: near.length };
}

/** What a search finds, beyond its page, up to 1,000. @param {SearchRequest} request @returns {Promise<api.SearchResult[]>} */
export async function everything(request) {
  const asked = { ...request, facets: false, explain: false, log: false };
  return (isDated(request) ? (await byDate(asked, 1000)).response : await api.searchAll(asked, 1000)).results.slice(0, 1000);
}

/** @param {SearchRequest} request @param {AbortSignal} signal @returns {Promise<Answer>} */
async function pageByDate(request, signal) {
  const end = (request.offset ?? 0) + (request.limit ?? 10);
  const { response, near } = await byDate(request, end + 1, signal);
  return { request, response: { ...response, results: response.results.slice(request.offset ?? 0, end), has_more: response.has_more || response.results.length > end }, near };
}

export function useSearches() {
  const [state, setState] = useState(/** @type {Shown} */ ({ shown: null, held: null, busy: '', slow: false, problem: null }));
  /** @param {Partial<Shown>} change */
  const update = (change) => setState((before) => ({ ...before, ...change }));
  // What was asked last, and which of its two searches are under way ('asked') or have answered.
  const latest = useRef({ key: '', controller: new AbortController(), keyword: '', hybrid: '', read: (/** @type {Answer} */ answer) => answer });
  const pointing = useRef(false);
  const shownKey = useRef('');

  /**
   * Runs what of a request has not been asked already. again: an answer is not enough; read: what the last answer makes of itself.
   * @param {SearchRequest} request @param {Retrieval[]} kinds @param {{again?: boolean, read?: (answer: Answer) => Answer}} [options]
   */
  function run(request, kinds, { again = false, read = (answer) => answer } = {}) {
    const key = JSON.stringify(request);
    if (latest.current.key !== key || state.problem) {
      latest.current.controller.abort();
      latest.current = { key, controller: new AbortController(), keyword: '', hybrid: '', read };
    }
    const mine = latest.current;
    mine.read = read;
    const { signal } = mine.controller;
    const wanted = kinds.filter((kind) => mine[kind] === '' || (again && kind === 'hybrid' && mine.hybrid === 'answered'));
    for (const kind of wanted) mine[kind] = 'asked';
    const busy = () => /** @type {'' | Retrieval} */ (mine.hybrid === 'asked' ? 'hybrid' : mine.hybrid === '' && mine.keyword === 'asked' ? 'keyword' : '');
    update({ busy: busy(), slow: false, problem: null, held: null });
    const timer = setTimeout(() => signal.aborted || update({ slow: busy() !== '' }), SLOW);
    signal.addEventListener('abort', () => clearTimeout(timer));
    for (const retrieval of wanted) {
      answerTo({ ...request, retrieval }, signal).then(({ request: { retrieval: _, ...sent }, ...answer }) => {
        if (signal.aborted || (retrieval === 'keyword' && mine.hybrid === 'answered')) return;
        mine[retrieval] = 'answered';
        const next = retrieval === 'hybrid' ? mine.read({ ...answer, request: sent }) : { ...answer, request: sent };
        const holds = retrieval === 'hybrid' && pointing.current && shownKey.current === key;
        shownKey.current = key;
        update({ busy: busy(), slow: false, [holds ? 'held' : 'shown']: next });
      }, (error) => {
        if (signal.aborted || api.isAbort(error)) return;
        mine[retrieval] = '';
        if (retrieval === 'keyword' && mine.hybrid !== '') return;
        const problem = asProblem(error);
        update({ busy: busy(), slow: false, problem, ...(!problem.passing && { shown: null }) });
      });
    }
  }

  function clear() {
    latest.current.controller.abort();
    latest.current.key = '';
    update({ shown: null, held: null, busy: '', problem: null });
  }

  const release = () => setState((before) => (before.held ? { ...before, shown: before.held, held: null } : before));

  return {
    ...state, run, clear, release,
    /** @param {boolean} is whether the user is about to click in the list */
    point(is) {
      pointing.current = is;
      if (!is) release();
    },
  };
}
