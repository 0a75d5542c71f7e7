import type { components } from './types.js';

type Problem = components['schemas']['Problem'];

/** A failure that the service reports, as a response or within a stream. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  /** Stable, for programs. `unknown` where something else answered, such as a proxy. Codes may be added. */
  readonly code: Problem['code'] | 'unknown';
  readonly title: string;
  /** May be shown to users. */
  readonly detail: string;
  /** The fields at fault, with `invalid`. */
  readonly errors: NonNullable<Problem['errors']>;
  /** Finds the cause in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before another try. */
  readonly retryAfter: number | undefined;

  constructor(problem: Omit<Problem, 'type' | 'code' | 'request_id'> & { code: Problem['code'] | 'unknown'; request_id?: string | undefined }, retryAfter?: number) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.code;
    this.title = problem.title;
    this.detail = problem.detail;
    this.errors = problem.errors ?? [];
    this.requestId = problem.request_id;
    this.retryAfter = retryAfter;
  }
}

/** The error of a response that is not a success. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const { status, statusText, headers } = response;
  const seconds = headers.get('retry-after');
  const retryAfter = seconds && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
  if (headers.get('content-type')?.startsWith('application/problem+json')) {
    return new ProblemError((await response.json()) as Problem, retryAfter);
  }
  await response.body?.cancel();
  const request_id = headers.get('x-request-id') ?? undefined;
  const detail = `The response has status ${status} and describes no problem.`;
  return new ProblemError({ status, code: 'unknown', title: statusText, detail, request_id }, retryAfter);
}
