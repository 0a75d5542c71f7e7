-- Claims jobs. They are leased, not locked: no transaction stays open while the model computes, and
-- editors of tickets never wait.

create function public.claim_embedding_jobs(
  job_limit integer default 100,
  lease_seconds double precision default 60,
  attempt_limit integer default 10
)
returns table (lease_id uuid, jobs jsonb, next_due_seconds double precision)
-- A plan cached while the queue was empty would compare every job with every other.
language plpgsql volatile rows 1 security invoker set search_path = '' set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  wanted constant integer := private.clamp(job_limit, 100, 1, 1000);
  moment constant timestamptz := clock_timestamp();
  lease constant uuid := gen_random_uuid();
  behind boolean;
  taken bigint[] := array[]::bigint[];
  renamed bigint[]; -- projects
  headed bigint[]; -- tickets
  discussed bigint[];
begin
  foreach behind in array array[false, true] loop
    taken := taken || array(
      select j.embedding_job_id from private.embedding_jobs j
      where j.background = behind and j.dead_at is null and j.due_at <= moment
        -- Skips sources with a running job: two workers would do the same.
        and not exists (
          select 1 from private.embedding_jobs r where r.source_id = j.source_id and r.lease_id is not null and r.due_at > moment)
      order by j.due_at, j.embedding_job_id
      limit wanted - cardinality(taken)
      for update of j skip locked);
    exit when cardinality(taken) >= wanted;
  end loop;

  if cardinality(taken) > 0 then
    -- Claims all other jobs of the same sources, too, even if not due.
    taken := taken || array(
      select s.embedding_job_id
      from private.embedding_jobs s
      join private.embedding_jobs j on s.source_id = j.source_id
      where j.embedding_job_id = any (taken) and s.embedding_job_id <> all (taken) and (s.lease_id is null or s.due_at <= moment)
      for update of s skip locked);

    with source as materialized (
      -- The latest job is kept: attempts made before its text was written do not count.
      select j.*, s.source_id is not null as is_there, coalesce(s.project_id, t.project_id) as project_id, t.ticket_id, s.comment_id, s.document_id
      from (
        select j.source_id as job_source_id, max(j.embedding_job_id) as embedding_job_id, min(j.requested_at) as requested_at,
          bool_or(j.with_children) as with_children
        from private.embedding_jobs j
        where j.embedding_job_id = any (taken)
        group by j.source_id
      ) j
      left join private.sources s on s.source_id = j.job_source_id
      left join public.comments c on c.comment_id = s.comment_id
      left join public.tickets t on t.ticket_id = coalesce(s.ticket_id, c.ticket_id)
    ), spent as materialized (
      -- A job can only get here with all attempts used if its workers died, or if an edit held its
      -- document.
      select s.embedding_job_id, s.document_id from source s join private.embedding_jobs j using (embedding_job_id)
      where s.is_there and j.attempts >= attempt_limit
    ), given_up as materialized (
      select d.id from public.documents d
      where d.id in (select p.document_id from spent p) and d.embedding_status = 'pending'
      for no key update skip locked
    ), dead as materialized (
      select p.embedding_job_id from spent p
      where p.document_id in (select g.id from given_up g)
        or not exists (select from public.documents d where d.id = p.document_id and d.embedding_status = 'pending')
    ), ended as (
      delete from private.embedding_jobs j
      where j.embedding_job_id = any (taken)
        and j.embedding_job_id not in (select s.embedding_job_id from source s where s.is_there)
    ), claimed as (
      update private.embedding_jobs j
      set requested_at = s.requested_at,
        with_children = j.attempts >= attempt_limit and s.with_children,
        lease_id = case when j.attempts < attempt_limit then lease end,
        dead_at = case when j.embedding_job_id in (select d.embedding_job_id from dead d) then moment end,
        last_error = case when j.attempts >= attempt_limit then coalesce(j.last_error, 'Its worker stopped before it was done.') else j.last_error end,
        attempts = j.attempts + (j.attempts < attempt_limit)::integer,
        due_at = moment + make_interval(secs => case when j.attempts < attempt_limit then greatest(0.1, least(3600, lease_seconds)) else 1 end)
      from source s
      where j.embedding_job_id = s.embedding_job_id and s.is_there
      returning j.embedding_job_id, s.ticket_id, s.comment_id, s.project_id, s.document_id, j.attempts, j.lease_id, s.with_children
    ), told as (
      update public.documents d set embedding_status = 'failed' from given_up g where d.id = g.id
    ), hoped_for as materialized (
      -- An edit held the document when its job was replayed.
      select d.id from public.documents d
      where d.id in (select c.document_id from claimed c where c.lease_id is not null) and d.embedding_status = 'failed'
      for no key update skip locked
    ), told_again as (
      update public.documents d set embedding_status = 'pending' from hoped_for f where d.id = f.id
    )
    select jsonb_agg(jsonb_build_object(
        'job_id', c.embedding_job_id, 'project_id', c.project_id, 'ticket_id', c.ticket_id, 'comment_id', c.comment_id, 'document_id', c.document_id,
        'attempt', c.attempts
      ) order by c.embedding_job_id), array_agg(c.project_id) filter (where c.with_children and c.ticket_id is null),
        array_agg(c.ticket_id) filter (where c.with_children and c.ticket_id is not null)
      into jobs, renamed, headed
      from claimed c
      where c.lease_id is not null;
    if renamed is not null then
      perform private.enqueue_sources(array(
        select s.source_id from public.tickets t join private.sources s using (ticket_id)
        where t.project_id = any (renamed) and exists (select from public.comments c where c.ticket_id = t.ticket_id)), true, true);
      perform private.enqueue_sources(array(
        select s.source_id from public.tickets t join private.sources s using (ticket_id)
        where t.project_id = any (renamed) and not exists (select from public.comments c where c.ticket_id = t.ticket_id)), false, true);
    end if;
    if headed is not null then
      -- The comments of at least one ticket, then of others while there are few; the rest get a job
      -- of their own.
      select array_agg(h.ticket_id) filter (where h.before < 1000), array_agg(h.ticket_id) filter (where h.before >= 1000)
        into discussed, headed
        from (
          select u.ticket_id, coalesce(sum(n.comments) over (order by u.place rows between unbounded preceding and 1 preceding), 0) as before
          from unnest(headed) with ordinality as u(ticket_id, place)
          cross join lateral (select count(*) as comments from public.comments c where c.ticket_id = u.ticket_id) n
        ) h;
      perform private.enqueue_sources(array(select s.source_id from private.sources s where s.ticket_id = any (headed)), true, true);
      perform private.enqueue_sources(array(
        select s.source_id from public.comments c join private.sources s using (comment_id)
        where c.ticket_id = any (discussed) and c.body ~ '\S'), false, true);
    end if;
  end if;

  lease_id := lease;
  jobs := coalesce(jobs, '[]');
  next_due_seconds := (
    select extract(epoch from min(d.due_at) - moment)
    from (values (false), (true)) as b(background)
    cross join lateral (
      select j.due_at from private.embedding_jobs j
      where j.background = b.background and j.dead_at is null and j.due_at > moment
      order by j.due_at limit 1
    ) d);
  return next;
end
$$;
comment on function public.claim_embedding_jobs is
  'Claims up to job_limit (at most 1000) due jobs, each source once, for lease_seconds; after that, any worker can claim them. jobs is [{job_id, project_id, ticket_id, comment_id, document_id, attempt}]: comment_id is null except for a comment, ticket_id also for a project''s own text, and all three ids for a document; attempt is 1 the first time. Fresh edits come first. next_due_seconds: seconds until another job is due, null if there is none.';

create function public.extend_embedding_leases(lease_ids uuid[], lease_seconds double precision default 60)
returns bigint
language sql volatile security invoker set search_path = ''
as $$
  with held as materialized (
    select j.embedding_job_id from private.embedding_jobs j
    where j.lease_id = any (extend_embedding_leases.lease_ids)
    for no key update skip locked
  ), extended as (
    update private.embedding_jobs j
    set due_at = clock_timestamp() + make_interval(secs => greatest(0.1, least(3600, extend_embedding_leases.lease_seconds)))
    where j.embedding_job_id in (select h.embedding_job_id from held h)
    returning 1
  )
  select count(*) from extended
$$;
comment on function public.extend_embedding_leases is
  'The heartbeat of a worker: extends its leases to lease_seconds from now. Returns how many jobs it still holds.';

insert into private.migrations (version) values ('20260101002020');
