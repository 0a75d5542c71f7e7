// supabase-js without the service: over a real PostgREST or the stand-in, whichever the demo runs,
// under row-level security. The types are those of supabase/database.types.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '@supabase/supabase-js';
import ws from 'ws';
import type { Database } from '../../supabase/database.types.js';

const { REST_ADDRESS = '', ANON_KEY = '', MEMBER_TOKEN = '', STRANGER_TOKEN = '', ADMIN_TOKEN = '', MEMBER_ID = '' } = process.env;
// Node 20 has no WebSocket of its own.
const realtime = { transport: ws as never };
const as = (token?: string) => createClient<Database>(REST_ADDRESS, ANON_KEY, { realtime, ...(token ? { accessToken: async () => token } : {}) });

test('a keyword search by a member returns only their project', async () => {
  const { data, error } = await as(MEMBER_TOKEN).rpc('search_by_keyword', { query_text: 'charged twice', match_count: 20 });
  assert.equal(error, null);
  assert.ok(data && data.length > 0);
  assert.deepEqual(new Set(data.map((row) => row.project_id)), new Set([Number(process.env.MEMBER_PROJECT)]));
  assert.deepEqual(data.map((row) => row.rank), data.map((_, n) => n + 1));
});

test('a member lists their projects and statuses', async () => {
  const { data } = await as(MEMBER_TOKEN).rpc('list_projects');
  assert.deepEqual(data?.map((project) => project.key), ['TX']);
  const statuses = (await as(MEMBER_TOKEN).rpc('list_statuses')).data ?? [];
  assert.ok(statuses.length > 2);
  const next = await as(MEMBER_TOKEN).rpc('list_statuses', { after: statuses[0]?.status_id ?? 0, match_count: 1 });
  assert.deepEqual(next.data, [statuses[1]]);
});

test('documents are found by an entity', async () => {
  const { data, error } = await as(MEMBER_TOKEN).rpc('find_documents_by_entity', { entity_name: 'wiktor', match_limit: 5 });
  assert.equal(error, null);
  assert.ok(data && data.length > 0 && data.length <= 5);
  for (const row of data) assert.match(row.matched_entity, /wiktor/i);
});

test('a user without a project finds nothing', async () => {
  const found = await as(STRANGER_TOKEN).rpc('search_by_keyword', { query_text: 'charged twice' });
  assert.deepEqual([found.error, found.data], [null, []]);
  assert.deepEqual((await as(STRANGER_TOKEN).rpc('list_projects')).data, []);
});

test('the publishable key without a user token reads nothing', async () => {
  for (const { data, error } of [
    await as().rpc('search_by_keyword', { query_text: 'charged twice' }),
    await as().rpc('list_projects'),
    await as().rpc('find_documents_by_entity', { entity_name: 'wiktor' }),
  ]) assert.deepEqual([data, error?.code], [null, '42501']);
});

test('an unknown argument is a PostgREST error', async () => {
  const { error } = await as(MEMBER_TOKEN).rpc('search_by_keyword', { query_texts: 'x' } as never);
  assert.equal(error?.code, 'PGRST202');
});

test('tables are subject to row-level security, or rejected with a hint', async () => {
  const { data, error } = await as(MEMBER_TOKEN).from('tickets').select('key, name').eq('key', 'TX-400');
  if (process.env.STAND_IN) {
    assert.deepEqual([error?.code, data], ['NO_TABLES', null]);
    assert.match(error?.hint ?? '', /No migration is missing/);
    return;
  }
  assert.deepEqual([error, data?.map((ticket) => ticket.key)], [null, ['TX-400']]);
  assert.deepEqual((await as(STRANGER_TOKEN).from('tickets').select('key')).data, []);
});

test('an admin upserts the role of a member in their own project', { skip: process.env.STAND_IN ? 'the stand-in serves no tables' : false }, async () => {
  const project_id = Number(process.env.MEMBER_PROJECT);
  const members = as(ADMIN_TOKEN).from('project_members');
  for (const role of ['member', 'viewer'] as const) {
    const { data, error } = await members.upsert({ project_id, user_id: MEMBER_ID, role }).select('role');
    assert.deepEqual([error, data], [null, [{ role }]]);
  }
  const elsewhere = await members.upsert({ project_id: project_id + 1, user_id: MEMBER_ID, role: 'admin' });
  assert.equal(elsewhere.error?.code, '42501');
});
