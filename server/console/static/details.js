// @ts-check
// One result: its text, why it stands where it stands, and what is like it.
import { html } from './dom.js';
import { useEffect, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { href } from './route.js';
import { Bar, count, decimal, Failure, Icon, Prose, score, Stack, useLoad } from './ui.js';
import { Found } from './search.js';

/** @typedef {import('./api.js').SearchResult} SearchResult */
/** @typedef {import('./search.js').Answer} Answer */

const K = 60; // of reciprocal rank fusion

/** @param {{result: SearchResult, answer: Answer, onClose: () => void}} props */
export function Details({ result, answer, onClose }) {
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  const [whole, setWhole] = useState(false);
  useEffect(() => { panel.current?.focus({ preventScroll: true }); }, []);
  const { ticket_id: ticket } = result;
  const name = result.ticket_name ?? result.project_name;
  const text = result.text.startsWith(name) ? result.text.slice(name.length).trim() : result.text;
  const long = text.length > 420;
  return html`<section class="details" ref=${panel} tabindex="-1" aria-label=${`${result.ticket_key ?? 'Project'} ${name}`}>
    <header><div><p class="key">${result.ticket_key ?? 'Project'}</p><h2>${name}</h2></div>
      <button type="button" class="icon-button" aria-label="Close" title="Close (Esc)" onClick=${onClose}><${Icon} name="close" /></button></header>
    <p class="meta"><${Found} result=${result} />${result.status && html`<span class="status">${result.status}</span>`}<span class="muted">${result.project_name}</span></p>
    ${text && html`<p class="text"><${Prose} text=${long && !whole ? `${text.slice(0, 400).trimEnd()} …` : text} /></p>`}
    ${long && html`<button type="button" class="link small" onClick=${() => setWhole(!whole)}>${whole ? 'Show less' : 'Show the whole passage'}</button>`}
    <${Why} result=${result} answer=${answer} />
    ${ticket !== null && html`<${Similar} ticket=${ticket} />`}
  </section>`;
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
  <a href=${href('search', { q: t.ticket_key, open: t.ticket_key })}><span class="key">${t.ticket_key}</span><span class="name">${t.ticket_name}</span></a>
  <span class="status">${t.status}${t.likely_duplicate ? ' · likely duplicate' : ''}</span>
  ${t.similarity !== null && html`<span class="near"><${Bar} label="Similarity" kind="meaning" value=${t.similarity} /><span>${decimal(t.similarity)}</span></span>`}</li>`)}</ul>`;
