// @ts-check
// A conversation: what was asked, and each answer as it is written.
import { useEffect, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { recall, remember } from './session.js';
import { asProblem } from './ui.js';

/** @typedef {import('./api.js').Source} Source */
/** @typedef {import('./api.js').QueryRequest} QueryRequest */
/** id: its place in the page; one that is neither busy nor done has failed or was stopped. @typedef {{id: number, request: QueryRequest, text: string, sources: Source[] | null, done: import('./api.js').QueryResponse | null, busy: boolean, problem: api.Problem | null}} Turn */

const MESSAGES = 10; // that a request may have
const LONGEST = 8000; // characters of a message
const KEPT = 20; // turns that a reload restores: the first, which the address has, and the last
let turnCount = 0;

/** @param {Turn[]} turns */
function keep([first, ...turns]) {
  remember({ turns: [first, ...turns.slice(1 - KEPT)].filter(Boolean).map(({ request, done, busy, problem }) => ({ request, done, busy: busy || problem !== null })) });
}

/** Of what has no answer, only the last is asked again. @returns {Turn[]} */
const restored = () => (recall().turns ?? []).map((/** @type {Turn} */ { request, done, busy }, /** @type {number} */ at, /** @type {Turn[]} */ all) => (
  { id: ++turnCount, request, text: done?.answer ?? '', sources: done?.sources ?? null, done, busy: busy && at === all.length - 1, problem: null }));

/** A conversation. It is of one user, stays in this tab, and goes on while another screen is open. */
export function useConversation() {
  const [turns, setTurns] = useState(restored);
  const [text, setText] = useState(() => recall().question ?? ''); // of the next question
  const controller = useRef(new AbortController());
  const stop = () => controller.current.abort();
  useEffect(() => {
    const last = turns.at(-1);
    if (last?.busy) ask(last.request);
    return () => { stop(); controller.current = new AbortController(); }; // nothing is kept for the next user
  }, []);

  /** A turn that failed, asked again by its own request, becomes the last. @param {QueryRequest} request @param {Turn[]} [earlier] */
  async function ask(request, earlier = turns) {
    stop();
    const { signal } = (controller.current = new AbortController());
    /** @type {Turn} */
    let turn = { id: ++turnCount, request, text: '', sources: null, done: null, busy: true, problem: null };
    /** @param {Partial<Turn>} change */
    const update = (change) => {
      turn = { ...turn, ...change };
      setTurns((all) => all.map((one) => (one.id === turn.id ? turn : one)));
    };
    const others = earlier.filter((one) => one.request !== request);
    setTurns([...others, turn]);
    keep([...others, turn]);
    try {
      const messages = others.flatMap(({ request: { question }, done }) => (done ? [{ role: 'user', content: question }, { role: 'assistant', content: done.answer.slice(0, LONGEST) }] : []));
      const asked = { ...request, messages: /** @type {QueryRequest['messages']} */ (messages.slice(-MESSAGES)), time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone };
      const done = await api.ask(asked, { sources: ({ sources }) => update({ sources }), delta: (delta) => update({ text: turn.text + delta }) }, signal);
      update({ text: done.answer, sources: done.sources, done, busy: false });
    } catch (error) {
      update({ problem: signal.aborted ? null : asProblem(error), busy: false });
    }
    if (controller.current.signal === signal) keep([...others, turn]);
  }

  function clear() {
    stop();
    controller.current = new AbortController();
    setTurns([]);
    keep([]);
  }
  return { turns, text, setText: (/** @type {string} */ next) => { setText(next); remember({ question: next }); }, ask, stop, clear };
}
