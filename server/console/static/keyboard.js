// @ts-check
// Keys: over the list of results arrows, j and k move, Escape closes. While a result is open, moving opens the next one.
import { useEffect, useRef } from './hooks.js';

const KEPT = 'tasklens.single-keys';

/** Whether keys that are letters or signs do something: who dictates, or hits keys by accident, can turn them off. */
export const singleKeys = () => document.documentElement.dataset.singleKeys !== 'off';

/** @param {boolean} on */
export function setSingleKeys(on) {
  document.documentElement.dataset.singleKeys = on ? 'on' : 'off';
  try { localStorage.setItem(KEPT, on ? 'on' : 'off'); } catch { /* for this page alone */ }
}
try { setSingleKeys(localStorage.getItem(KEPT) !== 'off'); } catch { /* not to be read */ }

/** Whether a key belongs to an input method. Safari ends the composition before the key that did it, which 229 tells. @param {KeyboardEvent} e */
export const composes = (e) => e.isComposing || e.keyCode === 229;

/** @typedef {{current: HTMLElement | null}} Ref */

/** @param {{input: Ref, list: Ref, open: boolean, onClose: () => void}} options */
export function useListKeys(options) {
  const now = useRef(options); // of what is drawn: an effect of its own would lag behind it
  now.current = options;
  useEffect(() => {
    /** @param {KeyboardEvent} e */
    function key(e) {
      const { input, list, open, onClose } = now.current;
      const active = document.activeElement;
      const inField = active === input.current;
      if (e.metaKey || e.ctrlKey || e.altKey || composes(e) || document.querySelector('dialog[open]')) return;
      if (!inField && active?.closest('input, textarea, select')) return;
      if (e.key === 'Escape' && open) onClose();
      else {
        const arrow = e.key === 'ArrowDown' || e.key === 'ArrowUp';
        const step = { ArrowDown: 1, ArrowUp: -1, ...(singleKeys() && { j: 1, k: -1 }) }[e.key];
        const rows = /** @type {HTMLElement[]} */ ([...(list.current?.querySelectorAll('a.result') ?? [])]);
        const at = rows.findIndex((row) => (open ? row.getAttribute('aria-current') === 'true' : row === active));
        if (!step || (inField && !arrow) || (arrow && !inField && at < 0 && !open)) return; // a letter, or scrolling
        const next = rows[at + step];
        if (next && open) next.click();
        else if (next) next.focus();
        else if (arrow && at === 0 && !open) input.current?.focus();
        else return;
        next?.scrollIntoView({ block: 'nearest' });
      }
      e.preventDefault();
    }
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);
}
