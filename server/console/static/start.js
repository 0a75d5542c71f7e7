// @ts-check
// The search screen before anything is searched for.
import { html } from './dom.js';
import { useState } from './hooks.js';
import * as api from './api.js';
import { asProblem, count, Empty, Failure, Icon, useLoad } from './ui.js';

// What is wrong in many trackers, in words that their tickets rarely have.
const WORDINGS = ['kicked out', 'too expensive', 'keeps crashing', 'everything is sluggish', 'people cannot get in', 'wants a refund',
  'emails do not come', 'hard to read', 'stale information', 'runs out of disk space', 'nothing happens after a tap', 'numbers are wrong'];
const SHOWN = 3;
const LANES = 3; // searches at the same time
const NEAR = 2; // rank by meaning from which a match is an example

/** Wordings that find a ticket by its meaning alone: it has none of their words. @param {AbortSignal} signal */
async function findExamples(signal) {
  /** @type {{query: string, place: number, ticket: string}[]} */
  const found = [];
  const left = [...WORDINGS];
  await Promise.all(Array.from({ length: LANES }, async () => {
    for (let query; (query = left.shift()); ) {
      const { results } = await api.search({ query, limit: SHOWN, log: false }, signal);
      const place = results.findIndex((r) => r.ticket_key && r.vector_rank && r.vector_rank <= NEAR && !r.keyword_rank && !r.highlight.includes('<mark>'));
      if (place >= 0) found.push({ query, place, ticket: `${results[place].ticket_key} ${results[place].ticket_name}` });
    }
  }));
  const place = (/** @type {{query: string, place: number}} */ one) => one.place * WORDINGS.length + WORDINGS.indexOf(one.query);
  return found.sort((a, b) => place(a) - place(b)).slice(0, SHOWN);
}

/** Before anything is searched for: examples out of what there is. @param {{projects: any, may: {write: boolean}, onChoose: (query: string) => void, onProject: (id: number) => void}} props */
export function Start({ projects, may, onChoose, onProject }) {
  const list = /** @type {import('./api.js').Project[] | undefined} */ (projects.value);
  const examples = useLoad(async (signal) => ({ of: list, found: list?.length ? await findExamples(signal) : [] }), [list?.length]);
  const found = examples.value?.found ?? [];
  // All at once, so that nothing moves.
  const shown = list && (examples.problem || examples.value?.of) ? list : [];
  if (projects.problem) return html`<${Failure} problem=${projects.problem} retry=${projects.again} />`;
  if (list && list.length === 0) {
    return html`<h1 class="sr">Search</h1><${Empty} icon="search" title="There is nothing to search yet"><p>You are a member of no project, or the projects have no tickets. An administrator can add you to one.</p><//>`;
  }
  return html`<div class="start">
    <h1>Find it by what it means</h1>
    <p class="lead">Describe a problem in your own words, or type a key. Exact matches and similar meanings come in one list.</p>
    <div class="try">${found.length > 0 && html`<h2>Try</h2><ul class="examples">${found.map(({ query, ticket }) => html`<li><button type="button" class="example" onClick=${() => onChoose(query)}><${Icon} name="search" /><span>${query}<small>finds <span dir="auto">${ticket}</span></small></span></button></li>`)}</ul>`}</div>
    ${shown.length > 0 && html`<h2>Projects</h2>`}
    <ul class="tiles">${shown.map((p) => html`<li><button type="button" class="tile" onClick=${() => onProject(p.project_id)} title=${`Search in ${p.name}`}>
      <span class="key">${p.key}</span><span class="name">${p.name}</span><span class="muted small">${count(p.tickets)} ${p.tickets === 1 ? 'ticket' : 'tickets'}</span></button></li>`)}</ul>
    ${may.write && shown.length > 0 && html`<details class="why"><summary><${Icon} name="right" />Settings of the projects</summary>${shown.map((p) => html`<${Language} key=${p.project_id} project=${p} onChange=${projects.again} />`)}</details>`}
  </div>`;
}

/** @param {{project: api.Project, onChange: () => void}} props */
function Language({ project, onChange }) {
  const [told, setTold] = useState('');
  /** @param {Event} e */
  function submit(e) {
    e.preventDefault();
    const language = String(new FormData(/** @type {HTMLFormElement} */ (e.target)).get('language')).trim().toLowerCase();
    api.setLanguage(project.project_id, language).then(() => {
      setTold('It is set. Texts are indexed again.');
      onChange();
    }, (error) => setTold(asProblem(error).fields.map((f) => `The language ${f.message}.`).join(' ') || asProblem(error).message));
  }
  return html`<form class="language small" onSubmit=${submit}><label><span>Language of <bdi>${project.name}</bdi></span> <input name="language" maxlength="63" placeholder="that of the database" value=${project.language ?? ''} /></label>
    <button class="button">Set the language</button><p role="status">${told}</p></form>`;
}
