// @ts-check
// One result: what was found of it, why it stands where it stands, the whole ticket, and what is like it.
import { html } from './dom.js';
import { useEffect, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { FACETS } from './facets.js';
import { href } from './route.js';
import { asProblem, Bar, count, date, decimal, Failure, FoundBy, Icon, Prose, score, Stack, useLoad } from './ui.js';

/** @typedef {import('./api.js').SearchResult} SearchResult */
/** @typedef {import('./search.js').Answer} Answer */

const K = 60; // of reciprocal rank fusion

/** @param {{result: SearchResult, answer: Answer, onClose: () => void}} props */
export function Details({ result, answer, onClose }) {
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  const [whole, setWhole] = useState(false);
  useEffect(() => { panel.current?.focus({ preventScroll: true }); }, []);
  const { ticket_id: ticket } = result;
  const loaded = useLoad(async (signal) => (ticket === null ? null : api.ticket(ticket, 0, signal)), [ticket]);
  const name = result.ticket_name ?? result.project_name;
  const text = result.text.startsWith(name) ? result.text.slice(name.length).trim() : result.text;
  const long = text.length > 260;
  const comment = result.kind === 'ticket' ? result.comment : undefined;
  return html`<section class="details" ref=${panel} tabindex="-1" aria-label=${`${result.ticket_key ?? 'Project'} ${name}`}>
    <header><div><p class="key">${result.ticket_key ?? 'Project'}</p><h2 dir="auto">${name}</h2></div>
      <button type="button" class="icon-button" aria-label="Close" title="Close (Esc)" onClick=${onClose}><${Icon} name="close" /></button></header>
    <p class="meta"><${FoundBy} result=${result} />${result.status && html`<span class="status">${result.status}</span>`}<span class="muted">${result.project_name}</span></p>
    ${comment && html`<p class="small muted">Found in a comment${comment.author ? ` by ${comment.author}` : ''}, ${date(comment.created_at)}:</p>`}
    ${!comment && text && answer.response.executed.length > 0 && html`<p class="small muted">The passage that was found:</p>`}
    ${text && answer.response.executed.length > 0 && html`<p class="text" dir="auto"><${Prose} text=${long && !whole ? `${text.slice(0, 240).trimEnd()} …` : text} /></p>`}
    ${long && answer.response.executed.length > 0 && html`<button type="button" class="link small" onClick=${() => setWhole(!whole)}>${whole ? 'Show less' : 'Show the whole passage'}</button>`}
    ${answer.response.executed.length > 0 && html`<${Why} result=${result} answer=${answer} />`}
    ${loaded.problem && html`<section><${Failure} problem=${loaded.problem} retry=${loaded.again} /></section>`}
    ${loaded.value && html`<${Whole} ticket=${loaded.value} />`}
    ${ticket !== null && !loaded.loading && html`<${Similar} ticket=${ticket} />`}
  </section>`;
}

/** The whole ticket. @param {{ticket: api.Ticket}} props */
function Whole({ ticket: t }) {
  /** @type {[string, string | null][]} */
  const facts = [
    ...FACETS.map(({ title, field, otherwise }) => /** @type {[string, string | null]} */ ([title, field ? t[field] ?? otherwise ?? null : null])),
    ['Due', t.due_date && date(t.due_date)], ['Filed', date(t.created_at)],
    ['Changed', date(t.updated_at) !== date(t.created_at) ? date(t.updated_at) : null], ['Resolved', t.resolved_at && date(t.resolved_at)],
  ];
  return html`<section class="whole" aria-labelledby="whole"><h3 id="whole">The ticket</h3>
    <dl class="facts">${facts.map(([name, value]) => value && html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
    ${t.labels.length > 0 && html`<p class="tags" aria-label="Labels">${t.labels.map((label) => html`<a class="chip" href=${href('search', { label })} dir="auto">${label}</a>`)}</p>`}
    ${t.description ? html`<p class="text" dir="auto"><${Prose} text=${cut(t.description, t.description_truncated_at)} /></p>` : html`<p class="text muted">No description.</p>`}
    ${t.links.length > 0 && html`<h4>Links</h4><ul class="links">${t.links.map((link) => html`<li><span class="muted">${LINKS[link.kind]?.[link.direction === 'out' ? 0 : 1] ?? link.kind}</span>
      <a href=${href('search', { q: link.ticket_key, open: link.ticket_key })}><span class="key">${link.ticket_key}</span> <span dir="auto">${link.ticket_name}</span></a> <span class="status">${link.status}</span></li>`)}</ul>`}
    ${t.status_changes.length > 0 && html`<h4>History</h4><ol class="talk">${t.status_changes.map((change) => html`<li><p class="small muted">${date(change.created_at)}${change.status && html` · <span class="status">${change.status}</span>`}</p>
      ${change.note && html`<p class="text" dir="auto"><${Prose} text=${cut(change.note, change.truncated_at)} /></p>`}</li>`)}</ol>`}
    ${t.comment_count > 0 && html`<${Comments} key=${t.ticket_id} ticket=${t} />`}
  </section>`;
}

/** Marks a text that the service cut. @param {string} text @param {number | null} at */
const cut = (text, at) => (at === null ? text : `${text} …`);

/** How a link reads from this ticket to the other, and from the other to this one. @type {Record<string, [string, string]>} */
const LINKS = { duplicates: ['Duplicates', 'Duplicated by'], blocks: ['Blocks', 'Blocked by'], relates_to: ['Relates to', 'Relates to'], child_of: ['Part of', 'Has the part'] };

/** @param {{ticket: api.Ticket}} props */
function Comments({ ticket: t }) {
  const [comments, setComments] = useState(t.comments);
  const [problem, setProblem] = useState(/** @type {api.Problem | null} */ (null));
  const left = t.comment_count - comments.length;
  const more = () => api.ticket(t.ticket_id, comments.length).then(
    (next) => { setComments([...comments, ...next.comments]); setProblem(null); },
    (error) => setProblem(asProblem(error)),
  );
  return html`<h4>${count(t.comment_count)} ${t.comment_count === 1 ? 'comment' : 'comments'}</h4>
    <ol class="talk">${comments.map((c) => html`<li key=${c.comment_id}><p class="small muted"><strong dir="auto">${c.author ?? 'Somebody'}</strong> · ${date(c.created_at)}</p><p class="text" dir="auto"><${Prose} text=${cut(c.body, c.truncated_at)} /></p></li>`)}</ol>
    ${problem && html`<${Failure} problem=${problem} retry=${more} />`}
    ${left > 0 && !problem && html`<button type="button" class="link small" onClick=${more}>Show ${count(Math.min(left, 20))} more</button>`}`;
}

/** The arithmetic of a result's place. @param {{result: SearchResult, answer: Answer}} props */
function Why({ result, answer }) {
  const { request, response } = answer;
  const other = response.fusion === 'rrf' ? 'convex' : 'rrf';
  const both = response.executed.length === 2;
  // Where the other fusion would put it, among the first hundred.
  const compared = useLoad(async (signal) => {
    if (!both) return null;
    const found = await api.search({ ...request, fusion: other, facets: false, limit: 100, offset: 0 }, signal);
    const at = found.results.findIndex((r) => r.project_id === result.project_id && r.ticket_id === result.ticket_id);
    return at < 0 ? null : { place: at + 1, result: found.results[at], best: found.results[0].fused_score };
  }, [JSON.stringify(request), both, result.project_id, result.ticket_id]);
  const { vector, keyword } = result.explain ?? {};
  const place = (request.offset ?? 0) + response.results.indexOf(result) + 1;
  const bestKeyword = Math.max(...response.results.map((r) => r.explain?.keyword?.score ?? 0));
  return html`<section class="why" aria-labelledby="why"><h3 id="why">Why it is result ${count(place)}</h3>
    ${result.kind === 'ticket' && result.exact && html`<p class="small">The query names its key, so it comes before everything else.</p>`}
    <div class="legs">
      <div class="leg"><h4><span class="dot meaning"></span>Meaning</h4>
        ${vector ? html`<dl>
          <div><dt>Rank</dt><dd>${count(vector.rank)}</dd></div>
          <div><dt>Similarity</dt><dd>${decimal(vector.similarity)}</dd></div></dl>
          <${Bar} label="Similarity" kind="meaning" value=${vector.similarity} tick=${response.match_threshold} />
          <p class="small muted">The mark is the threshold, ${decimal(response.match_threshold)}.</p>`
      : html`<p class="small muted">${both ? `Not found: less similar than ${decimal(response.match_threshold)}, or beyond the nearest 100.` : 'This search did not run.'}</p>`}
      </div>
      <div class="leg"><h4><span class="dot keyword"></span>Keyword</h4>
        ${keyword ? html`<dl>
          <div><dt>Rank</dt><dd>${count(keyword.rank)}</dd></div>
          <div><dt>Score (BM25F)</dt><dd>${decimal(keyword.score)}</dd></div></dl>
          <${Bar} label="Keyword score" kind="keyword" value=${keyword.score} max=${bestKeyword} text=${`${decimal(keyword.score)} of ${decimal(bestKeyword)}`} />
          <p class="small muted">Of ${decimal(bestKeyword)}, the best on this page.</p>`
      : html`<p class="small muted">Not found: it contains none of the query’s words.</p>`}
      </div>
    </div>
    <h4>The two searches become one list</h4>
    <div class="fusions">
      <${Fusion} name=${response.fusion} place=${place} result=${result} best=${response.results[0].fused_score} used=${true} />
      ${both && compared.value && html`<${Fusion} name=${other} place=${compared.value.place} result=${compared.value.result} best=${compared.value.best} used=${false} />`}
      ${both && compared.loading && html`<p class="small muted">Comparing with the other fusion …</p>`}
    </div>
  </section>`;
}

/** @param {{name: string, place: number, result: SearchResult, best: number, used: boolean}} props */
function Fusion({ name, place, result, best, used }) {
  const { vector, keyword } = result.explain ?? {};
  const parts = [
    { name: 'meaning', value: vector?.contribution ?? 0, kind: 'meaning' },
    { name: 'keyword', value: keyword?.contribution ?? 0, kind: 'keyword' },
  ];
  const terms = name === 'rrf'
    ? [vector && `${vector.weight} / (${K} + ${vector.rank})`, keyword && `${keyword.weight} / (${K} + ${keyword.rank})`]
    : [vector && score(vector.contribution), keyword && score(keyword.contribution)];
  return html`<div class=${`fusion ${used ? 'used' : ''}`}>
    <p><strong>${name === 'rrf' ? 'By ranks (RRF)' : 'By scores (convex)'}</strong> <span class="muted">${used ? `result ${count(place)}` : `would be result ${count(place)}`}</span></p>
    <${Stack} label=${name === 'rrf' ? 'RRF score' : 'Convex score'} parts=${parts} max=${best} />
    <p class="sum"><code>${terms.filter(Boolean).join(' + ')} = ${score(result.fused_score)}</code></p>
  </div>`;
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
  ${t.similarity !== null && html`<span class="near"><${Bar} label="Similarity" kind="meaning" value=${t.similarity} /><span>${decimal(t.similarity)}</span></span>`}</li>`)}</ul>`;
