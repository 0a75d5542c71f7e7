// The status line: how far work is that somebody waits for, and what to do when it stands still or has failed.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessible, demo, finish, open, until } from './kit.mjs';

after(finish);
const idle = { pending: 0, running: 0, failed: 0, dead: 0, oldest_pending_seconds: 0, chunks: 680, sources_without_chunks: 0, truncated: 0, refused_rows: 0, waiting_copies: 0, match_thresholds: [] };

/** A page whose service reports this status, and whose clock is the test's. */
async function reporting(t, status, more = {}) {
  const page = await open(t, demo, {
    ...more,
    prepare: async (it) => {
      await it.clock.install();
      await it.route('**/api/embeddings/status', (route) => route.fulfill({ json: { ...idle, ...status } }));
    },
  });
  page.look = async (seconds) => {
    const seen = page.waitForResponse('**/api/embeddings/status');
    await page.clock.runFor(seconds * 1000);
    await seen;
  };
  return page;
}

test('an address that changes as soon as the page is drawn is followed', async (t) => {
  const page = await open(t, demo, { shift: 1, prepare: (it) => it.addInitScript(() => {
    const drawn = new MutationObserver(() => {
      if (!document.querySelector('main') || location.hash !== '') return;
      drawn.disconnect();
      location.hash = '#documents';
    });
    drawn.observe(document, { childList: true, subtree: true });
  }) });
  await page.locator('nav [aria-current=page]', { hasText: 'Documents' }).waitFor();
});

test('work that waits shows how far it is', async (t) => {
  const status = { pending: 400, waiting_copies: 50 };
  const page = await reporting(t, status, { width: 390, height: 800 });
  const bar = (name) => page.locator('.progress', { hasText: name });
  await bar('Embedding texts').getByText('400 left').waitFor();
  await bar('Copying rows').getByText('50 left').waitFor();
  await accessible(page);
  Object.assign(status, { pending: 100, waiting_copies: 0 });
  await page.look(4);
  await bar('Embedding texts').getByText('100 left').waitFor();
  assert.equal(await page.getByLabel('Embedding texts').evaluate((it) => it.position), 0.75);
  await bar('Copying rows').waitFor({ state: 'detached' });
  status.pending = 600; // an import goes on
  await page.look(4);
  await until('more waits', async () => (await page.getByLabel('Embedding texts').evaluate((it) => it.max)) === 600);
  status.pending = 0;
  await page.look(4);
  await bar('Embedding texts').waitFor({ state: 'detached' });
});

test('what stands still or has failed says what to do', async (t) => {
  const status = { pending: 7 };
  const page = await reporting(t, status);
  await page.getByText('7 left').waitFor();
  assert.equal(await page.getByText('see that a worker runs').count(), 0);
  for (let n = 0; n < 22; n++) await page.look(3);
  await page.getByText('No text was embedded for a minute: see that a worker runs').waitFor();
  await accessible(page);
  Object.assign(status, { pending: 6 });
  await page.look(3);
  await page.getByText('see that a worker runs').waitFor({ state: 'detached' });
  Object.assign(status, { pending: 0, dead: 2, refused_rows: 1 });
  await page.look(3);
  await page.getByText('2 texts failed for good: list_dead_embedding_jobs() says why').waitFor();
  await page.getByText('1 row of your tables cannot be copied').waitFor();
});
