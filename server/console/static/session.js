// @ts-check
// Who uses the page: nobody where the service trusts its callers (AUTH=off), else a user of Supabase Auth, or the holder of
// a pasted token. Tokens are kept for this tab alone, and renewed before they end.

/** @typedef {{token: string, refresh: string, expires: number, subject: string, name: string}} Session */
/** @typedef {{auth: boolean, supabase_url: string, publishable_key: string, ticket_url: string}} Settings */

/** @type {Settings} */
export const settings = JSON.parse(document.getElementById('settings')?.textContent || '{}');

const STORED = 'tasklens.session';
const KEPT = 'tasklens.kept'; // what is being written, and by whom
const VERIFIER = 'tasklens.verifier';
const EARLY = 60; // seconds before its end that a token is renewed

/** What went wrong with signing in, in words for the user. */
export class SignInError extends Error {}

/** @type {Session | null} */
let session = read();
let expired = false;
/** @type {Promise<boolean> | null} */
let renewal = null;
/** @type {number | undefined} */
let timer;
const changed = new EventTarget();
/** @type {Set<() => void>} */
const waiting = new Set();

/** @param {() => void} listener @returns {() => void} ends it */
export function onSession(listener) {
  changed.addEventListener('change', listener);
  return () => changed.removeEventListener('change', listener);
}

export const currentSession = () => session;
/** Whether the user was signed in before. */
export const hasExpired = () => expired;
export const signsInHere = () => settings.supabase_url !== '';

/** @returns {Session | null} */
function read() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) || 'null');
  } catch {
    return null;
  }
}

/** @param {Session | null} next */
function set(next) {
  session = next;
  clearTimeout(timer);
  if (next) {
    expired = false;
    sessionStorage.setItem(STORED, JSON.stringify(next));
    plan();
    for (const resume of waiting) resume();
    waiting.clear();
  } else {
    sessionStorage.removeItem(STORED);
  }
  changed.dispatchEvent(new Event('change'));
}

function plan() {
  if (!session?.refresh) return;
  const left = (session.expires - Date.now() / 1000 - EARLY) * 1000;
  timer = setTimeout(renew, Math.max(left, 1000));
}

/**
 * What a request carries. Waits until somebody has signed in where that is needed.
 * @param {AbortSignal} [signal] @returns {Promise<string>} empty where no token is needed
 */
export async function accessToken(signal) {
  if (!settings.auth) return '';
  if (session && session.expires - Date.now() / 1000 < EARLY) {
    if (session.refresh) await renew();
    else if (session.expires < Date.now() / 1000) expire();
  }
  while (!session) await signedIn(signal);
  return session.token;
}

/** @param {AbortSignal} [signal] @returns {Promise<void>} */
function signedIn(signal) {
  return new Promise((resolve, reject) => {
    waiting.add(resolve);
    signal?.addEventListener('abort', () => {
      waiting.delete(resolve);
      reject(signal.reason);
    });
  });
}

/** The service has refused a token. @param {string} token */
export async function refused(token) {
  if (session?.token !== token) return; // there is another by now
  if (session.refresh && (await renew())) return;
  expire();
}

function expire() {
  if (!session) return;
  expired = true;
  set(null);
}

/** One at a time: a refresh token is good once. @returns {Promise<boolean>} */
function renew() {
  renewal ??= (async () => {
    const before = session;
    if (!before?.refresh) return false;
    try {
      set(fromGrant(await ask('refresh_token', { refresh_token: before.refresh })));
      return true;
    } catch (error) {
      if (error instanceof SignInError) expire();
      else if (session) timer = setTimeout(renew, 10_000);
      return false;
    }
  })().finally(() => {
    renewal = null;
  });
  return renewal;
}

/** @param {string} email @param {string} password */
export async function signIn(email, password) {
  set(fromGrant(await ask('password', { email, password })));
}

/** @param {string} token */
export function paste(token) {
  const claims = claimsOf(token.trim());
  if (!claims) throw new SignInError('This is not an access token: it has three parts, separated by dots.');
  if (claims.exp && claims.exp < Date.now() / 1000) throw new SignInError('This token has expired.');
  set({ token: token.trim(), refresh: '', expires: claims.exp ?? Infinity, subject: claims.sub ?? '', name: nameOf(claims) });
}

export async function signOut() {
  const before = session;
  sessionStorage.removeItem(STORED);
  sessionStorage.removeItem(KEPT);
  if (before && signsInHere()) {
    await fetch(auth('logout?scope=local'), { method: 'POST', headers: { apikey: settings.publishable_key, authorization: `Bearer ${before.token}` } }).catch(() => {});
  }
  history.replaceState(null, '', `./${location.hash.split('?')[0]}`); // so that nothing of theirs is left on the page
  location.reload();
}

/** Which providers the project offers, such as "github". @returns {Promise<{providers: string[], email: boolean}>} */
export async function signInMethods() {
  const response = await fetch(auth('settings'), { headers: { apikey: settings.publishable_key } });
  if (!response.ok) throw new SignInError('Supabase Auth does not answer.');
  const { external = {} } = await response.json();
  const { email = true, phone, anonymous_users, ...others } = external;
  return { email, providers: Object.keys(others).filter((name) => others[name]) };
}

/** Leaves for a provider's page, which comes back with a code (PKCE). @param {string} provider */
export async function signInWith(provider) {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(48)));
  const challenge = base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
  sessionStorage.setItem(VERIFIER, JSON.stringify({ verifier, hash: location.hash }));
  const query = new URLSearchParams({
    provider, redirect_to: location.origin + location.pathname, code_challenge: challenge, code_challenge_method: 's256',
  });
  location.assign(auth(`authorize?${query}`));
}

/** Ends a sign-in that a provider's page has come back from. @returns {Promise<string>} what went wrong, or nothing */
export async function completeSignIn() {
  const query = new URLSearchParams(location.search);
  const kept = sessionStorage.getItem(VERIFIER);
  if (!kept || !(query.has('code') || query.has('error'))) return '';
  const { verifier, hash } = JSON.parse(kept);
  sessionStorage.removeItem(VERIFIER);
  history.replaceState(null, '', location.pathname + hash);
  if (query.has('error')) return query.get('error_description') || 'The provider refused.';
  try {
    set(fromGrant(await ask('pkce', { auth_code: query.get('code') ?? '', code_verifier: verifier })));
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** @param {string} path */
const auth = (path) => `${settings.supabase_url}/auth/v1/${path}`;

/** @param {string} kind @param {Record<string, string>} body */
async function ask(kind, body) {
  const response = await fetch(auth(`token?grant_type=${kind}`), {
    method: 'POST',
    headers: { apikey: settings.publishable_key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  });
  const answer = await response.json().catch(() => ({}));
  if (response.status >= 500 || response.status === 429) throw new Error('Supabase Auth does not answer now. Try again in a moment.');
  if (!response.ok) throw new SignInError(answer.msg || answer.error_description || 'This was refused.');
  return answer;
}

/** @param {any} grant @returns {Session} */
function fromGrant(grant) {
  const claims = claimsOf(grant.access_token) ?? {};
  return {
    token: grant.access_token, refresh: grant.refresh_token ?? '', expires: claims.exp ?? grant.expires_at ?? Date.now() / 1000 + (grant.expires_in ?? 3600),
    subject: claims.sub ?? grant.user?.id ?? '', name: nameOf({ ...claims, ...grant.user }),
  };
}

/** A user's name, or else their mail; nothing where neither is known: an id tells them nothing. @param {Record<string, any>} of @returns {string} */
function nameOf({ user_metadata: own = {}, email, phone }) {
  return [own?.full_name, own?.name, email, own?.email, phone].find((name) => typeof name === 'string' && name.trim() !== '') ?? '';
}

/** @param {string} token @returns {Record<string, any> | null} */
function claimsOf(token) {
  try {
    const bytes = Uint8Array.from(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

/** @param {Uint8Array} bytes */
const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

plan();

/** What this user wrote and has not sent: it survives a reload, in this tab alone. @returns {Record<string, any>} */
export function recall() {
  try {
    const { subject, ...kept } = JSON.parse(sessionStorage.getItem(KEPT) || '{}');
    return subject === (session?.subject ?? '') ? kept : {};
  } catch {
    return {};
  }
}

/** @param {Record<string, any>} change */
export function remember(change) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ ...recall(), ...change, subject: session?.subject ?? '' }));
  } catch { /* there is no room */ }
}
