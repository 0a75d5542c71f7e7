// What a frontend relies on. This file is compiled against the built package, never run.
import { createTasklens, ProblemError, type AnswerEvent, type Question, type Schemas } from 'tasklens-client';

type IsAny<T> = 0 extends 1 & T ? true : false;
/** Whether each type may stand for the other, and neither is any. */
type Same<T, U> = [IsAny<T>, IsAny<U>, [T] extends [U] ? true : false, [U] extends [T] ? true : false] extends [false, false, true, true] ? true : false;
const holds = <_ extends true>() => {};

createTasklens({ url: 'http://127.0.0.1:8080', token: () => undefined });
createTasklens({ url: 'http://127.0.0.1:8080', token: async () => 'token', fetch: (request) => fetch(request) });
createTasklens({ url: 'http://127.0.0.1:8080', token: undefined, fetch: undefined });
const tasklens = createTasklens({ url: 'http://127.0.0.1:8080' });

export async function calls(signal: AbortSignal) {
  // Failures are thrown, so that data needs no check.
  const { data: found } = await tasklens.POST('/api/hybrid-search', { body: { query: 'login', limit: 5, filters: { open: true } }, signal });
  holds<Same<typeof found, Schemas['SearchResponse']>>();
  for (const result of found.results) {
    if (result.kind === 'project') holds<Same<typeof result, Schemas['ProjectResult']>>();
    else console.log(result.ticket_key, result.ticket_name, result.labels?.join());
  }
  const { data: answer } = await tasklens.POST('/api/query', { body: { question: 'Why?' } });
  console.log(answer.sources.map(nameOf));
  holds<Same<typeof answer, Schemas['QueryResponse']>>();
  const { data: similar } = await tasklens.GET('/api/tickets/{ticket_id}/similar', { params: { path: { ticket_id: 'TX-400' } }, signal });
  holds<Same<(typeof similar.results)[number]['ticket_id'], number>>();
  const { data: me } = await tasklens.GET('/api/me');
  holds<Same<typeof me.role, 'none' | 'viewer' | 'member' | 'admin' | 'service'>>();
  await tasklens.DELETE('/api/knowledge/documents/{id}', { params: { path: { id: 'id' } } });

  // @ts-expect-error A misspelt field is an error.
  await tasklens.POST('/api/hybrid-search', { body: { quary: 'login' } });
  // @ts-expect-error So is a missing one.
  await tasklens.POST('/api/hybrid-search', { body: {} });
  // @ts-expect-error So is a missing body.
  await tasklens.POST('/api/hybrid-search');
  // @ts-expect-error And a value that is none of an enumeration.
  await tasklens.POST('/api/hybrid-search', { body: { query: 'login', sort: 'oldest' } });
  // @ts-expect-error An unknown path is one too.
  await tasklens.GET('/api/nothing');
}

/** What a source is called. */
const nameOf = (source: Schemas['QueryResponse']['sources'][number]): string =>
  source.type === 'document' ? source.title : source.type === 'project' ? source.project_name : `${source.project_name} ${source.ticket_key}`;

export async function asks(signal: AbortSignal | undefined) {
  const question: Question = { question: 'Why?', corpus: 'all', top_k: 3 };
  // @ts-expect-error A stream is what ask is for.
  question.stream = false;
  try {
    for await (const event of tasklens.ask(question, { signal })) {
      holds<Same<typeof event, AnswerEvent>>();
      if (event.event === 'sources') holds<Same<typeof event.data, Schemas['SourcesEvent']>>();
      else if (event.event === 'delta') holds<Same<typeof event.data.text, string>>();
      else holds<Same<typeof event.data, Schemas['QueryResponse']>>();
    }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    holds<Same<typeof error.code, Schemas['Problem']['code'] | 'unknown'>>();
    holds<Same<typeof error.retryAfter, number | undefined>>();
    if (error.code === 'invalid') console.log(error.errors.map(({ field, message }) => `${field} ${message}`));
    // @ts-expect-error A misspelt code is an error.
    if (error.code === 'rate_limit') console.log(error.detail);
  }
}
