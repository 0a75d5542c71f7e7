// @ts-check
// Why a ticket is like a draft: the sentence of it that has most of the draft's words, and these marked. It is shown, and ranks nothing.

/** @typedef {import('./snippet.js').Piece} Piece */

const WORD = /[\p{L}\p{N}]+/gu;
const LONGEST = 240; // characters of a sentence that are shown
const COMMON = new Set(('about after again also another because been before being both cannot could does doing done each even every from have having here into '
  + 'just like made make many more most much must need only other over same should since some still such than that their them then there these they this those '
  + 'through under until very want well were what when where which while will with without would your').split(' '));

/** Forms of one word, roughly: charged, charges. @param {string} word */
const stem = (word) => word.toLowerCase().replace(/(?:ing|ed|es|s|e)$/, '');
/** Whether a word says something. @param {string} word */
const says = (word) => (word.length > 3 || /\d|[^\x00-\x7f]/.test(word)) && !COMMON.has(word.toLowerCase());

/** @param {string} text */
const wordsOf = (text) => new Set((text.match(WORD) ?? []).filter(says).map(stem));

/** @param {string} draft @param {string} name @param {string} text of the ticket @returns {{words: string[], sentence: Piece[]} | null} nothing where no word agrees */
export function agreement(draft, name, text) {
  const wanted = wordsOf(draft);
  /** @param {string} of */
  const shared = (of) => [...wordsOf(of)].filter((word) => wanted.has(word));
  const sentences = [...text.split(/(?<=[.!?…])\s+|\n+/), name].map((sentence) => sentence.trim()).filter(Boolean);
  const [best] = sentences.map((sentence, i) => ({ sentence, i, n: shared(sentence).length })).sort((a, b) => b.n - a.n || a.i - b.i);
  if (!best || best.n === 0) return null;
  /** @type {string[]} */
  const words = [];
  for (const word of `${name}\n${text}`.match(WORD) ?? []) if (says(word) && wanted.has(stem(word)) && !words.some((w) => stem(w) === stem(word))) words.push(word.toLowerCase());
  const at = Math.max(0, best.sentence.search(WORD));
  const cut = best.sentence.length > LONGEST ? `${best.sentence.slice(at, LONGEST)} …` : best.sentence;
  return { words: words.slice(0, 8), sentence: cut.split(/([\p{L}\p{N}]+)/u).map((part) => ({ text: part, marked: says(part) && wanted.has(stem(part)) })).filter((piece) => piece.text) };
}
