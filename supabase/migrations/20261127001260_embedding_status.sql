-- The state of the index, and queueing of sources that no trigger saw: older rows, another model.

-- A source whose texts are blank has nothing to embed.
create function tasklens.missing_sources(embedding_model text, everything boolean default false, embedding_set smallint default null)
returns table (source_id bigint, characters bigint)
language sql stable rows 10000 security invoker set search_path = ''
as $$
  with wanted as materialized (
    select w.embedding_set, case when w.embedding_set = s.serving then coalesce(s.model, missing_sources.embedding_model) else s.other_model end as model
    from tasklens.embedding_sets s
    cross join lateral (select coalesce(missing_sources.embedding_set, s.serving) as embedding_set) w
  )
  select s.source_id, x.characters
  from wanted w
  cross join tasklens.sources s
  left join public.projects p on p.project_id = s.project_id
  left join public.comments c on c.comment_id = s.comment_id
  left join public.tickets t on t.ticket_id = s.ticket_id
  left join public.documents d on d.id = s.document_id
  cross join lateral (
    select case
        when s.document_id is not null then length(d.title) + least(tasklens.text_limit(), length(coalesce(d.visible_text, d.content)))
        when s.comment_id is not null then least(tasklens.text_limit(), length(coalesce(c.visible_text, c.body)))
        when s.ticket_id is not null then length(t.name) + coalesce(length(coalesce(t.visible_text, t.description)), 0) + coalesce((
          select sum(length(coalesce(n.visible_text, n.note))) from public.status_changes n where n.ticket_id = s.ticket_id), 0)
        else length(p.name) + coalesce(length(coalesce(p.visible_text, p.description)), 0) end::bigint as characters
  ) x
  where (s.document_id is null or missing_sources.embedding_set is null)
    and (missing_sources.everything or (case when s.document_id is null then s.models[w.embedding_set] = w.model
      else s.models[1] = missing_sources.embedding_model end) is not true)
    and case
      when s.document_id is not null then true
      when s.comment_id is not null then coalesce(c.visible_text, c.body) ~ '\S'
      when s.ticket_id is not null then t.name ~ '\S' or coalesce(t.visible_text, t.description) ~ '\S'
        or exists (select 1 from public.status_changes n where n.ticket_id = s.ticket_id and coalesce(n.visible_text, n.note) ~ '\S')
      else p.name ~ '\S' or coalesce(p.visible_text, p.description) ~ '\S' end
$$;
comment on function tasklens.missing_sources is
  'The sources that have a text but no chunk of the serving model (this one if undecided) or, of documents, no vector of this one; with everything, all that have a text. With embedding_set: those that it lacks, without documents.';

create function public.embedding_status(embedding_model text)
returns table (
  pending bigint, running bigint, failed bigint, dead bigint, oldest_pending_seconds double precision, chunks bigint, sources_without_chunks bigint, truncated bigint,
  refused_rows bigint, waiting_copies bigint, waiting_languages bigint, blocked_by text
)
language sql stable rows 1 security invoker set search_path = '' set jit = off
as $$
  with recursive refused as (
    (select r.kind, r.key, r.rows from tasklens.attached_rows r where r.refused_at is not null and r.key <> '*' union all select v.kind, '*', 1 from public.unreadable_views() v)
    union -- what belongs to it has no copy either
    select c.kind, c.key, 1 from refused r join tasklens.attached_rows c on c.reason is not null
      and (r.kind, c.kind) in (('projects', 'tickets'), ('tickets', 'comments')) and c.found_by && array[rtrim(r.kind, 's') || '_id=' || r.key]
  ), worked_on as (
    -- A source counts once, by the best of its jobs.
    select min(case
        when j.dead_at is not null then 4
        when j.lease_id is not null and j.due_at > clock_timestamp() then 1
        when j.attempts > 0 and j.lease_id is null then 3
        else 2 end) as state,
      min(j.requested_at) filter (where j.dead_at is null) as requested_at
    from tasklens.embedding_jobs j
    where j.kind = 'embed'
    group by j.source_id
  ), queue as (
    select count(*) filter (where w.state = 2) as pending, count(*) filter (where w.state = 1) as running,
      count(*) filter (where w.state = 3) as failed, count(*) filter (where w.state = 4) as dead,
      min(w.requested_at) filter (where w.state in (2, 3)) as oldest
    from worked_on w
  ), copies as (
    select count(*) as waiting, min(c.queued_at) as oldest from tasklens.changed_rows c
  ), serving as materialized (
    select s.serving, coalesce(s.model, embedding_status.embedding_model) as model from tasklens.embedding_sets s
  ), stored as (
    select coalesce(sum(s.chunks[case when s.document_id is null then w.serving else 1 end]), 0)::bigint as chunks,
      count(*) - count(*) filter (where case when s.document_id is null then s.models[w.serving] = w.model
        else s.models[1] = embedding_status.embedding_model end) as missing,
      count(*) filter (where s.truncated) as truncated
    from serving w cross join tasklens.sources s
  ), blank as (
    -- Without a text, and not embedded.
    select count(*) as sources
    from (
      select p.project_id, null::bigint as ticket_id, null::bigint as comment_id from public.projects p
      where (p.name ~ '\S' or coalesce(p.visible_text, p.description) ~ '\S') is not true
      union all
      select null, t.ticket_id, null from public.tickets t
      where (t.name ~ '\S' or coalesce(t.visible_text, t.description) ~ '\S') is not true
        and not exists (select from public.status_changes n where n.ticket_id = t.ticket_id and coalesce(n.visible_text, n.note) ~ '\S')
      union all
      select null, null, c.comment_id from public.comments c where (coalesce(c.visible_text, c.body) ~ '\S') is not true
    ) b
    cross join lateral (
      select s.models from tasklens.sources s where s.project_id = b.project_id
      union all
      select s.models from tasklens.sources s where s.ticket_id = b.ticket_id
      union all
      select s.models from tasklens.sources s where s.comment_id = b.comment_id
    ) s
    cross join serving w
    where (s.models[w.serving] = w.model) is not true
  )
  select q.pending, q.running, q.failed, q.dead,
    coalesce(greatest(0, extract(epoch from clock_timestamp() - least(q.oldest, c.oldest))), 0)::double precision, s.chunks, s.missing - b.sources, s.truncated,
    (select coalesce(sum(r.rows), 0)::bigint from refused r), c.waiting, (
      select coalesce(sum((select count(*) from public.keyword_entries e where (e.project_id, e.language) = (f.project_id, f.language))
        + (select count(*) from public.comment_entries m where (m.project_id, m.language) = (f.project_id, f.language))), 0)::bigint
      from tasklens.former_languages f where f.language <> tasklens.language_of(f.project_id)),
    -- A worker that goes on claims them again within a minute.
    (select max(j.last_error) from tasklens.embedding_jobs j
    where j.last_error in ('model_quota', 'model_key') and j.dead_at is null and j.due_at > clock_timestamp() - interval '1 minute')
  from queue q cross join stored s cross join blank b cross join copies c
$$;
comment on function public.embedding_status is
  'How many sources wait to be embedded, are being embedded, wait for a retry or are dead, how many chunks are served, how many sources have a text but no chunk of the serving model (this one if undecided), how many are stored without their end, how many rows of attached tables have no copy because they, or what they belong to, are refused, how many changes of these wait to be copied, how many texts are still indexed in another language than their project''s, and why jobs wait for the model provider (model_quota, model_key).';

create function public.measure_missing_embeddings(
  embedding_model text,
  everything boolean default false,
  sample_count integer default 100,
  embedding_set smallint default null
)
returns table (sources bigint, characters bigint, sample bigint[])
language sql volatile rows 1 security invoker set search_path = '' set statement_timeout = '60s'
as $$
  select tasklens.add_missing_sources();
  with missing as materialized (
    select * from tasklens.missing_sources(
      measure_missing_embeddings.embedding_model, measure_missing_embeddings.everything, measure_missing_embeddings.embedding_set)
  ), sampled as (
    select m.* from missing m order by random() limit tasklens.clamp(measure_missing_embeddings.sample_count, 100, 1, 1000)
  )
  select count(*), coalesce(sum(m.characters), 0)::bigint,
    array(select s.source_id from sampled s)
  from missing m
$$;
comment on function public.measure_missing_embeddings is
  'What enqueue_missing_embeddings would queue: how many sources, the characters of their texts, and a random sample of source_ids.';

create function public.enqueue_missing_embeddings(embedding_model text, everything boolean default false, embedding_set smallint default null)
returns bigint
language sql volatile security invoker set search_path = '' set statement_timeout = '60s'
as $$
  select tasklens.add_missing_sources();
  select tasklens.enqueue_sources(array(
    select m.source_id
    from tasklens.missing_sources(
      enqueue_missing_embeddings.embedding_model, enqueue_missing_embeddings.everything, enqueue_missing_embeddings.embedding_set) m), false, true)
$$;
comment on function public.enqueue_missing_embeddings is
  'Queues, after fresh edits, every source that has a text but no chunk of this model; with everything, all that have a text. With embedding_set: those that it lacks, without documents.';

insert into tasklens.migrations (version) values ('20261127001260');
