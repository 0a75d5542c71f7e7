// @ts-check
// The page: its screens, who uses it, and what they may do.
import { render } from './preact.js';
import { html } from './dom.js';
import { useEffect, useLayoutEffect, useRef, useState } from './hooks.js';
import * as api from './api.js';
import { useConversation } from './conversation.js';
import { composes, singleKeys } from './keyboard.js';
import { currentRoute, go, href, useReturn, useRoute } from './route.js';
import { Search } from './search.js';
import { completeSignIn, currentSession, onSession, settings, signOut } from './session.js';
import { SignIn } from './signin.js';
import { State } from './state.js';
import { Failure, Icon, useLoad } from './ui.js';

/** @type {{view: string, name: string, icon: 'search' | 'ask' | 'draft' | 'documents'}[]} */
const SCREENS = [
  { view: 'search', name: 'Search', icon: 'search' },
  { view: 'ask', name: 'Ask', icon: 'ask' },
  { view: 'draft', name: 'Before you file', icon: 'draft' },
  { view: 'documents', name: 'Documents', icon: 'documents' },
];

/** What the user may do: what they may not do is not shown. @param {string} subject */
function useRights(subject) {
  const all = !settings.auth;
  const [may, setMay] = useState({ read: all, write: all, vote: all });
  useEffect(() => {
    if (all || !subject) return;
    const controller = new AbortController();
    setMay({ read: false, write: false, vote: false });
    api.role(controller.signal).then((role) => {
      const admin = role === 'admin' || role === 'service';
      if (!controller.signal.aborted) setMay({ read: admin, write: admin, vote: role !== 'none' });
    }, () => {});
    return () => controller.abort();
  }, [subject]);
  return may;
}

/** The field of the screen, focused. */
function focusField() {
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector('#query, #question, #title'));
  (field ?? document.getElementById('main'))?.focus();
  return field;
}

/** Screens that are fetched when they are first shown. @type {Record<string, () => Promise<any>>} */
const LATER = {
  ask: async () => (await import('./ask.js')).Ask, draft: async () => (await import('./draft.js')).Draft, documents: async () => (await import('./documents.js')).Documents,
};
/** @type {Record<string, any>} */
const fetched = {};

/** @param {{view: string} & Record<string, unknown>} props */
function Later({ view, ...props }) {
  const { problem, again } = useLoad(async () => (fetched[view] ??= await LATER[view]()), [view]);
  return fetched[view] ? html`<${fetched[view]} ...${props} />` : problem && html`<h1 class="sr">Not loaded</h1><${Failure} problem=${new api.Problem({ detail: 'This screen could not be loaded.' })} retry=${again} />`;
}

/** The screens of one user: the next one finds nothing of theirs. @param {{view: string, params: URLSearchParams, may: ReturnType<typeof useRights>}} props */
function Main({ view, params, may }) {
  const conversation = useConversation();
  return html`<main id="main" tabindex="-1">
    ${Object.hasOwn(LATER, view) ? html`<${Later} key=${view} view=${view} params=${params} may=${may} conversation=${conversation} />` : view === 'search' && html`<${Search} params=${params} may=${may} />`}
  </main>`;
}

/** @param {{told: string}} props */
function App({ told }) {
  const { view, params } = useRoute();
  useReturn();
  const [session, setSession] = useState(currentSession);
  const [owner, setOwner] = useState(session?.subject ?? ''); // whose results are on the page, signed in or not
  const owned = useRef(owner);
  useEffect(() => onSession(() => {
    const next = currentSession();
    setSession(next);
    if (!next) return;
    if (owned.current && owned.current !== next.subject) go(href(currentRoute().view), { replace: true }); // what the last one asked
    setOwner((owned.current = next.subject));
  }), []);
  const may = useRights(session ? owner || session.token : '');
  // The dialog gives the focus back to what had it; what had it before the first sign-in is not there any more.
  useEffect(() => {
    if (session && (document.activeElement ?? document.body) === document.body) focusField();
  }, [!session, owner]);
  const screen = SCREENS.find((s) => s.view === view) ?? SCREENS[0];
  // Another screen, document or page begins at its top. What is shown may then scroll to its own place.
  useLayoutEffect(() => {
    if (document.activeElement?.closest('.pages')) document.getElementById('main')?.focus({ preventScroll: true }); // browsers keep in view what has the focus
    scrollTo(0, 0);
  }, [screen, params.get('id'), params.get('page')]);
  useEffect(() => {
    const q = params.get('q');
    document.title = `${q ? `${q} · ` : ''}${screen.name} · tasklens`;
  });
  useEffect(() => {
    /** @param {KeyboardEvent} e */
    function key(e) {
      const at = /** @type {HTMLElement | null} */ (e.target);
      if (e.key === 'Escape' && !e.defaultPrevented && !composes(e) && at?.matches?.('main [type=search]')) { // browsers would empty it
        at.blur();
        e.preventDefault();
      }
      if (e.key !== '/' || !singleKeys() || e.metaKey || e.ctrlKey || e.altKey || at?.closest?.('input, textarea, select, dialog')) return;
      focusField()?.select();
      e.preventDefault();
    }
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);
  return html`<a class="skip" href="#main" onClick=${(/** @type {Event} */ e) => { e.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to the content</a>
    <header class="top"><a class="brand" href=${href('search')}><svg viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6" /><path d="M10.5 5.8a4.7 4.7 0 1 0 0 9.4 4.7 4.7 0 0 0 0-9.4Zm3.7 8.4 4.3 4.3" /></svg>tasklens</a>
      <nav aria-label="Screens">${SCREENS.map((s) => html`<a href=${href(s.view)} aria-current=${s === screen ? 'page' : undefined}><${Icon} name=${s.icon} /><span>${s.name}</span></a>`)}</nav>
      ${session && html`<div class="who"><span class="small" title=${session.subject} dir="auto">${session.name || html`<span class="muted">Signed in</span>`}</span><button type="button" class="link small" onClick=${signOut}>Sign out</button></div>`}</header>
    <${Main} key=${owner} view=${screen.view} params=${params} may=${may} />
    <${State} may=${may} />
    ${settings.auth && html`<${SignIn} open=${!session} told=${told} />`}`;
}

const told = await completeSignIn();
render(html`<${App} told=${told} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
