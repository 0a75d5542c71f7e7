import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessible, demo, finish, open, service, sql, until } from './kit.mjs';
import { startModel } from './model.mjs';

after(finish);
const first = (page) => page.locator('a.result').first();
const told = (page, text) => page.locator('.told', { hasText: text }).waitFor();

test('a new user finds a ticket by meaning and sees why it ranks first', async (t) => {
  const page = await open(t, demo);
  await page.locator('.example').first().waitFor();
  await accessible(page);
  await page.keyboard.type('resolve login issue'); // the field has the focus
  await told(page, 'by meaning and keywords');
  await page.locator('a.result', { hasText: 'Fix authentication bug' }).waitFor();
  await accessible(page);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const details = page.locator('.details');
  await details.getByText('Why it is result 1').click();
  await details.locator('.fusion:not(.used)', { hasText: 'By scores (convex)' }).getByText('would be result').waitFor();
  assert.match(await details.locator('.fusion.used code').innerText(), /^1 \/ \(60 \+ \d+\)( \+ 1 \/ \(60 \+ \d+\))? = 0\.0\d+$/);
  await details.locator('.similar li').first().waitFor();
  await accessible(page);
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'query');
});

test('typing runs a keyword search, a pause a hybrid search; only the latest response is shown', async (t) => {
  const asked = [];
  let stuck;
  const page = await open(t, demo, {
    prepare: (it) => it.route('**/api/hybrid-search', async (route) => {
      const body = route.request().postDataJSON();
      asked.push(body);
      if (body.query === 'pay') { stuck = route; return; } // its response arrives too late
      await route.continue();
    }),
  });
  await page.locator('.example').first().waitFor();
  asked.length = 0;
  await page.fill('#query', 'pay');
  await until('keywords are asked for', () => stuck);
  await page.fill('#query', 'password');
  await told(page, 'by meaning and keywords');
  await stuck.fulfill({ json: { results: [], has_more: false, match_threshold: 0, fusion: 'rrf', retrieval: 'keyword', cached: false, executed: ['keyword'] } }).catch(() => {});
  assert.ok((await page.locator('a.result').count()) > 3);
  assert.equal(asked[0].retrieval, 'keyword');
  assert.deepEqual(asked.at(-1), { ...asked.at(-1), query: 'password', retrieval: 'hybrid' });
  assert.match(page.url(), /#search\?q=password$/);
});

test('filters work from lists, typed text and chips; results are paged; each state has a URL', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment`);
  await told(page, 'by meaning and keywords');
  await page.locator('.facet', { hasText: 'Status' }).getByRole('button', { name: /^Done/ }).click();
  await page.locator('.chip.on', { hasText: 'Done' }).waitFor();
  await until('all are done', async () => (await page.locator('a.result .status').allInnerTexts()).every((s) => s === 'Done'));
  assert.match(page.url(), /status=Done/);
  await page.click('.chip.on');
  await page.locator('.chip.on').waitFor({ state: 'detached' });
  await page.fill('#query', 'payment project:TX status:');
  await page.locator('.chip', { hasText: 'Won\'t Do' }).click();
  await page.locator('.chip.on', { hasText: 'Won\'t Do' }).waitFor();
  await page.fill('#query', 'payment project:TX ');
  await page.keyboard.press('Enter');
  await page.locator('.chip.on', { hasText: 'Checkout and Payments' }).waitFor();
  assert.equal((await page.inputValue('#query')).trim(), 'payment');
  await until('all are of the project', async () => {
    const keys = await page.locator('a.result .key').allInnerTexts();
    return keys.length > 0 && keys.every((key) => /^(TX-|Project)/.test(key));
  });
  await page.goto(`${demo}/#search?q=payment`);
  await page.reload();
  const before = await first(page).innerText();
  await page.getByRole('link', { name: 'Next', exact: true }).click();
  await until('the second page', async () => page.url().includes('page=2') && (await first(page).innerText()) !== before);
  await page.reload();
  await page.getByRole('link', { name: 'Previous' }).waitFor();
  await page.goBack();
  await until('the first page again', async () => (await page.getByRole('link', { name: 'Previous' }).count()) === 0);
});

test('every facet filters the results and shows its counts', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment`);
  await told(page, 'by meaning and keywords');
  for (const [title, param] of [['Assignee', 'assignee'], ['Reporter', 'reporter'], ['Type', 'type'], ['Priority', 'priority'], ['Label', 'label'], ['Open or done', 'state']]) {
    const facet = page.locator('.facet').filter({ has: page.locator('summary', { hasText: title }) });
    await facet.locator('summary').click();
    const value = facet.locator('li button').first();
    const [name, number] = [await value.locator('.name').innerText(), Number(await value.locator('.count').innerText())];
    const answered = page.waitForResponse((r) => r.url().endsWith('/api/hybrid-search') && r.request().postDataJSON().filters);
    await value.click();
    const { results } = await (await answered).json();
    assert.equal(results.length, Math.min(10, number), `${title} ${name}`);
    const of = { state: (r) => (r.status_category === 'done' ? 'done' : 'open'), label: (r) => (r.labels.includes(name) ? name : '') }[param] ?? ((r) => r[param]);
    assert.deepEqual([...new Set(results.map(of))], [name], title);
    assert.match(page.url(), new RegExp(`${param}=`));
    if (param === 'state') await accessible(page);
    await page.locator('.chip.on', { hasText: title }).click();
    await page.locator('.chip.on').waitFor({ state: 'detached' });
    await facet.locator('summary').click();
  }
});

test('filters typed into the query are parsed only by the service', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment`);
  await told(page, 'by meaning and keywords');
  await page.fill('#query', 'payment created:>2020-01-01 -label:ios');
  await page.keyboard.press('Enter');
  await page.locator('.chip.read', { hasText: 'from 2020-01-02' }).waitFor();
  await page.locator('.chip.read', { hasText: 'Not label' }).waitFor();
  assert.equal(await page.inputValue('#query'), 'payment created:>2020-01-01 -label:ios'); // an address has no room for them
  await page.fill('#query', 'is:open assignee:lena');
  await page.keyboard.press('Enter');
  await page.locator('.chip.on', { hasText: 'Open or done' }).waitFor();
  await page.locator('.chip.on', { hasText: /lena/i }).waitFor();
  assert.equal(await page.inputValue('#query'), '');
  await told(page, 'the newest first');
  await first(page).click();
  await page.locator('.whole').waitFor();
  assert.equal(await page.locator('.why').count(), 0); // a list by date has no reasons
  await page.reload();
  await told(page, 'the newest first');
});

test('the rows stay where they are while an address with filters first loads', async (t) => {
  const page = await open(t, demo);
  for (const query of ['payment is:open', 'payment -voucher', 'assignee:noor']) {
    let release;
    const held = new Promise((resolve) => { release = resolve; });
    await page.route('**/api/hybrid-search', async (route) => { await held; await route.continue(); });
    await page.goto('about:blank');
    await page.goto(`${demo}/#search?q=${encodeURIComponent(query)}`);
    const list = page.locator('.columns');
    await page.locator('.skeleton').first().waitFor();
    await page.locator('.facet').last().waitFor();
    const before = (await list.boundingBox()).y;
    release();
    await first(page).waitFor();
    await page.locator('.chip.read').first().waitFor();
    assert.equal((await list.boundingBox()).y, before, query);
    await page.unroute('**/api/hybrid-search');
  }
});

test('the filters stay where they are, however late the projects and the statuses come', async (t) => {
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  const page = await open(t, `${demo}/#search?q=payment`, { shift: 0.3, prepare: (it) => it.route(/api[/](projects|statuses)$/, async (route) => { await held; await route.continue(); }) });
  await first(page).waitFor();
  release();
  await page.locator('.facet').last().waitFor();
  const moved = await page.evaluate(() => window.seen.moved.filter((one) => one.startsWith('facet')));
  assert.deepEqual(moved, []);
});

test('a word that no text has is said to be replaced, and one click searches for it as typed', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment%20authentcation`, { shift: 0.3 });
  await page.locator('.note', { hasText: 'No text that you may see contains authentcation; searched for' }).waitFor();
  await accessible(page);
  await page.getByRole('button', { name: 'Search for authentcation as typed' }).click();
  await until('the word in quotes', async () => (await page.inputValue('#query')) === 'payment "authentcation"');
  await page.locator('.note', { hasText: 'No text that you may see contains' }).waitFor({ state: 'detached' });
});

test('what a query leaves out is a chip, and one click searches for it', async (t) => {
  // Each query has other chips above its results, which a slow response moves after half a second.
  const page = await open(t, `${demo}/#search?q=payment`, { shift: 0.3 });
  await told(page, 'by meaning and keywords');
  await page.fill('#query', 'payment -voucher is:open');
  await page.keyboard.press('Enter');
  const chip = page.locator('.chip.read', { hasText: 'Without' });
  await chip.waitFor();
  assert.equal((await chip.innerText()).replace(/\s+/g, ' ').trim(), 'Without voucher');
  assert.equal(await page.inputValue('#query'), 'payment -voucher is:open');
  await chip.click();
  await until('a query with the word', async () => /^payment voucher\b/.test(await page.inputValue('#query')));
  await until('no exclusion', async () => (await chip.count()) === 0);
  await page.fill('#query', 'git push -f');
  await page.keyboard.press('Enter');
  await told(page, 'by meaning and keywords');
  assert.equal(await chip.count(), 0); // a command
  await page.fill('#query', 'payment status:500');
  await page.keyboard.press('Enter');
  await page.getByText('No status is called').waitFor();
  assert.ok((await page.locator('a.result').count()) > 0);
});

test('a result opens the whole ticket with people, dates, links and paged comments', async (t) => {
  sql("insert into comments (ticket_id, key, author, body, created_at) select ticket_id, 'check-' || n, 'Checker', 'Comment number ' || n || '.', now() + n * interval '1 second' from tickets, generate_series(1, 45) n where key = 'MOB-152'");
  t.after(() => sql("delete from comments where key like 'check-%'"));
  const page = await open(t, `${demo}/#search?q=MOB-152&open=MOB-152`);
  const ticket = page.locator('.whole');
  await ticket.waitFor();
  for (const fact of ['Assignee', 'Reporter', 'Type', 'Priority', 'Filed']) await ticket.locator('dt', { hasText: fact }).waitFor();
  const told = await (await fetch(`${demo}/api/tickets/MOB-152`)).json();
  assert.ok((await ticket.innerText()).includes(told.description.slice(0, 40)));
  assert.equal(await ticket.locator('.links li').count(), told.links.length);
  const shown = () => ticket.locator('.talk').last().locator('li').count();
  assert.equal(await shown(), 20);
  await accessible(page);
  await ticket.getByRole('button', { name: 'Show 20 more' }).click();
  await until('the second page', async () => (await shown()) === 40);
  await ticket.getByRole('button', { name: /^Show \d+ more$/ }).click();
  await until('all comments', async () => (await shown()) === told.comment_count);
  assert.equal(await ticket.getByRole('button', { name: /^Show/ }).count(), 0);
});

// The three round trips are the page, its files and the keyword search. Other requests get no response here.
test('the first results need three round trips', async (t) => {
  const html = await (await fetch(demo)).text();
  const files = [];
  const page = await open(t, `${demo}/#search?q=charged+twice`, {
    prepare: (it) => it.route('**/*', async (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname.endsWith('.js')) files.push(pathname);
      const keywords = pathname.endsWith('/hybrid-search') && route.request().postDataJSON().retrieval === 'keyword';
      if (keywords || !/^\/(api|readyz)/.test(pathname)) await route.continue();
    }),
  });
  await first(page).waitFor();
  assert.ok(files.length > 10);
  assert.deepEqual(files.filter((path) => !html.includes(`"${path.slice(1)}"`)), [], 'files that the page does not name, and would load one after another');
  const [mark, answered] = await page.evaluate(() => [
    performance.getEntriesByName('tasklens.first-results')[0]?.startTime, performance.getEntriesByType('resource').find((e) => e.name.endsWith('/hybrid-search'))?.responseEnd,
  ]);
  assert.ok(mark >= answered, `first results are marked at ${mark}, and came at ${answered}`);
  t.diagnostic(`first results after ${Math.round(mark)} ms`);
});

test('prefers-reduced-motion disables animations', async (t) => {
  for (const [reducedMotion, moves] of [['no-preference', true], ['reduce', false]]) {
    const page = await open(t, `${demo}/#search?q=charged+twice`, {
      reducedMotion, prepare: (it) => it.route('**/api/hybrid-search', (route) => (route.request().postDataJSON().retrieval === 'keyword' ? route.continue() : undefined)),
    });
    await page.locator('.told .spinner').waitFor();
    assert.equal(await page.evaluate(() => document.getAnimations().length > 0), moves, reducedMotion);
    await page.close();
  }
});

test('missing items show a message and links to continue', async (t) => {
  const page = await open(t, `${demo}/#search?q=${encodeURIComponent('"zxqv wvut"')}&status=Blocked`);
  await page.getByText('Nothing found').waitFor();
  await page.getByRole('link', { name: 'Ask it as a question' }).waitFor();
  await accessible(page);
});

test('with a slow model keyword results show at once, and the fused list waits while the pointer is over the results', async (t) => {
  const model = await startModel();
  const url = await service({ OPENAI_BASE_URL: model.url, CACHE: 'off', REQUEST_TIMEOUT: '10m' });
  const page = await open(t, url);
  await page.locator('.example').first().waitFor();
  model.held = 'embeddings';
  await page.fill('#query', 'charged twice');
  await told(page, 'by keyword so far').catch(() => {});
  await first(page).waitFor();
  await page.locator('.badge.meaning').first().waitFor({ state: 'detached' });
  // The service's own timeout for the model expires, and the page says so.
  await page.getByText('Matches by keyword only').waitFor();
  await accessible(page);
  model.release();
  await page.getByRole('button', { name: 'Try again' }).click();
  await told(page, 'by meaning and keywords');
  let held;
  await page.route('**/api/hybrid-search', async (route) => {
    if (route.request().postDataJSON().retrieval === 'hybrid') held = route;
    else await route.continue();
  });
  await page.fill('#query', 'charged twice after a retry');
  await until('both are asked for', () => held);
  await page.locator('.told', { hasText: 'Still searching by meaning' }).waitFor();
  await first(page).hover();
  await first(page).hover({ position: { x: 40, y: 20 } });
  const before = await page.locator('a.result').allInnerTexts();
  await held.continue();
  await page.getByRole('button', { name: 'Show results by meaning' }).waitFor();
  assert.deepEqual(await page.locator('a.result').allInnerTexts(), before);
  await page.mouse.move(5, 5);
  await page.locator('.badge.meaning').first().waitFor();
});

test('a failing model leaves keyword search; a rate limit shows the time to wait', async (t) => {
  const model = await startModel();
  model.fails = 'embeddings';
  const url = await service({ OPENAI_BASE_URL: model.url, CACHE: 'off', RATE_LIMIT: '12/5m' });
  const page = await open(t, `${url}/#search?q=charged+twice`, { failing: true });
  await page.getByText('Matches by keyword only').waitFor();
  assert.ok((await page.locator('a.result').count()) > 0);
  for (let n = 0; n < 12 && (await page.locator('strong', { hasText: 'Too many requests' }).count()) === 0; n++) {
    const answered = page.waitForResponse((r) => r.url().endsWith('/api/hybrid-search'));
    await page.fill('#query', `charged twice ${n}`);
    await page.keyboard.press('Enter');
    await answered;
  }
  await page.locator('strong', { hasText: 'Too many requests' }).waitFor();
  await page.getByRole('button', { name: /^Try again in \d+ s$/ }).waitFor();
  assert.ok((await page.locator('a.result').count()) > 0, 'the earlier results have disappeared');
  await accessible(page);
});

test('every screen fits three widths in both themes without accessibility violations', async (t) => {
  for (const theme of ['light', 'dark']) {
    for (const width of [360, 768, 1280]) {
      const page = await open(t, demo, { width, height: 800, theme });
      for (const [hash, ready] of [
        ['#search', '.example'], ['#search?q=charged+twice&open=TX-400', '.details .similar li'], ['#ask?q=How+was+the+double+charge+fixed', '.source'],
        ['#draft', '#title'], ['#documents?q=idempotency+keys', '.parts'], ['#documents', '.example'],
      ]) {
        await page.goto(`${demo}/?${encodeURIComponent(hash)}${hash}`); // forces a reload
        await page.locator(ready).first().waitFor();
        if (hash.includes('open=')) {
          await page.locator('.why summary').click();
          await page.locator('.fusion:nth-child(2)').waitFor();
        }
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${hash} is wider than ${width}`);
        await accessible(page);
        await page.check();
      }
      await page.close();
    }
  }
});
