-- Counts sources with a text, sources with chunks by model, chunks, and waiting sources. The counts
-- are exact and writers never wait for each other: every statement appends marks for the sources it
-- touched, and a writer occasionally recounts these. Readers add what the current marks change.

create table private.source_totals (
  embedding_set smallint not null,
  model text not null,
  sources bigint not null,
  chunks bigint not null,
  primary key (embedding_set, model)
);
comment on table private.source_totals is 'The sums of source_states.';
comment on column private.source_totals.embedding_set is '1, 2: the sets of chunks of tickets and projects. 0: documents. -1, without a model: all sources that have a text. -2: queued sources, with pending, failed or dead as the model.';
comment on column private.source_totals.sources is 'Sources that have a text, and a chunk of this set and model; for documents, a vector of their own.';
comment on column private.source_totals.chunks is 'Chunks of this set and model; those of documents of any model are in set -1.';

create table private.source_states (
  source text,
  embedding_set smallint,
  model text,
  sources integer not null,
  chunks integer not null,
  primary key (source, embedding_set, model)
);
comment on table private.source_states is 'What each source adds to source_totals. source: t, c, p or d for a ticket, a comment, a project''s own text or a document, followed by the id.';

create table private.source_marks (
  source_mark_id bigint generated always as identity primary key,
  source text not null
)
-- Rows are short-lived.
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
comment on table private.source_marks is 'Sources that may have changed since they were counted. Each transaction appends its own rows.';

alter table private.source_totals enable row level security;
alter table private.source_states enable row level security;
alter table private.source_marks enable row level security;
grant select on private.source_totals, private.source_states, private.source_marks to service_role;

create function private.read_source_states(sources text[])
returns table (source text, embedding_set smallint, model text, sources integer, chunks integer)
language sql stable rows 1000 security invoker set search_path = ''
as $$
  with texts as (
    select 't' || t.ticket_id as source, t.name ~ '\S' or t.description ~ '\S'
        or exists (select from public.status_changes s where s.ticket_id = t.ticket_id and s.note ~ '\S') as has_text
    from public.tickets t
    where t.ticket_id = any (array(select substr(s, 2)::bigint from unnest(read_source_states.sources) s where s ^@ 't'))
    union all
    select 'c' || m.comment_id, m.body ~ '\S'
    from public.comments m
    where m.comment_id = any (array(select substr(s, 2)::bigint from unnest(read_source_states.sources) s where s ^@ 'c'))
    union all
    select 'p' || p.project_id, p.name ~ '\S' or p.description ~ '\S'
    from public.projects p
    where p.project_id = any (array(select substr(s, 2)::bigint from unnest(read_source_states.sources) s where s ^@ 'p'))
  ), chunks as (
    select 't' || c.ticket_id as source, c.embedding_set, c.model, count(*) as chunks
    from public.chunks c
    where c.ticket_id = any (array(select substr(s, 2)::bigint from unnest(read_source_states.sources) s where s ^@ 't')) and c.comment_id is null
    group by c.ticket_id, c.embedding_set, c.model
    union all
    select 'c' || c.comment_id, c.embedding_set, c.model, count(*)
    from public.chunks c
    where c.comment_id = any (array(select substr(s, 2)::bigint from unnest(read_source_states.sources) s where s ^@ 'c'))
    group by c.comment_id, c.embedding_set, c.model
    union all
    select 'p' || c.project_id, c.embedding_set, c.model, count(*)
    from public.chunks c
    where c.project_id = any (array(select substr(s, 2)::bigint from unnest(read_source_states.sources) s where s ^@ 'p')) and c.ticket_id is null
    group by c.project_id, c.embedding_set, c.model
  ), documents as (
    select d.id, 'd' || d.id as source
    from public.documents d
    where d.id = any (array(select substr(s, 2)::uuid from unnest(read_source_states.sources) s where s ^@ 'd'))
  )
  select t.source, -1::smallint, '', 1, 0 from texts t where t.has_text
  union all
  select c.source, c.embedding_set, c.model, coalesce(t.has_text, false)::integer, c.chunks::integer from chunks c join texts t using (source)
  union all
  select d.source, -1::smallint, '', 1, (
    select count(*)::integer from public.document_chunks c where c.document_id = d.id) from documents d
  union all
  select d.source, 0::smallint, e.model, 1, 0
  from documents d join public.embeddings e on e.document_id = d.id and e.chunk_id is null and e.model is not null
  union all
  -- By the best of its jobs, except leased ones, because the expiry of a lease writes nothing.
  select j.source, -2::smallint, (array['pending', 'failed', 'dead']) [min(j.state)], 1, 0
  from (
    select 't' || w.ticket_id as source, case when w.dead_at is not null then 3 when w.attempts > 0 then 2 else 1 end as state
    from private.embedding_jobs w
    where w.ticket_id = any (array(select substr(s, 2)::bigint from unnest(read_source_states.sources) s where s ^@ 't')) and w.lease_id is null
    union all
    select 'c' || w.comment_id, case when w.dead_at is not null then 3 when w.attempts > 0 then 2 else 1 end
    from private.embedding_jobs w
    where w.comment_id = any (array(select substr(s, 2)::bigint from unnest(read_source_states.sources) s where s ^@ 'c')) and w.lease_id is null
    union all
    select 'p' || w.project_id, case when w.dead_at is not null then 3 when w.attempts > 0 then 2 else 1 end
    from private.embedding_jobs w
    where w.project_id = any (array(select substr(s, 2)::bigint from unnest(read_source_states.sources) s where s ^@ 'p')) and w.lease_id is null
    union all
    select 'd' || w.document_id, case when w.dead_at is not null then 3 when w.attempts > 0 then 2 else 1 end
    from private.embedding_jobs w
    where w.document_id = any (array(select substr(s, 2)::uuid from unnest(read_source_states.sources) s where s ^@ 'd')) and w.lease_id is null
  ) j
  group by j.source
$$;
comment on function private.read_source_states is 'What these sources add to the totals in the caller''s snapshot.';

create function private.source_changes(changed text[])
returns table (source text, embedding_set smallint, model text, sources integer, chunks integer, more_sources integer, more_chunks integer)
language sql stable rows 1000 security invoker set search_path = ''
as $$
  select source, embedding_set, model, n.sources, n.chunks,
    coalesce(n.sources, 0) - coalesce(c.sources, 0), coalesce(n.chunks, 0) - coalesce(c.chunks, 0)
  from private.read_source_states(source_changes.changed) n
  full join (select * from private.source_states s where s.source = any (source_changes.changed)) c using (source, embedding_set, model)
  where (n.sources, n.chunks) is distinct from (c.sources, c.chunks)
$$;
comment on function private.source_changes is 'How these sources differ from their counted states; sources and chunks are null if nothing is left.';

-- A mark is deleted by a transaction that sees everything the marking one wrote, and recounts the
-- source after that.
create function private.merge_source_marks() returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  changed text[];
begin
  if not private.may_merge('private.merge_source_marks') then
    return;
  end if;
  with gone as (
    delete from private.source_marks returning source_marks.source
  )
  select array_agg(distinct g.source) into changed from gone g;
  with changes as materialized (
    select * from private.source_changes(changed)
  ), written as (
    insert into private.source_states as s (source, embedding_set, model, sources, chunks)
    select c.source, c.embedding_set, c.model, coalesce(c.sources, 0), coalesce(c.chunks, 0) from changes c
    on conflict (source, embedding_set, model) do update set sources = excluded.sources, chunks = excluded.chunks
  )
  insert into private.source_totals as t (embedding_set, model, sources, chunks)
  select c.embedding_set, c.model, sum(c.more_sources), sum(c.more_chunks) from changes c group by c.embedding_set, c.model
  on conflict (embedding_set, model) do update set sources = t.sources + excluded.sources, chunks = t.chunks + excluded.chunks;
  -- By an array of sources: a join with the changes could compare many with many.
  delete from private.source_states s where s.source = any (changed) and s.sources = 0 and s.chunks = 0;
  delete from private.source_totals t where t.sources = 0 and t.chunks = 0;
end
$$;
comment on function private.merge_source_marks is 'Recounts the marked sources. Does nothing while another transaction does it.';

create function private.recount_sources() returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtext('private.merge_source_marks'));
  delete from private.source_states;
  delete from private.source_totals;
  insert into private.source_marks (source)
  select 't' || t.ticket_id from public.tickets t
  union all
  select 'c' || c.comment_id from public.comments c
  union all
  select 'p' || p.project_id from public.projects p
  union all
  select 'd' || d.id from public.documents d
  union all
  select coalesce('c' || j.comment_id, 't' || j.ticket_id, 'p' || j.project_id, 'd' || j.document_id) from private.embedding_jobs j;
  perform private.merge_source_marks();
end
$$;
comment on function private.recount_sources is 'Recounts all sources, for use after a load without triggers.';

insert into private.migrations (version) values ('20260101002035');
