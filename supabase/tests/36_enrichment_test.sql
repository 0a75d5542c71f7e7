-- Enrichment: a document is claimed by one batch at a time, and the result is stored only if the
-- text is unchanged. The Go tests show, with two sessions, that concurrent batches claim different
-- documents.

begin;
select plan(46);
set local role service_role;

\ir kit/documents.sql
select results_eq('select total, enriched, unenriched, failed from public.enrichment_stats()', 'values (0::bigint, 0::bigint, 0::bigint, 0::bigint)',
  'the statistics of an empty database are zero');
select is_empty($$ select from public.claim_embedding_jobs(kind => 'enrich') c where c.jobs <> '[]' $$, 'a claim in an empty database returns no documents');

insert into public.documents (id, title, content, archived, keywords, created_at) values
  (pg_temp.doc(1), 'one', 'text of one', false, '{Given}', now() - interval '3 s'),
  (pg_temp.doc(2), 'two', 'text of two', false, '{}', now() - interval '2 s'),
  (pg_temp.doc(3), 'three', 'text of three', true, '{}', now() - interval '9 s');
create temporary table claims (job_id bigint, source_id bigint, hash text, title text, attempt integer, lease_id uuid, place bigint generated always as identity);
create function pg_temp.claim(count integer default 10, attempts integer default 3) returns text -- the claimed documents, each with its attempt
language sql as $$
  with claimed as (
    insert into pg_temp.claims (job_id, source_id, hash, title, attempt, lease_id)
    select (j.job ->> 'job_id')::bigint, t.source_id, t.source_hash, d.title, (j.job ->> 'attempt')::integer, c.lease_id
    from public.claim_embedding_jobs(count, 60, attempts, 'enrich') c cross join jsonb_array_elements(c.jobs) with ordinality j(job, place)
    join public.documents d on d.id = (j.job ->> 'document_id')::uuid cross join lateral tasklens.source_texts(array[(j.job ->> 'source_id')::bigint]) t
    order by j.place
    returning *)
  select coalesce(string_agg(title || ' ' || attempt, ', ' order by place), 'none') from claimed
$$;
create function pg_temp.last(wanted text) returns pg_temp.claims
language sql as 'select c from pg_temp.claims c where title = wanted order by place desc limit 1';
create function pg_temp.fail(wanted text, error text) returns bigint
language sql as 'select public.fail_embedding_jobs(c.lease_id, array[c.job_id], error, 3, 40) from pg_temp.last(wanted) c';
create function pg_temp.release(wanted text) returns bigint
language sql as 'select public.release_embedding_jobs(c.lease_id, array[c.job_id], 7) from pg_temp.last(wanted) c';
create function pg_temp.come_due() returns void
language sql as $$ update tasklens.embedding_jobs set due_at = clock_timestamp() - interval '1 second' where kind = 'enrich' $$;
create function pg_temp.stats() returns text
language sql as $$ select concat_ws(' ', total, enriched, unenriched, failed) from public.enrichment_stats() $$;
create function pg_temp.store(name text, keywords text[] default '{}', entities jsonb default '[]', class text default null) returns boolean
language sql as $$ select public.store_enrichment(c.source_id, c.hash, keywords, entities, class, 'model') from pg_temp.last(name) c $$;
create function pg_temp.finish(name text) returns bigint
language sql as 'select public.finish_embedding_jobs(c.lease_id, array[c.job_id]) from pg_temp.last(name) c';

-- Claiming ----------------------------------------------------------------------------------------

select is(pg_temp.claim(1), 'one 1', 'a claim returns at most the given number of documents, the oldest first');
select is((select r.texts -> 0 ->> 'text' from public.read_sources(array(select source_id from claims)) r), 'text of one', 'a source has the document''s text');
select is(pg_temp.claim(), 'two 1, three 1', 'claimed documents are not claimed again, and archived ones come last');
select is(pg_temp.claim(), 'none', 'a claim returns nothing when all documents are leased');
select is(pg_temp.stats(), '3 0 3 0', 'claimed documents count as unenriched');

-- Storing -----------------------------------------------------------------------------------------

select ok(pg_temp.store('one', '{raft,given,log}', '[{"name": "Raft", "type": "protocol"}]', 'evergreen'), 'an enrichment of an unchanged text is stored');
select row_eq($$ select keywords, named_entities, temporal_class, enrichment_model, enriched_at is not null, enrichment_error from public.get_document(pg_temp.doc(1)) $$,
  row('{Given,raft,log}'::text[], '[{"name": "Raft", "type": "protocol"}]'::jsonb, 'evergreen'::text, 'model'::text, true, null::text),
  'an enrichment stores model and time, with given keywords first');
select is(pg_temp.stats(), '3 1 2 0', 'the statistics count one enriched document');
select is((select title from public.find_documents_by_entity('raft')), 'one', 'an enriched document is found by its entities');
update public.documents set temporal_class = 'dated' where id = pg_temp.doc(2);
select ok(pg_temp.store('two', class => 'historical'), 'an enrichment with a class is stored');
select is((select temporal_class from public.get_document(pg_temp.doc(2))), 'dated', 'a given class takes precedence over the model''s');
select throws_ok($$ select pg_temp.store('three', array(select 'k' || i from generate_series(1, 16) i)) $$, '22023', null, 'more than 15 keywords are rejected');
select throws_ok($$ select pg_temp.store('three', '{}', '[{"type": "x"}]') $$, '23514', null, 'an entity without a name is rejected');
select throws_ok($$ select pg_temp.store('three', '{}', '[]', 'ancient') $$, '23514', null, 'an unknown class is rejected');

-- Text changes during enrichment ------------------------------------------------------------------

update public.documents set content = 'changed' where title in ('one', 'three');
select is(pg_temp.store('three', '{stale}'), false, 'an enrichment of a previous text is not stored');
select is(pg_temp.fail('three', 'x'), 0::bigint, 'a failure with a previous text is not recorded');
select is(pg_temp.release('three'), 0::bigint, 'a lease of a previous text is not released');
select is(pg_temp.stats() || ' ' || (select keywords from public.get_document(pg_temp.doc(1)))::text, '3 1 2 0 {Given,raft,log}',
  'a changed text is unenriched and keeps its keywords');
select is(pg_temp.claim(), 'one 1, three 1', 'changed documents are due at once, with attempt 1');
update public.documents set archived = true where title = 'one';
select ok(pg_temp.store('one', '{paxos}'), 'a change of other fields does not prevent storing');
select is((select keywords from public.get_document(pg_temp.doc(1))), '{Given,paxos}', 'keywords of a previous enrichment are replaced');
update public.documents set archived = false;

-- Failing and releasing ---------------------------------------------------------------------------

create function pg_temp.due_in(low double precision, high double precision) returns boolean
language sql as $$
  select extract(epoch from j.due_at - clock_timestamp()) between low and high from tasklens.embedding_jobs j where j.embedding_job_id = (select c.job_id from pg_temp.last('three') c)
$$;
select is(pg_temp.fail('three', repeat('No. ', 1000)), 1::bigint, 'the holder marks its document as failed');
select is((select left(enrichment_error, 7) || length(enrichment_error) from public.documents where title = 'three'), 'No. No.1000', 'the failure reason is truncated to 1,000 characters');
select is(pg_temp.stats(), '3 2 1 1', 'the statistics count one failed document');
select ok(pg_temp.due_in(29, 51), 'the first retry is due after the base delay');
select is(pg_temp.claim(), 'none', 'a failed document is not claimed before its retry is due');
select from pg_temp.come_due();
select is(pg_temp.claim(), 'three 2', 'a failed document is claimed as attempt 2 when its retry is due');
select pg_temp.fail('three', 'No.');
select ok(pg_temp.due_in(59, 101), 'the second retry is due after twice the base delay');
select from pg_temp.come_due();
select from pg_temp.claim();
select is(pg_temp.release('three'), 1::bigint, 'the holder releases its document');
select ok(pg_temp.due_in(6, 7.1), 'a released document is due at the given time');
select from pg_temp.come_due();
select is(pg_temp.claim(), 'three 3', 'a document released during attempt 3 is claimed as attempt 3 again');
select from pg_temp.come_due();
select is(pg_temp.claim(), 'none', 'a document is not claimed after its last attempt');
select is((select enrichment_error from public.documents where title = 'three'), 'No.', 'its error is that of the last attempt that gave one');
select is((select dead from public.embedding_status('model')), 0::bigint, 'to the state of embedding it does not matter');
select is_empty('select from public.list_dead_embedding_jobs()', 'nor to the dead jobs');
select results_eq('select id, title, attempts, last_error from public.list_unenriched_documents()',
  $$ select id, title, 3, 'No.' from public.documents where title = 'three' $$,
  'list_unenriched_documents returns the documents without enrichment, with their last error');
select results_eq('select title from public.list_unenriched_documents(pg_temp.doc(2))', array['three'], 'the next page of unenriched documents follows the id after');
select is_empty('select from public.list_unenriched_documents(pg_temp.doc(3))', 'no rows follow the last page of unenriched documents');
select is(public.replay_embedding_jobs(), 0::bigint, 'a replay of embeddings leaves enrichments alone');
select is(public.replay_embedding_jobs(kind => 'enrich'), 1::bigint, 'a replay of enrichments resets one failed document');
select is(pg_temp.claim(), 'three 1', 'a document that is retried on request is claimed as attempt 1');
select is(pg_temp.store('three') || ' ' || pg_temp.stats(), 'true 3 3 0 0', 'at the end all three documents are enriched');
select from pg_temp.come_due();
select is(pg_temp.claim(), 'none', 'a document whose worker died after it had stored is not claimed');
select is((select count(*) from tasklens.embedding_jobs where kind = 'enrich'), 0::bigint, 'its job just ends');

select * from finish();
rollback;
