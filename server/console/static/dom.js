// @ts-check
// The renderer: Preact, with templates by htm instead of a build step.
import { h } from './preact.js';
import htm from './htm.js';

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);
