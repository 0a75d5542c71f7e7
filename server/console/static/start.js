// @ts-check
// The search screen before anything is searched for.
import { html } from './dom.js';
import * as api from './api.js';
import { count, Empty, Failure, Icon, useLoad } from './ui.js';

/** Before anything is searched for: examples out of what there is. @param {{projects: any, onChoose: (query: string) => void, onProject: (id: number) => void}} props */
export function Start({ projects, onChoose, onProject }) {
  const list = /** @type {import('./api.js').Project[] | undefined} */ (projects.value);
  const examples = useLoad(async (signal) => {
    const largest = [...(list ?? [])].sort((a, b) => b.tickets - a.tickets).slice(0, 4);
    const found = await Promise.all(largest.map((p) => api.search({ query: p.name, project_id: p.project_id, retrieval: 'keyword', limit: 4 }, signal)));
    const tickets = found.map((f) => f.results.filter((r) => r.ticket_name)).filter((f) => f.length > 0);
    return { of: list, queries: [...tickets.map((f) => f[0].ticket_name ?? ''), ...tickets.slice(0, 1).map((f) => (f[1] ?? f[0]).ticket_key ?? '')] };
  }, [list]);
  const queries = examples.value?.queries ?? [];
  // All at once, so that nothing moves.
  const shown = list && (examples.problem || examples.value?.of === list) ? list : [];
  if (projects.problem) return html`<${Failure} problem=${projects.problem} retry=${projects.again} />`;
  if (list && list.length === 0) {
    return html`<h1 class="sr">Search</h1><${Empty} icon="search" title="There is nothing to search yet"><p>You are a member of no project, or the projects have no tickets. An administrator can add you to one.</p><//>`;
  }
  return html`<div class="start">
    <h1>Find it by what it means</h1>
    <p class="lead">Describe a problem in your own words, or type a key. Exact matches and similar meanings come in one list.</p>
    <div class="try">${queries.length > 0 && html`<h2>Try</h2><ul class="examples">${queries.map((text) => html`<li><button type="button" class="example" onClick=${() => onChoose(text)}><${Icon} name="search" />${text}</button></li>`)}</ul>`}</div>
    ${shown.length > 0 && html`<h2>Projects</h2>`}
    <ul class="tiles">${shown.map((p) => html`<li><button type="button" class="tile" onClick=${() => onProject(p.project_id)} title=${`Search in ${p.name}`}>
      <span class="key">${p.key}</span><span class="name">${p.name}</span><span class="muted small">${count(p.tickets)} ${p.tickets === 1 ? 'ticket' : 'tickets'}</span></button></li>`)}</ul>
  </div>`;
}
