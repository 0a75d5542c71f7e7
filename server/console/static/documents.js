// @ts-check
// Documents: search by meaning, or with all that a score consists of; and the documents that name somebody or something.
import { html } from './dom.js';
import { useEffect, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { DocumentForm, DocumentPage } from './document.js';
import { go, href } from './route.js';
import { plainText } from './snippet.js';
import { Bar, Choice, decimal, Empty, Failure, Icon, score, Stack, useLoad } from './ui.js';

/** @typedef {import('./api.js').FoundDocument} FoundDocument */

const PAUSE = 450; // milliseconds without a key until documents are searched
// The weights of the sum, as the database has them by default (docs/documents.md).
const WEIGHTS = { similarity: 0.5, keyword_score: 0.25, utility_boost: 0.15, freshness_boost: 0.1 };

/** @param {{params: URLSearchParams, may: {write: boolean, vote: boolean}}} props */
export function Documents({ params, may }) {
  const id = params.get('id');
  const entity = params.get('entity');
  const [adding, setAdding] = useState(false);
  if (id) return html`<${DocumentPage} key=${id} id=${id} may=${may} back=${params.get('q') ?? ''} />`;
  return html`<div class="documents">
    <${Field} params=${params} add=${may.write ? () => setAdding(true) : null} />
    ${entity ? html`<${Naming} entity=${entity} type=${params.get('type') ?? ''} />` : html`<${Found} q=${params.get('q') ?? ''} basic=${params.get('by') === 'similarity'} all=${params.get('threshold') === '0'} params=${params} />`}
    <${DocumentForm} open=${adding} onClose=${() => setAdding(false)} onSaved=${(/** @type {string} */ saved) => go(href('documents', { id: saved }))} />
  </div>`;
}

/** @param {{params: URLSearchParams, add: (() => void) | null}} props */
function Field({ params, add }) {
  const asked = params.get('q') ?? '';
  const [text, setText] = useState(asked);
  const typed = useRef(asked);
  useEffect(() => {
    if (asked !== typed.current) { typed.current = asked; setText(asked); }
  }, [asked]);
  /** @param {string} q @param {boolean} replace */
  const show = (q, replace) => { typed.current = q; go(href('documents', { q, by: params.get('by') }), { replace }); };
  useEffect(() => {
    if (text.trim() === typed.current) return;
    const timer = setTimeout(() => show(text.trim(), true), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<form class="field-row" role="search" onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); show(text.trim(), false); }}>
    <div class="field"><${Icon} name="search" /><input id="query" type="search" autocomplete="off" autofocus maxlength="2000" aria-label="Search documents"
      placeholder="Search documents" value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} /><kbd aria-hidden="true">/</kbd></div>
    ${add && html`<button type="button" class="button" onClick=${add}><${Icon} name="plus" />Add</button>`}</form>`;
}

/** all: without a threshold. @param {{q: string, basic: boolean, all: boolean, params: URLSearchParams}} props */
function Found({ q, basic, all, params }) {
  const found = useLoad(async (signal) => (q ? api.searchDocuments({ q, hybrid: !basic, limit: 20, track: false, ...(all && { threshold: 0 }) }, signal) : null), [q, basic, all]);
  if (!q) return html`<${Start} />`;
  const list = found.value ?? [];
  const best = Math.max(...list.map((d) => d.final_score ?? 0), 0.0001);
  return html`<section aria-label="Documents found" aria-busy=${found.loading}><h1 class="sr">Documents</h1>
    <div class="told"><p role="status">${found.loading ? 'Searching …' : found.value ? `${list.length} ${list.length === 1 ? 'document' : 'documents'}` : ''}</p>
      <${Choice} label="Order by" value=${basic ? 'similarity' : ''} options=${[['', 'Score'], ['similarity', 'Similarity alone']]}
        onChange=${(/** @type {string} */ by) => go(href('documents', { ...Object.fromEntries(params), by }))} /></div>
    ${found.problem && html`<${Failure} problem=${found.problem} retry=${found.again} />`}
    ${found.value && list.length === 0 && html`<${Empty} icon="documents" title="No document found"><p>None is near enough to “${q}”.</p>
      <p class="actions">${!all && html`<a class="button" href=${href('documents', { ...Object.fromEntries(params), threshold: '0' })}>Show the nearest anyway</a>`}
      <a class="button" href=${href('ask', { q })}>Ask it as a question</a></p><//>`}
    ${!basic && list.length > 0 && html`<p class="legend small muted"><span class="dot meaning"></span>Similarity <span class="dot keyword"></span>Keywords <span class="dot votes"></span>Votes <span class="dot fresh"></span>Freshness</p>`}
    <ol class="results">${list.map((d, i) => html`<li key=${i}><${DocumentResult} document=${d} q=${q} best=${best} /></li>`)}</ol></section>`;
}

/** @param {{document: FoundDocument, q: string, best: number}} props */
function DocumentResult({ document: d, q, best }) {
  return html`<a class="result" href=${href('documents', { id: d.id, q })}><span class="head"><span class="name" dir="auto">${d.title}</span></span>
    <span class="excerpt" dir="auto">${plainText(d.content.slice(0, 400))}</span>
    ${d.final_score !== undefined ? html`<${Parts} document=${d} best=${best} />` : html`<span class="near"><${Bar} label="Similarity" kind="meaning" value=${d.similarity} /><span>${decimal(d.similarity)}</span></span>`}</a>`;
}

/** What the final score consists of. @param {{document: Required<FoundDocument>, best: number}} props */
function Parts({ document: d, best }) {
  const w = d.temporal_weight;
  const parts = [
    { name: 'similarity', value: WEIGHTS.similarity * d.similarity * w, kind: 'meaning' },
    { name: 'keywords', value: WEIGHTS.keyword_score * d.keyword_score * w, kind: 'keyword' },
    { name: 'votes', value: WEIGHTS.utility_boost * d.utility_boost * w, kind: 'votes' },
    { name: 'freshness', value: WEIGHTS.freshness_boost * d.freshness_boost * w, kind: 'fresh' },
  ];
  const sum = parts.reduce((total, part) => total + part.value, 0);
  // With other weights in the database the parts would not add up: then the score alone is true.
  const shown = Math.abs(sum - d.final_score) < 0.005 ? parts : [{ name: 'score', value: d.final_score, kind: 'plain' }];
  return html`<span class="parts"><${Stack} label=${`Score ${score(d.final_score)}`} parts=${shown} max=${best} /><span class="number">${decimal(d.final_score)}</span>
    <span class="muted small">similarity ${decimal(d.similarity)} · keywords ${decimal(d.keyword_score)}${d.utility_boost > 0 ? ` · votes ${decimal(d.utility_boost)}` : ''} · freshness ${decimal(d.freshness_boost)}${w !== 1 ? ` · × ${decimal(w)} ${d.temporal_class ?? ''}` : ''}</span></span>`;
}

/** @param {{entity: string, type: string}} props */
function Naming({ entity, type }) {
  const found = useLoad((signal) => api.documentsNaming(entity, type, 50, signal), [entity, type]);
  return html`<section aria-labelledby="naming" aria-busy=${found.loading}><h1 id="naming">Documents that name ${entity}</h1>
    ${found.problem && html`<${Failure} problem=${found.problem} retry=${found.again} />`}
    ${found.value?.length === 0 && html`<${Empty} icon="documents" title="No document names it"><p>Names are known once a document is enriched.</p><//>`}
    <ol class="results">${(found.value ?? []).map((d, i) => html`<li key=${i}><a class="result" href=${href('documents', { id: d.id })}><span class="head"><span class="name">${d.title}</span></span>
      <span class="meta"><span class="badge plain">${d.matched_entity}</span>${d.matched_type && html`<span class="muted">${d.matched_type}</span>`}</span></a></li>`)}</ol></section>`;
}

/** Names out of the documents that there are. */
function Start() {
  const named = useLoad(async (signal) => {
    const lists = await Promise.all([api.documentsNaming('a', 'person', 40, signal), api.documentsNaming('e', 'system', 40, signal)]);
    /** @type {Map<string, string>} */
    const names = new Map();
    for (const list of lists) for (const d of list.slice(0, 40)) if (names.size < 16) names.set(d.matched_entity, d.matched_type ?? '');
    return { names: [...names], titles: [...new Map(lists.flat().map((d) => [d.id, d.title]))].slice(0, 5) };
  }, []);
  const { names = [], titles = [] } = named.value ?? {};
  return html`<div class="start"><h1>What the team knows</h1><p class="lead">Decisions, runbooks and notes, found by meaning, keywords, votes and age.</p>
    ${named.problem && html`<${Failure} problem=${named.problem} retry=${named.again} />`}
    <div class="try">${titles.length > 0 && html`<h2>Have a look at</h2><ul class="examples">${titles.map(([id, title]) => html`<li><a class="example" href=${href('documents', { id })}><${Icon} name="documents" />${title}</a></li>`)}</ul>`}
    ${names.length > 0 && html`<h2>People and systems they name</h2><p class="tags">${names.map(([name, type]) => html`<a class="chip" href=${href('documents', { entity: name, type })}>${name}</a>`)}</p>`}</div></div>`;
}
