// @ts-check
// What a search can be narrowed to. Another facet is another line: the chips, the lists, the address and the ticket's page follow.
// What is typed among the words (status:done) is read by the service, which says how it was read.

/** @typedef {import('./api.js').SearchResponse} SearchResponse */
/** @typedef {Record<string, any>} Filters as the service reads and writes them */
/** @typedef {import('./api.js').FacetValue} FacetValue */
/**
 * name: in the response and as it is typed; member: of the filters; param: in the address, and typed: as it is typed, where that
 * is another word; field: of a ticket, where its page shows the value.
 * @typedef {{name: string, title: string, member: keyof import('./api.js').Filters, param: string, typed: string, field?: keyof import('./api.js').Ticket}} Facet
 */

/** @type {Facet[]} */
export const FACETS = /** @type {Omit<Facet, 'param' | 'typed'>[]} */ ([
  { name: 'project', title: 'Project', member: 'projects' },
  { name: 'status', title: 'Status', member: 'statuses' },
  { name: 'open', title: 'Open or done', member: 'open', param: 'state', typed: 'is' },
  { name: 'assignee', title: 'Assignee', member: 'assignee', field: 'assignee' },
  { name: 'reporter', title: 'Reporter', member: 'reporter', field: 'reporter' },
  { name: 'type', title: 'Type', member: 'types', field: 'type' },
  { name: 'priority', title: 'Priority', member: 'priorities', field: 'priority' },
  { name: 'label', title: 'Label', member: 'labels' },
]).map((facet) => ({ param: facet.name, typed: facet.name, ...facet }));

/** As it is compared: without case, accents and ligatures. @param {string} text */
const fold = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');

/** What stands in the address for a value. @param {Facet} facet @param {FacetValue} value */
export const keyOf = (facet, value) => (facet.name === 'status' ? value.label : String(value.value));

/** Whether a value is the one that is chosen. @param {Facet} facet @param {FacetValue} value @param {string} key */
export const isChosen = (facet, value, key) => key !== '' && keyOf(facet, value).toLowerCase() === key.toLowerCase();

/** The filters of an address. @param {Record<string, string>} chosen @returns {import('./api.js').Filters | undefined} */
export function filtersOf(chosen) {
  /** @type {Filters} */
  const filters = {};
  for (const { name, param, member } of FACETS) {
    const key = chosen[param];
    if (!key) continue;
    if (name === 'open') filters.open = key === 'true';
    else filters[member] = [name === 'project' && /^\d+$/.test(key) ? Number(key) : key];
  }
  return Object.keys(filters).length > 0 ? filters : undefined;
}

/**
 * Filters that were typed, as they stand in an address; null where an address has no room for them, such as dates.
 * @param {Filters} filters @param {Record<string, string>} chosen what the address has already
 * @param {{key: string, project_id: number}[]} projects
 */
export function chosenFrom(filters, chosen, projects) {
  /** @type {Record<string, string>} */
  const more = {};
  for (const [member, value] of Object.entries(filters)) {
    const facet = FACETS.find((f) => f.member === member);
    const list = Array.isArray(value) ? value : Array.isArray(value?.any) && !value.all ? value.any : [value];
    const [one] = list;
    if (!facet || list.length !== 1 || !['string', 'number', 'boolean'].includes(typeof one)) return null;
    const known = facet.name === 'project' ? projects.find((p) => p.key.toLowerCase() === String(one).toLowerCase()) : undefined;
    const key = known ? String(known.project_id) : String(one);
    if (chosen[facet.param] && chosen[facet.param].toLowerCase() !== key.toLowerCase()) return null;
    more[facet.param] = key;
  }
  return more;
}

/** A midnight here as the day that begins then, or ends. @param {string} at @param {boolean} ends */
export function dayOf(at, ends) {
  const time = new Date(at);
  return at.includes('T') && time.getHours() + time.getMinutes() === 0 ? new Date(time.getTime() - (ends ? 1 : 0)).toLocaleDateString('sv') : at;
}

/** Filters in words. @param {Filters} filters @returns {{title: string, text: string}[]} */
export function tell(filters) {
  return Object.entries(filters).flatMap(([member, value]) => {
    if (member === 'not') return tell(value).map(({ title, text }) => ({ title: `Not ${title.toLowerCase()}`, text }));
    const title = FACETS.find((f) => f.member === member)?.title ?? `${member[0].toUpperCase()}${member.slice(1)}`;
    /** @param {unknown[]} list @param {string} between */
    const names = (list, between) => list.map((one) => one ?? 'nobody').join(between);
    if (typeof value === 'boolean') return [{ title, text: value ? 'open' : 'done' }];
    if (!value || typeof value !== 'object') return [{ title, text: String(value) }];
    if (Array.isArray(value)) return [{ title, text: names(value, ' or ') }];
    if (value.any || value.all) return [{ title, text: [value.any && names(value.any, ' or '), value.all && names(value.all, ' and ')].filter(Boolean).join(' and ') }];
    const [from, to] = [value.from && dayOf(value.from, false), value.to && dayOf(value.to, true)];
    return [{ title, text: from && to ? (from === to ? from : `${from} to ${to}`) : from ? `from ${from}` : `until ${to}` }];
  });
}

/** The members of filters, one by one, by a path such as not.labels. @param {Filters} filters @returns {string[]} */
export const pathsOf = (filters) => Object.keys(filters).flatMap((member) => (member === 'not' ? Object.keys(filters.not).map((inner) => `not.${inner}`) : [member]));

/** Filters without one member. @param {Filters} filters @param {string} path @returns {Filters} */
export function without(filters, path) {
  const [member, inner] = path.split('.');
  const { [member]: value, ...rest } = filters;
  if (!inner || !value) return rest;
  const { [inner]: _, ...others } = value;
  return Object.keys(others).length > 0 ? { ...rest, not: others } : rest;
}

/** The one member of filters at a path. @param {Filters} filters @param {string} path @returns {Filters} */
export function only(filters, path) {
  const [member, inner] = path.split('.');
  return inner ? { not: { [inner]: filters[member]?.[inner] } } : { [member]: filters[member] };
}

/** Filters with another value at a path. @param {Filters} filters @param {string} path @param {unknown} value @returns {Filters} */
export function replaced(filters, path, value) {
  const [member, inner] = path.split('.');
  return { ...filters, [member]: inner ? { ...filters[member], [inner]: value } : value };
}

/** Filters as one types them: what the service read, written again. @param {Filters} filters @param {string} [sign] @returns {string} */
export function spell(filters, sign = '') {
  /** @param {unknown} value */
  const quoted = (value) => (/^[\p{L}\p{N}_.@-]+$/u.test(String(value)) ? String(value) : `"${String(value).replaceAll('"', '')}"`);
  return Object.entries(filters).map(([member, value]) => {
    if (member === 'not') return spell(value, '-');
    const name = `${sign}${FACETS.find((f) => f.member === member)?.typed ?? member}`;
    if (typeof value === 'boolean') return `${sign}is:${value ? 'open' : 'done'}`;
    /** @param {unknown[]} list */
    const anyOf = (list) => [...list.filter((v) => v === null).map(() => `${sign}no:${member}`), list.some((v) => v !== null) && `${name}:${list.filter((v) => v !== null).map(quoted).join(',')}`].filter(Boolean).join(' ');
    if (Array.isArray(value)) return anyOf(value);
    if (!value || typeof value !== 'object') return `${name}:${quoted(value)}`;
    if (value.any || value.all) return [value.any && anyOf(value.any), ...(value.all ?? []).map((/** @type {unknown} */ v) => `${name}:${quoted(v)}`)].filter(Boolean).join(' ');
    return `${name}:${value.from && value.to ? `${value.from}..${value.to}` : value.from ? `>=${value.from}` : `<=${value.to}`}`;
  }).join(' ');
}

/** The filters as they are typed, also those that no facet lists. */
export const NAMES = [...FACETS.map((f) => f.typed), 'created', 'updated', 'resolved', 'due', 'no'];
const LAST = new RegExp(`^(|.*\\s)(-?)(${NAMES.join('|')}):\\s*("[^"]*|[^"]*)$`, 'is');
const DATE = /^([<>]=?)?(\d{4}(-\d\d){0,2}|today|yesterday|tomorrow|-?\d+(d|w|mo|y))(\.\.|$)|^(assignee|reporter)$/i;

/**
 * A filter that is being typed at the end of a text: which, how far, the text before it, and the values that it may mean.
 * complete: there is nothing to add.
 * @template {{names: string[]}} T @param {string} text @param {(facet: Facet) => T[]} valuesOf
 */
export function beingTyped(text, valuesOf) {
  const found = LAST.exec(text);
  if (!found) return null;
  const [, rest, sign, name, typed] = found;
  const part = typed.replace('"', '').toLowerCase();
  const sought = fold(part);
  const facet = FACETS.find((f) => f.typed === name.toLowerCase());
  /** @param {(known: string) => boolean} fits @returns {T[]} */
  const known = (fits) => (facet ? valuesOf(facet).filter((v) => v.names.some((value) => fits(fold(value)))) : []);
  const values = known((value) => value.includes(sought));
  const complete = facet ? known((value) => value === sought.trim()).length > 0 : DATE.test(part);
  if (/\s/.test(part) && part.trim() !== '' && values.length === 0) return null; // words follow it
  return { facet, name, part, rest, complete, values: sign ? [] : values.slice(0, 8) };
}
