// @ts-check
// Excerpts of texts: pieces with marks around what matched, and without the signs of Markdown, which one line cannot draw.
import { html } from './dom.js';

/** @type {Record<string, string>} */
const entities = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#34;': '"', '&#39;': "'" };

/** @typedef {{text: string, marked: boolean}} Piece */

/** Escaped text with marks around what matched, as pieces of plain text. @param {string} highlight @returns {Piece[]} */
export const pieces = (highlight) => highlight.split(/(<mark>.*?<\/mark>)/s).map((part) => ({
  marked: part.startsWith('<mark>'),
  text: part.replace(/^<mark>|<\/mark>$/g, '').replace(/&(?:lt|gt|amp|quot|#34|#39);/g, (entity) => entities[entity]),
})).filter((piece) => piece.text !== '');

/** The part of the pieces between two offsets. @param {Piece[]} all @param {number} from @param {number} to @returns {Piece[]} */
function between(all, from, to) {
  let at = 0;
  return all.flatMap(({ text, marked }) => {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += text.length;
    return part ? [{ text: part, marked }] : [];
  });
}

/** @param {Piece[]} all */
const joined = (all) => all.map((piece) => piece.text).join('');

/**
 * The pieces of a name, and of what follows it; all of them follow where the highlight does not begin with the name.
 * @param {Piece[]} all @param {string} name @returns {[Piece[], Piece[]]}
 */
export function splitName(all, name) {
  const text = joined(all);
  if (!text.startsWith(name)) return [[{ text: name, marked: false }], all];
  return [between(all, 0, name.length), between(all, name.length + (/^[\s—]*/.exec(text.slice(name.length))?.[0].length ?? 0), text.length)];
}

// Each alternative keeps its group, if it has one. Code is kept as it is. An excerpt may begin or end within any of them.
const SIGNS = new RegExp([
  /^ {0,3}(?<fence>`{3,}|~{3,})[^\n`]*\n(?<fenced>[^]*?)^ {0,3}\k<fence>[`~]* *$\n?/u, // a block of code
  /^ {0,3}(?:`{3,}|~{3,})[^\n`]*$|`{3,}/u, // a fence whose other one is not in the excerpt
  /(?<ticks>`{1,2})(?<code>[^`\n]{1,1000})\k<ticks>/u,
  /^[ \t]*(?:#{1,6} |(?:> ?)+|[*+-] (?:\[[ xX]\] )?)+/u, // headings, quotes, items
  /^ {0,3}(?:[-*_] ?){3,}$/u, // rules
  /!?\[(?<label>[^[\]\n]{0,300})\]\([^()\s]{1,1000}\)/u,
  /\\(?<escaped>[*_`~#[\]])/u,
  /(?<![\p{L}\p{N}_*])\*{1,3}(?=[\p{L}\p{N}"'“‘([{<`_~])|(?<=[\p{L}\p{N}"'”’)\]}>`_~.,:;!?…])\*{1,3}(?![\p{L}\p{N}_*])/u, // emphasis
  /(?<![\p{L}\p{N}_])_(?<under>[^_\n]{1,300})_(?![\p{L}\p{N}_])/u,
  /~~|`/u,
].map((part) => part.source).join('|'), 'gmu');

/** Pieces without the signs of Markdown. @param {Piece[]} all @returns {Piece[]} */
export function plain(all) {
  const text = joined(all);
  /** @type {Piece[]} */
  const out = [];
  let at = 0;
  for (const found of text.matchAll(SIGNS)) {
    const { fenced, code, label, escaped, under } = found.groups ?? {};
    const kept = fenced ?? code ?? label ?? escaped ?? under;
    out.push(...between(all, at, found.index));
    if (kept) {
      const from = found.index + found[0].indexOf(kept);
      const inner = between(all, from, from + kept.length);
      out.push(...(fenced || code ? inner : plain(inner)));
    }
    at = found.index + found[0].length;
  }
  return [...out, ...between(all, at, text.length)];
}

/** The marks are drawn, all else is text. @param {{pieces: Piece[]}} props */
export const Highlight = ({ pieces: all }) => all.map(({ text, marked }) => (marked ? html`<mark>${text}</mark>` : text));

/** A text that nothing is marked in. @param {string} text */
export const plainText = (text) => joined(plain([{ text, marked: false }]));
