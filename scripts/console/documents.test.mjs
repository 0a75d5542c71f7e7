import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessible, demo, finish, open, sql, until } from './kit.mjs';

after(finish);

test('documents are sorted by score or similarity, and the parts of the score are shown', async (t) => {
  const page = await open(t, `${demo}/#documents`);
  await page.locator('.example').first().waitFor();
  await accessible(page);
  await page.fill('#query', 'How are idempotency keys derived?');
  const first = page.locator('a.result').first();
  await first.locator('.parts').waitFor();
  assert.match(await first.locator('.bar').getAttribute('aria-label'), /^Score 0\.\d{4}: similarity 0\.\d+, keywords 0\.\d+/);
  await accessible(page);
  await page.getByRole('button', { name: 'Similarity alone' }).click();
  await page.locator('.parts').waitFor({ state: 'detached' });
  await first.locator('.near').waitFor();
  await first.click();
  await page.locator('.document h1', { hasText: 'Decision 12' }).waitFor();
  await page.getByText('Similar documents').waitFor();
  await accessible(page);
  await page.locator('.document a.chip', { hasText: 'Lena' }).click();
  await page.getByText('Documents that name Lena').waitFor();
  await page.locator('a.result').first().waitFor();
});

test('a search without results above the threshold can show the nearest ones', async (t) => {
  const page = await open(t, `${demo}/#documents?q=zxqv+wvut`);
  await page.getByText('No document found').waitFor();
  await accessible(page);
  await page.getByRole('link', { name: 'Show the nearest anyway' }).click();
  await page.locator('a.result').first().waitFor();
  assert.match(page.url(), /threshold=0/);
  await page.fill('#query', 'zxqv wvut srqp'); // a new query resets the threshold
  await page.getByText('No document found').waitFor();
});

test('with other weights the parts do not add up, so only the total score is drawn', async (t) => {
  sql('update search_config set similarity_weight = 0.9, keyword_weight = 0.1, utility_weight = 0, freshness_weight = 0');
  t.after(() => sql('update search_config set similarity_weight = default, keyword_weight = default, utility_weight = default, freshness_weight = default'));
  const page = await open(t, `${demo}/#documents?q=How+are+idempotency+keys+derived`);
  const parts = page.locator('.parts').first();
  await parts.waitFor();
  assert.match(await parts.locator('.bar').getAttribute('aria-label'), /^Score (0\.\d{4}): score \1$/);
});

test('an id in the address is one part of a path, whatever it holds', async (t) => {
  const asked = [];
  const prepare = (page) => page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const page = await open(t, `${demo}/#documents?id=${encodeURIComponent('../search?q=why&hybrid=true#')}`, { failing: true, prepare });
  await page.getByText('The request is not valid.').first().waitFor();
  assert.deepEqual(asked.filter((path) => path.startsWith('/api/knowledge')).map((path) => path.split('/').length), [5, 6]);
});

test('a document is added, voted on, replaced, archived and deleted', async (t) => {
  const page = await open(t, `${demo}/#documents`, { failing: true }); // requests the deleted document again
  await page.getByRole('button', { name: 'Add' }).click();
  await accessible(page);
  await page.fill('#document-title', 'Why the console was written');
  await page.fill('#document-content', '## Reason\n\nSo that one can look at what `search` finds.');
  await page.fill('#document-keywords', 'console, page');
  await page.locator('dialog').getByRole('button', { name: 'Add' }).click();
  await page.locator('.document h1', { hasText: 'Why the console was written' }).waitFor();
  await page.locator('.document a.chip', { hasText: 'console' }).waitFor();
  await page.getByRole('button', { name: 'Helpful', exact: true }).click();
  await page.getByText('Thank you.').waitFor();
  await page.getByRole('button', { name: 'Replace' }).click();
  assert.equal(await page.inputValue('#document-keywords'), 'console, page');
  await page.fill('#document-title', 'Why there is a console');
  await page.locator('dialog').getByRole('button', { name: 'Replace' }).click();
  await page.locator('.document h1', { hasText: 'Why there is a console' }).waitFor();
  await page.getByRole('button', { name: 'Archive', exact: true }).click();
  await page.getByText('searches and answers leave it out').waitFor();
  await page.getByRole('button', { name: 'Replace' }).click();
  assert.equal(await page.isChecked('[name=archived]'), true);
  await accessible(page);
  await page.uncheck('[name=archived]');
  await page.locator('dialog').getByRole('button', { name: 'Replace' }).click();
  await page.getByRole('button', { name: 'Archive', exact: true }).waitFor();
  const address = page.url();
  const { archived, content } = await (await fetch(`${demo}/api/knowledge/documents/${new URLSearchParams(address.split('?')[1]).get('id')}`)).json();
  assert.deepEqual([archived, content.includes('So that one can look')], [false, true]);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.locator('dialog').getByRole('button', { name: 'Keep it' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('What the team knows').waitFor();
  await page.goto(address);
  await page.getByText('There is no such document').waitFor();
  await until('the form is gone', async () => (await page.locator('dialog[open]').count()) === 0);
});
