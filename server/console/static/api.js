// @ts-check
// The API, as its OpenAPI document types it. A request without a good token waits for the user to sign in, and is sent again.
import { accessToken, refused } from './session.js';

/** @typedef {import('openapi').components['schemas']} Schemas */
/** @typedef {Schemas['SearchRequest']} SearchRequest */
/** @typedef {Schemas['SearchResponse']} SearchResponse */
/** @typedef {Schemas['SearchResult']} SearchResult */
/** @typedef {NonNullable<Schemas['Filters']>} Filters */
/** @typedef {Schemas['FacetValue']} FacetValue */
/** @typedef {Schemas['Candidate']} Candidate */
/** @typedef {Schemas['Ticket']} Ticket */
/** @typedef {Schemas['TicketLink']} TicketLink */
/** @typedef {Schemas['QueryRequest']} QueryRequest */
/** @typedef {Schemas['QueryResponse']} QueryResponse */
/** @typedef {Schemas['Source']} Source */
/** @typedef {Schemas['GroupCount']} GroupCount */
/** @typedef {Schemas['Document']} Document */
/** @typedef {Schemas['DocumentRequest']} DocumentRequest */
/** @typedef {Schemas['FoundDocument']} FoundDocument */
/** @typedef {Schemas['EmbeddingStatus']} EmbeddingStatus */
/** @typedef {Schemas['Project']} Project */
/** @typedef {Schemas['Status']} Status */
/** @typedef {Schemas['SimilarTicket']} SimilarTicket */
/** @typedef {Schemas['SimilarDocument']} SimilarDocument */
/** @typedef {Schemas['NamedDocument']} NamedDocument */
/** @typedef {Schemas['Ready'] | Schemas['NotReady']} Readiness */
/** @typedef {Schemas['ProblemCode']} ProblemCode */

/** A failure, in words for the user. */
export class Problem extends Error {
  /** @param {Partial<Schemas['Problem']>} problem @param {number} [retryAfter] seconds */
  constructor(problem, retryAfter = 0) {
    super(problem.detail || 'Something went wrong.');
    /** @type {ProblemCode | ''} */
    this.code = problem.code ?? '';
    const status = problem.status ?? 0; // 0: no response
    this.passing = status < 400 || status === 429 || status >= 500; // whether the same request may work later
    this.requestId = problem.request_id ?? '';
    this.fields = problem.errors ?? [];
    this.retryAfter = retryAfter;
    this.at = Date.now();
  }
}

/** @param {unknown} error */
export const isAbort = (error) => error instanceof DOMException && error.name === 'AbortError';

/**
 * @param {string} method @param {string} path below /api
 * @param {{body?: unknown, signal?: AbortSignal}} [options]
 */
async function send(method, path, { body, signal } = {}) {
  for (let attempt = 0; ; attempt++) {
    const token = await accessToken(signal);
    /** @type {Record<string, string>} */
    const headers = {};
    if (token) headers.authorization = `Bearer ${token}`;
    if (body !== undefined) headers['content-type'] = 'application/json';
    let response;
    try {
      response = await fetch(new URL(`api/${path}`, document.baseURI), { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new Problem({ detail: 'The service cannot be reached. Check your connection and try again.' });
    }
    if (response.status === 401 && token && attempt < 5) {
      await refused(token);
      continue;
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  }
}

/** @param {Response} response */
async function problemOf(response) {
  const problem = await response.json().catch(() => ({ status: response.status }));
  return new Problem({ status: response.status, ...problem }, Number(response.headers.get('retry-after')) || 0);
}

/** @param {string} path @param {AbortSignal} [signal] */
const get = async (path, signal) => (await send('GET', path, { signal })).json();
/** @param {string} path @param {unknown} body @param {AbortSignal} [signal] */
const post = async (path, body, signal) => (await send('POST', path, { body, signal })).json();
/** A path whose parts come from the address or the service: none of them ends it or adds a query. @param {TemplateStringsArray} text @param {...(string | number)} parts */
const at = (text, ...parts) => String.raw({ raw: text }, ...parts.map(encodeURIComponent));
/** @param {Record<string, unknown>} params */
const query = (params) => new URLSearchParams(Object.entries(params).filter(([, v]) => v !== undefined && v !== '').map(([k, v]) => [k, String(v)]));

/** @param {SearchRequest} request @param {AbortSignal} [signal] @returns {Promise<SearchResponse>} */
export const search = (request, signal) => post('hybrid-search', request, signal);
/** The first results of a search, more than one request gives. @param {SearchRequest} request @param {number} most @param {AbortSignal} [signal] @returns {Promise<SearchResponse>} */
export async function searchAll(request, most, signal) {
  let found = await search({ ...request, limit: 100, offset: 0 }, signal);
  while (found.has_more && found.results.length < most) {
    const next = await search({ ...request, limit: 100, offset: found.results.length, facets: false, log: false }, signal);
    found = { ...found, results: [...found.results, ...next.results], has_more: next.has_more && next.results.length > 0 };
  }
  return found;
}
/** The values of every facet, over all tickets. @param {AbortSignal} [signal] */
export const facetValues = async (signal) => (await search({ query: '', filters: { created: { from: '0001-01-01' } }, retrieval: 'keyword', facets: true, limit: 1, log: false }, signal)).facets;
/** The similarity from which texts are near, for the model that serves. @param {AbortSignal} [signal] */
export const matchThreshold = async (signal) => (await search({ query: '-', retrieval: 'keyword', limit: 1, log: false }, signal)).match_threshold;
/** The caller's highest role: none, viewer, member, admin, or service. @param {AbortSignal} [signal] @returns {Promise<string>} */
export const role = async (signal) => (await get('me', signal)).role;
/** @param {AbortSignal} [signal] @returns {Promise<Project[]>} */
export const projects = async (signal) => (await get('projects', signal)).results;
/** @param {number} project @param {string} language as Postgres names it; empty: that of the database */
export const setLanguage = (project, language) => send('POST', at`projects/${project}/language`, { body: { language: language || undefined } });
/** @param {AbortSignal} [signal] @returns {Promise<Status[]>} */
export const statuses = async (signal) => (await get('statuses', signal)).results;
/** @param {number | string} id or key @param {number} [offset] how many comments are skipped @param {AbortSignal} [signal] @returns {Promise<Ticket>} */
export const ticket = (id, offset = 0, signal = undefined) => get(`${at`tickets/${id}`}?${query({ offset })}`, signal);
/** @param {number} id @param {AbortSignal} [signal] @returns {Promise<SimilarTicket[]>} */
export const similarTickets = async (id, signal) => (await get(at`tickets/${id}/similar?limit=5`, signal)).results;
/** @param {Schemas['DraftRequest']} draft @param {AbortSignal} [signal] @returns {Promise<SimilarTicket[]>} */
export const similarToDraft = async (draft, signal) => (await post('tickets/similar', draft, signal)).results;
/** @param {{q: string, hybrid?: boolean, track?: boolean, limit?: number, threshold?: number}} params @param {AbortSignal} [signal] @returns {Promise<FoundDocument[]>} */
export const searchDocuments = async (params, signal) => (await get(`knowledge/search?${query(params)}`, signal)).results;
/** @param {string} name @param {string} type @param {number} limit @param {AbortSignal} [signal] @returns {Promise<NamedDocument[]>} */
export const documentsNaming = async (name, type, limit, signal) => (await get(`${at`knowledge/entities/${name}`}?${query({ type, limit })}`, signal)).results;
/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<Document>} */
export const getDocument = (id, signal) => get(at`knowledge/documents/${id}`, signal);
/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<SimilarDocument[]>} */
export const similarDocuments = async (id, signal) => (await get(at`knowledge/documents/${id}/similar`, signal)).results;
/** @param {string} id @param {boolean} helpful */
export const vote = (id, helpful) => send('POST', at`knowledge/documents/${id}/feedback`, { body: { helpful } });
/** @param {DocumentRequest} document @returns {Promise<Schemas['DocumentWritten']>} */
export const putDocument = (document) => post('knowledge/documents', document);
/** @param {string} id */
export const deleteDocument = (id) => send('DELETE', at`knowledge/documents/${id}`);
/** @param {AbortSignal} [signal] @returns {Promise<EmbeddingStatus>} */
export const embeddingStatus = (signal) => get('embeddings/status', signal);

/** @param {AbortSignal} [signal] @returns {Promise<Readiness>} */
export async function readiness(signal) {
  const response = await fetch(new URL('readyz', document.baseURI), { signal });
  return response.json();
}

/**
 * An answer as it is written.
 * @param {QueryRequest} request
 * @param {{sources: (event: Schemas['SourcesEvent']) => void, delta: (text: string) => void}} tell
 * @param {AbortSignal} signal @returns {Promise<QueryResponse>}
 */
export async function ask(request, tell, signal) {
  const response = await send('POST', 'query', { body: { ...request, stream: true }, signal });
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  for (let rest = ''; ; ) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const events = rest.split('\n\n');
    rest = events.pop() ?? '';
    for (const text of events) {
      const { event, data } = readEvent(text);
      if (event === 'sources') tell.sources(JSON.parse(data));
      else if (event === 'delta') tell.delta(JSON.parse(data).text);
      else if (event === 'done') return JSON.parse(data);
      else if (event === 'error') throw new Problem(JSON.parse(data));
    }
    if (done) throw new Problem({ detail: 'The answer ended before it was complete. Ask again.' });
  }
}

/** @param {string} text */
function readEvent(text) {
  let event = '';
  let data = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice(7);
    else if (line.startsWith('data: ')) data += line.slice(6);
  }
  return { event, data };
}
