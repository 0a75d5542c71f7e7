// @ts-check
// What a search can be narrowed to. Another facet is another line: the chips, the lists, the address and what is typed follow.

/** @typedef {import('./api.js').SearchRequest} SearchRequest */
/** @typedef {import('./api.js').FacetValue} FacetValue */
/**
 * @typedef {object} Facet
 * @property {'project' | 'status'} name in the response, in the address, and as it is typed (status:done)
 * @property {string} title
 * @property {(value: FacetValue) => string} key what stands in the address for a value
 * @property {(request: SearchRequest, key: string) => void} apply
 */

/** @type {Facet[]} */
export const FACETS = [
  { name: 'project', title: 'Project', key: (v) => String(v.value), apply: (request, key) => { request.project_id = Number(key); } },
  { name: 'status', title: 'Status', key: (v) => v.label, apply: (request, key) => { request.status_filter = key; } },
];

/** A value that can be typed after name:, and how it is shown. @typedef {{key: string, label: string, short?: string}} Value */

/**
 * The filters among the words of a query: status:done, project:TX, status:"to do". Those that are complete and known are
 * taken out; what is being typed at the end gives suggestions.
 * @param {string} text @param {Record<string, Value[]>} known @param {boolean} complete whether the last word is
 */
export function readFilters(text, known, complete) {
  /** @type {Record<string, string>} */
  const filters = {};
  /** @type {{facet: Facet, value: Value}[]} */
  let suggestions = [];
  const pattern = new RegExp(`(^|\\s)(${FACETS.map((f) => f.name).join('|')}):("[^"]*"?|[^\\s"]*)(?=\\s|$)`, 'gi');
  const rest = text.replace(pattern, (all, before, name, typed, at) => {
    const facet = /** @type {Facet} */ (FACETS.find((f) => f.name === name.toLowerCase()));
    const wanted = typed.replaceAll('"', '').toLowerCase();
    const values = known[facet.name] ?? [];
    const same = values.find((v) => [v.label, v.short].some((t) => t?.toLowerCase() === wanted));
    const last = at + all.length === text.length;
    if (same && (complete || !last || /^".*"$/.test(typed))) {
      filters[facet.name] = same.key;
      return before;
    }
    if (last) {
      suggestions = values.filter((v) => `${v.short ?? ''} ${v.label}`.toLowerCase().includes(wanted)).slice(0, 8).map((value) => ({ facet, value }));
    }
    return all;
  });
  const left = Object.keys(filters).length > 0 ? rest.replace(/\s+/g, ' ').trimStart() : text;
  // What is searched for: a filter that is still being typed is no word of the query.
  const query = (suggestions.length > 0 ? withoutLastWord(left) : left).trim();
  return { filters, suggestions, rest: left, query };
}

/** @param {string} text that ends with name:… @returns {string} it without that */
export const withoutLastWord = (text) => text.replace(/(^|\s)\S+:("[^"]*"?|[^\s"]*)$/, '$1');
