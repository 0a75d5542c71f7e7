// Every screen, with what opens on it, in both themes. With SCREENS=FOLDER each is drawn at three widths, to be looked at.
import { after, before, test } from 'node:test';
import { accessible, demo, finish, open, ruled, service } from './kit.mjs';

const folder = process.env.SCREENS;
const ask = (question) => `ask?q=${encodeURIComponent(question)}`;
const shows = (selector, text) => (page) => page.locator(selector, { hasText: text }).first().waitFor();
/** Clicks one after the other. */
const opens = (...names) => async (page) => { for (const name of names) await page.getByRole('button', { name, exact: true }).first().click(); };
const DECISION = async (page) => {
  await page.locator('a.result').first().click();
  await page.locator('.document .votes').waitFor();
};

/** Its name, its address, and what to do and to wait for. */
const SCREENS = [
  ['search', '', shows('.tiles')],
  ['results', 'search?q=payment', shows('.told', 'by meaning and keywords')],
  ['results-by-date', 'search?q=charge+twice&sort=newest', shows('.told', 'the newest first')],
  ['filters', 'search?q=payment&status=Done', async (page) => {
    await shows('.told', 'by meaning and keywords')(page);
    if (page.viewportSize().width < 768) await opens('Filters')(page);
    for (const name of ['Assignee', 'Label']) await page.locator('.facet summary', { hasText: name }).click();
  }],
  ['filters-to-type', 'search?q=payment', async (page) => { await page.fill('#query', 'payment :'); await shows('.chips', 'assignee:')(page); }],
  ['ticket', 'search?q=payment&open=TX-400', async (page) => {
    await shows('.details .similar')(page);
    await page.locator('.details .why summary').click({ timeout: 500 }).catch(() => {}); // only what is found has reasons
  }],
  ['ticket-that-is-missing', 'search?q=refund&open=ZZ-1', shows('.details', 'There is no ticket')],
  ['why', 'search?q=charged+twice', async (page) => {
    await page.locator('.badge.meaning').first().waitFor();
    await page.locator('a.result').first().click();
    await page.locator('.details .similar li').first().waitFor();
    await page.locator('.details .why summary').click();
    await page.locator('.fusion:not(.used)').waitFor();
  }],
  ['nothing', `search?q=${encodeURIComponent('"zxqv wvut"')}&status=Blocked`, shows('.empty')],
  ['unknown-names', `search?q=${encodeURIComponent('payment reporter:zzgary is:opne')}`, shows('.candidates', 'There are')],
  ['ask', 'ask', shows('.example')],
  ['answer', ask('Why were customers charged twice when they retried a payment?'), async (page) => { await shows('.answer .cite')(page); await page.locator('.source .link').first().click(); }],
  ['figures', ask('How many open tickets are there per assignee?'), shows('.groups')],
  ['months', ask('How many tickets were created per month?'), shows('.columns-chart')],
  ['list', ask('How many open bugs are there?'), async (page) => { await shows('.answer .similar')(page); await page.locator('.conditions .plain').nth(1).click(); }],
  ['uncounted', ask('How many bugs per status per month?'), shows('.empty')],
  ['no-answer', ask('How do I bake sourdough bread?'), shows('.empty')],
  ['draft', 'draft', shows('.empty')],
  ['likely-duplicates', 'draft', async (page) => { await page.fill('#title', 'Paid twice for one order'); await shows('.similar .agrees')(page); }],
  ['nothing-like-it', 'draft', async (page) => { await page.fill('#title', 'zzzz qqqq'); await shows('.empty', 'Nothing like this')(page); }],
  ['documents', 'documents', shows('.example')],
  ['documents-found', 'documents?q=idempotency+keys', shows('a.result')],
  ['no-document', 'documents?q=zxqv+wvut', shows('.empty')],
  ['document', 'documents?q=idempotency+keys', DECISION],
  ['replace', 'documents?q=idempotency+keys', async (page) => { await DECISION(page); await opens('Replace')(page); }],
  ['delete', 'documents?q=idempotency+keys', async (page) => { await DECISION(page); await opens('Delete')(page); }],
  ['entity', 'documents?entity=Lena&type=person', shows('a.result')],
];

let signedOut;
before(async () => { signedOut = await service({ AUTH: 'on' }); });
after(finish);

for (const [theme, least] of [['light', 390], ['dark', 1280]]) {
  for (const width of folder ? [390, 768, 1280] : [least]) {
    test(`every screen is accessible, ${theme} and ${width} pixels wide`, async (t) => {
      const page = await open(t, demo, { theme, width, height: 900, failing: true, shift: 10, prepare: (it) => it.addInitScript(() => location.protocol === 'http:' && sessionStorage.clear()) }); // what is clicked moves
      const draw = (name) => folder && page.screenshot({ path: `${folder}/${name}-${width}-${theme}.png` });
      for (const [name, address, ready] of SCREENS) {
        await page.goto('about:blank');
        await page.goto(`${demo}/#${address}`);
        await ready(page);
        await draw(name);
        await accessible(page);
      }
      if (!folder) return;
      await page.goto(`${demo}/docs`);
      await page.locator('.opblock').first().waitFor();
      await draw('docs');
      await ruled(page);
    });
  }
  test(`signing in is accessible, ${theme}`, async (t) => {
    const page = await open(t, signedOut, { theme, width: 390, also: [] });
    await page.locator('dialog').waitFor();
    if (folder) await page.screenshot({ path: `${folder}/sign-in-390-${theme}.png` });
    await accessible(page);
  });
}
