// @ts-check
// The state of the service, to be read only: what is not ready, the queue, and the model and threshold that serve.
import { html } from './dom.js';
import { useEffect, useState } from './hooks.js';
import * as api from './api.js';
import { setSingleKeys, singleKeys } from './keyboard.js';
import { count, decimal } from './ui.js';

const PERIOD = 20_000; // milliseconds between two looks, while the page is seen
const SOON = 3_000; // and while something is under way
const STILL = 60_000; // without a change, after which work stands still

/** Work that waits, since when it has not changed, and the most of it that was seen. @typedef {{left: number, most: number, at: number}} Work */

/** @param {Work | undefined} before @param {number} left @returns {Work} */
const followed = (before, left) => ({
  left, most: left === 0 ? 0 : Math.max(left, before?.most ?? 0), at: before && before.left === left ? before.at : Date.now(),
});

/** What waits. @param {api.EmbeddingStatus} q @returns {Record<'copy' | 'embed', number>} */
const waiting = (q) => ({ copy: q.waiting_copies, embed: Math.max(q.pending + q.running + q.failed, q.sources_without_chunks - q.dead) });

/** @param {{may: {read: boolean}}} props */
export function State({ may }) {
  const [ready, setReady] = useState(/** @type {api.Readiness | null} */ (null));
  const [reached, setReached] = useState(true);
  const [queue, setQueue] = useState(/** @type {api.EmbeddingStatus | null} */ (null));
  const [keys, setKeys] = useState(singleKeys);
  const [work, setWork] = useState(/** @type {Record<string, Work>} */ ({}));
  const under = Object.values(work).some(({ left }) => left > 0);
  useEffect(() => {
    const controller = new AbortController();
    async function look() {
      if (document.hidden) return;
      try {
        setReady(await api.readiness(controller.signal));
        setReached(true);
      } catch {
        if (!controller.signal.aborted) setReached(false);
      }
      if (may.read) {
        await api.embeddingStatus(controller.signal).then((now) => {
          setQueue(now);
          setWork((before) => Object.fromEntries(Object.entries(waiting(now)).map(([name, left]) => [name, followed(before[name], left)])));
        }, () => {});
      }
    }
    look();
    const timer = setInterval(look, under ? SOON : PERIOD);
    document.addEventListener('visibilitychange', look);
    return () => { controller.abort(); clearInterval(timer); document.removeEventListener('visibilitychange', look); };
  }, [may.read, under]);
  const good = reached && ready?.status === 'ready';
  const missing = ready?.status === 'not ready' ? ready.missing.join(', ') : '';
  const tickets = queue?.match_thresholds.find((t) => t.dimensions > 768) ?? queue?.match_thresholds[0];
  return html`<footer class="state" aria-label="State of the service">
    <p role="status" class=${good ? 'good' : ready || !reached ? 'bad' : ''}><span class="dot"></span>${!reached ? 'Not reachable' : !ready ? 'Checking …' : good ? 'Ready' : `Not ready: ${missing}`}</p>
    ${queue && html`<${Progress} name="Copying rows" work=${work.copy} /><${Progress} name="Embedding texts" work=${work.embed} />
      ${remedies(queue, work).map((text) => html`<p class="bad"><span class="dot"></span>${text}</p>`)}`}
    <dl>${queue && html`<div><dt>Waiting</dt><dd>${count(queue.pending + queue.running + queue.failed)}</dd></div>
      <div><dt>Oldest waits</dt><dd>${lag(queue.oldest_pending_seconds)}</dd></div>
      <div class=${queue.dead > 0 ? 'bad' : ''}><dt>Failed</dt><dd>${count(queue.dead)}</dd></div>
      <div><dt>Passages</dt><dd>${count(queue.chunks)}</dd></div>`}
      ${tickets && html`<div><dt>Model</dt><dd>${tickets.model}</dd></div><div><dt>Threshold</dt><dd>${decimal(tickets.match_threshold)} <span class="muted">${tickets.origin}</span></dd></div>`}</dl>
    <span class="row end"><button type="button" class="link" title="/ goes to the search field, j and k through the results" onClick=${() => { setSingleKeys(!keys); setKeys(!keys); }}>Single-key shortcuts: ${keys ? 'on' : 'off'}</button><a href="docs">API</a></span></footer>`;
}

/** How far work is, of the most that has waited since this page was opened: an import or another model adds to it. @param {{name: string, work?: Work}} props */
function Progress({ name, work }) {
  if (!work?.left) return null;
  return html`<div class="progress"><span>${name}</span><progress aria-label=${name} max=${work.most} value=${work.most - work.left}></progress><span>${count(work.left)} left</span></div>`;
}

/** What to do about what stands still or has failed. @param {api.EmbeddingStatus} queue @param {Record<string, Work>} work */
function remedies(queue, work) {
  const stands = (/** @type {Work | undefined} */ one) => one && one.left > 0 && Date.now() - one.at >= STILL;
  return [
    queue.blocked_by && `The model provider${queue.blocked_by === 'model_key' ? ' refuses the key' : '’s quota is used up'}: texts wait for it.`,
    stands(work.copy) && 'No row was copied for a minute: see that a worker runs (tasklens worker), and its log.',
    stands(work.embed) && !queue.blocked_by && (queue.pending + queue.running + queue.failed === 0 ? 'Texts have no embedding, and none is queued: tasklens backfill queues them.'
      : queue.failed > 0 && queue.pending + queue.running === 0 ? 'Embedding fails and is tried again: the worker’s log says why.' : 'No text was embedded for a minute: see that a worker runs (tasklens worker), and its log.'),
    queue.dead > 0 && `${count(queue.dead)} ${queue.dead === 1 ? 'text' : 'texts'} failed for good: list_dead_embedding_jobs() says why, replay_embedding_jobs() tries again.`,
    queue.refused_rows > 0 && `${count(queue.refused_rows)} ${queue.refused_rows === 1 ? 'row' : 'rows'} of your tables cannot be copied: tasklens.attached_rows says why.`,
  ].filter(Boolean);
}

const units = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'second', unitDisplay: 'short', maximumFractionDigits: 0 });
const minutes = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'minute', unitDisplay: 'short', maximumFractionDigits: 0 });
/** @param {number} seconds */
const lag = (seconds) => (seconds < 120 ? units.format(seconds) : minutes.format(seconds / 60));
