-- Stores a document with too many chunks for one statement in parts, which stay hidden until the
-- last one; see stage_chunks.

create function public.stage_document_chunks(document_id uuid, source_hash text, chunks jsonb, embeddings extensions.vector[])
returns table (staged boolean, embedding_ids uuid[])
language plpgsql volatile rows 1 security invoker set search_path = ''
as $$
declare
  staging bigint;
begin
  staged := false;
  embedding_ids := '{}';
  -- Protects against deletion only: editors of the text do not wait, and an edit makes the last
  -- step fail.
  perform 1 from public.documents d where d.id = stage_document_chunks.document_id for key share skip locked;
  if not found or not exists (
    select 1 from public.documents d
    where d.id = stage_document_chunks.document_id and private.document_hash(d.title, d.content) = stage_document_chunks.source_hash)
  then
    return next;
    return;
  end if;

  insert into private.staged_generations (document_id) values (stage_document_chunks.document_id) on conflict do nothing;
  select g.generation into staging
    from private.staged_generations g where g.document_id = stage_document_chunks.document_id for update skip locked;
  if not found then -- another session is staging a part
    return next;
    return;
  end if;
  update private.staged_generations g set staged_at = clock_timestamp() where g.generation = staging;
  update private.embedding_jobs j set due_at = greatest(j.due_at, clock_timestamp() + interval '2 minutes')
    where j.embedding_job_id = any (array(select private.lock_waiting_document_jobs(array[stage_document_chunks.document_id])));

  begin
    with given as materialized (
      select g.place, coalesce(g.chunk_id, gen_random_uuid()) as chunk_id, g.chunk_id is not null as kept,
        g.position, g.text, g.tokens, g.input_hash, g.model, g.embedding
      from rows from (jsonb_to_recordset(stage_document_chunks.chunks) as (
        chunk_id uuid, position bigint, text text, tokens integer, input_hash text, model text, embedding integer
      )) with ordinality as g(chunk_id, position, text, tokens, input_hash, model, embedding, place)
    ), moved as (
      update public.document_chunks c set position = g.position
      from given g
      where g.kept and c.chunk_id = g.chunk_id and c.document_id = stage_document_chunks.document_id
    ), added as (
      insert into public.document_chunks (chunk_id, document_id, position, generation, text, tokens, input_hash)
      select g.chunk_id, stage_document_chunks.document_id, g.position, staging, g.text, g.tokens, g.input_hash from given g where not g.kept
    ), embedded as (
      insert into public.embeddings (document_id, chunk_id, generation, model, embedding)
      select stage_document_chunks.document_id, g.chunk_id, staging, g.model, stage_document_chunks.embeddings[g.embedding] from given g where not g.kept
    )
    select array_agg(g.chunk_id order by g.place) into embedding_ids from given g;
    staged := true;
  exception when unique_violation then -- another session has staged since the document was read
    embedding_ids := '{}';
  end;
  return next;
end
$$;
comment on function public.stage_document_chunks is
  'Stores some of the new chunks of a document, hidden until store_document_chunks lists them. chunks: as for store_document_chunks, without source. A chunk_id moves a stored or staged chunk to another position, which is visible at once. A waiting job of the document is due in two minutes at the earliest. Returns the ids in the order of the list. staged is false and nothing is stored if the text no longer has this fingerprint or another session stages chunks of the document: read it again.';

insert into private.migrations (version) values ('20260101003035');
