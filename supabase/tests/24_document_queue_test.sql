-- Documents are embedded through the same queue as tickets.

begin;
select plan(25);
set local role service_role;

\ir kit/documents.sql
create function pg_temp.waiting() returns text
language sql as $$
  select coalesce(string_agg(right(document_id::text, 1), ' ' order by embedding_job_id), 'none')
  from private.embedding_jobs where lease_id is null and dead_at is null
$$;
create temporary table claims (lease_id uuid, jobs jsonb);
create function pg_temp.claim(attempt_limit integer default 10) returns text
language sql as $$
  with claimed as (
    insert into claims select lease_id, jobs from public.claim_embedding_jobs(100, 60, attempt_limit) returning jobs
  )
  select coalesce(string_agg(right(j ->> 'document_id', 1) || '/' || (j ->> 'attempt'), ' ' order by j ->> 'document_id'), 'none')
  from claimed, jsonb_array_elements(jobs) j
$$;
create function pg_temp.store(digit integer) returns boolean
language sql as $$
  select stored from public.store_document_chunks(array[pg_temp.doc(digit)],
    array[(select source_hash from public.read_documents(array[pg_temp.doc(digit)]))],
    '[{"source": 1, "position": 0, "text": "piece", "tokens": 1, "input_hash": "h", "model": "m", "embedding": 1}]',
    array[(array[1::double precision] || array_fill(0::double precision, array[767]))::extensions.vector])
$$;

-- Queueing ----------------------------------------------------------------------------------------

select public.upsert_documents(format('[{"id": "%s", "title": "One"}, {"id": "%s", "title": "Two"}]', pg_temp.doc(1), pg_temp.doc(2))::jsonb);
select is(pg_temp.waiting(), '1 2', 'a new document is asked for');
update public.documents set content = 'new' where id = pg_temp.doc(1);
select is(pg_temp.waiting(), '1 2', 'and a changed one, once');
select is(pg_temp.claim(), '1/1 2/1', 'its job names it');
select is((select (jobs -> 0) - 'job_id' from claims where jobs <> '[]'), jsonb_build_object('project_id', null, 'ticket_id', null, 'comment_id', null, 'document_id', pg_temp.doc(1), 'attempt', 1),
  'and nothing else');
update public.documents set title = 'Uno', archived = true where id = pg_temp.doc(1);
select is(pg_temp.waiting(), '1', 'an edit of what is being embedded is a job of its own');
select is(pg_temp.claim(), 'none', 'that waits for the other one');
update public.documents set keywords = '{k}', utility_score = 1, retrieval_count = 5, archived = false;
select is(pg_temp.waiting(), '1', 'what is not embedded asks for nothing');

-- Ending ------------------------------------------------------------------------------------------

select ok(pg_temp.store(1), 'a document is stored');
select is(pg_temp.waiting(), 'none', 'what waited for it ends');
select is(public.finish_embedding_jobs(lease_id, array(select (j ->> 'job_id')::bigint from jsonb_array_elements(jobs) j where j ->> 'document_id' = pg_temp.doc(1)::text)),
  1::bigint, 'and its job') from claims where jobs <> '[]';
select public.fail_embedding_jobs(lease_id, array(select (j ->> 'job_id')::bigint from jsonb_array_elements(jobs) j), 'no', 2) from claims where jobs <> '[]';
select is((select embedding_status from public.documents where id = pg_temp.doc(2)), 'pending', 'a document may fail');
update private.embedding_jobs set due_at = now() - interval '1 hour';
delete from claims;
select is(pg_temp.claim(), '2/2', 'it is tried again');
select public.fail_embedding_jobs(lease_id, array(select (j ->> 'job_id')::bigint from jsonb_array_elements(jobs) j), 'no', 2) from claims;
select is((select embedding_status from public.documents where id = pg_temp.doc(2)), 'failed', 'until its job is dead, which shows in the document');
select results_eq('select document_id, title, last_error from public.list_dead_embedding_jobs()', $$ values (pg_temp.doc(2), 'Two', 'no') $$, 'with its title');
select is((select dead from public.embedding_status('m')), 1::bigint, 'and counted');
select is(public.replay_embedding_jobs(), 1::bigint, 'it can be replayed');
select is((select embedding_status from public.documents where id = pg_temp.doc(2)), 'pending', 'and is hoped for again');

-- Expired leases ----------------------------------------------------------------------------------

create function pg_temp.come_due() returns void
language sql as $$ update private.embedding_jobs set due_at = clock_timestamp() - interval '1 hour' $$;
select pg_temp.come_due();
select is(pg_temp.claim(2), '2/1', 'what its worker takes with it');
select pg_temp.come_due();
select is(pg_temp.claim(2), '2/2', 'is taken again');
select pg_temp.come_due();
select is(pg_temp.claim(2), 'none', 'so many times and no more');
select is((select embedding_status from public.documents where id = pg_temp.doc(2)) || ' ' || (select embedding_status from public.documents where id = pg_temp.doc(1)),
  'failed complete', 'then it is dead, which shows in this document only');
select public.replay_embedding_jobs();
select is((select embedding_status from public.documents where id = pg_temp.doc(2)), 'pending', 'until it is replayed');

-- Missing and deleted documents -------------------------------------------------------------------

select results_eq($$ select chunks, sources_without_chunks, pending from public.embedding_status('m') $$, $$ values (1::bigint, 1::bigint, 1::bigint) $$,
  'chunks of documents are counted, and those without');
select is(public.enqueue_missing_embeddings('other'), 1::bigint, 'another model asks for those that do not wait');
delete from public.documents;
select is(pg_temp.waiting(), 'none', 'what is deleted waits no longer');

select * from finish();
rollback;
