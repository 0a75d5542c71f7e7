-- Claims jobs. They are leased, not locked: no transaction stays open while the model computes, and
-- editors of tickets never wait.

-- A document and its job die and are replayed together: its status is never pending while nobody
-- will try it. Never waits: an edit may hold the document.
create function tasklens.mark_documents(source_ids bigint[], former text, next text) returns bigint[]
language sql volatile security invoker set search_path = ''
as $$
  with held as materialized (
    select d.id, s.source_id from tasklens.sources s join public.documents d on d.id = s.document_id
    where s.source_id = any (mark_documents.source_ids) and d.embedding_status = mark_documents.former
    for no key update of d skip locked
  ), marked as (
    update public.documents d set embedding_status = mark_documents.next from held h where d.id = h.id
  )
  select array(
    select s.source_id from tasklens.sources s join public.documents d on d.id = s.document_id
    where s.source_id = any (mark_documents.source_ids) and d.embedding_status = mark_documents.former
    except select h.source_id from held h)
$$;
comment on function tasklens.mark_documents is 'Changes the embedding status of these documents from one to another. Returns the sources of those that an open transaction holds.';

create function public.claim_embedding_jobs(
  job_limit integer default 100,
  lease_seconds double precision default 60,
  attempt_limit integer default 10,
  kind text default 'embed'
)
returns table (lease_id uuid, jobs jsonb, next_due_seconds double precision)
-- A plan cached while the queue was empty would compare every job with every other.
language plpgsql volatile rows 1 security invoker set search_path = '' set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  moment timestamptz;
  lease constant uuid := gen_random_uuid();
  taken bigint[]; -- jobs
  parents bigint[]; -- sources whose children follow
  copied bigint; -- changes of attached tables, and texts of another language
begin
  if claim_embedding_jobs.kind = 'enrich' then
    insert into tasklens.embedding_jobs (source_id, kind, background)
    select s.source_id, 'enrich', d.archived
    from tasklens.sources s join public.documents d on d.id = s.document_id
    where s.source_id = any (tasklens.ensure_sources(document_ids => array(
      select u.id from public.documents u
      where u.enriched_at is null and not exists (
        select from tasklens.sources o join tasklens.embedding_jobs j using (source_id) where o.document_id = u.id and j.kind = 'enrich')
      order by u.archived, u.created_at, u.id
      limit tasklens.clamp(job_limit, 100, 1, 1000)
      for no key update of u skip locked)))
    order by d.archived, d.created_at, d.id
    on conflict do nothing;
  else
    begin
      copied := public.copy_changes(200) + tasklens.index_former_languages();
    exception when others or query_canceled then -- whatever goes wrong there, texts are embedded
      raise warning 'copy_changes or index_former_languages: % (%)', sqlerrm, sqlstate;
    end;
  end if;
  moment := clock_timestamp();
  -- Fresh edits first. Skips sources with a running job: two workers would do the same.
  taken := array(
    select j.embedding_job_id from tasklens.embedding_jobs j
    where j.kind = claim_embedding_jobs.kind and j.dead_at is null and j.due_at <= moment and not exists (
      select from tasklens.embedding_jobs r where r.source_id = j.source_id and r.kind = j.kind and r.lease_id is not null and r.due_at > moment)
    order by j.background, j.due_at, j.embedding_job_id
    limit tasklens.clamp(job_limit, 100, 1, 1000)
    for update of j skip locked);
  -- Claims all other jobs of the same sources, too, even if not due.
  taken := taken || array(
    select s.embedding_job_id
    from tasklens.embedding_jobs s
    join tasklens.embedding_jobs j on s.source_id = j.source_id and s.kind = j.kind
    where j.embedding_job_id = any (taken) and s.embedding_job_id <> all (taken) and (s.lease_id is null or s.due_at <= moment)
    for update of s skip locked);

  with merged as materialized (
    -- The latest job is kept: attempts made before its text was written do not count.
    select max(j.embedding_job_id) as embedding_job_id, min(j.requested_at) as requested_at, bool_or(j.with_children) as with_children
    from tasklens.embedding_jobs j join tasklens.sources s using (source_id)
    where j.embedding_job_id = any (taken)
      -- Its worker died after it had stored the enrichment.
      and (j.kind = 'embed' or exists (select from public.documents d where d.id = s.document_id and d.enriched_at is null))
    group by j.source_id
  ), ended as (
    delete from tasklens.embedding_jobs j where j.embedding_job_id = any (taken) and j.embedding_job_id not in (select m.embedding_job_id from merged m)
  )
  update tasklens.embedding_jobs j
  set requested_at = m.requested_at, with_children = m.with_children, attempts = j.attempts + 1, lease_id = lease, dead_at = null,
    due_at = moment + make_interval(secs => greatest(0.1, least(3600, lease_seconds)))
  from merged m
  where j.embedding_job_id = m.embedding_job_id;
  -- A job can only get here with all attempts used if its workers died, or if an edit held its
  -- document.
  perform public.fail_embedding_jobs(
    lease, array(select j.embedding_job_id from tasklens.embedding_jobs j where j.lease_id = lease and j.attempts > attempt_limit), null, attempt_limit);
  perform tasklens.mark_documents(array(select j.source_id from tasklens.embedding_jobs j where j.lease_id = lease and j.kind = 'embed'), 'failed', 'pending');

  parents := array(select j.source_id from tasklens.embedding_jobs j where j.lease_id = lease and j.with_children);
  if parents <> '{}' then
    perform tasklens.enqueue_sources(array(
      select c.source_id from tasklens.sources p join public.tickets t on t.project_id = p.project_id join tasklens.sources c on c.ticket_id = t.ticket_id
      where p.source_id = any (parents)), true, true);
    perform tasklens.enqueue_sources(array(
      select s.source_id from tasklens.sources p join public.comments c on c.ticket_id = p.ticket_id join tasklens.sources s on s.comment_id = c.comment_id
      where p.source_id = any (parents)), false, true);
    update tasklens.embedding_jobs j set with_children = false where j.lease_id = lease and j.with_children;
  end if;

  lease_id := lease;
  jobs := (select coalesce(jsonb_agg(jsonb_build_object('job_id', j.embedding_job_id, 'source_id', j.source_id, 'document_id', s.document_id, 'attempt', j.attempts) order by j.background, j.embedding_job_id), '[]')
    from tasklens.embedding_jobs j join tasklens.sources s using (source_id) where j.lease_id = lease);
  next_due_seconds := case when copied > 0 then 0 else (
    select extract(epoch from min(d.due_at) - moment)
    from (values (false), (true)) as b(background) cross join lateral (
      select j.due_at from tasklens.embedding_jobs j where j.kind = claim_embedding_jobs.kind and j.background = b.background and j.dead_at is null and j.due_at > moment
      order by j.due_at limit 1) d) end;
  return next;
end
$$;
comment on function public.claim_embedding_jobs is
  'Claims up to job_limit (at most 1000) due jobs of a kind, fresh edits first, each source once, for lease_seconds. jobs is [{job_id, source_id, document_id, attempt}]; next_due_seconds is null if no other job waits. First copies what changed in attached tables and indexes texts of another language or, for kind enrich, queues documents whose text is not enriched, archived ones last.';

create function public.extend_embedding_leases(lease_ids uuid[], lease_seconds double precision default 60)
returns bigint
language sql volatile security invoker set search_path = ''
as $$
  with held as materialized (
    select j.embedding_job_id from tasklens.embedding_jobs j
    where j.lease_id = any (extend_embedding_leases.lease_ids)
    for no key update skip locked
  ), extended as (
    update tasklens.embedding_jobs j
    set due_at = clock_timestamp() + make_interval(secs => greatest(0.1, least(3600, extend_embedding_leases.lease_seconds)))
    where j.embedding_job_id in (select h.embedding_job_id from held h)
    returning 1
  )
  select count(*) from extended
$$;
comment on function public.extend_embedding_leases is
  'The heartbeat of a worker: extends its leases to lease_seconds from now. Returns how many jobs it still holds.';

insert into tasklens.migrations (version) values ('20261127001220');
