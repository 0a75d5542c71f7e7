import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessible, demo, finish, open, service, until } from './kit.mjs';
import { startModel } from './model.mjs';

after(finish);
const QUESTION = 'How was the double charge fixed with the idempotency key?';

test('an answer links its citations to their sources and can be copied', async (t) => {
  const page = await open(t, `${demo}/#ask`, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.locator('.example').first().waitFor();
  await accessible(page);
  await page.fill('#question', QUESTION);
  await page.keyboard.press('Enter');
  const cite = page.locator('.answer .cite').first();
  await cite.waitFor();
  const number = await cite.innerText();
  await page.getByRole('button', { name: 'Copy with sources' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), new RegExp(`\\[${number}\\] TX-400 `));
  await cite.click();
  await page.locator(`#source-${number}.cited.lit`).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), `source-${number}`);
  assert.ok((await page.locator('.answer .md code').count()) > 0); // it is Markdown
  await accessible(page);
  await page.reload(); // the question is in the address
  await page.locator('.answer .cite').first().waitFor();
  await page.locator(`#source-${number} a.name`).click();
  await page.locator('.details', { hasText: 'TX-400' }).waitFor();
});

test('an answer from documents cites them', async (t) => {
  const page = await open(t, `${demo}/#ask?q=How+are+idempotency+keys+derived%3F`);
  await page.getByRole('button', { name: 'Documents', exact: true }).click();
  await page.locator('.source a.name', { hasText: 'Decision 12' }).waitFor();
  assert.match(page.url(), /corpus=documents/);
});

test('a question without relevant sources gets no answer but a link to the search', async (t) => {
  const page = await open(t, `${demo}/#ask?q=${encodeURIComponent('How do I bake sourdough bread?')}`);
  await page.getByText('No answer to be found').waitFor();
  await accessible(page);
  await page.getByRole('link', { name: 'Search for it instead' }).click();
  assert.equal(await page.inputValue('#query'), 'How do I bake sourdough bread?');
});

test('an answer can be stopped, and a failure of the model is shown', async (t) => {
  const model = await startModel();
  const url = await service({ OPENAI_BASE_URL: model.url, CACHE: 'off', REQUEST_TIMEOUT: '10m', MODEL_TIMEOUT: '10m' });
  const page = await open(t, `${url}/#ask`, { failing: true });
  model.held = 'chat';
  await page.fill('#question', QUESTION);
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.getByText('Reading the sources').waitFor();
  await page.locator('.source').first().waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped.').waitFor();
  model.release();
  model.fails = 'chat';
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.locator('.notice.bad').waitFor();
  await accessible(page);
  model.fails = '';
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.answer .cite').first().waitFor();
  await until('the failure is gone', async () => (await page.locator('.notice.bad').count()) === 0);
});

test('a draft is compared as the user types, and survives a change of screen', async (t) => {
  const page = await open(t, `${demo}/#draft`);
  await page.getByText('Start with a title').waitFor();
  await accessible(page);
  await page.fill('#title', 'Paid twice for one order');
  await page.locator('.similar li', { hasText: 'TX-402' }).waitFor();
  await page.fill('#text', 'The customer was charged a second time after the retry.');
  await page.locator('.similar li', { hasText: 'TX-400' }).first().waitFor();
  await accessible(page);
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await page.locator('#question').waitFor();
  await page.getByRole('link', { name: 'Before you file' }).click();
  assert.equal(await page.inputValue('#title'), 'Paid twice for one order');
});

test('the state of the service is shown', async (t) => {
  const page = await open(t, demo);
  for (const text of ['Ready', 'Dead letters', 'Threshold', 'offline-embedding-3']) await page.locator('.state', { hasText: text }).waitFor();
});
