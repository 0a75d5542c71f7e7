// @ts-check
// Before you file: which tickets are already about what one is writing.
import { html } from './dom.js';
import { useMemo, useState } from './hooks.js';
import * as api from './api.js';
import { Bar, decimal, Empty, Failure, Icon, ProjectOptions, useLoad, useSettled } from './ui.js';
import { agreement } from './agree.js';
import { href } from './route.js';
import { recall, remember } from './session.js';
import { Highlight, plainText } from './snippet.js';

const PAUSE = 400; // milliseconds without a key until the draft is compared
const LONGEST = 90_000; // characters of a description
const HALF = { meaning: 0.15, words: 0.35 }; // of what each can contribute to a likeness: nearer to a copy than to unrelated texts
const LINKED = /^Relates to \S+-\d+:.*$/gm;

/**
 * Whether a ticket is about the same: over the threshold of the model, or by words alone. A title without a known word
 * resembles any short text, so meaning has to say more there.
 * @param {api.SimilarTicket} t @param {number} threshold
 */
const isNear = (t, threshold) => t.vector_contribution >= HALF.meaning || t.keyword_contribution >= HALF.words || ((t.similarity ?? 0) >= threshold && (t.duplicate_score ?? 0) > 0);

export function Draft() {
  const [draft, setDraft] = useState(() => ({ title: '', text: '', project: '', ...recall().draft }));
  const projects = useLoad((signal) => api.projects(signal), []);
  /** @param {Partial<typeof draft>} change */
  const edit = (change) => { setDraft({ ...draft, ...change }); remember({ draft: { ...draft, ...change } }); };
  // What links to others says nothing of the ticket itself.
  const now = [draft.title.trim(), draft.text.replace(LINKED, '').trim()].filter(Boolean).join('\n\n');
  const text = useSettled(now, PAUSE);
  const enough = [now, text].every((one) => (one.match(/[\p{L}\p{N}]/gu) ?? []).length >= 3); // a form that was emptied has no duplicates
  const found = useLoad(async (signal) => (enough ? api.similarToDraft({ text, limit: 6, project_id: draft.project ? Number(draft.project) : undefined }, signal) : null), [enough && text, draft.project]);
  const threshold = useLoad((signal) => api.matchThreshold(signal), []);
  const compared = enough && !threshold.loading ? found.value : null;
  const near = (compared ?? []).filter((t) => isNear(t, threshold.value ?? 0));
  /** @param {api.SimilarTicket} t */
  const link = (t) => edit({ text: `${draft.text.trimEnd()}${draft.text.trim() ? '\n\n' : ''}Relates to ${t.ticket_key}: ${t.ticket_name}`.slice(0, LONGEST) });
  return html`<div class="draft">
    <section aria-labelledby="writing"><h1 id="writing">Before you file</h1>
      <p class="muted">Write the ticket here. What is already filed about it shows up as you type. It stays in this tab.</p>
      <form onSubmit=${(/** @type {Event} */ e) => e.preventDefault()}>
        <label for="title">Title</label>
        <input id="title" type="text" dir="auto" maxlength="500" autocomplete="off" autofocus value=${draft.title} placeholder="What goes wrong, in one line" onInput=${(/** @type {any} */ e) => edit({ title: e.target.value })} />
        <label for="text">Description</label>
        <textarea id="text" rows="9" dir="auto" maxlength=${LONGEST} value=${draft.text} placeholder="What happens, what should happen, how to see it" onInput=${(/** @type {any} */ e) => edit({ text: e.target.value })}></textarea>
        <label for="project">Compare with</label>
        <select id="project" value=${draft.project} onChange=${(/** @type {any} */ e) => edit({ project: e.target.value })}><${ProjectOptions} projects=${projects.value} /></select>
      </form></section>
    <section aria-labelledby="duplicates" aria-busy=${found.loading}><h2 id="duplicates">Already filed?</h2>
      <p class="told" role="status">${enough && (found.loading || threshold.loading) ? 'Comparing …' : near.length > 0 ? 'The nearest first. If one is about the same, link it, and file what is new.' : ''}</p>
      ${found.problem && html`<${Failure} problem=${found.problem} retry=${found.again} />`}
      ${near.length > 0 && html`<ol class="similar">${near.map((t) => html`<${Alike} key=${t.ticket_id} ticket=${t} draft=${text} linked=${draft.text.includes(`Relates to ${t.ticket_key}:`)} onLink=${() => link(t)} />`)}</ol>`}
      ${compared && near.length === 0 && html`<${Empty} icon="draft" title=${compared.length > 0 ? 'Nothing like this is filed' : 'Nothing to compare with'} level=${3}><p>${compared.length > 0 ? 'No ticket that you may see is near to it. You can file it.' : 'There is no ticket that you may see here.'}</p><//>`}
      ${!enough && html`<${Empty} icon="draft" title="Start with a title" level=${3}><p>A few words are enough for a first comparison.</p><//>`}
    </section></div>`;
}

/** One ticket that is like the draft, with what agrees. @param {{ticket: import('./api.js').SimilarTicket, draft: string, linked: boolean, onLink: () => void}} props */
function Alike({ ticket: t, draft, linked, onLink }) {
  const whole = useLoad((signal) => api.ticket(t.ticket_id, 0, signal), [t.ticket_id]);
  const agrees = useMemo(() => whole.value && agreement(draft, t.ticket_name, plainText(`${whole.value.description ?? ''}\n${whole.value.comments.map((c) => c.body).join('\n')}`)), [whole.value, draft]);
  return html`<li><a href=${href('search', { q: t.ticket_key, open: t.ticket_key })} target="_blank"><span class="key">${t.ticket_key}</span><span class="name" dir="auto">${t.ticket_name}</span></a>
    <span class="status">${t.status}${t.likely_duplicate ? ' · likely duplicate' : ''}</span>
    <span class="near"><${Bar} label="Likeness" kind="meaning" value=${t.fused_score} /><span>${decimal(t.fused_score)}</span></span>
    <div class="agrees">${agrees && html`<p class="muted">Both say: <span dir="auto">${agrees.words.join(', ')}</span></p><p class="text" dir="auto">“<${Highlight} pieces=${agrees.sentence} />”</p>`}
      ${whole.value && !agrees && html`<p class="muted">No word in common: the texts are alike as a whole.</p>`}</div>
    <button type="button" class="button" disabled=${linked} onClick=${onLink}><${Icon} name="plus" />${linked ? 'Linked' : 'Link it'}<span class="sr"> ${t.ticket_key}</span></button></li>`;
}
