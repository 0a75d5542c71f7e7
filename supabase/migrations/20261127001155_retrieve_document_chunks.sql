-- Retrieval of document chunks for answers, as retrieve_chunks does for tickets.

create function public.retrieve_document_chunks(
  query_embedding extensions.vector(768),
  embedding_model text,
  match_threshold double precision default 0.7,
  match_count integer default 20
)
returns table (
  chunk_id uuid, document_id uuid, title text, text text, tokens integer, similarity double precision, over_threshold boolean,
  similarities real[]
)
language plpgsql stable rows 20 security invoker set search_path = '' set jit = off
as $$
declare
  wanted constant integer := tasklens.clamp(match_count, 20, 1, 100);
  -- Reads more rows than needed; see scan_documents.
  read constant integer := greatest(150, wanted);
  saved_sort constant text := current_setting('enable_sort');
  ids bigint[];
begin
  perform tasklens.check_arguments(null, retrieve_document_chunks.query_embedding, retrieve_document_chunks.embedding_model, 768);
  -- A zero vector has no cosine similarity.
  if query_embedding is null or extensions.vector_norm(query_embedding) = 0 then
    return;
  end if;
  perform set_config('hnsw.ef_search', '200', true);
  perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  -- Force the order to come from the index, whatever the statistics say.
  perform set_config('enable_sort', 'off', true);
  execute 'select array(
      select e.embedding_id
      from public.embeddings e
      where e.chunk_id is not null and e.model = $2
        and (select not d.archived and d.embedding_status = ''complete'' from public.documents d where d.id = e.document_id)
      order by e.embedding operator(extensions.<=>) $1
      limit $3)'
    into ids using query_embedding, embedding_model, read;
  perform set_config('enable_sort', saved_sort, true);
  -- The index stopped early, or there are no more rows: compare all.
  if cardinality(ids) < read then
    ids := array(
      with compared as materialized (
        select e.embedding_id, e.embedding operator(extensions.<=>) query_embedding as distance
        from public.documents d
        join public.embeddings e on e.document_id = d.id
        where not d.archived and d.embedding_status = 'complete' and e.chunk_id is not null and e.model = retrieve_document_chunks.embedding_model
      )
      select c.embedding_id from compared c order by c.distance, c.embedding_id limit wanted);
  end if;

  return query
  select d.chunk_id, d.document_id, d.title, d.text, d.tokens, d.similarity, d.similarity > match_threshold, d.similarities
  from tasklens.describe_chunks(array(
    select row(k.chunk_id, null, null, k.document_id, k.similarity, null, false)::tasklens.retrieved
    from (
      select c.*, row_number() over (order by c.similarity desc, c.chunk_id) as place
      from (
        select e.chunk_id, e.document_id, 1 - (e.embedding operator(extensions.<=>) query_embedding) as similarity
        from public.embeddings e where e.embedding_id = any (ids)
      ) c
    ) k
    where k.place = 1 or k.similarity > match_threshold and k.place <= wanted
    order by k.place
  ), embedding_model) d;
end
$$;
comment on function public.retrieve_document_chunks is
  'The chunks of documents nearest to a question: those above match_threshold, or else only the nearest one with over_threshold false. similarities[i] is the cosine similarity to row i, of the rows before its own.';

insert into tasklens.migrations (version) values ('20261127001155');
