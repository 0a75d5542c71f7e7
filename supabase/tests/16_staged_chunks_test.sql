-- Readers see the old chunks of a source that is stored in parts until the last step, then all its
-- new ones.

begin;
select plan(31);

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas');
insert into public.tickets (ticket_id, project_id, status_id, name) values (11, 1, 1, 'Login fails'), (12, 1, 1, 'Export');
insert into public.project_members (project_id, user_id, role) values (1, '00000000-0000-4000-8000-00000000000a', 'viewer');
set local role service_role;

create function pg_temp.hash(ticket bigint) returns text
language sql as $$ select source_hash from public.read_sources('{1}', array[ticket]) $$;
create function pg_temp.chunk(text text, "position" bigint, kept uuid default null) returns jsonb
language sql as $$
  select jsonb_build_object('source', 1, 'chunk_id', kept, 'position', "position", 'text', text, 'kind', 'ticket', 'tokens', 1,
    'input_hash', 'hash of ' || text, 'model', 'm', 'embedding', case when text like '% two' then 2 else 1 end)
$$;
create function pg_temp.stage(ticket bigint, vector extensions.vector, variadic chunks jsonb[]) returns table (staged boolean, embedding_ids uuid[])
language sql as $$ select * from public.stage_chunks(1, ticket, pg_temp.hash(ticket), to_jsonb(chunks), array[vector, pg_temp.unit(0, 0, 1)]) $$;
create function pg_temp.store(ticket bigint, variadic chunks jsonb[]) returns boolean
language sql as $$ select stored from public.store_chunks('{1}', array[ticket], array[pg_temp.hash(ticket)], to_jsonb(chunks), array[pg_temp.unit(1), pg_temp.unit(0, 0, 1)]) $$;
-- The id of the chunk with this text.
create function pg_temp.id(of text) returns uuid
language sql as $$ select c.chunk_id from public.chunks c where c.text = of $$;

select ok(pg_temp.store(11, pg_temp.chunk('old one', 0), pg_temp.chunk('old two', 1000)), 'store_chunks stores two chunks of a source');
update public.tickets set description = 'Much more' where ticket_id = 11;
create temporary table kept as select pg_temp.id('old two') as two;

-- What each kind of reader sees of ticket 11. The new chunks are nearer to the query than the old.
create temporary view seen as
select 'vector' as by, string_agg(c.text, ', ' order by c.text) as texts
  from public.search_by_vector(pg_temp.unit(0.1, 1), 'm', -2) s join public.chunks c using (chunk_id) where s.ticket_id = 11
union all
select 'filtered', string_agg(c.text, ', ' order by c.text)
  from public.search_by_vector(pg_temp.unit(0.1, 1), 'm', -2, 10, 1, 'To Do') s join public.chunks c using (chunk_id) where s.ticket_id = 11
union all
select 'answers', string_agg(r.text, ', ' order by r.text)
  from public.retrieve_chunks(pg_temp.unit(0.1, 1), 'm', -2) r where r.ticket_id = 11
union all
select 'both searches', string_agg(r.text, ', ' order by r.text)
  from public.retrieve_chunks_hybrid('Login', pg_temp.unit(0.1, 1), 'm', -2, source_chunk_limit => 5) r where r.ticket_id = 11
union all
select 'words', (select b.text from private.best_chunk_by_words(1, 11, null) b)
union all
select 'comparison', (select round(similarities[1])::text from public.compare_tickets(array[pg_temp.unit(0.1, 1)], '{AA-1}', 'm'))
union all
select 'similar', (select embedded::text from public.find_similar_tickets(11, 'm'))
union all
select 'status', (select chunks::text from public.embedding_status('m'));
create temporary table before as select * from seen;
select results_eq('table before', $$ values ('vector', 'old one'), ('filtered', 'old one'), ('answers', 'old one, old two'),
  ('both searches', 'old one, old two'), ('words', 'old one'), ('comparison', '0'), ('similar', 'false'), ('status', '2') $$, 'all readers see the stored chunks');

-- Staging -----------------------------------------------------------------------------------------

select ok(bool_and(due_at <= clock_timestamp()), 'an edit makes the embedding job of the ticket due') from private.embedding_jobs where ticket_id = 11;
create temporary table parts as select * from pg_temp.stage(11, pg_temp.unit(0, 1), pg_temp.chunk('new one', 1), pg_temp.chunk('new two', 500));
select results_eq('select staged, embedding_ids from parts', $$ values (true, array[pg_temp.id('new one'), pg_temp.id('new two')]) $$, 'stage_chunks stores a part and returns the ids in order');
select ok(bool_and(due_at > clock_timestamp() + interval '1 minute'), 'staging postpones the job so that no other worker starts it') from private.embedding_jobs where ticket_id = 11;
select ok(staged, 'a second part can be staged') from pg_temp.stage(11, pg_temp.unit(0, 1), pg_temp.chunk('new three', 2000));
select is((select count(distinct generation) from public.chunks where generation is not null), 1::bigint, 'all staged chunks of a source have the same generation');
select results_eq('table seen', 'table before', 'staged chunks do not change what readers see');
set local role authenticated;
select set_config('request.jwt.claims', '{"sub": "00000000-0000-4000-8000-00000000000a", "role": "authenticated"}', true) \g /dev/null
select results_eq('select text from public.chunks order by text', $$ values ('old one'), ('old two') $$, 'a user who reads public.chunks sees only the old chunks');
set local role service_role;
select results_eq(
  $$ select c ->> 'chunk_id', (c ->> 'staged')::boolean, (c ->> 'position')::integer from public.read_sources('{1}', '{11}'), jsonb_array_elements(chunks) c $$,
  $$ select chunk_id::text, text like 'new%', position::integer from public.chunks order by position $$, 'read_sources returns stored and staged chunks, with staged set');

-- Refusals ----------------------------------------------------------------------------------------

select is(staged, false, 'stage_chunks refuses a part if the text has changed')
  from public.stage_chunks(1, 11, 'another hash', to_jsonb(array[pg_temp.chunk('late', 3000)]), array[pg_temp.unit(1)]);
select is(staged, false, 'stage_chunks refuses a ticket of another project')
  from public.stage_chunks(2, 11, pg_temp.hash(11), to_jsonb(array[pg_temp.chunk('late', 3000)]), array[pg_temp.unit(1)]);
select is(staged, false, 'stage_chunks refuses a ticket that does not exist')
  from public.stage_chunks(1, 404, 'any', to_jsonb(array[pg_temp.chunk('late', 3000)]), array[pg_temp.unit(1)]);
select is(staged, false, 'stage_chunks refuses an embedding set that does not exist')
  from public.stage_chunks(1, 11, pg_temp.hash(11), to_jsonb(array[pg_temp.chunk('late', 3000)]), array[pg_temp.unit(1)], 2::smallint);
select results_eq($$ select * from pg_temp.stage(11, pg_temp.unit(1), pg_temp.chunk('late', 2000)) $$, $$ values (false, '{}'::uuid[]) $$,
  'stage_chunks returns false without an error if another session has taken the position');
select is(pg_temp.store(11, pg_temp.chunk('', 0, pg_temp.id('old one')), pg_temp.chunk('', 1, gen_random_uuid())), false,
  'store_chunks returns false if a chunk to keep does not exist');
select is_empty($$ select from public.chunks where text = 'late' $$, 'refused parts are not stored');
select results_eq('table seen', 'table before', 'refused parts do not change what readers see');

-- The last step -----------------------------------------------------------------------------------

select is(staged, true, 'stage_chunks moves a stored chunk to another position') from pg_temp.stage(11, pg_temp.unit(1), pg_temp.chunk('', 3000, (select two from kept)));
select ok(pg_temp.store(11, pg_temp.chunk('', 1, pg_temp.id('new one')), pg_temp.chunk('', 500, pg_temp.id('new two')),
  jsonb_build_object('source', 1, 'chunk_id', (select two from kept), 'position', 3000)), 'store_chunks shows the staged chunks and the stored chunks that it lists');
select results_eq('select by, texts from seen', $$ values ('vector', 'new one'), ('filtered', 'new one'), ('answers', 'new one, new two, old two'),
  ('both searches', 'new one, new two, old two'), ('words', 'new one'), ('comparison', '1'), ('similar', 'false'), ('status', '3') $$, 'after the last step all readers see the new chunks');
select results_eq('select text, kind, position from public.chunks order by position',
  $$ values ('new one', 'ticket', 1::bigint), ('new two', 'ticket', 500), ('old two', 'ticket', 3000) $$, 'chunks get their new positions, and chunks not listed are deleted');
select is(pg_temp.id('old two'), (select two from kept), 'a chunk that is kept keeps its id');
select is_empty('select from private.staged_generations', 'no staged generation remains after the last step');

select ok(staged, 'a source without chunks can be staged') from pg_temp.stage(12, pg_temp.unit(0, 0, 1), pg_temp.chunk('first', 0));
select results_eq($$ select ticket_id from private.missing_sources('m') where ticket_id is not null $$, $$ values (12::bigint) $$, 'a source with only staged chunks counts as missing');
select ok(pg_temp.store(12, pg_temp.chunk('', 0, pg_temp.id('first'))), 'the last step stores a source that had only staged chunks');

-- Sweeping ----------------------------------------------------------------------------------------

select * from pg_temp.stage(11, pg_temp.unit(1), pg_temp.chunk('left', 5000)) \g /dev/null
select is(public.sweep_staged_chunks(), 0::bigint, 'the sweep keeps recently staged chunks');
update private.staged_generations set staged_at = now() - interval '25 hours';
select is(public.sweep_staged_chunks() + public.sweep_staged_chunks(), 1::bigint, 'the sweep deletes chunks staged 25 hours ago');
select is_empty($$ select text from public.chunks where text = 'left' union all select 'hidden' from private.staged_generations $$, 'the sweep leaves neither chunks nor a staged generation');
select * from pg_temp.stage(11, pg_temp.unit(1), pg_temp.chunk('left again', 5000)) \g /dev/null
select pg_temp.store(11, pg_temp.chunk('all', 0)) \g /dev/null
select results_eq($$ select text from public.chunks where ticket_id = 11 union all select 'hidden' from private.staged_generations $$, $$ values ('all') $$,
  'the next store_chunks of a source deletes its leftover staged chunks');

select * from finish();
rollback;
