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

test('a link opens its ticket wherever the results have it, or says that there is none', async (t) => {
  const page = await open(t, `${demo}/#search?q=refund&open=TX-9100`, { failing: true, permissions: ['clipboard-read', 'clipboard-write'] });
  const details = page.locator('.details');
  await details.getByRole('heading', { name: 'Zymurgy of the checkout' }).waitFor();
  await page.locator('a.result').first().waitFor();
  assert.equal(await page.locator('a.result', { hasText: 'TX-9100' }).count(), 0);
  assert.equal(await details.locator('.why').count(), 0); // it was not found
  await accessible(page);
  await details.getByRole('button', { name: 'Copy link' }).press('Enter');
  await details.getByRole('button', { name: 'Copied' }).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  assert.match(page.url(), /#search\?q=refund$/);
  for (const address of [link, `${demo}/#search?open=TX-9100`, `${demo}/#search?q=TX-9100&status=Blocked&open=TX-9100`]) {
    await page.goto('about:blank');
    await page.goto(address);
    await details.getByRole('heading', { name: 'Zymurgy of the checkout' }).waitFor();
    await details.locator('.whole').waitFor();
    for (const width of [390, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${address} is wider than ${width}`);
    }
  }
  for (const [id, what] of [['TX-99999', 'ticket TX-99999'], ['../projects', 'ticket ../projects'], ['project-987654', 'project 987654']]) {
    await page.goto(`${demo}/#search?q=refund&open=${encodeURIComponent(id)}`);
    await details.getByText(`There is no ${what}, or you may not see it.`).waitFor();
    await page.locator('a.result').first().waitFor();
    await accessible(page);
  }
  await details.getByRole('button', { name: 'Close' }).click();
  await details.waitFor({ state: 'detached' });
});

test('a link leads to the ticket in its own tracker, if its address is one of the web', async (t) => {
  let address;
  const page = await open(t, demo, { prepare: (it) => it.route(/api.tickets.TX-9100[?]/, async (route) => route.fulfill({ json: { ...await (await route.fetch()).json(), url: address } })) });
  const link = page.locator('.details').getByRole('link', { name: /^Open in/ });
  for (const [given, text] of [['https://github.com/acme/shop/issues/31', 'Open in github.com'], ['javascript:alert(1)', null], ['no address', null], [undefined, null]]) {
    address = given;
    await page.goto('about:blank');
    await page.goto(`${demo}/#search?q=TX-9100&open=TX-9100`);
    await page.locator('.whole').waitFor();
    assert.deepEqual(await link.allInnerTexts(), text ? [text] : [], given);
    if (text) assert.deepEqual([await link.getAttribute('href'), await link.getAttribute('rel')], [given, 'noopener noreferrer']);
  }
});

test('an admin sets the language of a project, outside of the results', async (t) => {
  t.after(() => sql("update projects set language = null where key = 'TX'"));
  const page = await open(t, `${demo}/#search?q=Checkout+and+Payments`, { failing: true }); // one value is refused
  await page.locator('a.result', { hasText: 'Project' }).first().click();
  await page.locator('.details').waitFor();
  assert.equal(await page.locator('.details input').count(), 0);
  await page.goto(`${demo}/#search`);
  const settings = page.locator('.start details');
  await settings.locator('summary').click();
  const form = settings.locator('form', { hasText: 'Checkout and Payments' });
  const field = form.getByRole('textbox');
  await field.fill('klingon');
  await field.press('Enter');
  await form.getByText('The language is "klingon". Use arabic,').waitFor();
  await field.fill('French');
  await form.getByRole('button', { name: 'Set the language' }).click();
  await form.getByText('It is set.').waitFor();
  await accessible(page);
  assert.equal(sql("select language from projects where key = 'TX'").trim(), 'french');
  await page.reload();
  await settings.locator('summary').click();
  await until('the language is shown', async () => await field.inputValue() === 'french');
});
