// @ts-check
// One result: the ticket with its people, dates, text, links and comments; then why it was found, and what is like it.
import { html } from './dom.js';
import { useLayoutEffect, useMemo, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { FACETS } from './facets.js';
import { keysOf, Markdown } from './markdown.js';
import { href } from './route.js';
import { settings } from './session.js';
import { plainText } from './snippet.js';
import { asProblem, Bar, Copy, count, date, decimal, Failure, Icon, useLoad } from './ui.js';
import { Why } from './why.js';

/** @typedef {import('./api.js').SearchResult} SearchResult */
/** @typedef {import('./searches.js').Answer} Answer */

/** id: of the address, which may name what no result is. @param {{id: string, result?: SearchResult, answer: Answer | null, projects?: api.Project[], onClose: () => void}} props */
export function Details({ id, result, answer, projects, onClose }) {
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => { panel.current?.focus({ preventScroll: true }); }, []);
  const keys = useMemo(() => keysOf(projects), [projects]);
  const projectId = /^project-(\d+)$/.exec(id)?.[1];
  const loaded = useLoad(async (signal) => (projectId ? null : api.ticket(id, 0, signal)), [id]);
  const ticket = loaded.value;
  const project = projects?.find((p) => String(p.project_id) === projectId);
  const key = projectId ? '' : ticket?.ticket_key ?? id;
  const name = result?.ticket_name ?? ticket?.ticket_name ?? result?.project_name ?? project?.name ?? '';
  const missing = projectId ? projects && !project && !result : loaded.problem?.code === 'not_found' || loaded.problem?.code === 'invalid';
  const comment = result?.kind === 'ticket' ? result.comment : undefined;
  const found = result && answer && answer.response.executed.length > 0;
  const link = new URL(href('search', projectId ? { project: projectId } : { q: key, open: key }), document.baseURI).href;
  return html`<section class="details" ref=${panel} tabindex="-1" aria-label=${`${key || 'Project'} ${name}`}>
    <header><div><p class="key">${key ? html`<${Key} name=${key} />` : 'Project'}</p><h2 dir="auto">${name || (missing ? 'Not found' : 'Loading …')}</h2></div>
      <button type="button" class="icon-button" aria-label="Close" title="Close (Esc)" onClick=${onClose}><${Icon} name="close" /></button></header>
    ${missing ? html`<p role="status">There is no ${projectId ? 'project' : 'ticket'} <span class="key" dir="auto">${projectId ?? id}</span>, or you may not see it.</p>`
    : loaded.problem && html`<section><${Failure} problem=${loaded.problem} retry=${loaded.again} /></section>`}
    ${name && html`<p class="meta">${(result ?? ticket)?.status && html`<span class="status">${(result ?? ticket)?.status}</span>`}<span class="muted" dir="auto">${result?.project_name ?? ticket?.project_name}</span>
      <${Away} url=${/** @type {any} */ (result)?.url ?? /** @type {any} */ (ticket)?.url} /><${Copy} text=${link} kind="link">Copy link<//></p>`}
    ${comment && found && html`<div class="passage"><p class="small muted">Found in a comment${comment.author ? ` by ${comment.author}` : ''}, ${date(comment.created_at)}:</p><p class="text" dir="auto">${plainText(result.text)}</p></div>`}
    ${projectId && result && html`<${Markdown} text=${result.text.startsWith(name) ? result.text.slice(name.length).trim() : result.text} keys=${keys} />`}
    ${ticket && html`<${Whole} ticket=${ticket} keys=${keys} />`}
    ${found && !loaded.loading && html`<${Why} result=${result} answer=${answer} />`}
    ${ticket && html`<${Similar} ticket=${ticket.ticket_id} />`}
  </section>`;
}

/** The ticket in its own tracker. @param {{url?: string | null}} props */
function Away({ url }) {
  const address = url && URL.canParse(url) ? new URL(url) : null;
  return address && /^https?:$/.test(address.protocol) && html`<a class="link" href=${address.href} target="_blank" rel="noopener noreferrer"><${Icon} name="out" />Open in ${address.host}</a>`;
}

/** A ticket's key, which leads to the ticket in the tracker where the service knows its address. @param {{name: string}} props */
const Key = ({ name }) => (settings.ticket_url
  ? html`<a href=${settings.ticket_url.replaceAll('{key}', encodeURIComponent(name))} target="_blank" rel="noopener noreferrer" title="Open in the tracker">${name}<${Icon} name="out" /></a>` : name);

/** The whole ticket. @param {{ticket: api.Ticket, keys: Set<string>}} props */
function Whole({ ticket: t, keys }) {
  /** @type {[string, string | null][]} */
  const facts = [
    ...FACETS.map(({ title, field }) => /** @type {[string, string | null]} */ ([title, field ? t[field] ?? null : null])),
    ['Due', t.due_date && date(t.due_date)], ['Filed', date(t.created_at)],
    ['Changed', date(t.updated_at) !== date(t.created_at) ? date(t.updated_at) : null], ['Resolved', t.resolved_at && date(t.resolved_at)],
  ];
  return html`<div class="whole">
    <dl class="facts">${facts.map(([name, value]) => value && html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
    ${t.labels.length > 0 && html`<p class="tags" aria-label="Labels">${t.labels.map((label) => html`<a class="chip" href=${href('search', { label })} dir="auto">${label}</a>`)}</p>`}
    ${t.description && html`<${Markdown} text=${cut(t.description, t.description_truncated_at)} keys=${keys} />`}
    ${t.links.length > 0 && html`<h3>Links</h3><ul class="links">${t.links.map((link) => html`<li><span class="muted">${LINKS[link.kind]?.[link.direction === 'out' ? 0 : 1] ?? link.kind}</span>
      <a href=${href('search', { q: link.ticket_key, open: link.ticket_key })}><span class="key">${link.ticket_key}</span> <span dir="auto">${link.ticket_name}</span></a> <span class="status">${link.status}</span></li>`)}</ul>`}
    ${t.status_changes.length > 0 && html`<h3>History</h3><ol class="talk">${t.status_changes.map((change) => html`<li><p class="small muted">${date(change.created_at)}${change.status && html` · <span class="status">${change.status}</span>`}</p>
      ${change.note && html`<${Markdown} text=${cut(change.note, change.truncated_at)} keys=${keys} />`}</li>`)}</ol>`}
    ${t.comment_count > 0 && html`<${Comments} key=${t.ticket_id} ticket=${t} keys=${keys} />`}
  </div>`;
}

/** Marks a text that the service cut. @param {string} text @param {number | null} at */
const cut = (text, at) => (at === null ? text : `${text} …`);

/** How a link reads from this ticket to the other, and from the other to this one. @type {Record<string, [string, string]>} */
const LINKS = { duplicates: ['Duplicates', 'Duplicated by'], blocks: ['Blocks', 'Blocked by'], relates_to: ['Relates to', 'Relates to'], child_of: ['Part of', 'Has the part'] };

/** @param {{ticket: api.Ticket, keys: Set<string>}} props */
function Comments({ ticket: t, keys }) {
  const [comments, setComments] = useState(t.comments);
  const [problem, setProblem] = useState(/** @type {api.Problem | null} */ (null));
  const left = t.comment_count - comments.length;
  const more = () => api.ticket(t.ticket_id, comments.length).then(
    (next) => { setComments([...comments, ...next.comments]); setProblem(null); },
    (error) => setProblem(asProblem(error)),
  );
  return html`<h3>${count(t.comment_count)} ${t.comment_count === 1 ? 'comment' : 'comments'}</h3>
    <ol class="talk">${comments.map((c) => html`<li key=${c.comment_id}><p class="small muted"><strong dir="auto">${c.author ?? 'Somebody'}</strong> · ${date(c.created_at)}</p><${Markdown} text=${cut(c.body, c.truncated_at)} keys=${keys} /></li>`)}</ol>
    ${problem && html`<${Failure} problem=${problem} retry=${more} />`}
    ${left > 0 && !problem && html`<button type="button" class="link small" onClick=${more}>Show ${count(Math.min(left, 20))} more</button>`}`;
}

/** @param {{ticket: number}} props */
function Similar({ ticket }) {
  const similar = useLoad((signal) => api.similarTickets(ticket, signal), [ticket]);
  return html`<section aria-labelledby="similar"><h3 id="similar">Similar tickets</h3>
    ${similar.problem && html`<${Failure} problem=${similar.problem} retry=${similar.again} />`}
    ${similar.loading && !similar.value && html`<p class="small muted">Comparing …</p>`}
    <${SimilarList} list=${similar.value ?? []} /></section>`;
}

/** @param {{list: import('./api.js').SimilarTicket[]}} props */
export const SimilarList = ({ list }) => html`<ul class="similar">${list.map((t) => html`<li key=${t.ticket_id}>
  <a href=${href('search', { q: t.ticket_key, open: t.ticket_key })}><span class="key">${t.ticket_key}</span><span class="name" dir="auto">${t.ticket_name}</span></a>
  <span class="status">${t.status}${t.likely_duplicate ? ' · likely duplicate' : ''}</span>
  <span class="near"><${Bar} label="Likeness" kind="meaning" value=${t.fused_score} /><span>${decimal(t.fused_score)}</span></span></li>`)}</ul>`;
