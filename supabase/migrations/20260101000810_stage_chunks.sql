-- Stores a source with too many chunks for one statement: parts are staged, one statement each, and
-- store_chunks shows them all at the end. A retry keeps the staged chunks, whose embeddings are
-- paid for.

create function public.stage_chunks(
  project_id bigint,
  ticket_id bigint,
  source_hash text,
  chunks jsonb,
  embeddings extensions.vector[],
  embedding_set smallint default null,
  comment_id bigint default null
)
returns table (staged boolean, embedding_ids uuid[])
language plpgsql volatile rows 1 security invoker set search_path = ''
as $$
declare
  target record;
  staging bigint;
begin
  staged := false;
  embedding_ids := '{}';
  select h.* into strict target from private.hold_embedding_set(stage_chunks.embedding_set) h;
  -- Protects against deletion and moves only: editors of the text do not wait, and an edit makes
  -- the last step fail.
  perform 1 from public.projects p where p.project_id = stage_chunks.project_id for key share skip locked;
  if found and stage_chunks.ticket_id is not null then
    perform 1 from public.tickets t where t.ticket_id = stage_chunks.ticket_id for key share skip locked;
  end if;
  if found and stage_chunks.comment_id is not null then
    perform 1 from public.comments c where c.comment_id = stage_chunks.comment_id for key share skip locked;
  end if;
  if not found or not target.live or exists (
      select 1 from jsonb_to_recordset(stage_chunks.chunks) as g(chunk_id uuid, model text) where g.chunk_id is null and g.model <> target.model)
    or not exists (
      select 1 from private.source_texts(array[stage_chunks.project_id], array[stage_chunks.ticket_id], array[stage_chunks.comment_id]) s
      where s.source_hash = stage_chunks.source_hash)
  then
    return next;
    return;
  end if;

  insert into private.staged_generations (project_id, ticket_id, comment_id, embedding_set)
  values (stage_chunks.project_id, stage_chunks.ticket_id, stage_chunks.comment_id, target.wanted)
  on conflict do nothing;
  select g.generation into staging
    from private.staged_generations g
    where g.project_id = stage_chunks.project_id and g.ticket_id is not distinct from stage_chunks.ticket_id
      and g.comment_id is not distinct from stage_chunks.comment_id and g.embedding_set = target.wanted
    for update skip locked;
  if not found then -- another session is staging a part
    return next;
    return;
  end if;
  update private.staged_generations g set staged_at = clock_timestamp() where g.generation = staging;
  -- A worker that claimed a waiting job now would embed the same chunks. A later edit adds its own
  -- job.
  update private.embedding_jobs j set due_at = greatest(j.due_at, clock_timestamp() + interval '2 minutes')
    where j.embedding_job_id = any (array(
      select private.lock_waiting_jobs(array[stage_chunks.project_id], array[stage_chunks.ticket_id], array[stage_chunks.comment_id])));

  begin
    with given as materialized (
      select g.place, coalesce(g.chunk_id, gen_random_uuid()) as chunk_id, g.chunk_id is not null as kept, g.kind,
        g.status_change_id, g.position, g.text, g.tokens, g.input_hash, g.model, g.embedding
      from rows from (jsonb_to_recordset(stage_chunks.chunks) as (
        chunk_id uuid, kind text, status_change_id bigint, position bigint, text text, tokens integer, input_hash text, model text, embedding integer
      )) with ordinality as g(chunk_id, kind, status_change_id, position, text, tokens, input_hash, model, embedding, place)
    ), moved as (
      update public.chunks c
      set position = g.position, kind = coalesce(g.kind, c.kind),
        status_change_id = case when g.kind is null then c.status_change_id else g.status_change_id end
      from given g
      where g.kept and c.chunk_id = g.chunk_id and c.embedding_set = target.wanted
        and c.project_id = stage_chunks.project_id and c.ticket_id is not distinct from stage_chunks.ticket_id
        and c.comment_id is not distinct from stage_chunks.comment_id
    ), added as (
      insert into public.chunks (
        chunk_id, embedding_set, project_id, ticket_id, comment_id, status_change_id, kind, position, generation, text, tokens, input_hash, model, embedding)
      select g.chunk_id, target.wanted, stage_chunks.project_id, stage_chunks.ticket_id, stage_chunks.comment_id, g.status_change_id, g.kind, g.position, staging,
        g.text, g.tokens, g.input_hash, g.model, stage_chunks.embeddings[g.embedding]
      from given g
      where not g.kept
    )
    select array_agg(g.chunk_id order by g.place) into embedding_ids from given g;
    staged := true;
  exception when unique_violation then -- another session has staged since the source was read
    embedding_ids := '{}';
  end;
  return next;
end
$$;
comment on function public.stage_chunks is
  'Stores some of the new chunks of a source (a ticket, a project''s own text if ticket_id is null, or with comment_id a comment), hidden until store_chunks lists them. chunks: as for store_chunks, without source. A chunk_id moves a stored or staged chunk to another position, which is visible at once. A waiting job of the source is due in two minutes at the earliest. Returns the ids in the order of the list. staged is false and nothing is stored if the text no longer has this fingerprint, another session stages chunks of the source, or the set has another model: read the source again.';

insert into private.migrations (version) values ('20260101000810');
