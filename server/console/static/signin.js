// @ts-check
// Signing in: by Supabase Auth, or with a token that one has. Lies over the page, which keeps what was typed.
import { html } from './dom.js';
import { useEffect, useState } from './hooks.js';
import { hasExpired, paste, signIn, signInMethods, signInWith, signsInHere } from './session.js';
import { Dialog, Icon } from './ui.js';

/** @param {{open: boolean, told: string}} props */
export function SignIn({ open, told }) {
  const [methods, setMethods] = useState({ email: true, providers: /** @type {string[]} */ ([]) });
  const [pasting, setPasting] = useState(!signsInHere());
  const [wrong, setWrong] = useState(told);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (open && signsInHere()) signInMethods().then(setMethods, () => {}); // email remains
  }, [open]);
  useEffect(() => { if (told) setWrong(told); }, [told]);
  /** @param {Event} event @param {(data: FormData) => Promise<void> | void} act */
  async function attempt(event, act) {
    event.preventDefault();
    setBusy(true);
    setWrong('');
    try {
      await act(new FormData(event.target instanceof HTMLFormElement ? event.target : undefined));
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }
  return html`<${Dialog} label="Sign in" open=${open} class="signin">
    <div class="emblem"><${Icon} name="user" /></div>
    <h2>${hasExpired() ? 'Sign in again' : 'Sign in'}</h2>
    <p class="muted">${hasExpired() ? 'Your session has ended. What you have typed is still there.' : 'You see what your projects let you see.'}</p>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
    ${pasting ? html`<form onSubmit=${(/** @type {Event} */ e) => attempt(e, (data) => paste(String(data.get('token'))))}>
        <label for="token">Access token</label><textarea id="token" name="token" rows="4" required spellcheck=${false} autocomplete="off" autofocus placeholder="eyJ…"></textarea>
        <p class="small muted">A token of Supabase Auth. It stays in this tab.</p>
        <button class="button primary" disabled=${busy}>Continue</button></form>`
      : methods.email && html`<form onSubmit=${(/** @type {Event} */ e) => attempt(e, (data) => signIn(String(data.get('email')), String(data.get('password'))))}>
        <label for="email">Email</label><input id="email" name="email" type="email" required autocomplete="username" autofocus />
        <label for="password">Password</label><input id="password" name="password" type="password" required autocomplete="current-password" />
        <button class="button primary" disabled=${busy}>Sign in</button></form>`}
    ${!pasting && methods.providers.map((name) => html`<button type="button" class="button" onClick=${(/** @type {Event} */ e) => attempt(e, () => signInWith(name))}>Continue with <span class="provider">${name}</span></button>`)}
    ${signsInHere() && html`<button type="button" class="link small" onClick=${() => { setPasting(!pasting); setWrong(''); }}>${pasting ? 'Sign in with email instead' : 'I have an access token'}</button>`}
  <//>`;
}
