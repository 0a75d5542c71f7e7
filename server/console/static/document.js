// @ts-check
// One document: what it says, what is known of it, and for who may, voting and editing.
import { html } from './dom.js';
import { useMemo, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { keysOf, Markdown } from './markdown.js';
import { go, href } from './route.js';
import { asProblem, count, date, decimal, Dialog, Empty, Failure, Icon, useLoad, Bar } from './ui.js';

/** @typedef {import('./api.js').Document} Document */
/** @typedef {import('./api.js').DocumentRequest} DocumentRequest */

const CLASSES = ['evergreen', 'current', 'dated', 'historical', 'unknown'];

/** @param {{id: string, may: {write: boolean, vote: boolean}, back: string}} props */
export function DocumentPage({ id, may, back }) {
  const loaded = useLoad((signal) => api.getDocument(id, signal), [id]);
  const similar = useLoad((signal) => api.similarDocuments(id, signal), [id]);
  const projects = useLoad((signal) => api.projects(signal), []);
  const keys = useMemo(() => keysOf(projects.value), [projects.value]);
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [problem, setProblem] = useState(/** @type {api.Problem | null} */ (null));
  const d = loaded.value;
  /** Out of the searches, or into them again. @param {Document} of */
  async function archive({ title, content, archived }) {
    try {
      await api.putDocument({ id, title, content, archived: !archived });
      setProblem(null);
      loaded.again();
    } catch (error) {
      setProblem(asProblem(error));
    }
  }
  async function remove() {
    try {
      await api.deleteDocument(id);
      go(href('documents', { q: back }));
    } catch (error) {
      setDeleting(false);
      setProblem(asProblem(error));
    }
  }
  return html`<article class="document" aria-busy=${loaded.loading}>
    <p><a class="link" href=${href('documents', { q: back })}><${Icon} name="left" />${back ? 'Back to the results' : 'Documents'}</a></p>
    ${loaded.problem?.code === 'not_found' ? html`<${Empty} icon="documents" title="There is no such document"><p>It was deleted, or you may not see it.</p><//>` : loaded.problem && html`<${Failure} problem=${loaded.problem} retry=${loaded.again} />`}
    ${problem && html`<${Failure} problem=${problem} />`}
    ${d && html`<header><h1 dir="auto">${d.title}</h1><div class="row">
        ${may.write && html`<button type="button" class="button" onClick=${() => setEditing(true)}>Replace</button>
          <button type="button" class="button" onClick=${() => archive(d)}>${d.archived ? 'Restore' : 'Archive'}</button>
          <button type="button" class="button danger" onClick=${() => setDeleting(true)}>Delete</button>`}</div></header>
      ${d.archived && html`<div class="notice"><${Icon} name="documents" /><p>It is archived: searches and answers leave it out.</p></div>`}
      ${d.embedding_status !== 'complete' && html`<div class="notice"><${Icon} name="alert" /><p>${d.embedding_status === 'failed' ? 'Its embedding failed: searches do not find it.' : 'It is being embedded: searches find it in a moment.'}</p></div>`}
      <div class="columns">${d.content ? html`<${Markdown} text=${d.content} keys=${keys} />` : html`<p class="text muted">No text.</p>`}
      <aside aria-label="About this document">
        ${may.vote && html`<${Votes} id=${id} />`}
        <h2>Facts</h2>
        <dl class="facts"><div><dt>Written</dt><dd>${date(d.created_at)}</dd></div>
          ${date(d.updated_at) !== date(d.created_at) && html`<div><dt>Changed</dt><dd>${date(d.updated_at)}</dd></div>`}
          <div><dt>Validity</dt><dd>${d.temporal_class ?? 'not known'}</dd></div><div><dt>Usefulness</dt><dd>${decimal(d.utility_score)} of 10</dd></div>
          <div><dt>Found</dt><dd>${count(d.retrieval_count)} ${d.retrieval_count === 1 ? 'time' : 'times'}</dd></div></dl>
        ${d.keywords.length > 0 && html`<h2>Keywords</h2><p class="tags">${d.keywords.map((k) => html`<a class="chip" href=${href('documents', { q: k })}>${k}</a>`)}</p>`}
        ${d.named_entities.length > 0 && html`<h2>Names</h2><p class="tags">${d.named_entities.map((e) => html`<a class="chip" href=${href('documents', { entity: e.name, type: e.type })} title=${e.type ?? ''}>${e.name}</a>`)}</p>`}
        ${d.retrieval_queries.length > 0 && html`<h2>What found it</h2><ul class="plain">${d.retrieval_queries.slice(-8).reverse().map((q) => html`<li><a href=${href('documents', { q })}>${q}</a></li>`)}</ul>`}
        ${(similar.value ?? []).length > 0 && html`<h2>Similar documents</h2><ul class="plain">${(similar.value ?? []).map((s) => html`<li><a href=${href('documents', { id: s.id })}>${s.title}</a><span class="near"><${Bar} label="Similarity" kind="meaning" value=${s.similarity} /><span>${decimal(s.similarity)}</span></span></li>`)}</ul>`}
      </aside></div>
      <${DocumentForm} document=${d} open=${editing} onClose=${() => setEditing(false)} onSaved=${() => { setEditing(false); loaded.again(); }} />
      <${Dialog} label="Delete the document" open=${deleting} onClose=${() => setDeleting(false)}><h2>Delete “${d.title}”?</h2><p>Its text, votes and embedding go with it. This cannot be undone.</p>
        <div class="row end"><button type="button" class="button" onClick=${() => setDeleting(false)}>Keep it</button><button type="button" class="button danger" onClick=${remove}>Delete</button></div><//>`}
  </article>`;
}

/** @param {{id: string}} props */
function Votes({ id }) {
  const [voted, setVoted] = useState(/** @type {boolean | null} */ (null));
  const [problem, setProblem] = useState('');
  /** @param {boolean} helpful */
  const vote = (helpful) => api.vote(id, helpful).then(() => { setVoted(helpful); setProblem(''); }, (error) => setProblem(asProblem(error).message));
  return html`<div class="votes"><span>Was it helpful?</span>
    <button type="button" class="icon-button" aria-pressed=${voted === true} aria-label="Helpful" onClick=${() => vote(true)}><${Icon} name="up" /></button>
    <button type="button" class="icon-button" aria-pressed=${voted === false} aria-label="Not helpful" onClick=${() => vote(false)}><${Icon} name="down" /></button>
    <span class="small muted" role="status">${problem || (voted === null ? '' : 'Thank you.')}</span></div>`;
}

/** Adds a document, or replaces one. @param {{document?: Document, open: boolean, onClose: () => void, onSaved: (id: string) => void}} props */
export function DocumentForm({ document: d, open, onClose, onSaved }) {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const [problem, setProblem] = useState(/** @type {api.Problem | null} */ (null));
  const [busy, setBusy] = useState(false);
  /** @param {Event} event */
  async function save(event) {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (form.current));
    /** @type {DocumentRequest} */
    const request = { title: String(data.get('title')), content: String(data.get('content')) };
    if (d) request.id = d.id;
    const keywords = String(data.get('keywords'));
    if (keywords !== (d?.keywords ?? []).join(', ')) request.keywords = keywords.split(',').map((k) => k.trim()).filter(Boolean);
    const temporal = String(data.get('temporal_class'));
    if (temporal) request.temporal_class = /** @type {DocumentRequest['temporal_class']} */ (temporal);
    const archived = data.has('archived');
    if (archived !== (d?.archived ?? false)) request.archived = archived;
    setBusy(true);
    try {
      const saved = await api.putDocument(request);
      setProblem(null);
      onClose();
      onSaved(saved.id);
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  }
  return html`<${Dialog} label=${d ? 'Replace the document' : 'Add a document'} open=${open} onClose=${onClose} class="wide">
    <form ref=${form} onSubmit=${save}><h2>${d ? 'Replace the document' : 'Add a document'}</h2>
      ${problem && html`<${Failure} problem=${problem} />`}
      <label for="document-title">Title</label><input id="document-title" name="title" type="text" required maxlength="500" value=${d?.title ?? ''} autofocus />
      <label for="document-content">Text</label><textarea id="document-content" name="content" rows="10" value=${d?.content ?? ''}></textarea>
      <label for="document-keywords">Keywords <span class="muted">(separated by commas)</span></label><input id="document-keywords" name="keywords" type="text" value=${(d?.keywords ?? []).join(', ')} />
      <label for="document-class">Validity</label><select id="document-class" name="temporal_class"><option value="">${d?.temporal_class ? `As it is (${d.temporal_class})` : 'As enrichment finds'}</option>${CLASSES.map((c) => html`<option value=${c}>${c}</option>`)}</select>
      <label class="check"><input type="checkbox" name="archived" checked=${d?.archived ?? false} />Archived <span class="muted">(searches and answers leave it out)</span></label>
      <div class="row end"><button type="button" class="button" onClick=${onClose}>Cancel</button><button class="button primary" disabled=${busy}>${d ? 'Replace' : 'Add'}</button></div>
    </form><//>`;
}
