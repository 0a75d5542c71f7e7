// @ts-check
// How a question about tickets was read: chips, each of which can be changed or taken away. The tickets are then counted again.
import { html } from './dom.js';
import { useLayoutEffect, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { dayOf, FACETS, pathsOf, only, replaced, tell, without } from './facets.js';
import { composes } from './keyboard.js';
import { Icon, useLoad } from './ui.js';

/** @typedef {NonNullable<api.QueryResponse['read_as']>} Read */
/** @typedef {{from?: string, to?: string}} Range */

const LIST = 'names'; // the id of the names that a field offers

/** A day here as the midnight that it begins with, or so many days later. @param {string} day @param {number} later */
function midnight(day, later) {
  const at = new Date(`${day}T00:00`);
  at.setDate(at.getDate() + later);
  return at.toISOString();
}

/** The days of a form as a range. @param {FormData} form @param {boolean} plain whether the days are of no time zone @returns {Range | null} */
function spanOf(form, plain) {
  const [from, to] = ['from', 'to'].map((end) => String(form.get(end)));
  if (!from && !to) return null;
  return { ...(from && { from: plain ? from : midnight(from, 0) }), ...(to && { to: plain ? to : midnight(to, 1) }) };
}

/** The value at a path, with other names. Labels keep which of them must all be there. @param {any} value @param {string[]} names */
function named(value, names) {
  const values = names.map((name) => (name === 'nobody' ? null : name));
  if (Array.isArray(value) || !value) return values.length > 0 ? values : null;
  const any = values.slice(0, value.any?.length ?? 0);
  const all = values.slice(any.length);
  return values.length > 0 ? { ...(any.length > 0 && { any }), ...(all.length > 0 && { all }) } : null;
}

/** @param {{read: Read, onChange: (read: Read) => void}} props */
export function Conditions({ read, onChange }) {
  const [open, setOpen] = useState(''); // the path of what is being changed
  const facet = FACETS.find((f) => f.member === open.replace('not.', ''));
  const known = useLoad(async (signal) => (facet ? (await api.facetValues(signal))?.[facet.name] : undefined), [facet]);
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const last = useRef(''); // what had the focus
  useLayoutEffect(() => { // before the next key, which is the field's
    const field = root.current?.querySelector(open ? 'input' : `[data-path="${last.current}"]`);
    if (open || document.activeElement === document.body) /** @type {HTMLElement | null} */ (field)?.focus();
    last.current = open;
  }, [open]);
  /** @param {string} path @param {any} value */
  function change(path, value) {
    setOpen('');
    if (path === 'text') onChange({ ...read, text: value });
    else onChange({ ...read, filters: value === null ? without(read.filters, path) : replaced(read.filters, path, value) });
  }
  return html`<span class="conditions" ref=${root}>${[...(read.text ? ['text'] : []), ...pathsOf(read.filters)].map((path) => {
    const filter = path === 'text' ? null : only(read.filters, path);
    const [{ title, text }] = filter ? tell(filter) : [{ title: 'Text', text: read.text }];
    const value = /** @type {any} */ (filter && (filter.not ?? filter)[path.replace('not.', '')]);
    if (path !== open) {
      return html`<span class="chip read"><button type="button" class="plain" data-path=${path} aria-label=${`Change ${title}: ${text}`} title="Change it" onClick=${() => (typeof value === 'boolean' ? change(path, !value) : setOpen(path))}>
        <span class="muted">${title}</span> <span dir="auto">${text}</span></button><button type="button" class="plain" aria-label=${`Remove ${title}: ${text}`} onClick=${() => change(path, path === 'text' ? '' : null)}><${Icon} name="close" /></button></span>`;
    }
    const dated = value && !Array.isArray(value) && !value.any && !value.all;
    const days = dated ? [value.from && dayOf(value.from, false), value.to && dayOf(value.to, true)] : [];
    /** @param {Event} e */
    function submit(e) {
      e.preventDefault();
      const form = new FormData(/** @type {HTMLFormElement} */ (e.target));
      const names = form.getAll('name').map((name) => String(name).trim()).filter(Boolean);
      change(path, path === 'text' ? names.join(' ') : dated ? spanOf(form, path.endsWith('due')) : named(value, names));
    }
    const names = path === 'text' ? [read.text] : Array.isArray(value) ? value : [...(value.any ?? []), ...(value.all ?? [])];
    return html`<form class="chip read changing" onSubmit=${submit} onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'Escape' && !composes(e)) setOpen(''); }}><span class="muted">${title}</span>
      ${dated ? ['from', 'to'].map((end, n) => html`<input type="date" name=${end} aria-label=${`${title} ${end}`} value=${days[n] ?? ''} />`)
    : names.map((/** @type {unknown} */ name) => html`<input name="name" aria-label=${title} list=${LIST} dir="auto" maxlength="255" value=${name ?? 'nobody'} />`)}
      <datalist id=${LIST}>${(known.value ?? []).map((v) => html`<option value=${v.label} />`)}</datalist><button class="link">Ask again</button></form>`;
  })}</span>`;
}
