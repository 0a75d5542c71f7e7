import createClient, { type Client, type ClientPathsWithMethod, type FetchResponse, type MaybeOptionalInit } from 'openapi-fetch';
import { readEvents } from './events.js';
import { problemOf, ProblemError } from './problem.js';
import type { components, paths } from './types.js';

export { ProblemError };
export type { components, paths };
export type Schemas = components['schemas'];

/** An event of a streamed answer. Its `error` is thrown instead, as a ProblemError. */
export type AnswerEvent = Exclude<Schemas['QueryEvent'], { event: 'error' }>;
export type Question = Omit<Schemas['QueryRequest'], 'stream'>;

export interface Options {
  /** The service's address: `https://search.example.com`. */
  url: string;
  /** Called before each request, so that a renewed token is used. Without a token none is sent. */
  token?: (() => string | undefined | Promise<string | undefined>) | undefined;
  /** Stands in for the platform's fetch. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
}

type Verb = 'get' | 'post' | 'delete';
type Data<T extends Record<string | number, unknown>, Init> = Exclude<FetchResponse<T, Init, `${string}/${string}`>['data'], undefined>;
// As openapi-fetch types a method, but without the half of a failure: failures are thrown.
type Method<V extends Verb> = <Path extends ClientPathsWithMethod<Client<paths>, V>, Init extends MaybeOptionalInit<paths[Path], V>>(
  path: Path,
  ...init: undefined extends Init ? [init?: Init] : [init: Init]
) => Promise<{ data: Data<NonNullable<paths[Path][V]>, Init>; response: Response }>;

export interface Tasklens extends Pick<Client<paths>, 'use' | 'eject'> {
  GET: Method<'get'>;
  POST: Method<'post'>;
  DELETE: Method<'delete'>;
  /** Streams an answer: `sources` (a later list replaces it), many `delta`, `done`. Leaving the loop ends the request. */
  ask(question: string | Question, options?: { signal?: AbortSignal | undefined }): AsyncGenerator<AnswerEvent, void, void>;
}

/** A client whose methods throw a ProblemError for each response that is not a success. */
export function createTasklens({ url, token, fetch }: Options): Tasklens {
  const client = createClient<paths>({ baseUrl: url, ...(fetch && { fetch }) });
  client.use({
    async onRequest({ request }) {
      const value = await token?.();
      if (value) request.headers.set('Authorization', `Bearer ${value}`);
    },
    async onResponse({ response }) {
      if (!response.ok) throw await problemOf(response);
    },
  });

  async function* ask(question: string | Question, { signal }: { signal?: AbortSignal | undefined } = {}): AsyncGenerator<AnswerEvent, void, void> {
    const body = { ...(typeof question === 'string' ? { question } : question), stream: true };
    const { data } = await client.POST('/api/query', { body, parseAs: 'stream', ...(signal && { signal }) });
    for await (const { event, data: json } of readEvents(data as ReadableStream<Uint8Array>)) {
      signal?.throwIfAborted(); // what has arrived is not handed out after an abort
      const read = { event, data: JSON.parse(json) } as Schemas['QueryEvent'];
      if (read.event === 'error') throw new ProblemError(read.data);
      yield read;
      if (read.event === 'done') return;
    }
    throw new Error('The stream ended before its answer was complete.');
  }

  return { ...client, ask } as unknown as Tasklens;
}
