// @ts-check
// The state of the page stands in the address, after the #: it can be kept and sent, and reaches no log.
import { useEffect, useLayoutEffect, useState } from './hooks.js';

/** @typedef {{view: string, params: URLSearchParams}} Route */

/** @returns {Route} */
export function currentRoute() {
  const [view, query] = location.hash.slice(1).split(/\?(.*)/s);
  return { view: view || 'search', params: new URLSearchParams(query) };
}

/** @param {string} view @param {Record<string, unknown>} [params] those that are empty are left out */
export function href(view, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '' && value !== false) query.set(name, String(value));
  }
  const text = query.toString();
  return `./#${view}${text ? `?${text}` : ''}`; // with ./, as it leads to no place on the page
}

const changed = new EventTarget();

/** @param {string} target from href @param {{replace?: boolean}} [options] replace: without a step in the history */
export function go(target, { replace = false } = {}) {
  if (target === `./${location.hash}`) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', target);
  changed.dispatchEvent(new Event('change'));
}

/** @returns {Route} */
export function useRoute() {
  const [route, setRoute] = useState(currentRoute);
  useLayoutEffect(() => { // before the address can change again
    const read = () => setRoute(currentRoute());
    changed.addEventListener('change', read);
    addEventListener('popstate', read);
    return () => {
      changed.removeEventListener('change', read);
      removeEventListener('popstate', read);
    };
  }, []);
  return route;
}

/** After a step back, the focus returns to the link that led away, as soon as it is there again and while its list changes, until something else is done. */
export function useReturn() {
  useEffect(() => {
    let wanted = '';
    /** @type {HTMLElement | null} */
    let given = null; // what the focus was given to
    const seek = () => {
      const { activeElement: active } = document;
      if (given && active !== given && active !== document.body) wanted = '';
      const link = /** @type {HTMLElement | null} */ (wanted && document.querySelector(`main a[href="${CSS.escape(wanted)}"]`) || null);
      if (link && link !== active) (given = link).focus({ preventScroll: true });
    };
    const drawn = new MutationObserver(seek);
    drawn.observe(document.body, { childList: true, subtree: true, attributeFilter: ['href'] });
    const back = (/** @type {PopStateEvent} */ e) => { wanted = e.state?.left ?? ''; given = null; setTimeout(seek); }; // the page of before is still drawn
    const other = () => { wanted = ''; };
    const leave = (/** @type {Event} */ e) => {
      const link = /** @type {Element} */ (e.target).closest?.('main a[href^="./#"]');
      if (link) history.replaceState({ left: link.getAttribute('href') }, '');
    };
    addEventListener('popstate', back);
    addEventListener('keydown', other);
    addEventListener('pointerdown', other);
    addEventListener('click', leave, true);
    return () => {
      drawn.disconnect();
      removeEventListener('popstate', back);
      removeEventListener('keydown', other);
      removeEventListener('pointerdown', other);
      removeEventListener('click', leave, true);
    };
  }, []);
}
