-- Documents: upserts keep omitted values, and a changed text is queued for embedding and
-- enrichment.

begin;
select plan(32);
set local role service_role;

create function pg_temp.put(document jsonb) returns text
language sql as $$ select created || ' ' || embedding_status from public.upsert_documents(jsonb_build_array(document)) $$;
\ir kit/documents.sql

-- Writing -----------------------------------------------------------------------------------------

select is(pg_temp.put(jsonb_build_object('id', pg_temp.doc(1), 'title', 'Raft', 'content', 'Consensus.', 'created_at', '2024-01-02')),
  'true pending', 'a document is created under its id');
select row_eq($$ select title, content, keywords, temporal_class, archived, utility_score, created_at from public.get_document(pg_temp.doc(1)) $$,
  row('Raft'::text, 'Consensus.'::text, '{}'::text[], null::text, false, 0::double precision, '2024-01-02'::timestamptz), 'with what was given');
select is(pg_temp.put('{"title": "No id", "content": "x"}'), 'true pending', 'or under one of its own');
select is(pg_temp.put('{"title": "No content"}'), 'true pending', 'content may be absent');
select throws_ok($$ select pg_temp.put('{"title": " "}') $$, '23514', null, 'a blank title is refused');
select throws_ok($$ select pg_temp.put('{"content": "x"}') $$, '23502', null, 'and so is none');
select throws_ok($$ select pg_temp.put('{"title": "x", "temporal_class": "old"}') $$, '23514', null, 'and a class that there is not');
select throws_ok($$ select pg_temp.put('{"title": "x", "id": "1"}') $$, '22P02', null, 'and an id that is none');

select from pg_temp.put(jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys', 'keywords', '[" Redis ", "redis", "", "Cache"]'::jsonb, 'temporal_class', 'dated'));
select is((select keywords from public.get_document(pg_temp.doc(2))), '{Redis,Cache}', 'keywords are trimmed, each once, none blank');
select results_eq(
  $$ select id, created from public.upsert_documents(jsonb_build_array(
       jsonb_build_object('id', pg_temp.doc(3), 'title', 'first'), jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys'),
       jsonb_build_object('id', pg_temp.doc(3), 'title', 'second'))) $$,
  $$ values (pg_temp.doc(3), true), (pg_temp.doc(2), false), (pg_temp.doc(3), true) $$, 'rows come in the order given');
select is((select title from public.get_document(pg_temp.doc(3))), 'second', 'of two with one id the last counts');
select is_empty($$ select from public.upsert_documents('[]') $$, 'nothing given, nothing written');

-- Writing again -----------------------------------------------------------------------------------

update public.documents set embedding_status = 'complete', enriched_at = now(), enrichment_attempts = 3, enrichment_error = 'x', utility_score = 5,
  updated_at = '2024-02-02';
create function pg_temp.state(digit integer) returns text
language sql as $$
  select concat_ws(' ', embedding_status, case when enriched_at is null then 'unenriched' else 'enriched' end, enrichment_attempts, enrichment_error,
    case when updated_at > '2024-02-02' then 'touched' else 'untouched' end)
  from public.documents where id = pg_temp.doc(digit)
$$;
select is(pg_temp.put(jsonb_build_object('id', pg_temp.doc(1), 'title', 'Raft', 'content', 'Consensus.')), 'false complete', 'the same again');
select is(pg_temp.state(1), 'complete enriched 3 x untouched', 'changes nothing');
select is(pg_temp.put(jsonb_build_object('id', pg_temp.doc(1), 'title', 'Raft', 'content', 'Leaders.', 'created_at', '2025-01-01')), 'false pending',
  'a new text waits to be embedded');
select is(pg_temp.state(1), 'pending unenriched 0 touched', 'and to be enriched, whatever was tried before');
select row_eq($$ select created_at, utility_score from public.get_document(pg_temp.doc(1)) $$, row('2024-01-02'::timestamptz, 5::double precision),
  'its age and its use stay');
select is(pg_temp.put(jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys', 'archived', true)), 'false complete', 'what is archived');
select is(pg_temp.state(2), 'complete enriched 3 x touched', 'has its old text');
select row_eq($$ select keywords, temporal_class, archived from public.get_document(pg_temp.doc(2)) $$, row('{Redis,Cache}'::text[], 'dated'::text, true),
  'what is not given stays');

update public.documents set keywords = '{Redis,Cache,lru}' where id = pg_temp.doc(2);
select from pg_temp.put(jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys', 'keywords', '["Valkey", "LRU"]'::jsonb));
select is((select keywords from public.get_document(pg_temp.doc(2))), '{Valkey,LRU}', 'new keywords take the place of those given before, found ones follow');
select from pg_temp.put(jsonb_build_object('id', pg_temp.doc(2), 'title', 'Keys', 'keywords', '[]'::jsonb, 'temporal_class', 'current'));
select row_eq($$ select keywords, temporal_class from public.get_document(pg_temp.doc(2)) $$, row('{}'::text[], 'current'::text), 'an empty list takes them away');

update public.documents set title = 'By hand' where id = pg_temp.doc(3);
select is(pg_temp.state(3), 'pending unenriched 0 touched', 'a text changed by any writer is queued');
update public.documents set updated_at = '2024-02-02', embedding_status = 'complete' where id = pg_temp.doc(3);
update public.documents set retrieval_count = 9, utility_score = 1, last_retrieved_at = now() where id = pg_temp.doc(3);
select is(pg_temp.state(3), 'complete unenriched 0 untouched', 'a retrieval changes no document');

-- What a row may hold -----------------------------------------------------------------------------

select throws_ok($$ update public.documents set named_entities = '{}' $$, '23514', null, 'entities are a list');
select throws_ok($$ update public.documents set named_entities = '["Raft"]' $$, '23514', null, 'of objects');
select throws_ok($$ update public.documents set named_entities = '[{"type": "system"}]' $$, '23514', null, 'with a name');
select throws_ok($$ update public.documents set named_entities = '[{"name": "Raft", "type": 1}]' $$, '23514', null, 'and a type in words');
select throws_ok($$ update public.documents set utility_score = 'NaN' $$, '23514', null, 'a score is a number');

-- Deleting ----------------------------------------------------------------------------------------

select ok(public.delete_document(pg_temp.doc(1)), 'a document is deleted');
select ok(not public.delete_document(pg_temp.doc(1)), 'once');
select is_empty($$ select from public.get_document(pg_temp.doc(1)) $$, 'and gone');

select * from finish();
rollback;
