// Texts that would run as HTML, in every field that users and models fill.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { demo, finish, open, post, service, sql, until } from './kit.mjs';
import { startModel } from './model.mjs';

const evil = (where) => `zxqv ${where} "><img src=x onerror=alert(1)><script>alert(2)</script><mark onclick=alert(3)>m</mark> &lt;b&gt; javascript:alert(4) [l](javascript:alert(5)) {{7*7}} \${7*7}`;
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
const DOCUMENT = 'c0ffee00-0000-4000-8000-0000000000d0';

before(async () => {
  sql(`with p as (insert into projects (key, name, description) values ('XSS', ${quoted(evil('project'))}, ${quoted(evil('about'))}) returning project_id),
    s as (insert into status (name) values (${quoted(evil('status').slice(0, 100))}) returning status_id)
    insert into tickets (project_id, status_id, name, description) select project_id, status_id, ${quoted(evil('name'))}, ${quoted(evil('description'))} from p, s;
    insert into comments (ticket_id, author, body) select ticket_id, ${quoted(evil('author'))}, ${quoted(evil('comment'))} from tickets t join projects p using (project_id) where p.key = 'XSS'`);
  const written = await post(demo, '/api/knowledge/documents', { id: DOCUMENT, title: evil('title'), content: `# ${evil('content')}\n\`${evil('code')}\``, keywords: [evil('keyword').slice(0, 100)] });
  assert.ok(written.status < 300, JSON.stringify(written));
  sql(`update documents set named_entities = ${quoted(JSON.stringify([{ name: evil('entity').slice(0, 190), type: evil('kind') }]))} where id = '${DOCUMENT}'`);
  await until('all is embedded', async () => {
    const { pending, running, failed } = await (await fetch(`${demo}/api/embeddings/status`)).json();
    return pending + running + failed === 0;
  });
});
after(async () => {
  await fetch(`${demo}/api/knowledge/documents/${DOCUMENT}`, { method: 'DELETE' });
  sql("delete from projects where key = 'XSS'; delete from status where name like 'zxqv%'");
  await finish();
});

/** Nothing of it has become an element. */
async function inert(page) {
  assert.equal(await page.locator('main img, main script, [onclick], [onerror]').count(), 0);
  assert.equal(await page.locator('a[href^="javascript:"]').count(), 0);
}

test('tickets: lists, facets, chips, details, drafts', async (t) => {
  const page = await open(t, `${demo}/#search?q=${encodeURIComponent(evil('query'))}`);
  await page.locator('a.result', { hasText: 'zxqv name' }).first().click();
  await page.locator('.details', { hasText: 'zxqv description' }).waitFor();
  await page.locator('.details .why summary').click();
  await page.locator('.details .fusion').first().waitFor();
  await page.locator('.whole', { hasText: 'zxqv author' }).waitFor();
  await page.locator('.whole', { hasText: 'zxqv comment' }).waitFor();
  await inert(page);
  await page.locator('.facet button', { hasText: 'zxqv status' }).click();
  await page.locator('.chip.on', { hasText: 'zxqv status' }).waitFor();
  await page.locator('#query').selectText();
  await page.keyboard.type('zxqv project:'); // with keys, as what moves below them is no layout shift
  await page.locator('.chip', { hasText: 'zxqv project' }).click();
  await page.locator('.chip.on', { hasText: 'zxqv project' }).waitFor();
  await inert(page);
  await page.goto(`${demo}/#draft`);
  await page.fill('#title', evil('name'));
  await page.locator('.similar li', { hasText: 'zxqv name' }).waitFor();
  await inert(page);
});

test('documents: results, the document, names', async (t) => {
  const page = await open(t, `${demo}/#documents?q=${encodeURIComponent('zxqv title content onerror alert script')}`);
  await page.locator('a.result', { hasText: 'zxqv title' }).click();
  await page.locator('.document', { hasText: 'zxqv content' }).waitFor();
  await inert(page);
  await page.locator('.document a.chip', { hasText: 'zxqv entity' }).click();
  await page.locator('h1', { hasText: 'zxqv entity' }).waitFor();
  await inert(page);
});

test('answers: what a model writes is text', async (t) => {
  const model = await startModel();
  model.says = `${evil('answer')} **[1]** ![p](https://evil.example/p.png) [link](javascript:alert(5)) [99] \`<img src=x onerror=alert(6)>\``;
  const url = await service({ OPENAI_BASE_URL: model.url, CACHE: 'off' });
  const page = await open(t, `${url}/#ask?q=${encodeURIComponent('zxqv name description onerror alert script')}`);
  await page.locator('.answer', { hasText: 'zxqv answer' }).waitFor();
  await page.locator('.answer .cite').first().click();
  await inert(page);
});

test('figures: what stands in fields and questions is text', async (t) => {
  const found = { ticket_id: 1, ticket_key: evil('key'), ticket_name: evil('ticket [1]'), status: evil('status'), project_id: 1, project_name: evil('project'), assignee: evil('assignee'), reporter: null, type: null, priority: null, labels: [], due_date: null, created_at: '2025-01-01T00:00:00Z', updated_at: '2025-01-01T00:00:00Z', resolved_at: null, text: evil('text') };
  const read = { intent: 'count', text: evil('word'), filters: { assignee: [evil('value')], not: { labels: [evil('label')] } }, group_by: evil('field') };
  const figures = { answer: evil('sentence'), low_similarity: false, best_similarity: null, match_threshold: 0.2, cached: false, model: '', question: evil('understood'), read_as: read };
  const answers = [
    { ...figures, sources: [{ type: 'ticket', similarity: null, chunk_id: null, cited: true, ...found }], count: 10_000, count_capped: true, groups: [{ label: evil('group'), count: 1 }], tickets: [found] },
    { ...figures, sources: [], candidates: [{ member: 'assignee', value: evil('name'), names: [evil('candidate')] }] },
  ];
  const page = await open(t, `${demo}/#ask`);
  await page.route('**/api/query', (route) => route.fulfill({ contentType: 'text/event-stream', body: `event: done\ndata: ${JSON.stringify(answers.shift())}\n\n` }));
  await page.fill('#question', evil('question'));
  await page.keyboard.press('Enter');
  for (const text of ['question', 'understood', 'sentence', 'word', 'value', 'label', 'field', 'group', 'key', 'ticket', 'status', 'assignee']) await page.locator('.turn', { hasText: `zxqv ${text}` }).waitFor();
  await page.getByRole('link', { name: 'More than 10,000 tickets in Search' }).waitFor();
  assert.equal(await page.locator('.cite').count(), 1, 'a name cites nothing');
  await inert(page);
  await page.fill('#question', 'Which?');
  await page.keyboard.press('Enter');
  await page.locator('.candidates button', { hasText: 'zxqv candidate' }).waitFor();
  await inert(page);
});
