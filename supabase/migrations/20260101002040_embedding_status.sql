-- The state of the index, and queueing of sources that no trigger saw: older rows, another model.

-- A source whose texts are blank has nothing to embed.
create function private.missing_sources(embedding_model text, everything boolean default false, embedding_set smallint default null)
returns table (project_id bigint, ticket_id bigint, document_id uuid, characters bigint, comment_id bigint)
language sql stable rows 10000 security invoker set search_path = ''
as $$
  with wanted as materialized (
    select w.embedding_set, case when w.embedding_set = s.serving then coalesce(s.model, missing_sources.embedding_model) else s.other_model end as model
    from private.embedding_sets s
    cross join lateral (select coalesce(missing_sources.embedding_set, s.serving) as embedding_set) w
  )
  select p.project_id, null::bigint, null::uuid, (length(p.name) + coalesce(length(p.description), 0))::bigint, null::bigint
  from public.projects p
  where (p.name ~ '\S' or p.description ~ '\S') and (missing_sources.everything or not exists (
    select 1 from public.chunks c
    where c.project_id = p.project_id and c.ticket_id is null
      and c.embedding_set = (select w.embedding_set from wanted w) and c.model = (select w.model from wanted w)))
  union all
  select t.project_id, t.ticket_id, null, length(t.name) + coalesce(length(t.description), 0) + coalesce((
      select sum(length(s.note)) from public.status_changes s where s.ticket_id = t.ticket_id), 0), null
  from public.tickets t
  where (t.name ~ '\S' or t.description ~ '\S' or exists (select 1 from public.status_changes s where s.ticket_id = t.ticket_id and s.note ~ '\S'))
    and (missing_sources.everything or not exists (
      select 1 from public.chunks c
      where c.ticket_id = t.ticket_id and c.comment_id is null
        and c.embedding_set = (select w.embedding_set from wanted w) and c.model = (select w.model from wanted w)))
  union all
  select t.project_id, t.ticket_id, null, least(private.text_limit(), length(m.body)), m.comment_id
  from public.comments m
  join public.tickets t on t.ticket_id = m.ticket_id
  where m.body ~ '\S' and (missing_sources.everything or not exists (
    select 1 from public.chunks c
    where c.comment_id = m.comment_id
      and c.embedding_set = (select w.embedding_set from wanted w) and c.model = (select w.model from wanted w)))
  union all
  select null, null, d.id, length(d.title) + least(private.text_limit(), length(d.content)), null
  from public.documents d
  where missing_sources.embedding_set is null and (missing_sources.everything or not exists (
    select 1 from public.embeddings e where e.document_id = d.id and e.chunk_id is null and e.model = missing_sources.embedding_model))
$$;
comment on function private.missing_sources is 'The sources that have a text but no chunk of the serving model (this one if undecided), and documents without a vector of this model; with everything, all that have a text. With embedding_set: those without a chunk in that set, excluding documents. Includes the length of their texts.';

create function public.embedding_status(embedding_model text)
returns table (
  pending bigint, running bigint, failed bigint, dead bigint, oldest_pending_seconds double precision, chunks bigint, sources_without_chunks bigint
)
-- A plan cached while the queue was empty would scan all of it.
language sql stable rows 1 security invoker set search_path = '' set jit = off set enable_seqscan = off set enable_sort = off
as $$
  with leased as (
    select distinct j.project_id, j.ticket_id, j.comment_id, j.document_id from private.embedding_jobs j where j.lease_id is not null
  ), worked_on as materialized (
    -- A source counts once, by the best of its jobs. counted is its counted state.
    select w.*
    from leased l
    cross join lateral (
      select min(case
          when j.dead_at is not null then 4
          when j.lease_id is not null and j.due_at > clock_timestamp() then 1
          when j.attempts > 0 and j.lease_id is null then 3
          else 2 end) as state,
        min(case when j.lease_id is not null then null when j.dead_at is not null then 4 when j.attempts > 0 then 3 else 2 end) as counted,
        min(j.requested_at) filter (where j.dead_at is null) as requested_at
      from (
        select * from private.embedding_jobs t where t.ticket_id = l.ticket_id
        union all
        select * from private.embedding_jobs c where c.comment_id = l.comment_id
        union all
        select * from private.embedding_jobs p where p.project_id = l.project_id
        union all
        select * from private.embedding_jobs d where d.document_id = l.document_id
      ) j
    ) w
  ), waiting as (
    select count(*) filter (where w.state = 1) as running,
      count(*) filter (where w.state = 2) - count(*) filter (where w.counted = 2) as pending,
      count(*) filter (where w.state = 3) - count(*) filter (where w.counted = 3) as failed,
      count(*) filter (where w.state = 4) - count(*) filter (where w.counted = 4) as dead,
      least(min(w.requested_at) filter (where w.state in (2, 3)), (
        select j.requested_at from private.embedding_jobs j
        where j.dead_at is null and j.lease_id is null
          and not exists (select from private.embedding_jobs r where r.ticket_id = j.ticket_id and r.lease_id is not null)
          and not exists (select from private.embedding_jobs r where r.comment_id = j.comment_id and r.lease_id is not null)
          and not exists (select from private.embedding_jobs r where r.project_id = j.project_id and r.lease_id is not null)
          and not exists (select from private.embedding_jobs r where r.document_id = j.document_id and r.lease_id is not null)
        order by j.requested_at limit 1)) as oldest
    from worked_on w
  ), counted as (
    select t.embedding_set, t.model, t.sources, t.chunks from private.source_totals t
    union all
    select c.embedding_set, c.model, c.more_sources, c.more_chunks
    from private.source_changes(array(select distinct m.source from private.source_marks m)) c
  ), sources as (
    -- Set -1: all sources that have a text; 0: documents; -2: the queue.
    select coalesce(sum(c.chunks) filter (where c.embedding_set in (-1, s.serving)), 0)::bigint as chunks,
      coalesce(sum(case
          when c.embedding_set = -1 then c.sources
          when c.embedding_set = 0 and c.model = embedding_status.embedding_model
            or c.embedding_set = s.serving and c.model = coalesce(s.model, embedding_status.embedding_model) then -c.sources
          else 0 end), 0)::bigint as without_chunks,
      coalesce(sum(c.sources) filter (where c.embedding_set = -2 and c.model = 'pending'), 0)::bigint as pending,
      coalesce(sum(c.sources) filter (where c.embedding_set = -2 and c.model = 'failed'), 0)::bigint as failed,
      coalesce(sum(c.sources) filter (where c.embedding_set = -2 and c.model = 'dead'), 0)::bigint as dead
    from private.embedding_sets s
    cross join counted c
  )
  select s.pending + w.pending, w.running, s.failed + w.failed, s.dead + w.dead,
    coalesce(greatest(0, extract(epoch from clock_timestamp() - w.oldest)), 0)::double precision, s.chunks, s.without_chunks
  from sources s
  cross join waiting w
$$;
comment on function public.embedding_status is
  'How many sources wait to be embedded (pending), are being embedded (running), wait for a retry (failed) or are dead (dead); how long the oldest pending or failed one has waited, 0 if there is none; the number of chunks in the serving set and of documents; and how many sources have a text but no chunk of the serving model (this one if undecided).';

create function public.measure_missing_embeddings(
  embedding_model text,
  everything boolean default false,
  sample_count integer default 100,
  embedding_set smallint default null
)
returns table (sources bigint, characters bigint, sample jsonb)
language sql volatile rows 1 security invoker set search_path = ''
as $$
  with missing as materialized (
    select * from private.missing_sources(
      measure_missing_embeddings.embedding_model, measure_missing_embeddings.everything, measure_missing_embeddings.embedding_set)
  ), sampled as (
    select m.* from missing m order by random() limit private.clamp(measure_missing_embeddings.sample_count, 100, 1, 1000)
  )
  select count(*), coalesce(sum(m.characters), 0)::bigint,
    (select coalesce(jsonb_agg(jsonb_build_object('project_id', s.project_id, 'ticket_id', s.ticket_id, 'comment_id', s.comment_id, 'document_id', s.document_id)), '[]') from sampled s)
  from missing m
$$;
comment on function public.measure_missing_embeddings is
  'What enqueue_missing_embeddings would queue: the number of sources, the characters of their texts, and a random sample of them, [{project_id, ticket_id, comment_id, document_id}], for estimating the tokens. sample_count at most 1000. With embedding_set: what that set lacks, excluding documents.';

create function private.enqueue_missing(embedding_model text, everything boolean default false, embedding_set smallint default null)
returns bigint
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  missing record;
begin
  select coalesce(array_agg(m.project_id) filter (where m.ticket_id is null and m.document_id is null), '{}') as projects,
    coalesce(array_agg(m.ticket_id) filter (where m.ticket_id is not null and m.comment_id is null), '{}') as tickets,
    coalesce(array_agg(m.comment_id) filter (where m.comment_id is not null), '{}') as comments,
    coalesce(array_agg(m.document_id) filter (where m.document_id is not null), '{}') as documents
    into missing
    from private.missing_sources(enqueue_missing.embedding_model, enqueue_missing.everything, enqueue_missing.embedding_set) m;
  return private.enqueue_sources(missing.projects, missing.tickets, false, true, missing.documents, missing.comments);
end
$$;
comment on function private.enqueue_missing is 'Queues the sources from missing_sources, after fresh edits. Returns how many jobs it added.';

create function public.enqueue_missing_embeddings(embedding_model text, everything boolean default false)
returns bigint
language sql volatile security invoker set search_path = ''
as $$
  select private.enqueue_missing(enqueue_missing_embeddings.embedding_model, enqueue_missing_embeddings.everything)
$$;
comment on function public.enqueue_missing_embeddings is
  'Queues, after fresh edits, every source that has a text but no chunk of this model; with everything, all that have a text. Returns how many jobs it added.';

insert into private.migrations (version) values ('20260101002040');
