-- Documents use the same embedding queue as tickets.

begin;
select plan(25);

\ir kit/jobs.sql
set local role service_role;

\ir kit/documents.sql
create function pg_temp.waiting() returns text
language sql as $$
  select coalesce(string_agg(right(document_id::text, 1), ' ' order by embedding_job_id), 'none')
  from job where lease_id is null and dead_at is null
$$;
create temporary table claims (lease_id uuid, jobs jsonb);
create function pg_temp.claim(attempt_limit integer default 10) returns text
language sql as $$
  with claimed as (
    insert into claims select lease_id, jobs from public.claim_embedding_jobs(100, 60, attempt_limit) returning jobs
  )
  select coalesce(string_agg(right(o.document_id::text, 1) || '/' || (j ->> 'attempt'), ' ' order by o.document_id), 'none')
  from claimed, jsonb_array_elements(jobs) j join tasklens.source_owners o on o.source_id = (j ->> 'source_id')::bigint
$$;
create function pg_temp.store(digit integer) returns boolean
language sql as $$
  select s.stored
  from public.read_sources(array[pg_temp.source(document => pg_temp.doc(digit))]) r
  cross join lateral public.store_chunks(jsonb_build_array(jsonb_build_object('source_id', r.source_id, 'source_hash', r.source_hash, 'truncated', false)),
    jsonb_build_array('{"position": 0, "text": "piece", "tokens": 1, "input_hash": "h", "model": "m", "embedding": 1}' || jsonb_build_object('source_id', r.source_id)),
    array[(array[1::double precision] || array_fill(0::double precision, array[767]))::extensions.vector]) s
$$;

-- Queueing ----------------------------------------------------------------------------------------

select public.upsert_documents(format('[{"id": "%s", "title": "One"}, {"id": "%s", "title": "Two"}]', pg_temp.doc(1), pg_temp.doc(2))::jsonb);
select is(pg_temp.waiting(), '1 2', 'a new document queues a job');
update public.documents set content = 'new' where id = pg_temp.doc(1);
select is(pg_temp.waiting(), '1 2', 'a document that changes several times has one job');
select is(pg_temp.claim(), '1/1 2/1', 'document jobs are claimed with attempt 1');
select is((select (jobs -> 0) - 'job_id' from claims where jobs <> '[]'), jsonb_build_object('source_id', pg_temp.source(document => pg_temp.doc(1)), 'document_id', pg_temp.doc(1), 'attempt', 1),
  'a claimed job contains its source and attempt number');
update public.documents set title = 'Uno', archived = true where id = pg_temp.doc(1);
select is(pg_temp.waiting(), '1', 'an edit of a document with a leased job queues a second job');
select is(pg_temp.claim(), 'none', 'a document''s second job is not claimed while the first is leased');
update public.documents set keywords = '{k}', utility_score = 1, retrieval_count = 5, archived = false;
select is(pg_temp.waiting(), '1', 'changes of fields that are not embedded queue nothing');

-- Ending ------------------------------------------------------------------------------------------

select ok(pg_temp.store(1), 'a document''s chunks are stored');
select is(pg_temp.waiting(), 'none', 'storing a document ends its waiting job');
select is(public.finish_embedding_jobs(lease_id, array(select (j ->> 'job_id')::bigint from jsonb_array_elements(jobs) j where (j ->> 'source_id')::bigint = pg_temp.source(document => pg_temp.doc(1)))),
  1::bigint, 'the holder finishes the stored document''s job') from claims where jobs <> '[]';
select public.fail_embedding_jobs(lease_id, array(select (j ->> 'job_id')::bigint from jsonb_array_elements(jobs) j), 'no', 2) from claims where jobs <> '[]';
select is((select embedding_status from public.documents where id = pg_temp.doc(2)), 'pending', 'a document whose job failed once is pending');
update tasklens.embedding_jobs set due_at = now() - interval '1 hour';
delete from claims;
select is(pg_temp.claim(), '2/2', 'a failed document job is claimed again');
select public.fail_embedding_jobs(lease_id, array(select (j ->> 'job_id')::bigint from jsonb_array_elements(jobs) j), 'no', 2) from claims;
select is((select embedding_status from public.documents where id = pg_temp.doc(2)), 'failed', 'a document whose job is dead has the status failed');
select results_eq('select document_id, title, last_error from public.list_dead_embedding_jobs()', $$ values (pg_temp.doc(2), 'Two', 'no') $$, 'list_dead_embedding_jobs returns a document job with title and error');
select is((select dead from public.embedding_status('m')), 1::bigint, 'embedding_status counts a dead document job');
select is(public.replay_embedding_jobs(), 1::bigint, 'a dead document job is replayed');
select is((select embedding_status from public.documents where id = pg_temp.doc(2)), 'pending', 'a document whose job is replayed is pending');

-- Expired leases ----------------------------------------------------------------------------------

create function pg_temp.come_due() returns void
language sql as $$ update tasklens.embedding_jobs set due_at = clock_timestamp() - interval '1 hour' $$;
select pg_temp.come_due();
select is(pg_temp.claim(2), '2/1', 'a document''s first claim is attempt 1');
select pg_temp.come_due();
select is(pg_temp.claim(2), '2/2', 'a document''s expired lease counts as an attempt');
select pg_temp.come_due();
select is(pg_temp.claim(2), 'none', 'a document''s job is not claimed after its last attempt');
select is((select embedding_status from public.documents where id = pg_temp.doc(2)) || ' ' || (select embedding_status from public.documents where id = pg_temp.doc(1)),
  'failed complete', 'only the document whose leases expired has the status failed');
select public.replay_embedding_jobs();
select is((select embedding_status from public.documents where id = pg_temp.doc(2)), 'pending', 'a document is pending again after its dead job is replayed');

-- Missing and deleted documents -------------------------------------------------------------------

select results_eq($$ select chunks, sources_without_chunks, pending from public.embedding_status('m') $$, $$ values (1::bigint, 1::bigint, 1::bigint) $$,
  'embedding_status counts document chunks and documents without chunks');
select is(public.enqueue_missing_embeddings('other'), 1::bigint, 'enqueue_missing_embeddings queues documents of another model that have no waiting job');
delete from public.documents;
select is(pg_temp.waiting(), 'none', 'deleting a document deletes its jobs');

select * from finish();
rollback;
