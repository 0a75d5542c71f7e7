// @ts-check
// Parts that several screens show.
import { html } from './dom.js';
import { useEffect, useLayoutEffect, useRef, useState } from './hooks.js';
import { isAbort, Problem } from './api.js';

const paths = {
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14Zm5 12 4.5 4.5',
  ask: 'M5 5h14v10H11l-4.5 4v-4H5Z',
  draft: 'M6 3.5h8l4 4v13H6Zm8 0v4h4M9 12h6M9 15.5h6',
  documents: 'M4 5.5c3-1.2 6-1 8 .8 2-1.8 5-2 8-.8v13c-3-1.2-6-1-8 .8-2-1.8-5-2-8-.8Zm8 .8v13',
  close: 'm6 6 12 12M18 6 6 18',
  up: 'M7 11v9H4v-9Zm0 0 4-7c1.7 0 2.5 1.2 2.2 2.7L12.7 10H19l-1.5 8.5c-.2 1-1 1.5-2 1.5H7',
  down: 'M7 13V4H4v9Zm0 0 4 7c1.7 0 2.5-1.2 2.2-2.7l-.5-3.3H19l-1.5-8.5c-.2-1-1-1.5-2-1.5H7',
  left: 'm14 6-6 6 6 6', right: 'm10 6 6 6-6 6', stop: 'M7 7h10v10H7Z',
  copy: 'M8 8h11v12H8Zm0 0V4H5v12h3', plus: 'M12 5v14M5 12h14', user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM4.5 20c.8-3.6 3.6-5.5 7.5-5.5s6.7 1.9 7.5 5.5',
  alert: 'M12 4 2.8 20h18.4ZM12 10v4.5m0 2.4v.1', question: 'M9 9.2a3 3 0 1 1 4.4 2.6c-.9.5-1.4 1-1.4 2.2m0 3v.1M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z',
  out: 'M13 5h6v6m0-6-8 8M17 14v5H5V7h5', filter: 'M4 6h16M7 12h10m-7 6h4',
};

/** @param {{name: keyof typeof paths}} props */
export const Icon = ({ name }) => html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${paths[name]} /></svg>`;

const whole = new Intl.NumberFormat();
const fine = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const finest = new Intl.NumberFormat(undefined, { minimumFractionDigits: 4, maximumFractionDigits: 4 });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
/** @param {number} n */
export const count = (n) => whole.format(n);
/** @param {number} n */
export const decimal = (n) => fine.format(n);
/** @param {number} n */
export const score = (n) => finest.format(n);
/** A time, or a day, which is the same in every time zone. @param {string} text */
export const date = (text) => day.format(new Date(text.length === 10 ? `${text}T00:00` : text));

/** The names of projects by id, with the key of those whose name another has too. @param {import('./api.js').Project[]} [projects] */
export function projectNames(projects = []) {
  /** @param {import('./api.js').Project} p */
  const plainName = (p) => p.name.trim().toLowerCase();
  return new Map(projects.map((p) => [String(p.project_id), projects.some((other) => other !== p && plainName(other) === plainName(p)) ? `${p.name} (${p.key})` : p.name]));
}

/** @param {{projects?: import('./api.js').Project[]}} props */
export const ProjectOptions = ({ projects }) => html`<option value="">All projects</option>${[...projectNames(projects)].map(([id, name]) => html`<option value=${id}>${name}</option>`)}`;

/** Whether a model compares words alone. @param {string} [model] */
export const inWords = (model) => model?.startsWith('words-');

/** Which search found it, and by which model. @param {{result: import('./api.js').SearchResult, model?: string}} props */
export function FoundBy({ result, model }) {
  return html`<span class="badges">${result.kind === 'ticket' && result.exact && html`<span class="badge exact" title="The query names its key, or an identifier that it contains">Exact</span>`}
    ${result.vector_rank && html`<span class="badge meaning" title=${`Number ${count(result.vector_rank)} by similarity`}>Similar ${inWords(model) ? 'words' : 'meaning'}</span>`}
    ${result.keyword_rank && html`<span class="badge keyword" title=${`It contains words of the query: number ${count(result.keyword_rank)} by words`}>Same words</span>`}</span>`;
}

/** A share of a whole, drawn. @param {{label: string, value: number, max?: number, kind?: string, tick?: number, text?: string}} props */
export function Bar({ label, value, max = 1, kind = 'plain', tick, text }) {
  const share = Math.max(0, Math.min(1, max > 0 ? value / max : 0));
  return html`<div class="bar" role="img" aria-label=${`${label}: ${text ?? decimal(value)}${tick === undefined ? '' : `, threshold ${decimal(tick)}`}`}>
    <span class=${`fill ${kind}`} style=${{ width: `${share * 100}%` }}></span>
    ${tick !== undefined && html`<span class="tick" style=${{ left: `${(tick / max) * 100}%` }}></span>`}
  </div>`;
}

/** Shares of a sum, drawn one after the other. @param {{label: string, parts: {name: string, value: number, kind: string}[], max: number}} props */
export function Stack({ label, parts, max }) {
  const told = parts.map((part) => `${part.name} ${score(part.value)}`).join(', ');
  return html`<div class="bar stack" role="img" aria-label=${`${label}: ${told}`}>
    ${parts.map((part) => html`<span class=${`fill ${part.kind}`} style=${{ width: `${max > 0 ? Math.max(0, Math.min(1, part.value / max)) * 100 : 0}%` }}></span>`)}
  </div>`;
}

/** @param {{icon: keyof typeof paths, title: string, level?: 2 | 3, children?: any}} props */
export function Empty({ icon, title, level = 2, children }) {
  return html`<div class="empty"><span class="emblem"><${Icon} name=${icon} /></span><${`h${level}`}>${title}<//>${children}</div>`;
}

/** @type {Partial<Record<import('./api.js').ProblemCode, string>>} */
const TITLES = {
  invalid: 'This cannot be searched for', rate_limited: 'Too many requests', forbidden: 'Not allowed', not_found: 'Not found', path_not_found: 'Not found',
  model_failed: 'The model provider failed', model_limited: 'The model provider is busy', busy: 'Not available right now', stopping: 'Not available right now',
  unavailable: 'Not available right now', timeout: 'It took too long',
};

/** A failure, and another attempt where that can help. @param {{problem: Problem, retry?: () => void}} props */
export function Failure({ problem, retry }) {
  const [left, setLeft] = useState(waits(problem));
  useEffect(() => {
    setLeft(waits(problem));
    const timer = setInterval(() => setLeft(waits(problem)), 500);
    return () => clearInterval(timer);
  }, [problem]);
  return html`<div class="notice bad" role="alert">
    <${Icon} name="alert" />
    <div><strong>${(problem.code && TITLES[problem.code]) || 'It did not work'}</strong>
      <p>${problem.message}${problem.fields.map((f) => ` ${f.field.replace(/^filters\.(not\.)?/, '')}: ${f.message}.`)}</p>
      ${problem.requestId && html`<p class="small muted">Request ${problem.requestId}</p>`}</div>
    ${retry && problem.passing && html`<button type="button" class="button" disabled=${left > 0} onClick=${retry}>${left > 0 ? `Try again in ${left} s` : 'Try again'}</button>`}
  </div>`;
}

/** @param {Problem} problem */
const waits = (problem) => Math.max(0, Math.ceil(problem.retryAfter - (Date.now() - problem.at) / 1000));

/** @param {unknown} error @returns {Problem} */
export const asProblem = (error) => (error instanceof Problem ? error : new Problem({ detail: String(error) }));

/**
 * Loads something whenever what it depends on changes. The last one asked for wins.
 * @template T @param {(signal: AbortSignal) => Promise<T>} load @param {unknown[]} on
 * @returns {{value: T | undefined, problem: Problem | undefined, loading: boolean, again: () => void}}
 */
export function useLoad(load, on) {
  const [round, setRound] = useState(0);
  const [state, setState] = useState(/** @type {{value?: T, problem?: Problem, loading: boolean}} */ ({ loading: true }));
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => ({ value: before.value, loading: true }));
    load(controller.signal).then(
      (value) => controller.signal.aborted || setState({ value, loading: false }),
      (error) => controller.signal.aborted || isAbort(error) || setState({ problem: asProblem(error), loading: false }),
    );
    return () => controller.abort();
  }, [...on, round]);
  return { value: state.value, problem: state.problem, loading: state.loading, again: () => setRound(round + 1) };
}

/** What somebody stopped changing so long ago. @template T @param {T} value @param {number} milliseconds @returns {T} */
export function useSettled(value, milliseconds) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}

/** @param {{label: string, open: boolean, onClose?: () => void, children?: any, class?: string}} props */
export function Dialog({ label, open, onClose, children, class: kind = '' }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    if (open && !element.current?.open) element.current?.showModal();
    if (!open && element.current?.open) element.current.close();
  }, [open]);
  return html`<dialog ref=${element} class=${kind} aria-label=${label} onCancel=${(/** @type {Event} */ e) => { e.preventDefault(); onClose?.(); }}>${open && children}</dialog>`;
}

/** @param {{label: string, value: string, options: [string, string][], onChange: (value: string) => void}} props */
export function Choice({ label, value, options, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>${options.map(([key, text]) => html`
    <button type="button" aria-pressed=${key === value} onClick=${() => onChange(key)}>${text}</button>`)}</div>`;
}

/** Copies a text, or one that is first to be made. @param {{text: string | (() => Promise<string>), kind?: string, children?: any}} props */
export function Copy({ text, kind = 'button', children }) {
  const [told, setTold] = useState('');
  async function copy() {
    const made = Promise.resolve(typeof text === 'string' ? text : text());
    // Of a promise, where browsers can: some forget the click while it is awaited.
    const copied = window.ClipboardItem ? navigator.clipboard.write([new ClipboardItem({ 'text/plain': made.then((one) => new Blob([one], { type: 'text/plain' })) })])
      : made.then((one) => navigator.clipboard.writeText(one));
    setTold(await copied.then(() => 'Copied', () => 'It could not be copied'));
  }
  return navigator.clipboard && html`<button type="button" class=${kind} onClick=${copy}><${Icon} name="copy" /><span aria-live="polite">${told || children}</span></button>`;
}
