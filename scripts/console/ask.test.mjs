import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessible, demo, finish, open, service, sql, until } from './kit.mjs';
import { startModel } from './model.mjs';

after(finish);
const QUESTION = 'Why were customers charged twice when they retried a payment?';
const turn = (page, n) => page.locator('.turn').nth(n);
const says = (page, n, text) => turn(page, n).locator('.answer .text', { hasText: text }).waitFor();

async function ask(page, question) {
  await page.fill('#question', question);
  await page.keyboard.press('Enter');
}

/** The requests that a page sends, from now on. */
function requests(page) {
  const sent = [];
  page.on('request', (request) => { if (request.url().endsWith('/api/query')) sent.push(request.postDataJSON()); });
  return sent;
}

test('an answer links its citations to their sources and can be copied', async (t) => {
  const page = await open(t, `${demo}/#ask`, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.locator('.example').first().waitFor();
  await accessible(page);
  await ask(page, QUESTION);
  const cite = page.locator('.answer .cite').first();
  await cite.waitFor();
  const number = await cite.innerText();
  await page.getByRole('button', { name: 'Copy with sources' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), new RegExp(`\\[${number}\\] TX-400 `));
  await cite.click();
  await page.locator(`#source-1-${number}.cited.lit`).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), `source-1-${number}`);
  assert.ok((await page.locator('.answer .md code').count()) > 0); // it is Markdown
  await accessible(page);
  await page.locator(`#source-1-${number} a.name`).click();
  await page.locator('.details', { hasText: 'TX-400' }).waitFor();
});

test('a question and what follows it are one conversation, kept in the page', async (t) => {
  const blocked = (project) => sql(`select count(*) from tickets join projects p using (project_id) join status s using (status_id) where p.key = '${project}' and s.name = 'Blocked'`).trim();
  const page = await open(t, `${demo}/#ask`, { timezoneId: 'Asia/Tokyo' });
  const sent = requests(page);
  const question = 'How many tickets are blocked in Mobile App?';
  await ask(page, question);
  await says(page, 0, new RegExp(`^${blocked('MOB')} tickets?(?:, the latest created first)?:$`));
  assert.equal(await page.evaluate(() => document.activeElement.id), 'question');
  assert.equal(await page.inputValue('#question'), '');
  await ask(page, 'and in Checkout and Payments?');
  await says(page, 1, new RegExp(`^${blocked('TX')} tickets?(?:, the latest created first)?:$`));
  await turn(page, 1).getByText(/^Texts are searched for by: How many tickets are blocked in Mobile App\?\s+MOB-\d+\s+and in Checkout and Payments\?$/).waitFor();
  await accessible(page);
  const [, { messages, time_zone: zone }] = sent;
  assert.deepEqual(messages.map(({ role }) => role), ['user', 'assistant']);
  assert.equal(messages[0].content, question);
  assert.match(messages[1].content, /project:MOB status:blocked/);
  assert.equal(zone, 'Asia/Tokyo');

  await page.getByRole('link', { name: 'Search', exact: true }).click();
  await page.locator('#query').waitFor();
  await page.goBack();
  await turn(page, 1).locator('.chip', { hasText: 'TX' }).waitFor();
  for (let n = 3; n <= 7; n++) {
    await ask(page, 'How many tickets are blocked?');
    await turn(page, n - 1).getByRole('link', { name: 'in Search' }).waitFor();
  }
  assert.deepEqual([sent[6].messages.length, sent[6].messages[0].content], [10, 'and in Checkout and Payments?']);

  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByText('Ask your tracker').waitFor();
  await ask(page, 'How many bugs are there?');
  await turn(page, 0).locator('.chip', { hasText: 'Bug' }).waitFor();
  assert.deepEqual(sent[7].messages, []);
  await page.reload();
  await turn(page, 0).locator('.chip', { hasText: 'Bug' }).waitFor();
  assert.equal(sent.length, 8); // it is not asked again
});

test('groups stand in a table, tickets in a list with citations', async (t) => {
  const page = await open(t, `${demo}/#ask`, { timezoneId: 'America/New_York' });
  await ask(page, 'How many open tickets are there per assignee?');
  await turn(page, 0).getByRole('columnheader', { name: 'Assignee' }).waitFor();
  const rows = (await turn(page, 0).locator('.groups tbody tr').allInnerTexts()).map((row) => row.replace('\t', '|'));
  assert.deepEqual(rows.sort(), sql(`select coalesce(assignee, 'none'), count(*) from tickets join status s using (status_id) where s.category <> 'done' group by 1`).trim().split('\n').sort());
  await ask(page, 'Which tickets are due in March 2026?');
  const first = turn(page, 1).locator('.answer li').first();
  const key = await first.locator('.key').innerText();
  const [day, number] = sql(`select to_char(due_date, 'Mon FMDD, YYYY'), (select count(*) from tickets where due_date between '2026-03-01' and '2026-03-31') from tickets where key = '${key}'`).trim().split('|');
  await says(page, 1, `${number} tickets. The latest due:`);
  await first.getByText(`Due ${day}`).waitFor(); // west of Greenwich too
  await accessible(page);
  await first.getByRole('button', { name: 'Source 1' }).click();
  await turn(page, 1).locator('.source.cited.lit', { hasText: key }).waitFor();
  await first.getByRole('link', { name: key }).click();
  await page.locator('.details', { hasText: key }).waitFor();
});

test('what a question counts opens in Search', async (t) => {
  const page = await open(t, `${demo}/#ask`, { timezoneId: 'Europe/Berlin' });
  await ask(page, 'How many unassigned tickets mention refunds?');
  const chips = turn(page, 0).locator('.chip.read');
  await chips.first().waitFor();
  assert.deepEqual((await chips.allInnerTexts()).map((text) => text.replace('\n', ' ')), ['Text "refunds"', 'Assignee nobody']);
  const link = page.getByRole('link', { name: /^\d+ tickets in Search$/ });
  const number = parseInt(await link.innerText(), 10);
  await link.click();
  await page.locator('.told', { hasText: `${number} matches` }).waitFor();
  await page.goBack();
  await ask(page, 'How many tickets were created in March 2025?');
  await turn(page, 1).locator('.chip.read', { hasText: 'Created 2025-03-01 to 2025-03-31' }).waitFor();
  const created = sql("select count(*) from tickets where created_at >= '2025-03-01 Europe/Berlin' and created_at < '2025-04-01 Europe/Berlin'").trim();
  await turn(page, 1).getByRole('link', { name: `${created} tickets in Search` }).click();
  await page.locator('.told', { hasText: `${created} tickets, the newest first` }).waitFor();
  await page.goBack();
  await page.getByLabel('Project').selectOption({ label: 'Checkout and Payments' }); // which read_as does not have
  await ask(page, 'How many bugs are there?');
  const bugs = Number(sql("select count(*) from tickets join projects p using (project_id) where p.key = 'TX' and ticket_type = 'Bug'"));
  await turn(page, 2).getByRole('link', { name: `${bugs} tickets in Search` }).click();
  const facet = page.locator('.facet', { hasText: 'Type' });
  await page.locator('.chip.on', { hasText: 'Checkout and Payments' }).waitFor();
  await until('the bugs are counted', async () => (await facet.locator('button', { hasText: 'Bug' }).locator('.count').allTextContents()).join() === String(bugs));
});

test('how a question was read can be changed, and asks again', async (t) => {
  const page = await open(t, `${demo}/#ask`, { timezoneId: 'Asia/Tokyo' });
  const sent = requests(page);
  await ask(page, 'How many open bugs of Checkout and Payments were created in 2025?');
  const asked = turn(page, 0);
  const count = (where) => Number(sql(`select count(*) from tickets t join projects p using (project_id) join status s using (status_id) where p.key = 'TX' and ${where}`));
  const says = (number) => asked.locator('.answer .text', { hasText: new RegExp(`^${number || 'No'} tickets?\\b`) }).waitFor();
  const year = "t.created_at >= '2025-01-01 Asia/Tokyo' and t.created_at < '2026-01-01 Asia/Tokyo'";
  await says(count(`s.category <> 'done' and ticket_type = 'Bug' and ${year}`));
  await accessible(page);
  const focused = asked.getByRole('button', { name: 'Change Type: bug' }).evaluate(async (button) => {
    button.click();
    await null; // no frame is drawn between a click and the next key
    return document.activeElement.getAttribute('aria-label');
  });
  assert.equal(await focused, 'Type');
  await accessible(page);
  await page.locator('datalist option[value="Task"]').waitFor({ state: 'attached' });
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('Task');
  await page.keyboard.press('Enter');
  await says(count(`s.category <> 'done' and ticket_type = 'Task' and ${year}`));
  await asked.getByRole('button', { name: 'Change Open or done: open' }).click();
  await says(count(`s.category = 'done' and ticket_type = 'Task' and ${year}`));
  await asked.getByRole('button', { name: 'Remove Type: Task' }).click();
  await says(count(`s.category = 'done' and ${year}`));
  await asked.getByRole('button', { name: /^Change Created: / }).click();
  assert.deepEqual([await page.inputValue('[name=from]'), await page.inputValue('[name=to]')], ['2025-01-01', '2025-12-31']);
  await page.fill('[name=from]', '2025-03-02');
  await page.getByRole('button', { name: 'Ask again' }).click();
  await says(count("s.category = 'done' and t.created_at >= '2025-03-02 Asia/Tokyo' and t.created_at < '2026-01-01 Asia/Tokyo'"));
  await asked.getByRole('button', { name: 'Change Created: 2025-03-02 to 2025-12-31' }).click();
  await page.keyboard.press('Escape');
  await asked.getByRole('button', { name: 'Change Created: 2025-03-02 to 2025-12-31' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Change Created: 2025-03-02 to 2025-12-31');
  assert.equal(await page.locator('.turn').count(), 1);
  assert.equal(sent.length, 5);
  assert.deepEqual(sent[4].read_as.filters.created, { from: '2025-03-01T15:00:00.000Z', to: '2025-12-31T15:00:00.000Z' });
});

test('a name that may be several is asked back, and a click asks again', async (t) => {
  sql(`insert into tickets (project_id, status_id, key, name, assignee) select project_id, status_id, 'TX-920' || n, 'Payment by Gary', person
    from projects p, status s, (values (1, 'Gary Mathews'), (2, 'Gary Moss')) v (n, person) where p.key = 'TX' and s.name = 'Done'`);
  t.after(() => sql("delete from tickets where key like 'TX-920_'"));
  const page = await open(t, `${demo}/#ask`);
  await ask(page, 'How many tickets are assigned to Gary?');
  const offered = (n) => turn(page, n).getByRole('group', { name: 'Instead of the assignee Gary' });
  await offered(0).waitFor();
  await accessible(page);
  await offered(0).getByRole('button', { name: 'Gary Moss' }).click();
  await turn(page, 1).getByRole('heading', { name: 'How many tickets are assigned to Gary Moss?' }).waitFor();
  await says(page, 1, /^1 ticket:$/);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'question');
  await ask(page, 'How many tickets are assigned to Gary?');
  await offered(2).waitFor();
  await ask(page, 'and in Checkout and Payments?'); // the name is in the question before
  await offered(3).getByRole('button', { name: 'Gary Mathews' }).click();
  await says(page, 4, /^1 ticket:$/);
  await turn(page, 4).locator('.chip', { hasText: 'Gary Mathews' }).waitFor();
});

test('an answer from documents cites them', async (t) => {
  const page = await open(t, `${demo}/#ask`);
  await page.getByRole('button', { name: 'Documents', exact: true }).click();
  await ask(page, 'How are idempotency keys derived?');
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

test('an answer can be stopped and a failure tried again; neither is history', async (t) => {
  const model = await startModel();
  const url = await service({ OPENAI_BASE_URL: model.url, CACHE: 'off', REQUEST_TIMEOUT: '10m', MODEL_TIMEOUT: '10m' });
  model.held = 'chat';
  let sent;
  const page = await open(t, `${url}/#ask?q=${encodeURIComponent(QUESTION)}`, { failing: true, prepare: (it) => { sent = requests(it); } });
  await page.getByText('Looking for an answer').waitFor();
  await page.getByRole('link', { name: 'Search', exact: true }).click();
  await page.locator('#query').waitFor();
  await page.goBack(); // it is still asked
  await page.getByText('Looking for an answer').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped.').waitFor();
  model.release();
  model.fails = 'chat';
  await ask(page, 'Why was the customer charged twice?');
  await page.locator('.notice.bad').waitFor();
  await accessible(page);
  model.fails = '';
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.answer .cite').first().waitFor();
  await until('the failure is gone', async () => (await page.locator('.notice.bad').count()) === 0);
  await page.getByRole('button', { name: 'Ask again' }).click();
  await turn(page, 1).locator('.answer .cite').first().waitFor();
  await until('it is no longer stopped', async () => (await page.getByText('Stopped.').count()) === 0);
  assert.deepEqual(sent.map(({ question, messages }) => [question, ...messages.filter((m) => m.role === 'user').map((m) => m.content)]),
    [[QUESTION], ['Why was the customer charged twice?'], ['Why was the customer charged twice?'], [QUESTION, 'Why was the customer charged twice?']]);
});

test('a draft is compared as the user types, and survives a change of screen', async (t) => {
  const page = await open(t, `${demo}/#draft`, { shift: 0.3 });
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
  for (const text of ['Ready', 'Oldest waits', 'Failed', 'Passages', 'Threshold', 'all-minilm-l6-v2']) await page.locator('.state', { hasText: text }).waitFor();
  assert.doesNotMatch(await page.locator('.state').innerText(), /Dead|Lag|Chunk|Queue/);
  const alone = await open(t, demo, { failing: true, prepare: (it) => it.route('**/readyz', (route) => route.abort()) });
  await alone.locator('.state', { hasText: 'Not reachable' }).waitFor();
});

test('figures are drawn, and each leads to its tickets in Search', async (t) => {
  const page = await open(t, `${demo}/#ask`, { shift: 0.3 });
  await ask(page, 'How many open tickets are there per assignee?');
  const rows = turn(page, 0).locator('.groups tbody tr');
  await rows.first().waitFor();
  const widths = await rows.locator('.share').evaluateAll((all) => all.map((it) => it.getBoundingClientRect().width));
  const numbers = (await rows.locator('.n').allInnerTexts()).map(Number);
  assert.ok(widths.every((width, i) => Math.abs(width / widths[0] - numbers[i] / numbers[0]) < 0.05), `${widths} ${numbers}`);
  await accessible(page);
  await rows.first().getByRole('link').click();
  await page.locator('.told', { hasText: `${numbers[0]} tickets` }).waitFor();
  await page.goBack();
  await ask(page, 'How many tickets were created per month?');
  await says(page, 1, /^\d+ tickets, by month created:$/);
  const months = turn(page, 1).locator('.columns-chart tbody tr');
  await turn(page, 1).getByRole('columnheader', { name: 'Filed' }).waitFor({ state: 'attached' });
  await months.first().waitFor();
  const names = await months.locator('td:first-child').allInnerTexts();
  assert.deepEqual(names, [...names].sort()); // from the left to the right
  await accessible(page);
  const [name, number] = [names[1], await months.nth(1).locator('.n').innerText()];
  assert.equal(sql(`select count(*) from tickets where to_char(created_at at time zone 'utc', 'YYYY-MM') = '${name}'`).trim(), number);
  await months.nth(1).getByRole('link').click();
  await page.locator('.told', { hasText: `${number} tickets` }).waitFor();
});

test('the placeholder says what is asked, an answer can be asked for again, and its copy has links', async (t) => {
  const page = await open(t, `${demo}/#ask`, { permissions: ['clipboard-read', 'clipboard-write'] });
  const sent = requests(page);
  for (const [name, about] of [['Documents', 'documents'], ['All', 'tickets and documents'], ['Tickets', 'tickets']]) {
    await page.getByRole('group', { name: 'Answer from' }).getByRole('button', { name }).click();
    await page.locator(`#question[placeholder="Ask about the ${about}"]`).waitFor();
  }
  await ask(page, QUESTION);
  await page.getByRole('button', { name: 'Copy with sources' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const links = (await page.evaluate(() => navigator.clipboard.readText())).match(/http\S+/g);
  assert.ok(links.length > 0 && links.every((link) => link.startsWith(`${demo}/#search?q=`)), links?.join());
  await page.getByRole('button', { name: 'Repeat the question' }).click();
  await until('it is asked again', () => sent.length === 2);
  assert.deepEqual([sent[1].question, sent[1].messages], [QUESTION, []]);
  assert.equal(await page.locator('.turn').count(), 1);
});

test('Enter that ends a composition sends nothing, in the order of events of any browser', async (t) => {
  const page = await open(t, `${demo}/#ask`);
  const sent = requests(page);
  await page.fill('#question', '今日は');
  const enter = (init) => page.evaluate(({ ended, keyCode, isComposing }) => {
    const field = document.querySelector('#question');
    if (ended) field.dispatchEvent(new CompositionEvent('compositionend', { data: '今日は', bubbles: true }));
    return field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode, isComposing, bubbles: true, cancelable: true }));
  }, init);
  for (const init of [{ isComposing: true, keyCode: 229 }, { isComposing: true, keyCode: 13 }, { ended: true, isComposing: false, keyCode: 229 }]) {
    assert.equal(await enter(init), true, JSON.stringify(init)); // the browser's own
    assert.equal(await page.inputValue('#question'), '今日は');
  }
  assert.equal(await enter({ isComposing: false, keyCode: 13 }), false);
  await page.locator('.turn').waitFor();
  assert.deepEqual(sent.map(({ question }) => question), ['今日は']);
});

test('a copied list has all tickets that are counted, and sources are promised only where there are some', async (t) => {
  const page = await open(t, `${demo}/#ask`, { permissions: ['clipboard-read', 'clipboard-write'] });
  const keys = sql("select key from tickets join status using (status_id) where ticket_type = 'Bug' and category <> 'done'").trim().split('\n').sort();
  assert.ok(keys.length > 10); // more than an answer lists
  await ask(page, 'How many open bugs are there?');
  await turn(page, 0).getByRole('button', { name: `Copy with all ${keys.length} tickets` }).click();
  await turn(page, 0).getByRole('button', { name: 'Copied' }).waitFor();
  const [first, , ...lines] = (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
  assert.match(first, new RegExp(`^${keys.length} tickets`));
  assert.deepEqual(lines.map((line) => line.split(' ')[0]).sort(), keys);
  assert.ok(lines.every((line) => new RegExp(` ${demo}/#search\\?q=(\\S+)&open=\\1$`).test(line)), lines[0]);
  await ask(page, 'How many open tickets are there per assignee?');
  await turn(page, 1).locator('.groups').waitFor();
  await turn(page, 1).getByRole('button', { name: 'Copy', exact: true }).click(); // a table of figures cites nothing
  await turn(page, 1).getByRole('button', { name: 'Copied' }).waitFor();
  await accessible(page);
});

test('a question has an address, and what is being written survives a reload', async (t) => {
  const page = await open(t, `${demo}/#ask`, { shift: 0.3 });
  const sent = requests(page);
  await page.getByLabel('Project').selectOption({ label: 'Mobile App' });
  await ask(page, 'How many bugs are there?');
  await turn(page, 0).locator('.chip', { hasText: 'Bug' }).waitFor();
  const address = page.url();
  await ask(page, 'and in To Do?');
  await turn(page, 1).locator('.answer .text').waitFor();
  assert.equal(page.url(), address);
  await page.getByRole('link', { name: 'Search', exact: true }).click();
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await turn(page, 1).waitFor(); // the conversation goes on
  await until('its address', () => page.url().includes('q=How+many+bugs'));
  assert.equal(sent.length, 2);
  await page.fill('#question', 'what I am writing');
  await page.getByRole('link', { name: 'Before you file' }).click();
  await page.fill('#title', 'A title');
  await page.fill('#text', 'and its text');
  await page.reload();
  assert.deepEqual([await page.inputValue('#title'), await page.inputValue('#text')], ['A title', 'and its text']);
  await page.goto(address);
  await turn(page, 0).getByRole('heading', { name: 'How many bugs are there?' }).waitFor();
  await turn(page, 1).getByRole('heading', { name: 'and in To Do?' }).waitFor(); // the conversation goes on
  assert.equal(await page.inputValue('#question'), 'what I am writing');
  await page.fill('#question', 'and in Blocked?');
  await page.keyboard.press('Enter');
  await turn(page, 2).locator('.answer .text').waitFor();
  assert.equal(sent.length, 3); // what is answered is not asked again
  assert.deepEqual(sent[2].messages.filter((m) => m.role === 'user').map((m) => m.content), ['How many bugs are there?', 'and in To Do?']);
  const other = await page.context().newPage(); // a link begins its own
  const asked = requests(other);
  await other.goto(address);
  await turn(other, 0).locator('.chip', { hasText: 'Bug' }).waitFor();
  assert.deepEqual([asked.length, asked[0].question, asked[0].project_id], [1, sent[0].question, sent[0].project_id]);
  assert.equal(await other.locator('.turn').count(), 1);
  await other.close();
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByText('Ask your tracker').waitFor();
  assert.doesNotMatch(page.url(), /q=/);
  await page.goBack();
  await turn(page, 0).getByRole('heading', { name: 'How many bugs are there?' }).waitFor();
});

test('a reload restores a conversation, and asks again only what was not answered', async (t) => {
  const page = await open(t, `${demo}/#ask`, { shift: 0.5 });
  const sent = requests(page);
  await ask(page, 'How many tickets are open?');
  await turn(page, 0).getByRole('link', { name: 'in Search' }).waitFor();
  await ask(page, QUESTION);
  await turn(page, 1).locator('.answer .cite').first().waitFor();
  const before = await page.locator('.turn .answer .text').allInnerTexts();
  await page.reload();
  await turn(page, 1).locator('.source').first().waitFor();
  assert.deepEqual(await page.locator('.turn .answer .text').allInnerTexts(), before);
  assert.equal(sent.length, 2);
  await page.route('**/api/query', () => {}); // no answer comes
  await ask(page, 'and in Mobile App?');
  await turn(page, 2).getByText('Looking for an answer').waitFor();
  await page.unroute('**/api/query');
  await page.reload();
  await turn(page, 2).locator('.answer .text, .empty').first().waitFor();
  assert.deepEqual(sent.map((one) => one.question), ['How many tickets are open?', QUESTION, 'and in Mobile App?', 'and in Mobile App?']);
  assert.deepEqual(sent[3].messages, sent[2].messages);
  await page.route('**/api/query', () => {});
  await ask(page, 'and what I stop?');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.reload();
  await turn(page, 3).getByText('Stopped.').waitFor();
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByText('Ask your tracker').waitFor();
  await page.reload();
  await page.getByText('Ask your tracker').waitFor();
  assert.deepEqual([await page.locator('.turn').count(), sent.length], [0, 5]);
});

test('a mistyped month is offered, and for a name that is not near those that there are', async (t) => {
  const page = await open(t, `${demo}/#ask`);
  const offered = (n) => turn(page, n).getByRole('group');
  await ask(page, 'How many tickets were created in Febuary?');
  await offered(0).getByText('No project is called “Febuary”. Is it one of these?').waitFor();
  assert.deepEqual(await offered(0).getByRole('button').allInnerTexts(), ['February']);
  await offered(0).getByRole('button').click();
  await turn(page, 1).getByRole('heading', { name: 'How many tickets were created in February?' }).waitFor();
  await turn(page, 1).locator('.chip.read', { hasText: 'Created' }).waitFor();
  await ask(page, 'How many tickets were reported by Zzgary?');
  await offered(2).getByRole('button', { name: 'Lena' }).waitFor();
  await accessible(page);
  await offered(2).getByRole('button', { name: 'Lena' }).click();
  await turn(page, 3).locator('.chip.read', { hasText: 'Lena' }).waitFor();
});

test('a question for a number that is not understood says that it was not counted', async (t) => {
  const page = await open(t, `${demo}/#ask`, { shift: 0.3 });
  for (const [n, question] of [[0, 'How many tickets did Noor resolve last Tuesday evening?'], [1, 'How many bugs per status per month?']]) {
    await ask(page, question);
    await turn(page, n).getByRole('heading', { name: 'This was not counted' }).waitFor();
    await turn(page, n).getByText('No chat model is configured').waitFor();
    assert.equal(await turn(page, n).locator('.source').count(), 0); // none of them has a number
  }
  await accessible(page);
  const offered = await turn(page, 1).locator('.actions button').allInnerTexts();
  assert.ok(offered.length > 1);
  for (const [i, question] of offered.entries()) { // each of them works
    await turn(page, 1).getByRole('button', { name: question }).click();
    await turn(page, 2 + i).getByRole('link', { name: 'in Search' }).or(turn(page, 2 + i).locator('.groups')).first().waitFor();
  }
  await turn(page, 1).getByRole('link', { name: 'Search for it instead' }).click();
  assert.equal(await page.inputValue('#query'), 'How many bugs per status per month?');
});

test('who is meant by me is said in words, where nobody is signed in', async (t) => {
  const page = await open(t, `${demo}/#ask`, { shift: 0.5, failing: true });
  await ask(page, 'How many tickets are assigned to me?');
  await says(page, 0, /^I cannot tell: assignee: nobody is signed in, so "me" is unknown\. Give the name of the person, or sign in\.$/);
  await page.goto(`${demo}/#search?q=payment+-reporter%3Ame`);
  await page.locator('.notice.bad', { hasText: 'reporter: nobody is signed in, so "me" is unknown.' }).waitFor();
  assert.doesNotMatch(await page.locator('.notice.bad').innerText(), /filters|token/);
});

test('a question is put to tickets and documents', async (t) => {
  const page = await open(t, `${demo}/#ask?q=${encodeURIComponent('What was decided about idempotency keys?')}`, { shift: 0.3 });
  await turn(page, 0).locator('.source.cited a.name', { hasText: 'Decision 12' }).waitFor();
  await page.locator('#question[placeholder="Ask more about the tickets and documents"]').waitFor();
  assert.equal(await turn(page, 0).locator('.also').count(), 0);
});

test('documents that are nearer than the tickets of an answer are offered', async (t) => {
  const page = await open(t, `${demo}/#ask`, { shift: 0.3 });
  const sent = requests(page);
  await page.getByRole('button', { name: 'Tickets', exact: true }).click();
  await ask(page, 'What was decided about idempotency keys?');
  const also = turn(page, 0).locator('.also');
  await also.getByRole('link', { name: 'Decision 12' }).waitFor();
  await accessible(page);
  await also.getByRole('button', { name: 'Ask the documents' }).click();
  await turn(page, 1).locator('.source a.name', { hasText: 'Decision 12' }).waitFor();
  assert.deepEqual([sent[1].question, sent[1].corpus], ['What was decided about idempotency keys?', 'documents']);
  assert.equal(await turn(page, 1).locator('.also').count(), 0);
  await page.route('**/api/knowledge/search?**', async (route) => {
    const { results } = await (await route.fetch()).json();
    await route.fulfill({ json: { results: results.map((d) => ({ ...d, similarity: 0.3 })) } });
  });
  const searched = page.waitForResponse((r) => r.url().includes('/knowledge/search'));
  await ask(page, QUESTION);
  await turn(page, 2).locator('.answer .cite').first().waitFor();
  assert.ok((await (await searched).json()).results.length > 0);
  assert.equal(await turn(page, 2).locator('.also').count(), 0); // tickets are nearer
});
