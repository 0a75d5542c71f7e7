-- The queue of sources to embed, and of documents to enrich, and the texts of sources. Writers of
-- texts add to it in the same transaction and never wait: a job that is locked is skipped and a
-- redundant one added. That is cheap, because its worker finds the chunks up to date and ends it.

create table tasklens.embedding_jobs (
  embedding_job_id bigint generated always as identity primary key,
  source_id bigint not null,
  kind text not null default 'embed' check (kind in ('embed', 'enrich')),
  background boolean not null,
  with_children boolean not null default false,
  requested_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  lease_id uuid,
  dead_at timestamptz,
  last_error text,
  check (lease_id is null or dead_at is null)
)
-- Rows are short-lived.
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
comment on table tasklens.embedding_jobs is
  'Sources whose chunks may be out of date. There is no foreign key: the job of a deleted source just ends.';
comment on column tasklens.embedding_jobs.kind is 'Enrichment is asked for: its jobs are added when some are claimed.';
comment on column tasklens.embedding_jobs.with_children is
  'For a project, all its tickets follow; for a ticket, all its comments, whose chunks have its name in their header.';
comment on column tasklens.embedding_jobs.due_at is 'When it may be claimed: at once, after a pause, or (if running) when its lease expires.';
comment on column tasklens.embedding_jobs.attempts is 'How often it was claimed and neither ended nor released. A worker that dies has used one up.';
comment on column tasklens.embedding_jobs.dead_at is 'When it became dead, because of last_error. It stays until it is replayed.';

create index embedding_jobs_due_idx on tasklens.embedding_jobs (kind, background, due_at, embedding_job_id) where dead_at is null;
create index embedding_jobs_requested_at_idx on tasklens.embedding_jobs (requested_at) where dead_at is null and lease_id is null;
create index embedding_jobs_source_id_idx on tasklens.embedding_jobs (source_id);
create unique index embedding_jobs_enrich_idx on tasklens.embedding_jobs (source_id) where kind = 'enrich';
create index embedding_jobs_lease_id_idx on tasklens.embedding_jobs (lease_id) where lease_id is not null;

-- A waiting job will see what this transaction writes, unless it is claimed before the commit. So
-- it is locked against claiming; if that would block, a second job is added. Claiming merges both.
create function tasklens.enqueue_sources(source_ids bigint[], with_children boolean default false, background boolean default false)
returns bigint
-- A plan cached while the queue was empty would scan all of it at every edit.
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  -- Hundreds at once are not a user's edit.
  behind constant boolean := enqueue_sources.background or cardinality(enqueue_sources.source_ids) >= 100;
  waiting bigint[] := array[]::bigint[];
  added bigint;
begin
  -- The deletion of a ticket without notes also fires the triggers on notes.
  if enqueue_sources.source_ids = '{}' then
    return 0;
  end if;
  -- In an older snapshot, locking a job claimed meanwhile would fail the writer.
  if current_setting('transaction_isolation') = 'read committed' then
    waiting := array(
      select j.source_id from tasklens.embedding_jobs j
      where j.source_id = any (enqueue_sources.source_ids)
        -- "is true": conditions for which no index is used. Those of jobs that are due would read
        -- all of a long queue.
        and (j.kind = 'embed' and j.lease_id is null and j.dead_at is null and j.attempts = 0
          and j.due_at <= clock_timestamp() and j.background <= behind and j.with_children >= enqueue_sources.with_children) is true
      for key share skip locked);
  end if;
  insert into tasklens.embedding_jobs (source_id, background, with_children)
  select s.source_id, behind, enqueue_sources.with_children
  from (select unnest(enqueue_sources.source_ids) as source_id except select unnest(waiting)) s
  order by s.source_id;
  get diagnostics added = row_count;
  return added;
end
$$;
comment on function tasklens.enqueue_sources is
  'Queues these sources for embedding; with_children: also all tickets of a project, and all comments on a ticket. 100 or more at once, or background, run after others. Never waits. Returns how many jobs it added to those already waiting.';

-- In the caller's snapshot. Names and texts determine an embedding; source_hash is their
-- fingerprint. Texts are cut at text_limit characters.
create function tasklens.source_texts(source_ids bigint[])
returns table (source_id bigint, names text[], texts jsonb, truncated boolean, source_hash text)
language sql stable rows 100 security invoker set search_path = ''
as $$
  with told as (
    select x.source_id, bool_or(length(w.text) > tasklens.text_limit()) as truncated, jsonb_agg(jsonb_build_object(
        'kind', x.kind, 'status_change_id', x.status_change_id, 'text', left(w.text, tasklens.text_limit())
      ) order by x.status_change_id nulls first) as texts
    from tasklens.source_parts x
    cross join lateral (
      select case when x.kind in ('project', 'ticket') then concat_ws(e'\n\n', x.name, nullif(x.text, ''))
        when x.kind = 'document' and (x.text ~ '\S') is not true then x.name else x.text end as text
    ) w
    where x.source_id = any (source_texts.source_ids) and w.text ~ '\S'
    group by 1
  )
  select s.source_id, n.names, n.texts, n.truncated,
    encode(sha256(convert_to(jsonb_build_array(n.names, n.texts, n.truncated)::text, 'UTF8')), 'hex')
  from tasklens.sources s
  left join told w on w.source_id = s.source_id
  left join public.documents d on d.id = s.document_id
  left join public.comments c on c.comment_id = s.comment_id
  left join public.tickets t on t.ticket_id = coalesce(s.ticket_id, c.ticket_id)
  left join public.projects p on p.project_id = coalesce(s.project_id, t.project_id)
  cross join lateral (
    select coalesce(w.texts, '[]') as texts, coalesce(w.truncated, false) as truncated,
      array_remove(array[d.title, p.name, t.name, case when s.comment_id is not null
        then concat('Comment', ' by ' || nullif(btrim(left(c.author, 200)), ''), to_char(c.created_at at time zone 'UTC', ', YYYY-MM-DD')) end], null) as names
  ) n
  where s.source_id = any (source_texts.source_ids)
$$;
comment on function tasklens.source_texts is
  'The texts of these sources to be chunked, in order and without blank ones: a ticket''s own and its notes, or the one of another source. names stand above each chunk; source_hash is the fingerprint of all that.';

create function public.read_sources(source_ids bigint[], embedding_set smallint default null)
returns table (
  source_id bigint, names text[], texts jsonb, truncated boolean, source_hash text, chunks jsonb, stored_truncated boolean,
  embedding_set smallint, embedding_model text, building_set smallint, building_chunking integer, sources_read integer
)
language sql stable rows 100 security invoker set search_path = '' set jit = off
as $$
  with sized as (
    -- Sizes are known without reading the texts.
    select a.place, sum(x.octets) over (order by a.place rows between unbounded preceding and 1 preceding) as octets_before
    from unnest(read_sources.source_ids) with ordinality as a(source_id, place)
    left join (
      select x.source_id, sum(octet_length(x.name) + coalesce(octet_length(x.text), 0)) as octets
      from tasklens.source_parts x where x.source_id = any (read_sources.source_ids) group by 1
    ) x using (source_id)
  ), asked as materialized (
    select r.sources, read_sources.source_ids[:r.sources] as source_ids, w.*
    from (select least(coalesce(min(b.place) filter (where b.octets_before >= 4000000) - 1, count(*)), 1000)::integer as sources from sized b) r
    cross join (
      select coalesce(read_sources.embedding_set, s.serving) as wanted, s.serving, s.model, s.other_model, s.other_chunking,
        case when s.other_state = 'building' then (3 - s.serving)::smallint end as building
      from tasklens.embedding_sets s) w
  )
  select t.source_id, t.names, t.texts, t.truncated, t.source_hash, c.chunks, s.truncated,
    case when a.wanted = a.serving or a.building is not null then a.wanted end,
    case when s.document_id is null then case when a.wanted = a.serving then a.model else a.other_model end end,
    case when s.document_id is null then a.building end, case when s.document_id is null and a.building is not null then a.other_chunking end,
    a.sources
  from asked a
  cross join unnest(a.source_ids) with ordinality as o(source_id, place)
  join tasklens.source_texts(a.source_ids) t on t.source_id = o.source_id
  join tasklens.sources s on s.source_id = o.source_id
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object(
        'chunk_id', k.chunk_id, 'input_hash', k.input_hash, 'model', k.model, 'status_change_id', k.status_change_id, 'position', k.position
      ) order by k.position), '[]') as chunks
    from tasklens.source_chunks k
    where k.source_id = o.source_id and coalesce(k.embedding_set, a.wanted) = a.wanted
  ) c
  order by o.place
$$;
comment on function public.read_sources is
  'The texts of sources to embed, with their fingerprint, and the chunks stored in a set, by default the serving one. sources_read: how many sources, from the first, are included (4 MB, 1,000 rows); call again for the rest. embedding_model: that of the set, null if undecided; building_set: the set being built. Documents have neither.';

insert into tasklens.migrations (version) values ('20261127001210');
