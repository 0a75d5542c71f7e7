// @ts-check
// Why a result stands where it stands: the passage that was found, its ranks and scores, and how they become one.
import { html } from './dom.js';
import { useState } from './hooks.js';
import * as api from './api.js';
import { plainText } from './snippet.js';
import { Bar, count, decimal, Icon, score, Stack, useLoad } from './ui.js';

/** @typedef {import('./api.js').SearchResult} SearchResult */
/** @typedef {import('./searches.js').Answer} Answer */

const K = 60; // of reciprocal rank fusion

let unfolded = false; // for one result, for the next ones too

/** Folded until it is asked for. @param {{result: SearchResult, answer: Answer}} props */
export function Why({ result, answer }) {
  const [open, setOpen] = useState(unfolded);
  const place = (answer.request.offset ?? 0) + answer.response.results.indexOf(result) + 1;
  return html`<details class="why" open=${open} onToggle=${(/** @type {any} */ e) => setOpen((unfolded = e.target.open))}><summary><${Icon} name="right" />Why it is result ${count(place)}</summary>
    ${open && html`<${Arithmetic} result=${result} answer=${answer} place=${place} />`}</details>`;
}

/** @param {{result: SearchResult, answer: Answer, place: number}} props */
function Arithmetic({ result, answer, place }) {
  const { request, response } = answer;
  const name = result.ticket_name ?? result.project_name;
  const passage = result.text.startsWith(name) ? result.text.slice(name.length).trim() : result.text;
  const other = response.fusion === 'rrf' ? 'convex' : 'rrf';
  const both = response.executed.length === 2;
  // Where the other fusion would put it, among the first hundred.
  const compared = useLoad(async (signal) => {
    if (!both) return null;
    const found = await api.search({ ...request, fusion: other, facets: false, limit: 100, offset: 0, log: false }, signal);
    const at = found.results.findIndex((r) => r.project_id === result.project_id && r.ticket_id === result.ticket_id);
    return at < 0 ? null : { place: at + 1, result: found.results[at], best: found.results[0].fused_score };
  }, [JSON.stringify(request), both, result.project_id, result.ticket_id]);
  const { vector, keyword } = result.explain ?? {};
  const bestKeyword = Math.max(...response.results.map((r) => r.explain?.keyword?.score ?? 0));
  const dated = request.sort === 'newest' || request.sort === 'updated';
  return html`
    ${dated && html`<p class="small">The list is sorted by date, not by these scores.</p>`}
    ${result.kind === 'ticket' && result.exact && !dated && html`<p class="small">It has the key, or contains the exact identifier, that the query names, so it comes before everything else.</p>`}
    ${passage && html`<p class="small muted">The passage that was found:</p><blockquote class="text" dir="auto">${plainText(passage)}</blockquote>`}
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
    </div>`;
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
