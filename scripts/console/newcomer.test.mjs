// What a newcomer meets on a phone: where a screen begins, what rows and lists say, and what is left after a failure.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessible, demo, finish, open, sql, until } from './kit.mjs';

after(finish);
const phone = { width: 390, height: 800 };
const search = '**/api/hybrid-search';
const told = (page, text) => page.locator('.told', { hasText: text }).waitFor();
const refuse = (route, status, code, headers = {}) => route.fulfill({
  status, headers: { 'content-type': 'application/problem+json', ...headers }, body: JSON.stringify({ type: 'about:blank', title: 'x', status, code, detail: 'It was refused.', request_id: 'r' }),
});

test('another screen, page and document begin at their top', async (t) => {
  const page = await open(t, `${demo}/#search?q=payment`, phone);
  await told(page, 'by meaning and keywords');
  const down = () => page.evaluate(() => { scrollTo(0, document.body.scrollHeight); return scrollY; });
  const atTop = (what) => until(what, () => page.evaluate(() => scrollY === 0));
  assert.ok((await down()) > 200);
  await page.getByRole('link', { name: 'Next', exact: true }).click();
  await told(page, /match/);
  await atTop('the second page');
  await page.locator('a.result').first().waitFor();
  for (const name of ['Documents', 'Before you file', 'Search', 'Ask']) {
    await down();
    await page.getByRole('link', { name, exact: true }).click();
    await page.locator('nav [aria-current]', { hasText: name }).waitFor();
    await atTop(name);
  }
});

test('excerpts have no signs of Markdown', async (t) => {
  sql(`insert into tickets (project_id, status_id, key, name, description) select project_id, status_id, 'TX-9300', 'Quxmarkdown in the importer',
    E'**Quxbold** and *quxlean*, see [the quxlog](https://example.com/a_b).\\n\\n\`\`\`java\\nat Foo.bar(*quxcode)\\n\`\`\`\\n\\n* \`quxitem\` 2 * 3\\n> quxquote snake_case'
    from projects, status where projects.key = 'TX' and status.name = 'To Do'`);
  t.after(() => sql("delete from tickets where key = 'TX-9300'"));
  const page = await open(t, `${demo}/#search?q=quxmarkdown`, phone);
  const row = page.locator('a.result', { hasText: 'TX-9300' }).locator('.excerpt');
  await row.waitFor();
  assert.equal((await row.innerText()).replace(/\s+/g, ' ').trim(), 'Quxbold and quxlean, see the quxlog. at Foo.bar(*quxcode) quxitem 2 * 3 quxquote snake_case');
  await page.goto(`${demo}/#search?q=quxbold+quxquote`);
  await row.locator('mark', { hasText: 'Quxbold' }).waitFor(); // within the signs
  assert.doesNotMatch(await row.innerText(), /\*\*|`|^>/m);
});

test('rows say in words why they are found, and tickets alike stand by the number that they show', async (t) => {
  const page = await open(t, `${demo}/#search?q=charged+twice`, phone);
  await told(page, 'by meaning and keywords');
  for (const text of ['Similar meaning', 'Same words']) await page.locator('a.result').first().getByText(text).waitFor();
  await accessible(page);
  await page.goto(`${demo}/#draft`);
  await page.fill('#title', 'Paid twice for one order');
  await page.fill('#text', 'The app sends the payment again when the button is tapped twice.');
  await page.locator('.told', { hasText: 'nearest first' }).waitFor();
  const shown = (await page.locator('.similar .near').allInnerTexts()).map(Number);
  assert.ok(shown.length > 3);
  assert.deepEqual(shown, [...shown].sort((a, b) => b - a));
});

test('the examples find what has none of their words', async (t) => {
  const page = await open(t, demo, phone);
  await page.locator('.example').first().waitFor();
  await accessible(page);
  for (const example of await page.locator('.example').all()) {
    const [query, found] = (await example.innerText()).split('\n');
    const key = /^finds (\S+)/.exec(found)[1];
    const { results } = await (await fetch(`${demo}/api/hybrid-search`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query: `${query}.`, retrieval: 'keyword', limit: 100 }) })).json();
    assert.ok(!results.some((r) => r.ticket_key === key), `${query}: ${key}`);
  }
  const example = page.locator('.example').first();
  const key = /finds (\S+)/.exec(await example.innerText())[1];
  await example.click();
  await page.locator('a.result', { hasText: key }).waitFor();
});

test('assignee: and label: suggest names before anything is found', async (t) => {
  const page = await open(t, demo, phone);
  for (const [typed, name, label] of [['assignee:mil', 'Milena', 'Assignee'], ['label:acc', 'accessibility', 'Label'], ['payment reporter:y', 'Yuko', 'Reporter']]) {
    await page.fill('#query', typed);
    await page.locator('.chips .chip', { hasText: name }).click();
    await page.locator('.chip.on', { hasText: label }).getByText(name).waitFor();
    await page.locator('.chip.on').click();
    await page.locator('.chip.on').waitFor({ state: 'detached' });
  }
});

test('two projects of one name show their keys', async (t) => {
  sql("insert into projects (key, name) values ('MOBX', 'Mobile app')");
  t.after(() => sql("delete from projects where key = 'MOBX'"));
  const page = await open(t, `${demo}/#ask`, phone);
  const names = (label) => page.getByLabel(label).locator('option').allTextContents();
  await until('the projects', async () => (await names('Project')).length > 3);
  assert.deepEqual((await names('Project')).filter((name) => /mobile app/i.test(name)), ['Mobile App (MOB)', 'Mobile app (MOBX)']);
  assert.ok((await names('Project')).includes('Checkout and Payments')); // alone with its name
  await page.goto(`${demo}/#draft`);
  await until('the projects', async () => (await names('Compare with')).length > 3);
  assert.ok((await names('Compare with')).includes('Mobile app (MOBX)'));
  await page.goto(`${demo}/#search?q=tap`);
  await told(page, 'by meaning and keywords');
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.locator('.facet', { hasText: 'Project' }).getByRole('button', { name: 'Mobile App (MOB)' }).click();
  await page.locator('.chip.on', { hasText: 'Mobile App (MOB)' }).waitFor();
});

test('a refused query leaves no former results and no vain attempt; a passing failure keeps both', async (t) => {
  let answer;
  const page = await open(t, `${demo}/#search?q=payment`, {
    ...phone, failing: true, shift: 0.3, prepare: (it) => it.route(search, (route) => (answer ? answer(route) : route.continue())),
  });
  await told(page, 'by meaning and keywords');
  answer = (route) => refuse(route, 503, 'unavailable');
  await page.fill('#query', 'payment late');
  await page.locator('.notice.bad').getByRole('button', { name: 'Try again' }).waitFor();
  assert.ok((await page.locator('a.result').count()) > 0);
  answer = (route) => refuse(route, 400, 'invalid');
  await page.fill('#query', 'payment refused');
  await page.locator('.notice.bad', { hasText: 'This cannot be searched for' }).waitFor();
  await page.locator('a.result').first().waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  await accessible(page);
  answer = null;
  await page.fill('#query', 'payment');
  await page.locator('a.result').first().waitFor();
  await page.locator('.notice.bad').waitFor({ state: 'detached' });
});

test('no name covers the arrow of its list', async (t) => {
  const page = await open(t, `${demo}/#ask`, { ...phone, width: 360 });
  for (const select of await page.locator('select').all()) {
    const { right, arrow } = await select.evaluate((it) => {
      const style = getComputedStyle(it);
      return { right: parseFloat(style.paddingRight), arrow: parseFloat(style.backgroundSize) + parseFloat(/right (\d+)px|calc\(100% - (\d+)px\)/.exec(style.backgroundPosition)?.slice(1).find(Boolean)) };
    });
    assert.ok(right >= arrow, `${right} < ${arrow}`);
  }
});

test('likely duplicates say what agrees, link, and leave an emptied form alone', async (t) => {
  const page = await open(t, `${demo}/#draft`, { shift: 0.3 });
  await page.getByText('Start with a title').waitFor();
  for (const empty of ['   ', '??!!']) {
    await page.fill('#title', empty);
    await page.waitForTimeout(600); // past the pause
    assert.equal(await page.locator('.similar li, .notice').count(), 0);
  }
  await page.fill('#title', 'Customers are charging twice');
  const first = page.locator('.similar li', { hasText: 'TX-400' });
  await first.locator('.agrees').getByText(/^Both say: .*charged/).waitFor(); // another form of the word
  const marks = await first.locator('.agrees mark').allInnerTexts();
  assert.ok(marks.length > 0 && marks.every((word) => /^(customer|charg|twice)/i.test(word)), marks.join());
  await accessible(page);
  const asked = [];
  page.on('request', (r) => { if (r.url().endsWith('/tickets/similar')) asked.push(r.postDataJSON().text); });
  await first.getByRole('button', { name: 'Link it' }).click();
  await first.getByRole('button', { name: 'Linked' }).waitFor();
  assert.match(await page.inputValue('#text'), /^Relates to TX-400: Customer charged twice/);
  assert.equal(await page.inputValue('#title'), 'Customers are charging twice'); // it is still to be filed
  await page.waitForTimeout(600);
  assert.deepEqual(asked, []); // the link says nothing of the draft
  await page.fill('#text', '');
  await page.fill('#title', '');
  await page.locator('.similar li').first().waitFor({ state: 'detached' });
  assert.equal(await page.locator('.similar').count(), 0);
});

test('a draft that nothing is like is said to be new', async (t) => {
  const page = await open(t, `${demo}/#draft`, { ...phone, shift: 0.3 });
  const compared = () => page.waitForResponse((r) => r.url().endsWith('/tickets/similar'));
  const similar = page.locator('.similar li');
  for (const [title, text] of [['zzzz qqqq', ''], ['How do I bake sourdough bread?', 'Mine never rises.'], ['qxqx wvwv', 'jjjj kkkk']]) {
    await page.fill('#text', '');
    const answered = compared();
    await page.fill('#title', title);
    await page.fill('#text', text);
    assert.ok((await (await answered).json()).results.length > 0); // the nearest, however far
    await page.getByRole('heading', { name: 'Nothing like this is filed' }).waitFor();
    assert.equal(await similar.count(), 0, title);
    await accessible(page);
    await page.fill('#text', '');
    await page.fill('#title', 'Order paid two times');
    await similar.filter({ hasText: 'TX-402' }).waitFor();
    assert.equal(await page.getByText('Nothing like this').count(), 0);
  }
});

test('filters, charts and long words fit a phone, and names a list beside a ticket', async (t) => {
  const long = 'Donaudampfschifffahrtsgesellschaftskapitaen'.repeat(3);
  sql(`insert into tickets (project_id, status_id, key, name, assignee, ticket_type, labels) select project_id, status_id, 'TX-9301', 'Quxwide ${long}', 'Maximiliane-Alexandra', 'Quxtype ${long}', '{${long}}'
    from projects, status where projects.key = 'TX' and status.name = 'To Do'`);
  t.after(() => sql("delete from tickets where key = 'TX-9301'"));
  for (const theme of ['light', 'dark']) {
    const page = await open(t, `${demo}/#search?q=payment+quxwide`, { ...phone, theme, shift: 1 }); // the filters are shown by intent
    const fits = async (what) => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${what} is wider than the page`);
    await told(page, 'by meaning and keywords');
    await page.getByRole('button', { name: 'Filters' }).click();
    for (let n; (n = await page.locator('.facet:not([open])').count()) > 0;) {
      await page.locator('.facet:not([open]) summary').first().click();
      await until('it is open', async () => (await page.locator('.facet:not([open])').count()) < n);
    }
    assert.equal(new Set(await page.locator('.facet').evaluateAll((all) => all.map((it) => it.getBoundingClientRect().left))).size, 1);
    await fits('a filter');
    await accessible(page);
    await page.goto(`${demo}/#ask?q=${encodeURIComponent('How many tickets were created per month?')}`);
    const chart = page.locator('.scroll');
    await chart.waitFor();
    await page.fill('#question', long);
    await fits('a word or the chart');
    assert.ok(await page.locator('#question').evaluate((it) => it.scrollWidth <= it.clientWidth));
    const ends = await chart.evaluate((it) => [it.scrollWidth > it.clientWidth, getComputedStyle(it).backgroundAttachment]);
    assert.deepEqual(ends, [true, 'local, local, scroll, scroll']); // what hides the shadows scrolls away with the content
    await page.goto(`${demo}/#draft`);
    await page.fill('#text', long);
    await fits('a draft');
    assert.ok(await page.locator('#text').evaluate((it) => it.scrollWidth <= it.clientWidth));
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${demo}/#search?q=refund&open=TX-400`);
    await told(page, 'by meaning and keywords');
    await page.locator('.details .similar li').first().waitFor();
    const names = page.locator('a.result .person');
    assert.ok((await names.count()) > 3);
    assert.deepEqual(await names.evaluateAll((all) => all.filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.textContent)), []);
    await page.close();
  }
});

test('a screen that could not be fetched is fetched again', async (t) => {
  const page = await open(t, demo, { ...phone, failing: true });
  await page.route('**/ask.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  const again = page.locator('.notice.bad', { hasText: 'This screen could not be loaded.' }).getByRole('button', { name: 'Try again' });
  await again.waitFor();
  await accessible(page);
  await page.getByRole('link', { name: 'Documents' }).click(); // the others work
  await page.getByRole('heading', { name: 'What the team knows' }).waitFor();
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await again.waitFor();
  await page.unroute('**/ask.js');
  await again.click();
  await page.locator('#question').waitFor();
});
