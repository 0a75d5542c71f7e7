// @ts-check
// The values of every facet with their counts, beside the results.
import { html } from './dom.js';
import { useState } from './hooks.js';
import { FACETS, isChosen, keyOf } from './facets.js';
import { count, Icon } from './ui.js';

/** @typedef {import('./api.js').SearchResponse} SearchResponse */

const FEW = 7; // values of a facet that show at first
const ROW = 27.5; // pixels of one of them

/** room: how many values the open facets can have, so that their counts move nothing; until that is known they are not seen. @param {{response?: SearchResponse, filters: Record<string, string>, room: Record<string, number | undefined>, labelOf: (facet: import('./facets.js').Facet, value: import('./facets.js').FacetValue) => string, onChoose: (name: string, key: string) => void}} props */
export function FacetLists({ response, filters, room, labelOf, onChoose }) {
  const [all, setAll] = useState('');
  const [shown, setShown] = useState(false);
  const facets = response?.facets;
  const sized = FACETS.slice(0, 2).every((facet) => room[facet.name] !== undefined);
  return html`<aside class=${`facets ${shown ? 'shown' : ''}`} aria-label="Filters" style=${sized ? undefined : { visibility: 'hidden' }}>
    <button type="button" class="button wide-off" aria-expanded=${shown} onClick=${() => setShown(!shown)}><${Icon} name="filter" />Filters</button>
    ${FACETS.map((facet, place) => {
      const values = facets?.[facet.name] ?? [];
      const few = all === facet.name ? values : values.slice(0, FEW);
      return html`<details class="facet" open=${place < 2}><summary><span>${facet.title}</span>${facets && values.length > 0 && html`<span class="count">${count(values.length)}</span>`}<${Icon} name="right" /></summary>
        <div style=${place < 2 ? { minHeight: `${ROW * Math.min(room[facet.name] ?? FEW, FEW + 1)}px` } : undefined}>${facets && values.length === 0 && html`<p class="small muted">None</p>`}
        <ul>${few.map((value, i) => html`<li key=${i}><button type="button" aria-pressed=${isChosen(facet, value, filters[facet.param])} onClick=${() => onChoose(facet.param, isChosen(facet, value, filters[facet.param]) ? '' : keyOf(facet, value))}>
          <span class="name" dir="auto">${labelOf(facet, value)}</span><span class="count">${count(value.count)}</span></button></li>`)}</ul>
        ${values.length > few.length && html`<button type="button" class="link small" onClick=${() => setAll(facet.name)}>${count(values.length - few.length)} more</button>`}</div>
      </details>`;
    })}
  </aside>`;
}
