-- Enrichment: a document is claimed by one batch at a time, and the result is stored only if the
-- text is unchanged. The Go tests show, with two sessions, that concurrent batches claim different
-- documents.

begin;
select plan(38);
set local role service_role;

\ir kit/documents.sql
select results_eq('select total, enriched, unenriched, failed from public.enrichment_stats()', 'values (0::bigint, 0::bigint, 0::bigint, 0::bigint)',
  'an empty database has no documents');
select is_empty('select from public.claim_enrichments()', 'and none to enrich');

insert into public.documents (id, title, content, archived, keywords, given_keywords, enrichment_due_at) values
  (pg_temp.doc(1), 'one', 'text of one', false, '{Given}', '{Given}', now() - interval '3 s'),
  (pg_temp.doc(2), 'two', 'text of two', false, '{}', '{}', now() - interval '2 s'),
  (pg_temp.doc(3), 'three', 'text of three', true, '{}', '{}', now() - interval '9 s');
create temporary table claims (id uuid, title text, content text, source_hash text, attempt integer, lease_id uuid, place bigint generated always as identity);
create function pg_temp.claim(count integer default 10, attempts integer default 3) returns text -- the documents taken and the number of the attempt
language sql as $$
  with claimed as (insert into pg_temp.claims select * from public.claim_enrichments(count, 60, attempts) returning *)
  select coalesce(string_agg(title || ' ' || attempt, ', ' order by place), 'none') from claimed
$$;
create function pg_temp.lease(wanted text) returns uuid
language sql as 'select lease_id from pg_temp.claims where title = wanted order by place desc limit 1';
create function pg_temp.hash(wanted text) returns text
language sql as 'select source_hash from pg_temp.claims where title = wanted order by place desc limit 1';
create function pg_temp.come_due() returns void
language sql as $$ update public.documents set enrichment_due_at = clock_timestamp() - interval '1 second' $$;
create function pg_temp.stats() returns text
language sql as $$ select concat_ws(' ', total, enriched, unenriched, failed) from public.enrichment_stats() $$;
create function pg_temp.store(name text, keywords text[] default '{}', entities jsonb default '[]', class text default null) returns boolean
language sql as $$ select public.store_enrichment((select id from public.documents where title = name), pg_temp.hash(name), keywords, entities, class, 'model') $$;

-- Taking ------------------------------------------------------------------------------------------

select is(pg_temp.claim(1), 'one 1', 'as many are taken as are asked for, the longest due first');
select is((select content from claims), 'text of one', 'with the text');
select is(pg_temp.claim(), 'two 1, three 1', 'what is taken is not taken again; archived ones come last');
select is(pg_temp.claim(), 'none', 'until nothing is left');
select is(pg_temp.stats(), '3 0 3 0', 'none of them is enriched yet');

-- Storing -----------------------------------------------------------------------------------------

select ok(pg_temp.store('one', '{raft,given,log}', '[{"name": "Raft", "type": "protocol"}]', 'evergreen'), 'what is said of a text is stored');
select row_eq($$ select keywords, named_entities, temporal_class, enrichment_model, enriched_at is not null, enrichment_error from public.get_document(pg_temp.doc(1)) $$,
  row('{Given,raft,log}'::text[], '[{"name": "Raft", "type": "protocol"}]'::jsonb, 'evergreen'::text, 'model'::text, true, null::text),
  'with the model''s name and the time; given keywords come first');
select is(pg_temp.stats(), '3 1 2 0', 'one is enriched');
select is((select title from public.find_documents_by_entity('raft')), 'one', 'and found by its entities');
update public.documents set given_temporal_class = 'dated', temporal_class = 'dated' where id = pg_temp.doc(2);
select ok(pg_temp.store('two', class => 'historical'), 'another one');
select is((select temporal_class from public.get_document(pg_temp.doc(2))), 'dated', 'whose given class is kept');
select throws_ok($$ select pg_temp.store('three', array(select 'k' || i from generate_series(1, 16) i)) $$, '22023', null, 'sixteen keywords are too many');
select throws_ok($$ select pg_temp.store('three', '{}', '[{"type": "x"}]') $$, '23514', null, 'and an entity without a name is none');
select throws_ok($$ select pg_temp.store('three', '{}', '[]', 'ancient') $$, '23514', null, 'nor is any word a class');

-- A text that changes meanwhile -------------------------------------------------------------------

update public.documents set content = 'changed' where title in ('one', 'three');
select is(pg_temp.store('three', '{stale}'), false, 'what is said of a former text is not stored');
select is(public.fail_enrichment(pg_temp.doc(3), pg_temp.lease('three'), 'x'), false, 'nor does a failure count');
select is(public.release_enrichments(array[pg_temp.lease('three')]), 0::bigint, 'and nothing is given back');
select is(pg_temp.stats() || ' ' || (select keywords from public.get_document(pg_temp.doc(1)))::text, '3 1 2 0 {Given,raft,log}',
  'a changed text is no longer enriched, and keeps its keywords until it is');
select is(pg_temp.claim(), 'one 1, three 1', 'both are taken at once, with all attempts');
update public.documents set archived = true where title = 'one';
select ok(pg_temp.store('one', '{paxos}'), 'a change of anything else doesn''t matter');
select is((select keywords from public.get_document(pg_temp.doc(1))), '{Given,paxos}', 'former keywords of the model go');
update public.documents set archived = false;

-- Failing and giving back -------------------------------------------------------------------------

create function pg_temp.due_in(low double precision, high double precision) returns boolean
language sql as $$
  select extract(epoch from enrichment_due_at - clock_timestamp()) between low and high from public.documents where id = pg_temp.doc(3)
$$;
select ok(public.fail_enrichment(pg_temp.doc(3), pg_temp.lease('three'), repeat('No. ', 1000), 40), 'a failure');
select is((select left(enrichment_error, 7) || length(enrichment_error) from public.documents where title = 'three'), 'No. No.1000', 'is kept with its reason');
select is(pg_temp.stats(), '3 2 1 1', 'and counted');
select ok(pg_temp.due_in(29, 51), 'another attempt follows after a while');
select is(pg_temp.claim(), 'none', 'not before');
select from pg_temp.come_due();
select is(pg_temp.claim(), 'three 2', 'then');
select from public.fail_enrichment(pg_temp.doc(3), pg_temp.lease('three'), '', 40);
select ok(pg_temp.due_in(59, 101), 'the next one after twice as long');
select from pg_temp.come_due();
select from pg_temp.claim();
select is(public.release_enrichments(array[pg_temp.lease('three')], 7), 1::bigint, 'what is given back');
select ok(pg_temp.due_in(6, 7.1), 'is due at the given time');
select from pg_temp.come_due();
select is(pg_temp.claim(), 'three 3', 'and has not been tried');
select from pg_temp.come_due();
select is(pg_temp.claim(), 'none', 'after the last attempt there is no other');
select is((select enrichment_error from public.documents where title = 'three'), 'Its batch stopped before it was done.', 'a batch that vanished is a failure too');
select is(public.retry_enrichments(), 1::bigint, 'unless a retry is requested');
select is(pg_temp.claim(), 'three 1', 'and then it starts from attempt 1');
select is(pg_temp.store('three') || ' ' || pg_temp.stats(), 'true 3 3 0 0', 'in the end all are enriched');

select * from finish();
rollback;
