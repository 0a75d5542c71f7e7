-- Workers end a job as finished, failed or released. Each call passes the job's lease; a job leased
-- to another worker since then is not changed.

-- "Skip locked", here and below: an open transaction that deletes the source, or that tried to use
-- the job during its claim, may lock the job for long. Such a job is claimed once more when its
-- lease expires.
create function public.finish_embedding_jobs(lease_id uuid, job_ids bigint[])
returns bigint
language sql volatile security invoker set search_path = ''
as $$
  with held as materialized (
    select j.embedding_job_id, j.source_id from tasklens.embedding_jobs j
    where j.embedding_job_id = any (finish_embedding_jobs.job_ids) and j.lease_id = finish_embedding_jobs.lease_id
    for update skip locked
  ), ended as (
    delete from tasklens.embedding_jobs j where j.embedding_job_id in (select h.embedding_job_id from held h)
    returning 1
  )
  select count(e.*) from ended e, tasklens.count_chunks(array(select h.source_id from held h))
$$;
comment on function public.finish_embedding_jobs is
  'Ends jobs whose chunks are stored. An edit after they were claimed has its own job. Returns how many it ended.';

create function public.fail_embedding_jobs(
  lease_id uuid,
  job_ids bigint[],
  error text,
  attempt_limit integer default 10,
  retry_seconds double precision default 5
)
returns bigint
language sql volatile security invoker set search_path = ''
as $$
  with held as materialized (
    select j.embedding_job_id, j.source_id, j.kind, j.attempts >= fail_embedding_jobs.attempt_limit as spent
    from tasklens.embedding_jobs j
    where j.embedding_job_id = any (fail_embedding_jobs.job_ids) and j.lease_id = fail_embedding_jobs.lease_id
    for no key update skip locked
  ), edited as materialized (
    select tasklens.mark_documents(array(select h.source_id from held h where h.spent and h.kind = 'embed'), 'pending', 'failed') as sources
  ), read as (
    select d.id from held h join tasklens.sources s using (source_id) join public.documents d on d.id = s.document_id
    where h.kind = 'enrich' for no key update of d skip locked
  ), told as (
    update public.documents d set enrichment_error = coalesce(left(fail_embedding_jobs.error, 1000), d.enrichment_error, 'Its worker stopped before it was done.')
    from read r where d.id = r.id
  ), failed as (
    update tasklens.embedding_jobs j
    set lease_id = null,
      attempts = least(j.attempts, fail_embedding_jobs.attempt_limit),
      last_error = coalesce(left(fail_embedding_jobs.error, 1000), j.last_error, 'Its worker stopped before it was done.'),
      dead_at = case when h.spent and h.source_id <> all (e.sources) then clock_timestamp() end,
      -- Exponential backoff up to 15 minutes, with 25% jitter so that jobs that failed together are
      -- not retried together.
      due_at = clock_timestamp() + make_interval(secs => case when h.spent then 1 else
        least(900, fail_embedding_jobs.retry_seconds * 2 ^ least(20, j.attempts - 1)) * (0.75 + random() / 2) end)
    from held h cross join edited e
    where j.embedding_job_id = h.embedding_job_id
    returning 1
  )
  select count(*) from failed
$$;
comment on function public.fail_embedding_jobs is
  'Records that an attempt at these jobs failed. They are retried after retry_seconds, doubled with each attempt up to 15 minutes, and dead after attempt_limit attempts.';

create function public.release_embedding_jobs(lease_id uuid, job_ids bigint[], delay_seconds double precision default null, reason text default null)
returns bigint
language sql volatile security invoker set search_path = ''
as $$
  with held as materialized (
    select j.embedding_job_id from tasklens.embedding_jobs j
    where j.embedding_job_id = any (release_embedding_jobs.job_ids) and j.lease_id = release_embedding_jobs.lease_id
    for no key update skip locked
  ), released as (
    update tasklens.embedding_jobs j
    set lease_id = null,
      attempts = j.attempts - 1,
      last_error = coalesce(left(release_embedding_jobs.reason, 1000), j.last_error),
      due_at = clock_timestamp() + make_interval(secs => case
        when release_embedding_jobs.delay_seconds is not null then greatest(0, least(3600, release_embedding_jobs.delay_seconds))
        else greatest(0.2, least(30, extract(epoch from clock_timestamp() - j.requested_at) / 2)) end)
    where j.embedding_job_id in (select h.embedding_job_id from held h)
    returning 1
  )
  select count(*) from released
$$;
comment on function public.release_embedding_jobs is
  'Releases jobs that did not fail: the attempt does not count. They are due after delay_seconds; without it after half the time that they have waited, 0.2 to 30 seconds. reason: why they wait, if that is not for their turn.';

create function public.list_dead_embedding_jobs(match_count integer default 100)
returns table (job_id bigint, project_id bigint, ticket_id bigint, ticket_key text, document_id uuid, title text, attempts integer, dead_at timestamptz, last_error text, comment_id bigint)
language sql stable rows 100 security invoker set search_path = ''
as $$
  select j.embedding_job_id, o.project_id, o.ticket_id, t.key, o.document_id, d.title, j.attempts, j.dead_at, j.last_error, o.comment_id
  from tasklens.embedding_jobs j
  left join tasklens.source_owners o using (source_id)
  left join public.tickets t on t.ticket_id = o.ticket_id
  left join public.documents d on d.id = o.document_id
  where j.dead_at is not null and j.kind = 'embed'
  order by j.dead_at desc, j.embedding_job_id desc
  limit tasklens.clamp(list_dead_embedding_jobs.match_count, 100, 1, 1000)
$$;
comment on function public.list_dead_embedding_jobs is 'The dead jobs, latest first, with the error of their last attempt. match_count at most 1000.';

create function public.replay_embedding_jobs(job_ids bigint[] default null, kind text default 'embed')
returns bigint
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  replayed bigint[]; -- sources
begin
  with held as materialized (
    select j.embedding_job_id from tasklens.embedding_jobs j
    where j.kind = replay_embedding_jobs.kind and (j.dead_at is not null or j.kind = 'enrich' and j.last_error is not null and j.lease_id is null) and (replay_embedding_jobs.job_ids is null or j.embedding_job_id = any (replay_embedding_jobs.job_ids))
    for no key update skip locked
  ), changed as (
    update tasklens.embedding_jobs j set dead_at = null, attempts = 0, due_at = clock_timestamp(), background = j.background or j.kind = 'embed'
    from held h
    where j.embedding_job_id = h.embedding_job_id
    returning j.source_id
  )
  select array_agg(c.source_id) into replayed from changed c;
  if replay_embedding_jobs.kind = 'embed' then
    perform tasklens.mark_documents(replayed, 'failed', 'pending');
  end if;
  return coalesce(cardinality(replayed), 0);
end
$$;
comment on function public.replay_embedding_jobs is
  'Queues dead jobs again, all of them or these, after fresh edits; of kind enrich also those that wait after a failure. The job of a source that is being deleted stays dead.';

create function public.list_unenriched_documents(after uuid default null, match_limit integer default 1000)
returns table (id uuid, title text, attempts integer, last_error text)
language sql stable rows 100 security invoker set search_path = ''
as $$
  select d.id, d.title, coalesce(j.attempts, 0), d.enrichment_error
  from public.documents d
  left join (tasklens.sources s join tasklens.embedding_jobs j on j.source_id = s.source_id and j.kind = 'enrich') on s.document_id = d.id
  where d.enriched_at is null and (list_unenriched_documents.after is null or d.id > list_unenriched_documents.after)
  order by d.id
  limit tasklens.clamp(list_unenriched_documents.match_limit, 1000, 1, 1000)
$$;
comment on function public.list_unenriched_documents is
  'The documents that enrichment_stats counts as unenriched, by id: how often their text was tried, and the error of the last attempt. after: the last id of the previous page.';

insert into tasklens.migrations (version) values ('20261127001250');
