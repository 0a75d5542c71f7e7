// @ts-check
// Markdown as elements, for texts that anybody may have written. No text becomes HTML source: what the grammar does not know
// stays text, pictures become links, and only addresses of http, https and mailto are links. Each pattern is bounded, and
// nesting too, so that no text takes longer than its length.
import { html } from './dom.js';
import { useMemo } from './hooks.js';
import { href } from './route.js';

/**
 * keys: of the projects whose tickets' keys become links; cite: what a number in brackets becomes; linked: it is the text of a link.
 * @typedef {{keys: Set<string>, cite?: (n: number) => unknown, linked?: boolean}} Context
 */

const DEPTH = 6; // of quotes and lists, and of emphasis

/** @param {import('./api.js').Project[]} [projects] */
export const keysOf = (projects = []) => new Set(projects.map((p) => p.key.toUpperCase()));

/** @param {{text: string, keys: Set<string>, cite?: Context['cite']}} props */
export function Markdown({ text, keys, cite }) {
  return useMemo(() => html`<div class="text md">${blocks(text.replace(/\r\n?/g, '\n').split('\n').map(expand), { keys, cite }, 0)}</div>`, [text, keys, cite]);
}

/** @param {string} line */
const expand = (line) => line.replace(/^[ \t]+/, (space) => space.replaceAll('\t', '    '));

/** The address of a link; nothing for one that must not be a link. @param {string} text */
function addressOf(text) {
  try {
    const { protocol, href: address } = new URL(text);
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? address : '';
  } catch {
    return '';
  }
}

/** A link out of the console. @param {string} address @param {unknown} shown */
export const external = (address, shown) => html`<a href=${address} title=${address} target="_blank" rel="noopener noreferrer nofollow">${shown}</a>`;

/** @param {string} key */
const ticketLink = (key) => html`<a href=${href('search', { q: key, open: key })}>${key}</a>`;

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}#{1,6}\s(.*)$/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])( {1,4})(\S.*)$/;
const COLUMNS = /^\|?(?: *:?-+:? *\|)+(?: *:?-+:?)?$|^:?-+:?(?: *\| *:?-+:?)+$/;

/** Whether a line ends the paragraph before it. @param {string} line */
const begins = (line) => FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || RULE.test(line) || /^(\D|1\D)/.test(ITEM.exec(line)?.[2] ?? '2');

/** @param {string[]} lines @param {number} at */
const isTable = (lines, at) => lines[at].includes('|') && COLUMNS.test(lines[at + 1]?.trim() ?? '');

/** @param {string[]} lines @param {Context} of @param {number} depth @returns {unknown[]} */
function blocks(lines, of, depth) {
  /** @type {unknown[]} */
  const out = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const from = at;
    /** The lines from here on that fit. @param {(line: string) => boolean} fits */
    const take = (fits) => {
      while (at < lines.length && fits(lines[at])) at++;
      return lines.slice(from, at);
    };
    const [, fence] = FENCE.exec(line) ?? [];
    if (line.trim() === '') at++;
    else if (fence) {
      at++;
      const code = take((next) => !(next.trim().startsWith(fence) && /^ *(`+|~+) *$/.test(next))).slice(1);
      at++;
      out.push(html`<pre tabindex="0"><code>${code.join('\n')}</code></pre>`);
    } else if (HEADING.test(line)) {
      at++;
      out.push(html`<p class="heading" dir="auto"><strong>${inline(line.replace(/^ *#+\s+/, '').trim().replace(/\s#+$/, ''), of)}</strong></p>`);
    } else if (RULE.test(line)) {
      at++;
      out.push(html`<hr />`);
    } else if (depth < DEPTH && QUOTE.test(line)) {
      out.push(html`<blockquote>${blocks(take((next) => QUOTE.test(next)).map((next) => next.replace(QUOTE, '')), of, depth + 1)}</blockquote>`);
    } else if (isTable(lines, at)) {
      const [head, , ...rows] = take((next) => next.includes('|'));
      out.push(html`<div class="table" tabindex="0"><table><thead><tr>${cells(head).map((cell) => html`<th>${inline(cell, of)}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr>${cells(row).map((cell) => html`<td>${inline(cell, of)}</td>`)}</tr>`)}</tbody></table></div>`);
    } else if (depth < DEPTH && ITEM.test(line)) {
      const [node, end] = list(lines, at, of, depth);
      out.push(node);
      at = end;
    } else {
      at++;
      const text = take((next) => next.trim() !== '' && (depth >= DEPTH || !begins(next)) && !isTable(lines, at)).join('\n');
      out.push(html`<p dir="auto">${inline(text, of)}</p>`);
    }
  }
  return out;
}

/** @param {string} row @returns {string[]} */
const cells = (row) => row.trim().replace(/^\|/, '').replace(/\|$/, '').split(/(?<!\\)\|/).slice(0, 40).map((cell) => cell.trim());

/** A list, and where it ends. Two spaces more than its items have are enough for what belongs to one. @param {string[]} lines @param {number} at @param {Context} of @param {number} depth @returns {[unknown, number]} */
function list(lines, at, of, depth) {
  const [, { length: indent }, marker] = /** @type {RegExpExecArray} */ (ITEM.exec(lines[at]));
  const ordered = /\d/.test(marker);
  /** @param {number} from */
  const filled = (from) => {
    while (from < lines.length && lines[from].trim() === '') from++;
    return from;
  };
  /** @param {string} line */
  const inside = (line) => line.search(/\S/) >= indent + 2;
  const items = [];
  for (let found; (found = ITEM.exec(lines[at] ?? '')) && /\d/.test(found[2]) === ordered && !inside(lines[at]) && !RULE.test(lines[at]); at = filled(at)) {
    const offset = found[1].length + found[2].length + found[3].length;
    const box = /^\[([ xX])\] /.exec(found[4]);
    const own = [box ? `${box[1] === ' ' ? '☐' : '☑'} ${found[4].slice(4)}` : found[4]];
    for (at++; at < lines.length; at++) {
      const next = filled(at);
      if (next > at) {
        if (next === lines.length || !inside(lines[next])) break;
        own.push('');
        at = next;
      }
      if (inside(lines[at])) own.push(lines[at].slice(Math.min(lines[at].search(/\S/), offset)));
      else if (begins(lines[at]) || ITEM.test(lines[at])) break;
      else own.push(lines[at]);
    }
    items.push(html`<li>${blocks(own, of, depth + 1)}</li>`);
  }
  return [ordered ? html`<ol start=${parseInt(marker, 10)}>${items}</ol>` : html`<ul>${items}</ul>`, at];
}

const INLINE = new RegExp([
  /\\(?<escaped>[*_`~|<>#[\]])/, // no other: a path has backslashes too
  /(?<ticks>`+)/,
  /!?\[(?<label>[^[\]\n]{0,300})\]\( ?<?(?<target>[^\s()<>]{1,1000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)>?(?: {1,9}"[^"\n]{0,300}")? ?\)/,
  /\[(?<number>\d{1,3})\]/,
  /<(?<auto>(?:https?:\/\/|mailto:)[^\s<>]{1,1000})>/,
  /(?<bare>https?:\/\/[^\s<>"`]{1,2000})/,
  /(?<![\w.+-])(?<mail>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})/,
  /(?<![\w/-])(?<project>[A-Za-z][A-Za-z0-9_]{0,29})-\d{1,9}(?![\w-])/,
  /(?<mark>\*\*|~~|\*|(?<!_)_(?!_))/, // __init__ is a name
].map((part) => part.source).join('|'), 'g');
/** @type {Record<string, string>} */
const TAGS = { '**': 'strong', '~~': 's', '*': 'em', _: 'em' };
const WORD = /[\p{L}\p{N}]/u;

/** @param {string} text @param {Context} of @returns {unknown[]} */
function inline(text, of) {
  const stack = [{ mark: '', nodes: /** @type {unknown[]} */ ([]) }]; // what is open, the innermost last
  /** @param {unknown} node */
  const put = (node) => {
    const { nodes } = stack[stack.length - 1];
    const last = nodes[nodes.length - 1];
    if (typeof node === 'string' && typeof last === 'string') nodes[nodes.length - 1] = last + node;
    else if (node !== '') nodes.push(node);
  };
  /** Emphasis that nothing closes is text. */
  const spill = () => {
    const { mark, nodes } = /** @type {typeof stack[0]} */ (stack.pop());
    put(mark);
    nodes.forEach(put);
  };
  const unclosed = new Set(); // runs of backticks
  const scan = new RegExp(INLINE);
  let at = 0;
  for (let found; (found = scan.exec(text)); at = scan.lastIndex) {
    put(text.slice(at, found.index));
    const { escaped, ticks, label, target, number, auto, bare, mail, project, mark } = /** @type {Record<string, string | undefined>} */ (found.groups);
    const [whole] = found;
    /** @param {string} address @param {unknown} shown */
    const link = (address, shown) => put(of.linked || !addressOf(address) ? whole : external(addressOf(address), shown));
    if (escaped) put(escaped);
    else if (ticks) {
      const end = unclosed.has(ticks) ? -1 : closing(text, ticks, scan.lastIndex);
      if (end < 0) unclosed.add(ticks);
      put(end < 0 ? ticks : html`<code>${text.slice(scan.lastIndex, end).trim()}</code>`);
      if (end >= 0) scan.lastIndex = end + ticks.length;
    } else if (target !== undefined) {
      const shown = inline(label || target, { ...of, linked: true });
      if (!of.linked && of.keys.has(target.split('-')[0].toUpperCase()) && /^\w+-\d+$/.test(target)) put(html`<a href=${href('search', { q: target, open: target })}>${shown}</a>`);
      else link(target, shown);
    } else if (number) put((!of.linked && of.cite?.(Number(number))) || whole);
    else if (auto) link(auto, auto);
    else if (bare) {
      const address = trimmed(bare);
      scan.lastIndex = found.index + address.length;
      put(of.linked || !addressOf(address) ? address : external(addressOf(address), address));
    } else if (mail) link(`mailto:${mail}`, mail);
    else if (project) put(!of.linked && of.keys.has(project.toUpperCase()) ? ticketLink(whole) : whole);
    else if (mark) {
      const [before, after] = [text[found.index - 1] ?? ' ', text[scan.lastIndex] ?? ' '];
      const open = stack.findLastIndex((frame) => frame.mark === mark);
      if (open > 0 && !/\s/.test(before) && !WORD.test(after) && (open < stack.length - 1 || stack[open].nodes.length > 0)) {
        while (stack.length - 1 > open) spill();
        const { nodes } = /** @type {typeof stack[0]} */ (stack.pop());
        put(html`<${TAGS[mark]}>${nodes}<//>`);
      } else if (stack.length <= DEPTH && !/\s/.test(after) && !WORD.test(before)) stack.push({ mark, nodes: [] });
      else put(mark);
    }
  }
  put(text.slice(at));
  while (stack.length > 1) spill();
  return stack[0].nodes;
}

/** Where a run of as many backticks begins; -1: nowhere. @param {string} text @param {string} ticks @param {number} from */
function closing(text, ticks, from) {
  for (let at = from; (at = text.indexOf(ticks, at)) >= 0; ) {
    let end = at;
    while (text[end] === '`') end++;
    if (end - at === ticks.length) return at;
    at = end;
  }
  return -1;
}

/** An address without the punctuation of the sentence that it stands in. @param {string} address */
function trimmed(address) {
  let end = address.length;
  const opened = address.split('(').length - address.split(')').length;
  for (let closed = -opened; end > 0; end--) {
    if (address[end - 1] === ')') {
      if (closed <= 0) break;
      closed--;
    } else if (!'.,;:!?\'*_~]}|…'.includes(address[end - 1])) break;
  }
  return address.slice(0, end);
}
