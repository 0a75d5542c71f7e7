-- The life cycle of a job: claimed, finished, failed, released, dead, replayed.
-- The Go tests show, with several sessions, that sessions do not block each other.

begin;
select plan(65);

\ir kit/jobs.sql

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'TX', 'Taxes');
insert into public.tickets (ticket_id, key, project_id, status_id, name)
  values (1, 'TX-1', 1, 1, 'One'), (2, 'TX-2', 1, 1, 'Two'), (3, 'TX-3', 1, 1, 'Three');
set local role service_role;
delete from tasklens.embedding_jobs;

create temporary table claims (place bigint generated always as identity, lease_id uuid, jobs jsonb, next_due_seconds double precision);
create function pg_temp.claim(job_limit integer default 100, attempt_limit integer default 3) returns bigint
language sql as $$
  insert into pg_temp.claims (lease_id, jobs, next_due_seconds) select * from public.claim_embedding_jobs(job_limit, 60, attempt_limit)
  returning place
$$;
create function pg_temp.taken() returns bigint[] -- the tickets of the last claim, 0 for a project
language sql as $$
  select coalesce((select array_agg(coalesce(o.ticket_id, 0) order by o.ticket_id nulls first)
    from jsonb_array_elements(c.jobs) j join tasklens.source_owners o on o.source_id = (j ->> 'source_id')::bigint), '{}') from pg_temp.claims c order by place desc limit 1
$$;
create function pg_temp.lease() returns uuid language sql as 'select lease_id from pg_temp.claims order by place desc limit 1';
create function pg_temp.ids() returns bigint[]
language sql as $$
  select array(select (j ->> 'job_id')::bigint from jsonb_array_elements(c.jobs) j) from pg_temp.claims c order by place desc limit 1
$$;
create function pg_temp.state(wanted bigint) returns text
language sql as $$
  select coalesce(string_agg(case when dead_at is not null then 'dead' when lease_id is not null then 'taken' when due_at > clock_timestamp() then 'waiting' else 'due' end
    || ' after ' || attempts, ', ' order by embedding_job_id), 'none')
  from job where ticket_id = wanted
$$;
create function pg_temp.come_due() returns void
language sql as $$ update tasklens.embedding_jobs set due_at = clock_timestamp() - interval '1 second' $$;

-- Claiming ----------------------------------------------------------------------------------------

select from pg_temp.claim();
select is(pg_temp.taken(), '{}', 'a claim on an empty queue returns no jobs');
select is((select next_due_seconds from claims), null, 'a claim on an empty queue returns no next due time');

update public.tickets set description = 'x';
select from pg_temp.claim(2);
select is(pg_temp.taken(), '{1,2}', 'a claim returns at most job_limit jobs, oldest first');
select is((select jobs -> 0 from claims order by place desc limit 1) - 'job_id', jsonb_build_object('source_id', pg_temp.source(1), 'document_id', null, 'attempt', 1), 'a claimed job contains its source and attempt number');
select from pg_temp.claim();
select is(pg_temp.taken(), '{3}', 'a claimed job is not claimed again');
select from pg_temp.claim();
select is(pg_temp.taken(), '{}', 'a claim returns nothing when all jobs are leased');
select ok((select next_due_seconds between 50 and 60 from claims order by place desc limit 1), 'the next due time is the end of the first lease');

-- Done --------------------------------------------------------------------------------------------

select is(public.finish_embedding_jobs(gen_random_uuid(), array(select embedding_job_id from job)), 0::bigint, 'a job is not finished under another lease ID');
select is(public.finish_embedding_jobs((select lease_id from claims where place = 3), array(select embedding_job_id from job)),
  1::bigint, 'the lease holder finishes its job');
select is(pg_temp.state(3), 'none', 'a finished job is deleted');
update public.tickets set description = 'y' where ticket_id = 1;
select is(pg_temp.state(1), 'taken after 1, due after 0', 'an edit of a ticket with a leased job queues a second job');
select from pg_temp.claim();
select is(pg_temp.taken(), '{}', 'the second job of a ticket is not claimed while the first is leased');
select is(public.finish_embedding_jobs((select lease_id from claims where place = 2), array(select embedding_job_id from job)),
  2::bigint, 'the holder finishes its two jobs');
select is(pg_temp.state(1), 'due after 0', 'finishing a ticket''s first job leaves its second one due');
select from pg_temp.claim();
select is(pg_temp.taken(), '{1}', 'the second job is claimed after the first has finished');

-- Leases ------------------------------------------------------------------------------------------

select is(public.extend_embedding_leases(array[pg_temp.lease()], 300), 1::bigint, 'a heartbeat extends one job''s lease');
select ok((select due_at > clock_timestamp() + interval '4 minutes' from job), 'an extended lease ends later');
select pg_temp.come_due();
create temporary table old as select pg_temp.lease() as lease, pg_temp.ids() as ids;
select from pg_temp.claim();
select is(pg_temp.taken(), '{1}', 'a job with an expired lease is claimed by another worker');
select is(pg_temp.state(1), 'taken after 2', 'an expired lease counts as an attempt');
select is(public.finish_embedding_jobs(old.lease, old.ids), 0::bigint, 'the former holder cannot finish a job that was claimed again') from old;
select is(public.fail_embedding_jobs(old.lease, old.ids, 'x'), 0::bigint, 'the former holder cannot fail a job that was claimed again') from old;
select is(public.release_embedding_jobs(old.lease, old.ids), 0::bigint, 'the former holder cannot release a job that was claimed again') from old;
select is(public.extend_embedding_leases(array[old.lease]), 0::bigint, 'the former holder cannot extend the lease of a job that was claimed again') from old;
select pg_temp.come_due();
select from pg_temp.claim();
select pg_temp.come_due();
select from pg_temp.claim();
select is(pg_temp.taken(), '{}', 'a job whose leases keep expiring is not claimed after its last attempt');
select is((select last_error from public.list_dead_embedding_jobs()), 'Its worker stopped before it was done.', 'a job whose leases kept expiring is dead, with the reason as its error');

-- Failing and releasing ---------------------------------------------------------------------------

update public.tickets set description = 'z' where ticket_id = 2;
select from pg_temp.claim();
select is(public.fail_embedding_jobs(pg_temp.lease(), pg_temp.ids(), repeat('No. ', 1000), 3, 40), 1::bigint, 'the holder marks its job as failed');
select is(pg_temp.state(2), 'waiting after 1', 'a failed job waits for its next attempt');
select is((select length(last_error) from job where ticket_id = 2), 1000, 'a long error is truncated to 1,000 characters');
select ok((select due_at between clock_timestamp() + interval '29 s' and clock_timestamp() + interval '51 s' from job where ticket_id = 2), 'the first retry is due after the base delay');
select pg_temp.come_due();
select from pg_temp.claim();
select from public.fail_embedding_jobs(pg_temp.lease(), pg_temp.ids(), 'No.', 3, 40);
select ok((select due_at between clock_timestamp() + interval '59 s' and clock_timestamp() + interval '101 s' from job where ticket_id = 2), 'the second retry is due after twice the base delay');
select pg_temp.come_due();
select from pg_temp.claim();
select from public.release_embedding_jobs(pg_temp.lease(), pg_temp.ids(), 7);
select is(pg_temp.state(2), 'waiting after 2', 'a released job''s attempt is not counted');
select is((select blocked_by from public.embedding_status('m')), null, 'jobs that wait for their turn are not blocked');
select pg_temp.come_due();
select from pg_temp.claim();
select from public.release_embedding_jobs(pg_temp.lease(), pg_temp.ids(), 7, 'model_quota');
select is((select blocked_by from public.embedding_status('m')), 'model_quota', 'embedding_status tells why jobs wait for the model provider');
select ok((select due_at between clock_timestamp() + interval '6 s' and clock_timestamp() + interval '8 s' from job where ticket_id = 2), 'a released job is due at the given time');
select pg_temp.come_due();
select from pg_temp.claim();
select from public.fail_embedding_jobs(pg_temp.lease(), pg_temp.ids(), 'No more.', 3, 40);
select is(pg_temp.state(2), 'dead after 3', 'a job that fails its last attempt is dead');
select is((select blocked_by from public.embedding_status('m')), null, 'a job that failed for itself is not blocked');
select results_eq('select project_id, ticket_id, ticket_key, attempts, last_error from public.list_dead_embedding_jobs(1)',
  $$ values (1::bigint, 2::bigint, 'TX-2', 3, 'No more.') $$, 'list_dead_embedding_jobs returns a dead job with its last error');
select pg_temp.come_due();
select from pg_temp.claim();
select is(pg_temp.taken(), '{}', 'a dead job is not claimed');
select is(public.replay_embedding_jobs(), 2::bigint, 'replay_embedding_jobs replays both dead jobs');
select from pg_temp.claim();
select is(pg_temp.taken(), '{1,2}', 'replayed jobs are claimed');
update tasklens.embedding_jobs set requested_at = clock_timestamp() - interval '10 s' where source_id = pg_temp.source(1);
select from public.release_embedding_jobs(pg_temp.lease(), pg_temp.ids());
select ok((select due_at between clock_timestamp() + interval '4 s' and clock_timestamp() + interval '6 s' from job where ticket_id = 1),
  'a job released without a time is due after half the time that it has waited');
select ok((select due_at < clock_timestamp() + interval '1 s' from job where ticket_id = 2), 'a recently queued job released without a time is due within a second');

-- Two batches of 100 jobs fail, one for the 4th time and one for the 30th.
delete from tasklens.embedding_jobs;
create temporary table many as
  select gen_random_uuid() as lease_id, n as attempts, array(select n * 1000 + i from generate_series(1, 100) i)::bigint[] as ids
  from unnest(array[4, 30]) n;
insert into tasklens.embedding_jobs (embedding_job_id, source_id, background, attempts, lease_id) overriding system value
select i, i, false, m.attempts, m.lease_id from many m, unnest(m.ids) i;
select from many m, public.fail_embedding_jobs(m.lease_id, m.ids, 'x', 100, 10);
create temporary table pauses as
  select j.attempts, extract(epoch from j.due_at - clock_timestamp()) as seconds from job j;
select ok((select min(seconds) > 50 and max(seconds) <= 100 from pauses where attempts = 4), 'the fourth delay is eight times the first');
select ok((select max(seconds) - min(seconds) > 10 from pauses where attempts = 4), 'jobs that fail together get different delays');
select ok((select min(seconds) > 600 and max(seconds) <= 1125 from pauses where attempts = 30), 'delays are capped at about a quarter of an hour');
update tasklens.embedding_jobs set dead_at = now();
select from public.replay_embedding_jobs();
select is((select count(*) from job where background and dead_at is null and attempts = 0), 200::bigint, 'replayed jobs are background jobs');
delete from tasklens.embedding_jobs;
insert into tasklens.embedding_jobs (source_id, background) values (pg_temp.source(1), false), (pg_temp.source(2), false);

-- An edit merges with waiting jobs ----------------------------------------------------------------

update tasklens.embedding_jobs set attempts = 2, due_at = clock_timestamp() + interval '1 hour', requested_at = now() - interval '1 day' where source_id = pg_temp.source(1);
update tasklens.embedding_jobs set lease_id = null, attempts = 3, dead_at = now() where source_id = pg_temp.source(2);
update public.tickets set description = 'zz';
select is(pg_temp.state(1) || '; ' || pg_temp.state(2), 'waiting after 2, due after 0; dead after 3, due after 0', 'an edit queues a new job next to one that waits for a retry or is dead');
select from pg_temp.claim();
select is(pg_temp.state(1) || '; ' || pg_temp.state(2), 'taken after 1; taken after 1', 'a claim merges all jobs of a ticket and resets the attempts');
select is(pg_temp.taken(), '{1,2,3}', 'a claim returns each ticket once');
select is((select requested_at from job where ticket_id = 1), now() - interval '1 day', 'a merged job keeps the earliest request time');
select from public.finish_embedding_jobs(pg_temp.lease(), pg_temp.ids());

insert into tasklens.embedding_jobs (source_id, background) values (pg_temp.source(project => 1), true);
update public.projects set description = 'by hand' where project_id = 1;
select is((select count(*) from job where project_id = 1 and not background), 1::bigint, 'an edit moves a project''s background job to the foreground');
delete from tasklens.embedding_jobs where source_id = pg_temp.source(project => 1);

-- Deleted, moved and renamed sources --------------------------------------------------------------

update public.tickets set description = 'gone' where ticket_id = 3;
update tasklens.embedding_jobs set source_id = 404404 where source_id = pg_temp.source(3);
select from pg_temp.claim();
select is(pg_temp.taken(), '{}', 'a job whose ticket is deleted is not claimed');
select is_empty('select from job', 'a job whose ticket is deleted is deleted by the claim');

reset role;
insert into public.projects (project_id, key, name) values (2, 'RX', 'Roxette');
set local role service_role;
update public.tickets set project_id = 2 where ticket_id = 3;
delete from tasklens.embedding_jobs;
update public.projects set name = 'Money' where project_id = 1;
select is((select count(*) from job), 1::bigint, 'renaming a project queues one job');
select from pg_temp.claim();
select is(pg_temp.taken(), '{0}', 'the job of a renamed project is claimed');
select is((select array_agg(ticket_id order by ticket_id) from job where background and lease_id is null), '{1,2}',
  'claiming a renamed project queues its tickets as background jobs');
update public.tickets set description = 'fresh' where ticket_id = 2;
select from pg_temp.claim(1);
select is(pg_temp.taken(), '{2}', 'an edit is claimed before background jobs');
select from public.finish_embedding_jobs(pg_temp.lease(), pg_temp.ids());
select is(pg_temp.state(2), 'none', 'finishing an edit''s job also finishes the ticket''s background job');

-- Status and backfill -----------------------------------------------------------------------------

delete from tasklens.embedding_jobs;
update public.tickets set description = 'status' where ticket_id in (1, 2);
update tasklens.embedding_jobs set requested_at = clock_timestamp() - interval '1 minute' where source_id = pg_temp.source(1);
select row_eq($$ select pending, running, failed, dead, oldest_pending_seconds between 60 and 1800, chunks, sources_without_chunks from public.embedding_status('m') $$,
  row(2::bigint, 0::bigint, 0::bigint, 0::bigint, true, 0::bigint, 5::bigint), 'embedding_status counts two pending jobs and five sources without chunks');
select from pg_temp.claim(1);
select from public.fail_embedding_jobs(pg_temp.lease(), pg_temp.ids(), 'x');
select from pg_temp.claim(1);
update tasklens.embedding_jobs set requested_at = clock_timestamp() - interval '1 hour' where source_id = pg_temp.source(2); -- it runs, and waits no more
update public.projects set name = 'Finance' where project_id = 1;
insert into tasklens.embedding_jobs (source_id, background, dead_at) values (pg_temp.source(3), false, now());
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, 1, 'ticket', 0, 't', 1, 'h', 'm', ('[1' || repeat(',0', 1535) || ']')::extensions.vector;
select tasklens.count_chunks(array(select source_id from tasklens.sources)) \g /dev/null
select row_eq($$ select pending, running, failed, dead, oldest_pending_seconds between 60 and 1800, chunks, sources_without_chunks from public.embedding_status('m') $$,
  row(1::bigint, 1::bigint, 1::bigint, 1::bigint, true, 1::bigint, 4::bigint), 'embedding_status counts one job in each state');

delete from tasklens.embedding_jobs;
select is((select sources from public.measure_missing_embeddings('m')), 4::bigint, 'measure_missing_embeddings counts the sources without chunks of the model');
select is((select sources from public.measure_missing_embeddings('other', false)), 5::bigint, 'measure_missing_embeddings counts every source for a model without chunks');
select is((select cardinality(sample) from public.measure_missing_embeddings('m', true, 2)), 2, 'measure_missing_embeddings returns a sample of the given size');
select is(public.enqueue_missing_embeddings('m'), 4::bigint, 'enqueue_missing_embeddings queues the sources without chunks of the model');
select is(public.enqueue_missing_embeddings('m', true), 1::bigint, 'with everything, enqueue_missing_embeddings adds only the source that is not queued yet');

select * from finish();
rollback;
