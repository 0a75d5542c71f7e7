// @ts-check
// The state of the service, to be read only: what is not ready, the queue, and the model and threshold that serve.
import { html } from './dom.js';
import { useEffect, useState } from './hooks.js';
import * as api from './api.js';
import { count, decimal } from './ui.js';

const PERIOD = 20_000; // milliseconds between two looks, while the page is seen

/** @param {{may: {read: boolean}}} props */
export function State({ may }) {
  const [ready, setReady] = useState(/** @type {api.Readiness | null} */ (null));
  const [reached, setReached] = useState(true);
  const [queue, setQueue] = useState(/** @type {api.EmbeddingStatus | null} */ (null));
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
      if (may.read) await api.embeddingStatus(controller.signal).then(setQueue, () => {});
    }
    look();
    const timer = setInterval(look, PERIOD);
    document.addEventListener('visibilitychange', look);
    return () => { controller.abort(); clearInterval(timer); document.removeEventListener('visibilitychange', look); };
  }, [may.read]);
  const good = reached && ready?.status === 'ready';
  const missing = ready?.status === 'not ready' ? ready.missing.join(', ') : '';
  const tickets = queue?.match_thresholds.find((t) => t.dimensions > 768) ?? queue?.match_thresholds[0];
  return html`<footer class="state" aria-label="State of the service">
    <p role="status" class=${good ? 'good' : ready || !reached ? 'bad' : ''}><span class="dot"></span>${!reached ? 'Not reachable' : !ready ? 'Checking …' : good ? 'Ready' : `Not ready: ${missing}`}</p>
    <dl>${queue && html`<div><dt>Queue</dt><dd>${count(queue.pending + queue.running + queue.failed)}</dd></div>
      <div><dt>Lag</dt><dd>${lag(queue.oldest_pending_seconds)}</dd></div>
      <div class=${queue.dead > 0 ? 'bad' : ''}><dt>Dead letters</dt><dd>${count(queue.dead)}</dd></div>
      <div><dt>Chunks</dt><dd>${count(queue.chunks)}</dd></div>`}
      ${tickets && html`<div><dt>Model</dt><dd>${tickets.model}</dd></div><div><dt>Threshold</dt><dd>${decimal(tickets.match_threshold)} <span class="muted">${tickets.origin}</span></dd></div>`}</dl>
    <a class="end" href="docs">API</a></footer>`;
}

const units = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'second', unitDisplay: 'short', maximumFractionDigits: 0 });
const minutes = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'minute', unitDisplay: 'short', maximumFractionDigits: 0 });
/** @param {number} seconds */
const lag = (seconds) => (seconds < 120 ? units.format(seconds) : minutes.format(seconds / 60));
