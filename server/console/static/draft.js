// @ts-check
// Before you file: which tickets are already about what one is writing.
import { html } from './dom.js';
import { useState } from './hooks.js';
import * as api from './api.js';
import { Empty, Failure, ProjectOptions, useLoad, useSettled } from './ui.js';
import { SimilarList } from './details.js';

const PAUSE = 400; // milliseconds without a key until the draft is compared
let kept = { title: '', text: '', project: '' }; // while another screen is open

export function Draft() {
  const [draft, setDraft] = useState(kept);
  const projects = useLoad((signal) => api.projects(signal), []);
  /** @param {Partial<typeof kept>} change */
  const edit = (change) => { kept = { ...draft, ...change }; setDraft(kept); };
  const now = [draft.title.trim(), draft.text.trim()].filter(Boolean).join('\n\n');
  const text = useSettled(now, PAUSE);
  const enough = text.length >= 3;
  const found = useLoad(async (signal) => (enough ? api.similarToDraft({ text, limit: 6, project_id: draft.project ? Number(draft.project) : undefined }, signal) : null), [text, draft.project]);
  return html`<div class="draft">
    <section aria-labelledby="writing"><h1 id="writing">Before you file</h1>
      <p class="muted">Write the ticket here. What is already filed about it shows up as you type. Nothing is stored.</p>
      <form onSubmit=${(/** @type {Event} */ e) => e.preventDefault()}>
        <label for="title">Title</label>
        <input id="title" type="text" dir="auto" maxlength="500" autocomplete="off" autofocus value=${draft.title} placeholder="What goes wrong, in one line" onInput=${(/** @type {any} */ e) => edit({ title: e.target.value })} />
        <label for="text">Description</label>
        <textarea id="text" rows="9" dir="auto" maxlength="90000" value=${draft.text} placeholder="What happens, what should happen, how to see it" onInput=${(/** @type {any} */ e) => edit({ text: e.target.value })}></textarea>
        <label for="project">Compare with</label>
        <select id="project" value=${draft.project} onChange=${(/** @type {any} */ e) => edit({ project: e.target.value })}><${ProjectOptions} projects=${projects.value} /></select>
      </form></section>
    <section aria-labelledby="duplicates" aria-busy=${found.loading}><h2 id="duplicates">Already filed?</h2>
      <p class="told" role="status">${enough && found.loading ? 'Comparing …' : enough && found.value ? 'The nearest first. Judge by what they say.' : ''}</p>
      ${found.problem && html`<${Failure} problem=${found.problem} retry=${found.again} />`}
      ${enough && found.value && found.value.length > 0 && html`<${SimilarList} list=${found.value} />`}
      ${enough && found.value?.length === 0 && html`<${Empty} icon="draft" title="Nothing to compare with" level=${3}><p>There is no ticket that you may see here.</p><//>`}
      ${!enough && html`<${Empty} icon="draft" title="Start with a title" level=${3}><p>A few words are enough for a first comparison.</p><//>`}
    </section></div>`;
}
