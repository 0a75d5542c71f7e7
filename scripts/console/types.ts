// What a frontend relies on when it generates types from the API document with the tool's default options. This file is compiled, never run.
import createClient from 'openapi-fetch';
import type { components, paths } from 'openapi';

type Schemas = components['schemas'];

type IsAny<T> = 0 extends 1 & T ? true : false;
/** Whether each type may stand for the other, and neither is any. */
type Same<T, U> = [IsAny<T>, IsAny<U>, [T] extends [U] ? true : false, [U] extends [T] ? true : false] extends [false, false, true, true] ? true : false;
const holds = <_ extends true>() => {};
const never = (value: never) => value;

// A request needs no more than its required fields: what has a default may be left out.
export const requests: [Schemas['SearchRequest'], Schemas['SearchRequest'], Schemas['QueryRequest'], Schemas['DraftRequest'], Schemas['GenerateRequest'], Schemas['EnrichRequest'], Schemas['DocumentRequest']] = [
  { query: 'login' },
  { query: 'login', limit: 5, filters: { open: true, labels: 'payments', not: { assignee: ['ada', null] } } },
  { question: 'Why?', filters: null },
  { text: 'Charged twice' },
  { project_id: 1 },
  {},
  { title: 'Raft', content: '' },
];
// @ts-expect-error A misspelt field is an error.
export const misspelt: Schemas['SearchRequest'] = { quary: 'login' };
// @ts-expect-error So is a missing one.
export const missing: Schemas['QueryRequest'] = { top_k: 5 };
// @ts-expect-error And a value that is none of an enumeration.
export const unknownValue: Schemas['SearchRequest'] = { query: 'login', sort: 'oldest' };

export async function calls() {
  const api = createClient<paths>();

  // An answer is its JSON, although the same request may also be answered by a stream.
  const asked = await api.POST('/api/query', { body: { question: 'Why?' } });
  holds<Same<typeof asked.data, Schemas['QueryResponse'] | undefined>>();
  if (asked.error) holds<Same<typeof asked.error, Schemas['Problem']>>();

  const searched = await api.POST('/api/hybrid-search', { body: { query: 'login', limit: 3 } });
  holds<Same<typeof searched.data, Schemas['SearchResponse'] | undefined>>();
  searched.data?.results.forEach(result);
  holds<Same<NonNullable<Schemas['SearchResponse']['read_as']>['filters'], Schemas['ReadFilters']>>();

  // Parameters with a default may be left out too.
  const found = await api.GET('/api/knowledge/search', { params: { query: { q: 'raft' } } });
  for (const document of found.data?.results ?? []) {
    holds<Same<typeof document, Schemas['FoundDocument']>>();
    holds<Same<typeof document.final_score, number | undefined>>(); // only with hybrid
  }
  await api.GET('/api/tickets/{ticket_id}/similar', { params: { path: { ticket_id: 'TX-400' } } });

  const ready = await api.GET('/readyz');
  holds<Same<typeof ready.data, Schemas['Ready'] | undefined>>();
}

// A source is narrowed by its type.
export function source(of: Schemas['Source']): string {
  switch (of.type) {
    case 'ticket':
      holds<Same<typeof of.ticket_id, number>>();
      holds<Same<typeof of.comment, Schemas['Comment'] | null>>();
      return of.ticket_key + of.ticket_name;
    case 'project':
      return String(of.project_id);
    case 'document':
      holds<Same<typeof of.project_id, number | null>>(); // always null
      return of.title + of.document_id;
    default:
      return never(of);
  }
}

// A result is a ticket or a project: the one has all that tickets have, of which the other has null.
export function result(of: Schemas['SearchResult']): string {
  if (of.kind === 'project') {
    holds<Same<typeof of, Schemas['ProjectResult']>>();
    holds<Same<typeof of.labels, string[] | null>>(); // always null
    return of.project_name;
  }
  holds<Same<typeof of.status, string>>();
  holds<Same<typeof of.created_at, string>>();
  holds<Same<typeof of.similarity, number | undefined>>(); // absent, never null
  holds<Same<typeof of.labels, string[]>>();
  return of.ticket_key;
}

// An event of a stream is narrowed by its name.
export function event(of: Schemas['QueryEvent']): string {
  switch (of.event) {
    case 'sources':
      holds<Same<typeof of.data.best_similarity, number | null>>();
      return of.data.sources.map(source).join();
    case 'delta':
      return of.data.text;
    case 'done':
      return of.data.answer;
    case 'error':
      return of.data.code === 'timeout' ? 'Ask again' : of.data.detail;
    default:
      return never(of);
  }
}

export function readiness(of: Schemas['Ready'] | Schemas['NotReady']): string[] {
  return of.status === 'ready' ? [] : of.missing;
}
