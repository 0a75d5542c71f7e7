// The list of results: its rows and order, moving through it with keys, and what is said when it is empty or another than asked for.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { accessible, demo, finish, open, sql, until } from './kit.mjs';

after(finish);
const told = (page, text) => page.locator('.told', { hasText: text }).waitFor();
const keys = (page) => page.locator('a.result .key').allInnerTexts();
const search = '**/api/hybrid-search';

test('rows show people and dates, and are sorted by relevance or date', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment`);
  await told(page, 'by meaning and keywords');
  const relevant = await keys(page);
  const asked = async (more) => (await fetch(`${demo}/api/hybrid-search`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query: 'payment', limit: 100, explain: true, ...more }) })).json();
  const { results: all } = await asked();
  for (const [name, field, text] of [['Newest', 'created_at', 'the newest first'], ['Last updated', 'updated_at', 'the last updated first']]) {
    await page.getByLabel('Sort').selectOption(name);
    await told(page, text);
    const tickets = all.filter((r) => r.kind === 'ticket' && (r.vector_rank || r.keyword_rank)).sort((a, b) => b[field].localeCompare(a[field])).slice(0, 10);
    assert.deepEqual(await page.locator('a.result time').evaluateAll((found) => found.map((e) => e.dateTime)), tickets.map((r) => r[field]));
    assert.deepEqual(await page.locator('a.result .person').allInnerTexts(), tickets.map((r) => r.assignee).filter(Boolean));
  }
  await accessible(page);
  assert.match(page.url(), /sort=updated/);
  await page.reload();
  await told(page, 'the last updated first');
  await page.getByLabel('Sort').selectOption('Relevance');
  await until('the first order', async () => JSON.stringify(await keys(page)) === JSON.stringify(relevant));
});

test('arrows, j and k move through the list, and through the tickets while one is open', async (t) => {
  // On a busy machine effects run late. Keys act on what is drawn.
  const prepare = (page) => page.addInitScript(() => {
    const later = window.setTimeout;
    window.requestAnimationFrame = () => 0;
    window.setTimeout = (f, ms, ...more) => later(f, ms + 300, ...more);
  });
  const page = await open(t, `${demo}/#search?q=payment`, { prepare });
  await told(page, 'by meaning and keywords');
  const all = await keys(page);
  const focused = () => page.evaluate(() => document.activeElement.querySelector('.key')?.textContent ?? document.activeElement.id);
  const shown = (key) => page.locator('.details header .key', { hasText: key }).waitFor();
  await page.locator('#query').press('ArrowDown');
  for (const [key, at] of [['j', 1], ['ArrowDown', 2], ['k', 1], ['k', 0], ['k', 0]]) {
    await page.keyboard.press(key);
    assert.equal(await focused(), all[at], key);
  }
  await page.keyboard.press('ArrowUp');
  assert.equal(await focused(), 'query');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await shown(all[0]);
  const steps = await page.evaluate(() => history.length);
  for (const [key, at] of [['ArrowDown', 1], ['j', 2], ['ArrowDown', 3], ['k', 2], ['ArrowUp', 1]]) {
    await page.keyboard.press(key);
    await shown(all[at]);
  }
  assert.equal(await page.evaluate(() => history.length), steps, 'one step back leads to the list');
  await page.keyboard.press('Escape');
  await page.locator('.details').waitFor({ state: 'detached' });
  assert.equal(await focused(), all[1]);
  await page.locator('#query').press('End');
  await page.keyboard.type(' '); // a pause after it must not close what is opened before the pause is over
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await shown(all[0]);
  await page.waitForTimeout(1000);
  await shown(all[0]);
  await page.locator('#query').press('End');
  await page.keyboard.type('j'); // is a letter here
  assert.equal(await page.inputValue('#query'), 'payment j');
});

test('a key is looked up without the filters, and the page says so', async (t) => {
  const page = await open(t, `${demo}/#search?q=TX-400&status=Blocked`);
  await page.getByText('TX-400 is a key: it was looked up without the filters.').waitFor();
  assert.equal((await keys(page))[0], 'TX-400');
  await page.locator('.chip.on', { hasText: 'Blocked' }).waitFor(); // for the next search
  await page.fill('#query', 'UTF-8'); // looks like a key, and is none
  await page.getByText('looked up without').waitFor({ state: 'detached' });
  await told(page, /match|No results/);
  assert.deepEqual((await page.locator('a.result .status').allInnerTexts()).filter((status) => status !== 'Blocked'), []);
});

test('a key that no ticket has is said', async (t) => {
  const page = await open(t, `${demo}/#search?q=TX-99999&status=Blocked`);
  await page.getByText('no ticket TX-99999').waitFor();
  await page.getByText('TX-99999 is a key: it was looked up without the filters.').waitFor();
  await accessible(page);
});

test('an unknown name offers those that it may mean', async (t) => {
  sql(`insert into tickets (project_id, status_id, key, name, assignee) select project_id, status_id, 'TX-920' || n, 'Payment by Gary', person
    from projects p, status s, (values (1, 'Gary Mathews'), (2, 'Gary Moss')) v (n, person) where p.key = 'TX' and s.name = 'Done'`);
  t.after(() => sql("delete from tickets where key like 'TX-920_'"));
  const page = await open(t, demo);
  await page.locator('.example').first().waitFor();
  await page.fill('#query', 'payment assignee:gary created:>2020-01-01');
  await page.keyboard.press('Enter');
  const offered = page.getByRole('group', { name: 'Instead of the assignee gary' });
  await offered.getByText('No assignee is called “gary”.').waitFor();
  await accessible(page);
  await offered.getByRole('button', { name: 'Gary Moss' }).click();
  await page.locator('.chip.on', { hasText: 'Gary Moss' }).waitFor();
  await until('the results are his', async () => (await page.locator('a.result .person').allInnerTexts()).join() === 'Gary Moss');
  assert.equal(await page.inputValue('#query'), 'payment created:>=2020-01-02'); // the rest is still read
  await page.getByRole('button', { name: 'Remove the filter Created' }).click();
  await until('it is taken back', async () => (await page.inputValue('#query')) === 'payment');
});

test('filters read in plain words are shown, and one click takes each back', async (t) => {
  const page = await open(t, demo);
  await page.locator('.example').first().waitFor();
  await page.fill('#query', 'UI bugs in Mobile App status: To Do');
  await page.locator('.chip.read', { hasText: 'MOB' }).waitFor(); // on a pause
  await page.locator('.chip.read', { hasText: 'To Do' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.chip.on', { hasText: 'Mobile App' }).waitFor();
  await until('the words are the rest', async () => (await page.inputValue('#query')) === 'UI bugs');
  await until('all pass', () => page.locator('a.result').evaluateAll((all) => all.length > 0 && all.every((row) => row.querySelector('.key').textContent.startsWith('MOB-') && row.querySelector('.status').textContent === 'To Do')));
  await page.getByRole('button', { name: 'Remove the filter Project' }).click();
  await until('of all projects', async () => new Set((await keys(page)).map((key) => key.split('-')[0])).size > 1);
  await page.locator('.chip.on', { hasText: 'To Do' }).waitFor();
});

test('an empty list names the filter that causes it', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment&status=Blocked&label=ux`);
  await page.getByText('Nothing found').waitFor();
  const actions = page.locator('.empty .actions');
  const counts = [];
  for (const [name, filters] of [['Status Blocked', { labels: ['ux'] }], ['Label ux', { statuses: ['Blocked'] }]]) {
    const { facets } = await (await fetch(`${demo}/api/hybrid-search`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query: 'payment', filters, facets: true }) })).json();
    counts.push(facets.project.reduce((sum, v) => sum + v.count, 0));
    await page.locator('.cause', { hasText: `The filter ${name} leaves nothing of ${counts.at(-1)} match` }).waitFor();
  }
  await accessible(page);
  await actions.getByRole('button', { name: 'Without Label ux' }).click();
  await told(page, `${counts[1]} match`);
  assert.equal(await page.locator('.chip.on').count(), 1);
  await page.fill('#query', 'payment created:>2090-01-01 -label:ios');
  await page.keyboard.press('Enter');
  await page.locator('.cause', { hasText: 'Created from 2090-01-02' }).waitFor();
  await actions.getByRole('button', { name: 'Without Created' }).click();
  await until('the other filter stays', async () => (await page.inputValue('#query')) === 'payment -label:ios');
});

test('while a filter is typed, its text is not searched for and nothing is said to be missing', async (t) => {
  const queries = [];
  const page = await open(t, demo, { prepare: (it) => it.on('request', (r) => { if (r.url().endsWith('/hybrid-search')) queries.push(r.postDataJSON().query); }) });
  await page.locator('.example').first().waitFor();
  await page.evaluate(() => {
    window.said = [];
    new MutationObserver(() => { if (document.body.innerText.includes('Nothing found')) window.said.push(document.querySelector('#query').value); }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  queries.length = 0;
  for (const filter of ['assignee:zzq', 'created:>20', 'status:in pro', '-label:zzq']) {
    await page.fill('#query', 'payment ');
    await told(page, 'by meaning and keywords');
    for (const letter of filter) { // each of them is searched for, where it is
      await page.keyboard.type(letter);
      await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 150); }));
    }
    await page.getByText(filter === 'status:in pro' ? 'In Progress' : `Enter applies the filter ${filter.replace('-', '')}`).first().waitFor();
  }
  assert.deepEqual(queries.filter((query) => query.includes(':')), []);
  assert.deepEqual(await page.evaluate(() => window.said), []);
  await page.fill('#query', 'payment assignee:zzq');
  await page.keyboard.press('Enter');
  await page.getByText('No assignee is called “zzq”.').waitFor(); // now it is, and the filter is text
  assert.ok((await page.locator('a.result').count()) > 0);
  await page.keyboard.type(',len');
  await page.getByText('No assignee is called').waitFor({ state: 'detached' }); // it may become something
});

test('the keyword search that typing began is not repeated', async (t) => {
  const asked = [];
  let keyword;
  const page = await open(t, demo, {
    prepare: (it) => it.route(search, async (route) => {
      const body = route.request().postDataJSON();
      if (body.query === 'payment') asked.push(body.retrieval);
      if (body.query === 'payment' && body.retrieval === 'keyword') keyword = route; // slower than the pause
      else if (body.query !== 'payment') await route.continue();
    }),
  });
  await page.locator('.example').first().waitFor();
  await page.fill('#query', 'payment');
  await until('both are asked for', () => asked.includes('hybrid'));
  await keyword.continue();
  await page.locator('a.result').first().waitFor(); // it was not given up either
  assert.deepEqual(asked, ['keyword', 'hybrid']);
});

test('what was read as a filter is searched for as text by one click', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment`, { shift: 0.3 });
  await told(page, 'by meaning and keywords');
  await page.fill('#query', 'payment label:ios created:>2020-01-01 -voucher');
  await page.keyboard.press('Enter');
  await page.locator('.chip.read', { hasText: 'ios' }).waitFor();
  await accessible(page);
  await page.getByRole('button', { name: 'Search for ios as text' }).click();
  await until('it is text', async () => (await page.inputValue('#query')).endsWith('"ios"'));
  const query = await page.inputValue('#query');
  assert.match(query, /^payment .*-voucher/);
  await page.locator('.chip.read', { hasText: 'Created' }).waitFor(); // the others remain
  assert.equal(await page.locator('.chip', { hasText: 'Label' }).count(), 0);
  await page.goto(`${demo}/#search?q=refund&status=Done`);
  await page.getByRole('button', { name: 'Search for Done as text' }).click();
  await until('it is text', async () => (await page.inputValue('#query')) === 'refund "Done"');
  await page.locator('.chip.on').waitFor({ state: 'detached' });
});

test('Escape leaves the field with its text, and a step back returns the focus to what was opened', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment`);
  await told(page, 'by meaning and keywords');
  const focused = () => page.evaluate(() => document.activeElement.closest('a')?.querySelector('.key').textContent ?? document.activeElement.id);
  await page.locator('#query').press('Escape');
  assert.deepEqual([await focused(), await page.inputValue('#query')], ['', 'payment']);
  await page.keyboard.press('/');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('j');
  const [, second] = await keys(page);
  await page.keyboard.press('Enter');
  const ticket = page.locator('.details');
  await ticket.locator('.similar li').first().waitFor();
  const like = ticket.locator('.similar a').nth(1);
  const key = await like.locator('.key').innerText();
  await like.press('Enter');
  await ticket.locator('header .key', { hasText: key }).waitFor();
  await page.goBack();
  await until('the focus is on the similar ticket', async () => (await focused()) === key && (await ticket.locator('header .key').innerText()) === second);
  await page.goBack(); // the list is still loading
  await ticket.waitFor({ state: 'detached' });
  await told(page, 'by meaning and keywords');
  await until('the focus is on the row', async () => (await focused()) === second);
  await page.goto(`${demo}/#documents?q=idempotency+keys`);
  const document = page.locator('a.result').first();
  await document.waitFor();
  await page.locator('#query').press('Escape');
  assert.deepEqual([await focused(), await page.inputValue('#query')], ['', 'idempotency keys']);
  const name = await document.locator('.name').innerText();
  await document.press('Enter');
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.goBack();
  await until('the focus is on the document', () => page.evaluate((text) => document.activeElement.closest('a')?.querySelector('.name').textContent === text, name));
});

test('single-key shortcuts can be turned off, and stay off', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment`);
  const focused = () => page.evaluate(() => document.activeElement.closest('a')?.querySelector('.key').textContent ?? document.activeElement.id);
  await told(page, 'by meaning and keywords');
  const [first, second] = await keys(page);
  const button = page.getByRole('button', { name: 'Single-key shortcuts' });
  const rows = page.locator('a.result');
  const press = async (key) => { await rows.first().focus(); await page.keyboard.press(key); return focused(); };
  assert.deepEqual([await press('j'), await press('/')], [second, 'query']);
  await button.press('Enter');
  await button.getByText('off').waitFor();
  assert.deepEqual([await press('j'), await press('/'), await press('ArrowDown')], [first, first, second]);
  assert.equal(await page.locator('.field kbd').isVisible(), false);
  await accessible(page);
  await page.reload();
  await rows.first().waitFor();
  assert.deepEqual([await press('j'), await press('/')], [(await keys(page))[0], (await keys(page))[0]]);
  await button.click();
  await button.getByText('on').waitFor();
  assert.equal(await press('/'), 'query');
});

test('names are found without their accents', async (t) => {
  sql(`insert into tickets (project_id, status_id, key, name, assignee, labels) select project_id, status_id, 'TX-9303', 'Quxaccent', 'Zoë Ångström', '{Réclamation,Übergröße}' from projects, status where projects.key = 'TX' and status.name = 'To Do'`);
  t.after(() => sql("delete from tickets where key = 'TX-9303'"));
  const page = await open(t, demo);
  for (const [typed, name] of [['label:recla', 'Réclamation'], ['label:ubergros', 'Übergröße'], ['assignee:zoe', 'Zoë Ångström'], ['assignee:"zoe ang', 'Zoë Ångström'], ['label:Récl', 'Réclamation']]) {
    await page.fill('#query', typed);
    await page.locator('.chips .chip', { hasText: name }).click();
    await page.locator('.chip.on', { hasText: name }).waitFor();
    await until('it is found', async () => (await keys(page)).join() === 'TX-9303');
    await page.locator('.chip.on').click();
    await page.locator('.chip.on').waitFor({ state: 'detached' });
  }
});

test('by date, what is near comes before what only shares a word, and projects stand last', async (t) => {
  const query = 'charge twice';
  const { results, facets } = await (await fetch(`${demo}/api/hybrid-search`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query, limit: 100, facets: true }) })).json();
  const total = facets.project.reduce((sum, v) => sum + v.count, 0);
  const near = results.filter((r) => r.vector_rank || r.keyword_rank);
  const weak = results.filter((r) => !near.includes(r));
  assert.ok(near.length > 3 && weak.some((r) => r.created_at > near.map((one) => one.created_at).sort()[0])); // or there is nothing to order
  const page = await open(t, `${demo}/#search?q=${encodeURIComponent(query)}&sort=newest`, { shift: 1 }); // its pages differ in length
  await told(page, `${near.length} of ${total} matches by meaning and keywords, the newest first`);
  const listed = await keys(page);
  const next = page.getByRole('link', { name: 'Next', exact: true });
  while (await next.count()) {
    await next.click();
    await until('another page', async () => (await keys(page)).join() !== listed.slice(-10).join() && (await page.locator('.told').innerText()).includes('newest first'));
    listed.push(...await keys(page));
  }
  const dated = (list) => list.map((r) => [r.ticket_key ?? 'Project', r.ticket_key ? r.created_at : '']).sort((a, b) => b[1].localeCompare(a[1])).map(([key]) => key);
  assert.deepEqual(listed, [...dated(near), ...dated(weak)]);
  await page.goto(`${demo}/#search?q=${encodeURIComponent(query)}&sort=newest`);
  await until('the line stands before the others', () => page.locator('.results > li').evaluateAll((all, at) => all.findIndex((it) => it.classList.contains('weaker')) === at, near.length));
  await accessible(page);
});

test('by date, pages go on behind the nearest 300, in the order of the service', async (t) => {
  const day = (n) => new Date(Date.UTC(2025, 0, 1 + n)).toISOString();
  const all = Array.from({ length: 430 }, (_, n) => ({
    kind: 'ticket', ticket_id: n, ticket_key: `ZZ-${n}`, ticket_name: `Ticket ${n}`, project_id: 1, project_name: 'P', status: 'To Do', text: 'text', highlight: 'text', fused_score: 0.01,
    created_at: day((n * 37) % 430), updated_at: day(n), ...(n < 350 && { keyword_rank: n + 1 }),
  }));
  const newest = (list) => [...list].sort((a, b) => b.created_at.localeCompare(a.created_at));
  const page = await open(t, demo, { shift: 1, prepare: (it) => it.route(search, (route) => {
    const { sort, offset = 0, limit } = route.request().postDataJSON();
    const results = (sort === 'newest' ? newest(all) : all).slice(offset, offset + limit);
    return route.fulfill({ json: { results, has_more: offset + limit < all.length, match_threshold: 0.3, fusion: 'rrf', retrieval: 'hybrid', executed: ['vector', 'keyword'], cached: false, facets: { project: [{ value: 1, label: 'P', count: 430 }] } } });
  }) });
  const near = newest(all.slice(0, 300));
  const expected = [...near, ...newest(all.slice(300))].map((r) => r.ticket_key);
  for (const number of [1, 30, 31, 43]) {
    await page.goto(`${demo}/#search?q=zzqx&sort=newest&page=${number}`);
    const wanted = expected.slice((number - 1) * 10, number * 10);
    await until(`page ${number}`, async () => (await keys(page)).join() === wanted.join());
    assert.equal(await page.getByRole('link', { name: 'Next', exact: true }).count(), number < 43 ? 1 : 0);
    assert.equal(await page.getByText('The others, by date:').count(), number > 30 && number < 43 ? 1 : 0);
    await told(page, '300 of 430 matches by meaning and keywords, the newest first');
  }
});

test('a whole list is copied with links, and saved as CSV without formulas', async (t) => {
  sql(`insert into tickets (project_id, status_id, key, name, labels) select project_id, status_id, 'TX-' || (9400 + n), case n when 1 then '=1+1, "quxlist"' else 'Quxlist ' || n end, '{a,b}' from generate_series(1, 115) n, projects p, status s where p.key = 'TX' and s.name = 'To Do'`);
  t.after(() => sql("delete from tickets where key like 'TX-94__' or key like 'TX-95__'"));
  while (sql("select count(*) from tickets t where key like 'TX-9___' and not exists (select from chunks c where c.ticket_id = t.ticket_id)").trim() !== '0') await new Promise((again) => setTimeout(again, 100)); // what is embedded moves in the list
  const page = await open(t, `${demo}/#search?q=quxlist+label%3Aa`, { permissions: ['clipboard-read', 'clipboard-write'], acceptDownloads: true, shift: 0.3 });
  await told(page, /^115 matches/);
  const expected = Array.from({ length: 115 }, (_, n) => `TX-${9401 + n}`).sort();
  await page.getByRole('button', { name: 'Copy keys and links' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
  assert.deepEqual(lines.map((line) => line.split(' ')[0]).sort(), expected);
  assert.ok(lines.includes(`TX-9402 Quxlist 2 ${demo}/#search?q=TX-9402&open=TX-9402`));
  await accessible(page);
  for (const sort of ['', '&sort=newest']) {
    await page.goto(`${demo}/#search?q=quxlist+label%3Aa${sort}`);
    await told(page, sort ? /115 matches .*newest first/ : /115 matches .*keywords(?!,)/);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as CSV' }).click()]);
    assert.equal(download.suggestedFilename(), 'tickets.csv');
    const [head, ...rows] = readFileSync(await download.path(), 'utf8').trimEnd().split('\r\n');
    assert.match(head, /^\ufeff"Key","Name","Project","Status"/);
    assert.deepEqual(rows.map((row) => row.slice(1, 8)).sort(), expected);
    assert.ok(rows.find((row) => row.startsWith('"TX-9401"')).includes(`"'=1+1, ""quxlist""","Checkout and Payments","To Do"`));
    assert.match(rows[0], /"a, b"/);
  }
});

test('a key is found without its dash, and what only looks like one is text', async (t) => {
  const page = await open(t, demo, { shift: 0.3 });
  for (const [typed, key] of [['tx400', 'TX-400'], ['TX 402', 'TX-402'], ['mob_152', 'MOB-152']]) {
    await page.goto('about:blank');
    await page.goto(`${demo}/#search?q=${encodeURIComponent(typed)}&status=Blocked`);
    await page.locator('.note', { hasText: `${typed} was read as the key ${key}.` }).waitFor();
    await told(page, 'match');
    assert.equal((await keys(page))[0], key);
    assert.equal(await page.inputValue('#query'), typed);
  }
  await accessible(page);
  for (const typed of ['utf8', 'order 5588120', 'tx99999']) {
    await page.fill('#query', typed);
    await page.keyboard.press('Enter');
    await page.getByText('was read as the key').waitFor({ state: 'detached' });
    await told(page, /match|tickets|No results/);
  }
});

test('a pasted trace that no text holds is said to be new', async (t) => {
  const line = (page) => page.locator('.note', { hasText: 'No text that you may see holds this trace.' });
  const page = await open(t, demo, { shift: 0.3 });
  for (const [query, held] of [
    ['java.lang.NullPointerException at com.foo.Bar.baz(Bar.java:12)', false], ['ValueError: bad value in zzqx at lib/quux.py:31', false], ['FATAL EXCEPTION: main java.lang.NoSuchMethodError: No virtual method isNightModeActive at com.example.shop.theme.ThemeKt.detect(Theme.kt:31)', true],
    ['error page for cards', null],
  ]) {
    await page.goto('about:blank');
    await page.goto(`${demo}/#search?q=${encodeURIComponent(query)}`);
    await told(page, 'by meaning and keywords');
    await page.locator('a.result').first().waitFor();
    assert.equal(await line(page).count(), held === false ? 1 : 0, query);
    if (held === false) assert.ok((await line(page).boundingBox()).y < (await page.locator('a.result').first().boundingBox()).y);
  }
});

test('what is not read as a filter is said, with what to type instead', async (t) => {
  const page = await open(t, `${demo}/#search?q=${encodeURIComponent('payment priority >= High')}`, { shift: 0.3 });
  await page.locator('.note', { hasText: 'priority >= High was not read as a filter; its words are searched for.' }).waitFor();
  await accessible(page);
  await page.route(search, async (route) => { const response = await route.fetch(); await route.fulfill({ json: { ...await response.json(), not_read: [{ text: 'a OR <b>', instead: 'label:a,b' }] } }); });
  await page.fill('#query', 'payment refund');
  const note = page.locator('.note', { hasText: 'a OR <b> was not read' });
  await note.waitFor();
  assert.equal((await note.innerText()).replace(/\s+/g, ' '), 'a OR <b> was not read as a filter; its words are searched for. Try label:a,b.');
});

test('a filter that applies to nothing names a way on', async (t) => {
  sql(`insert into tickets (project_id, status_id, key, name, labels) select project_id, status_id, 'TX-9304', 'Quxaccent paper', '{Réclamation}' from projects, status where projects.key = 'TX' and status.name = 'To Do'`);
  t.after(() => sql("delete from tickets where key = 'TX-9304'"));
  const page = await open(t, demo, { shift: 1 }); // each query has other lines above its results
  const type = async (query) => { await page.fill('#query', query); await page.keyboard.press('Enter'); };
  const group = (name) => page.getByRole('group', { name: `Instead of the ${name}` });
  await page.locator('.example').first().waitFor();
  await type('payment reporter:zzgary'); // nothing is near: those that there are
  await group('reporter zzgary').getByText('There are:').waitFor();
  await accessible(page);
  await group('reporter zzgary').getByRole('button', { name: 'Lena' }).click();
  await page.locator('.chip.on', { hasText: 'Lena' }).waitFor();
  assert.equal(await page.inputValue('#query'), 'payment');
  await page.locator('.chip.on').click();
  await type('payment reporter:Lna'); // a letter is missing
  await group('reporter Lna').getByText('Is it one of these?').waitFor();
  assert.deepEqual(await group('reporter Lna').locator('.chip').allInnerTexts(), ['Lena']);
  await type('refund created:lastweek');
  await page.locator('.note', { hasText: 'created:lastweek has no date, so its words are searched for. Try created:7d or created:2025-03.' }).waitFor();
  await accessible(page);
  for (const query of ['refund created:2025-03', 'refund -due:7d', 'refund updated:>2025-01-01']) {
    await type(query);
    await page.getByText('has no date').waitFor({ state: 'detached' });
    await page.locator('.chip.read').first().waitFor();
  }
  await type('payment label:zzqfoo');
  await group('label zzqfoo').getByRole('button', { name: 'as text' }).click();
  await until('it is a phrase', async () => (await page.inputValue('#query')) === 'payment "zzqfoo"');
  await type('refund is:opne');
  await group('open or done opne').getByText('is:opne is no filter.').waitFor();
  assert.equal(await page.getByText('was not read as a filter').count(), 0); // once is enough
  await group('open or done opne').getByRole('button', { name: 'open', exact: true }).click();
  await page.locator('.chip.on', { hasText: 'open' }).waitFor();
  await until('the words are left', async () => (await page.inputValue('#query')) === 'refund');
  await page.locator('.chip.on').click();
  await type('refund assignee:');
  await group('assignee').getByText('Nothing follows assignee:.').waitFor();
  await accessible(page);
  await group('assignee').getByRole('button', { name: 'Noor' }).click();
  await page.locator('.chip.on', { hasText: 'Noor' }).waitFor();
  await until('the words are left', async () => (await page.inputValue('#query')) === 'refund');
  await page.locator('.chip.on').click();
  await type('label:reclamation quxaccent'); // a near one took its place
  await group('label reclamation').getByText('It was read as Réclamation.').waitFor();
  await until('it is found', async () => (await keys(page)).join() === 'TX-9304');
  assert.equal(await group('label reclamation').getByText('Is it one of these').count(), 0);
  await type('payment is:open status:To Do');
  await page.locator('.chip.on', { hasText: 'To Do' }).waitFor();
  await until('nothing is unknown', async () => (await page.locator('.candidates').count()) === 0);
});

test('filters are found under the field, and after a colon', async (t) => {
  for (const width of [390, 768, 1280]) {
    const page = await open(t, `${demo}/#search?q=payment`, { width, height: 800, shift: 0.3 });
    await told(page, 'by meaning and keywords');
    const hint = page.locator('.filters-hint');
    await page.locator('#query').press('Escape');
    await hint.waitFor({ state: 'hidden' });
    const before = (await page.locator('.columns').boundingBox()).y;
    await page.keyboard.press('/');
    await hint.waitFor();
    const box = await hint.boundingBox();
    assert.equal((await page.locator('.columns').boundingBox()).y, before);
    assert.ok(box.y + box.height <= before && await hint.evaluate((it) => it.scrollWidth <= it.clientWidth), 'it covers what is below, or is cut');
    await accessible(page);
    await page.keyboard.press('End');
    await page.keyboard.type(' :');
    await hint.waitFor({ state: 'detached' });
    await page.getByRole('group', { name: 'Filters to type' }).getByRole('button', { name: 'assignee:' }).press('Enter');
    assert.deepEqual([await page.inputValue('#query'), await page.evaluate(() => document.activeElement.id)], ['payment assignee:', 'query']);
    await page.keyboard.type('noo'); // its names
    await page.locator('.chips .chip', { hasText: 'Noor' }).click();
    await page.locator('.chip.on', { hasText: 'Noor' }).waitFor();
    await page.close();
  }
});
