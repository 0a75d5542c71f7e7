// One ticket: what it says comes first, as Markdown, with links; why it was found is folded below.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, demo, finish, open, service, sql, until } from './kit.mjs';

const TEXT = `It **fails** as in TX-402, see https://example.com/log.

1. Pay with \`4242\`
2. Press *Back*

> Works for me.

\`\`\`
at Foo.bar(Foo.java:12) and a long line that is wider than the panel, so that it scrolls within its own box
\`\`\``;

before(() => sql(`insert into tickets (project_id, status_id, key, name, description, assignee) select project_id, status_id, 'TX-9100', 'Zymurgy of the checkout', '${TEXT}', 'Noor'
    from projects, status where projects.key = 'TX' and status.name = 'To Do';
  insert into comments (ticket_id, author, body) select ticket_id, 'Ada', E'- same as TX-400\\n- **here** too' from tickets where key = 'TX-9100'`));
after(async () => {
  sql("delete from tickets where key = 'TX-9100'");
  await finish();
});

test('the ticket comes first, the reasons are folded below it and computed when they are unfolded', async (t) => {
  const compared = [];
  const page = await open(t, `${demo}/#search?q=charged+twice&open=TX-400`, { prepare: (it) => it.on('request', (r) => { if (r.url().endsWith('/hybrid-search') && r.postDataJSON().limit === 100) compared.push(r); }) });
  const details = page.locator('.details');
  await details.locator('.similar li').first().waitFor();
  assert.deepEqual(await details.evaluate((it) => ['.facts', '.md', '.links', '.talk', '.why', '.similar'].map((name) => [...it.querySelectorAll('*')].indexOf(it.querySelector(name))).filter((at, i, all) => at < 0 || at < all[i - 1])), []);
  assert.equal(await details.locator('.legs').count(), 0);
  assert.equal(compared.length, 0);
  await details.locator('.why summary').focus();
  await page.keyboard.press('Enter');
  await details.getByText('would be result').waitFor();
  assert.equal(compared.length, 1);
  await accessible(page);
});

test('descriptions and comments are drawn as Markdown; keys and addresses are links', async (t) => {
  const page = await open(t, `${demo}/#search?q=Zymurgy&open=TX-9100`);
  const text = page.locator('.whole > .md');
  for (const [element, content] of [['strong', 'fails'], ['ol li:nth-child(2) em', 'Back'], ['ol code', '4242'], ['blockquote', 'Works for me.']]) assert.equal(await text.locator(element).innerText(), content);
  assert.match(await text.locator('pre').innerText(), /^at Foo\.bar/);
  const out = text.getByRole('link', { name: 'https://example.com/log' });
  assert.deepEqual([await out.getAttribute('href'), await out.getAttribute('target'), /\bnoopener\b/.test(await out.getAttribute('rel'))], ['https://example.com/log', '_blank', true]);
  assert.equal(await page.locator('.talk li li').count(), 2);
  assert.equal(await page.locator('.details header a').count(), 0); // nobody said where the tracker is
  await accessible(page);
  await page.locator('.talk').getByRole('link', { name: 'TX-400' }).click();
  await page.locator('.details h2', { hasText: 'Customer charged twice' }).waitFor();
  await page.goBack();
  await page.locator('.details h2', { hasText: 'Zymurgy' }).waitFor();
});

test('TICKET_URL links a ticket to the tracker', async (t) => {
  const url = await service({ TICKET_URL: 'https://jira.example.com/browse/{key}?from=<tasklens>' });
  const page = await open(t, `${url}/#search?q=TX-9100&open=TX-9100`);
  const key = page.locator('.details header a');
  assert.equal(await key.getAttribute('href'), 'https://jira.example.com/browse/TX-9100?from=<tasklens>');
  assert.equal(await key.getAttribute('rel'), 'noopener noreferrer');
});

test('an admin sets the language of an opened project', async (t) => {
  t.after(() => sql("update projects set language = null where key = 'TX'"));
  const page = await open(t, `${demo}/#search?q=Checkout+and+Payments`, { failing: true }); // one value is refused
  await page.locator('a.result', { hasText: 'Project' }).first().click();
  const details = page.locator('.details');
  const field = details.getByRole('textbox', { name: 'Language' });
  await field.fill('klingon');
  await field.press('Enter');
  await details.getByText('The language is "klingon". Use arabic,').waitFor();
  await field.fill('French');
  await details.getByRole('button', { name: 'Set the language' }).click();
  await details.getByText('It is set.').waitFor();
  await accessible(page);
  assert.equal(sql("select language from projects where key = 'TX'").trim(), 'french');
  await page.reload();
  await until('the language is shown', async () => await field.inputValue() === 'french');
});
