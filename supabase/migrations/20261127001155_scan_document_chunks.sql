-- The chunks of documents nearest to a question, for retrieve_chunks.

create function tasklens.scan_document_chunks(query_embedding extensions.vector, embedding_model text, chunk_limit integer)
returns table (chunk_id uuid, document_id uuid, similarity double precision)
language plpgsql stable rows 100 security invoker set search_path = '' set jit = off set plan_cache_mode = auto
as $$
#variable_conflict use_column
declare
  -- Reads more rows than needed; see scan_documents.
  reach constant integer := greatest(150, chunk_limit);
  saved_sort constant text := current_setting('enable_sort');
  ids bigint[];
begin
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
    into ids using query_embedding, embedding_model, reach;
  perform set_config('enable_sort', saved_sort, true);
  -- The index stopped early, or there are no more rows: compare all.
  if cardinality(ids) < reach then
    ids := array(
      with compared as materialized (
        select e.embedding_id, e.embedding operator(extensions.<=>) query_embedding as distance
        from public.documents d
        join public.embeddings e on e.document_id = d.id
        where not d.archived and d.embedding_status = 'complete' and e.chunk_id is not null and e.model = scan_document_chunks.embedding_model
      )
      select c.embedding_id from compared c order by c.distance, c.embedding_id limit chunk_limit);
  end if;
  return query
  select e.chunk_id, e.document_id, 1 - (e.embedding operator(extensions.<=>) query_embedding) as similarity
  from public.embeddings e
  where e.embedding_id = any (ids)
  order by similarity desc, e.chunk_id
  limit chunk_limit;
end
$$;
comment on function tasklens.scan_document_chunks is 'The chunks of documents nearest to a vector of 768 dimensions, in order; none of archived documents.';

insert into tasklens.migrations (version) values ('20261127001155');
