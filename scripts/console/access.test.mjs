import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, finish, open, service, settings, sql, until } from './kit.mjs';
import { startAuth } from './auth.mjs';

const member = { id: 'c0ffee00-0000-4000-8000-00000000000a', email: 'member@example.com', password: 'correct horse', name: 'Mem Ber' };
const stranger = { id: 'c0ffee00-0000-4000-8000-00000000000b', email: 'stranger@example.com', password: 'battery staple' };
const admin = { id: 'c0ffee00-0000-4000-8000-00000000000c', email: 'admin@example.com', password: 'an admin of TX' };
let auth;
let url;
let options;

before(async () => {
  for (const [user, role] of [[member, 'viewer'], [admin, 'admin']]) {
    sql(`insert into project_members select project_id, '${user.id}', '${role}' from projects where key = 'TX' on conflict do nothing`);
  }
  auth = await startAuth([member, stranger, admin]);
  const { SUPABASE_URL, SUPABASE_REST_URL } = settings();
  url = await service({ AUTH: 'on', RATE_LIMIT: '1000/1m', SUPABASE_URL: auth.url, SUPABASE_REST_URL: SUPABASE_REST_URL ?? `${SUPABASE_URL}/rest/v1`, SUPABASE_PUBLISHABLE_KEY: 'sb_publishable_check' });
  options = { also: [auth.url] };
});
after(async () => {
  sql(`delete from project_members where user_id in ('${member.id}', '${admin.id}')`);
  await finish();
});

/** Until the dialog is gone: what is filled in before goes into it. */
async function signIn(page, user, { refused = false } = {}) {
  await page.fill('#email', user.email);
  await page.fill('#password', user.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  if (!refused) await page.locator('#email').waitFor({ state: 'detached' });
}

test('a member signs in, sees their project alone, and nothing that they may not do', async (t) => {
  const refused = [];
  const page = await open(t, url, {
    ...options, failing: true, // the wrong password
    prepare: (it) => it.on('response', (r) => { if (r.status() >= 400 && r.url().startsWith(url)) refused.push(`${r.status()} ${r.url()}`); }),
  });
  await page.getByRole('button', { name: /Continue with github/i }).waitFor();
  await accessible(page);
  await signIn(page, { ...member, password: 'wrong' }, { refused: true });
  await page.getByText('Invalid login credentials').waitFor();
  await signIn(page, member);
  await page.locator('.tile', { hasText: 'TX' }).waitFor();
  assert.equal(await page.locator('.tile').count(), 1);
  assert.equal(await page.locator('.who span').first().innerText(), 'Mem Ber');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'query');
  await page.keyboard.type('password of the customer');
  await page.locator('.told', { hasText: 'by meaning and keywords' }).waitFor();
  assert.deepEqual([...new Set(await page.locator('a.result .key').allInnerTexts())].filter((key) => !/^(TX-|Project)/.test(key)), []);
  await page.getByRole('link', { name: 'Documents' }).click();
  await page.locator('.example').first().click();
  await page.getByText('Was it helpful?').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
  assert.equal(await page.locator('.state', { hasText: 'Waiting' }).count(), 0);
  await page.reload(); // still signed in
  await page.getByText('Was it helpful?').waitFor();
  assert.deepEqual(refused, [], 'what one may not ask for is not asked for');
  assert.match(page.url(), /#documents\?id=/);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('#email').waitFor();
  assert.match(page.url(), /#documents$/); // the next user is not where this one was
  await until('the session is ended', () => auth.ended === 1);
  assert.equal(await page.locator('.document h1').count(), 0);
});

test('who may see nothing is told so; an admin may write and sees the queue', async (t) => {
  const page = await open(t, url, options);
  await signIn(page, stranger);
  await page.getByText('There is nothing to search yet').waitFor();
  await accessible(page);
  const other = await open(t, `${url}/#documents`, options);
  await signIn(other, admin);
  await other.getByRole('button', { name: 'Add' }).waitFor();
  await other.locator('.who', { hasText: admin.email }).waitFor(); // who gave no name
  await other.locator('.state', { hasText: 'Waiting' }).waitFor();
});

test('a provider signs in by a redirect with PKCE, and the page is where it was', async (t) => {
  const page = await open(t, `${url}/#search?q=charged+twice`, options);
  await page.getByRole('button', { name: /Continue with github/i }).click();
  await page.locator('a.result', { hasText: 'TX-400' }).first().waitFor();
  assert.match(page.url(), /\/#search\?q=charged\+twice$/);
});

test('a session that is about to end is renewed, one that ended asks again, and what was typed is still there', async (t) => {
  auth.lifetime = 30; // less than what the console renews early: each request renews
  const page = await open(t, `${url}/#draft`, { ...options, failing: true });
  await signIn(page, member);
  await page.fill('#title', 'Paid twice for one order');
  await page.locator('.similar li', { hasText: 'TX-402' }).waitFor();
  await until('the token is renewed', () => auth.refreshed > 0);
  // The session ends while a comparison is under way, whichever of the request and the timer finds out first.
  let held;
  await page.route('**/api/tickets/similar', (route) => {
    if (held || !route.request().postData().includes('a second time')) return route.continue();
    held = route;
  });
  await page.fill('#text', 'The customer was charged a second time.');
  await until('the text is compared', () => held);
  auth.refuses = true;
  await held.fulfill({ status: 401, json: { status: 401, code: 'token_expired' } });
  await page.getByText('Your session has ended. What you have typed is still there.').waitFor();
  await accessible(page);
  auth.refuses = false;
  auth.lifetime = 3600;
  await signIn(page, member);
  await page.locator('.similar li', { hasText: 'TX-400' }).first().waitFor();
  assert.equal(await page.inputValue('#title'), 'Paid twice for one order');
  assert.equal(await page.inputValue('#text'), 'The customer was charged a second time.');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'text', 'the focus is where it was');
  // Another user finds nothing of what was asked.
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await page.fill('#question', 'How many tickets are open?');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'in Search' }).waitFor();
  auth.refuses = true;
  await page.route('**/api/query', (route) => route.fulfill({ status: 401, json: { status: 401, code: 'token_expired' } }));
  await page.fill('#question', 'And in Mobile App?');
  await page.keyboard.press('Enter');
  await page.locator('#email').waitFor();
  auth.refuses = false;
  await signIn(page, admin);
  await page.getByText('Ask your tracker').waitFor();
  assert.equal(await page.locator('.turn').count(), 0);
  assert.match(page.url(), /#ask$/);
  await page.getByRole('link', { name: 'Before you file' }).click();
  await page.getByText('Start with a title').waitFor();
  assert.deepEqual([await page.inputValue('#title'), await page.inputValue('#text')], ['', '']);
  await page.fill('#title', 'Of the admin');
  await page.reload();
  assert.equal(await page.inputValue('#title'), 'Of the admin');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('#email').waitFor();
  assert.ok(!(await page.evaluate(() => JSON.stringify(sessionStorage))).includes('Of the admin'));
});

test('a pasted token signs in until it expires', async (t) => {
  const page = await open(t, url, options);
  await page.getByRole('button', { name: 'I have an access token' }).click();
  await page.fill('#token', 'nonsense');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByText('This is not an access token').waitFor();
  await page.fill('#token', auth.sign(member));
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.locator('.tile', { hasText: 'TX' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'query');
});
