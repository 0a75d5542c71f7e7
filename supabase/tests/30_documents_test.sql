-- Documents: upserts keep omitted values, and a changed text is queued for embedding and
-- enrichment.

begin;
select plan(33);
set local role service_role;

create function pg_temp.put(document jsonb) returns text
language sql as $$ select created || ' ' || embedding_status from public.upsert_documents(jsonb_build_array(document)) $$;
\ir kit/documents.sql

-- Writing -----------------------------------------------------------------------------------------

select is(pg_temp.put(jsonb_build_object('id', pg_temp.doc(1), 'title', 'Raft', 'content', 'Consensus.', 'created_at', '2024-01-02')),
  'true pending', 'a document is created with the given ID');
select row_eq($$ select title, content, keywords, temporal_class, archived, utility_score, created_at from public.get_document(pg_temp.doc(1)) $$,
  row('Raft'::text, 'Consensus.'::text, '{}'::text[], null::text, false, 0::double precision, '2024-01-02'::timestamptz), 'a new document contains the given values and defaults');
select is(pg_temp.put('{"title": "No id", "content": "x"}'), 'true pending', 'a document without an ID gets a generated one');
select is(pg_temp.put('{"title": "No content"}'), 'true pending', 'content may be absent');
select throws_ok($$ select pg_temp.put('{"title": " "}') $$, '23514', null, 'a blank title is rejected');
select throws_ok($$ select pg_temp.put('{"content": "x"}') $$, '23502', null, 'a missing title is rejected');
select throws_ok($$ select pg_temp.put('{"title": "x", "temporal_class": "old"}') $$, '23514', null, 'an unknown temporal class is rejected');
select throws_ok($$ select pg_temp.put('{"title": "x", "id": "1"}') $$, '22P02', null, 'an ID that is no UUID is rejected');

select from pg_temp.put(jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys', 'keywords', '[" Redis ", "redis", "", "Cache"]'::jsonb, 'temporal_class', 'dated'));
select is((select keywords from public.get_document(pg_temp.doc(2))), '{Redis,Cache}', 'keywords are trimmed and deduplicated, and blank ones are removed');
select results_eq(
  $$ select id, created from public.upsert_documents(jsonb_build_array(
       jsonb_build_object('id', pg_temp.doc(3), 'title', 'first'), jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys'),
       jsonb_build_object('id', pg_temp.doc(3), 'title', 'second'))) $$,
  $$ values (pg_temp.doc(3), true), (pg_temp.doc(2), false), (pg_temp.doc(3), true) $$, 'upsert_documents returns rows in the given order');
select is((select title from public.get_document(pg_temp.doc(3))), 'second', 'if an ID occurs twice, the last document is stored');
select is_empty($$ select from public.upsert_documents('[]') $$, 'an empty upsert returns no rows');

-- Writing again -----------------------------------------------------------------------------------

update public.documents set embedding_status = 'complete', enriched_at = now(), enrichment_error = 'x', utility_score = 5,
  updated_at = '2024-02-02';
create function pg_temp.state(digit integer) returns text
language sql as $$
  select concat_ws(' ', embedding_status, case when enriched_at is null then 'unenriched' else 'enriched' end, enrichment_error,
    case when updated_at > '2024-02-02' then 'touched' else 'untouched' end)
  from public.documents where id = pg_temp.doc(digit)
$$;
select is(pg_temp.put(jsonb_build_object('id', pg_temp.doc(1), 'title', 'Raft', 'content', 'Consensus.')), 'false complete', 'an upsert of an unchanged document keeps its status');
select is(pg_temp.state(1), 'complete enriched x untouched', 'an upsert of an unchanged document changes no field');
select is(pg_temp.put(jsonb_build_object('id', pg_temp.doc(1), 'title', 'Raft', 'content', 'Leaders.', 'created_at', '2025-01-01')), 'false pending',
  'a document with a new text is pending');
select is(pg_temp.state(1), 'pending unenriched touched', 'a new text resets the enrichment and its error');
select row_eq($$ select created_at, utility_score from public.get_document(pg_temp.doc(1)) $$, row('2024-01-02'::timestamptz, 5::double precision),
  'an upsert keeps created_at and utility_score');
select is(pg_temp.put(jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys', 'archived', true)), 'false complete', 'archiving a document keeps its embedding status');
select is(pg_temp.state(2), 'complete enriched x touched', 'archiving a document keeps its enrichment');
select row_eq($$ select keywords, temporal_class, archived from public.get_document(pg_temp.doc(2)) $$, row('{Redis,Cache}'::text[], 'dated'::text, true),
  'an upsert keeps omitted fields');

update public.documents set keywords = '{Redis,Cache,lru}' where id = pg_temp.doc(2);
select from pg_temp.put(jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys', 'keywords', '["Valkey", "LRU"]'::jsonb));
select is((select keywords from public.get_document(pg_temp.doc(2))), '{Valkey,LRU}', 'given keywords replace those given before, and enriched keywords follow');
select from pg_temp.put(jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys', 'keywords', '[]'::jsonb, 'temporal_class', 'current'));
select row_eq($$ select keywords, temporal_class from public.get_document(pg_temp.doc(2)) $$, row('{}'::text[], 'current'::text), 'an empty list removes all keywords');

update public.documents set title = 'By hand' where id = pg_temp.doc(3);
select is(pg_temp.state(3), 'pending unenriched touched', 'a text changed by a plain update is pending and unenriched');
update public.documents set updated_at = '2024-02-02', embedding_status = 'complete' where id = pg_temp.doc(3);
update public.documents set retrieval_count = 9, utility_score = 1, last_retrieved_at = now() where id = pg_temp.doc(3);
select is(pg_temp.state(3), 'complete unenriched untouched', 'a retrieval does not change updated_at or the status');

-- Constraints -------------------------------------------------------------------------------------

select throws_ok($$ update public.documents set named_entities = '{}' $$, '23514', null, 'named_entities must be an array');
select throws_ok($$ update public.documents set named_entities = '["Raft"]' $$, '23514', null, 'named_entities must contain objects');
select throws_ok($$ update public.documents set named_entities = '[{"type": "system"}]' $$, '23514', null, 'an entity must have a name');
select throws_ok($$ update public.documents set named_entities = '[{"name": "Raft", "type": 1}]' $$, '23514', null, 'an entity''s type must be a string');
select throws_ok($$ update public.documents set utility_score = 'NaN' $$, '23514', null, 'a utility_score of NaN is rejected');

-- Deleting ----------------------------------------------------------------------------------------

select ok(public.delete_document(pg_temp.doc(1)), 'a document is deleted');
select ok(not public.delete_document(pg_temp.doc(1)), 'deleting a missing document returns false');
select is_empty($$ select from public.get_document(pg_temp.doc(1)) $$, 'a deleted document is not returned');

insert into public.documents (id, title, content) values ('00000000-0000-4000-8000-0000000000f1', 'Long', repeat('é', 200000)), ('00000000-0000-4000-8000-0000000000f2', 'Too long', repeat('é', 200001));
select results_eq($$ select g.truncated from public.documents d cross join lateral public.get_document(d.id) g where d.title in ('Long', 'Too long') order by d.title $$,
  $$ values (false), (true) $$, 'get_document tells whether the content is too long to be indexed whole');

select * from finish();
rollback;
