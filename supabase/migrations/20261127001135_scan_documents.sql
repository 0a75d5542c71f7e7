-- All bulk comparisons of documents' own vectors happen here.

-- A comparison takes about 4 µs; a thousand rows from the index cost as much as about 5,000
-- comparisons.
create function tasklens.documents_are_few() returns boolean
language sql stable security invoker set search_path = ''
as $$
  select count(*) <= 5000
  from (select from public.documents d where not d.archived and d.embedding_status = 'complete' limit 5001) counted
$$;
comment on function tasklens.documents_are_few is 'Whether comparing all documents costs no more than reading the vector index.';

-- A small number of documents is compared completely. For more, the index proposes the nearest. If
-- it stops before it has enough (after hnsw.max_scan_tuples, for instance because most are
-- archived), all are compared. Its batches are not ordered among each other, so more rows are read
-- than needed, and scanning ends after 20 rows at or below the threshold; see scan_chunks.
create function tasklens.scan_documents(
  query_embedding extensions.vector,
  embedding_model text,
  match_threshold double precision,
  document_limit integer
)
returns table (document_id uuid, similarity double precision)
-- JIT compilation would take longer than any of these queries.
language plpgsql stable rows 1000 security definer set search_path = '' set jit = off
as $$
declare
  saved_sort text;
  distance double precision;
  document_ids uuid[] := array[]::uuid[];
  similarities double precision[] := array[]::double precision[];
  below integer := 0;
  enough boolean := false;
begin
  -- A zero vector has no cosine similarity. A caller without projects sees no documents.
  if tasklens.projects_as('viewer') = '{}' or query_embedding is null or extensions.vector_norm(query_embedding) = 0 then
    return;
  end if;
  if not tasklens.documents_are_few() then
    saved_sort := current_setting('enable_sort');
    perform set_config('hnsw.ef_search', greatest(200, least(1000, document_limit))::text, true);
    perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
    -- Force the order to come from the index, whatever the statistics say.
    perform set_config('enable_sort', 'off', true);
    for document_id, distance in
      execute format('select e.document_id, e.embedding operator(extensions.<=>) $1
        from public.embeddings e
        where e.chunk_id is null%s
          -- A scalar subquery cannot become a join, which would lose the order of the index.
          and (select not d.archived and d.embedding_status = ''complete'' from public.documents d where d.id = e.document_id)
        order by e.embedding operator(extensions.<=>) $1
        limit $3', case when embedding_model is not null then ' and e.model = $2' end)
      using query_embedding, embedding_model, greatest(150, document_limit + 20)
    loop
      if 1 - distance > match_threshold then
        document_ids := document_ids || document_id;
        similarities := similarities || (1 - distance);
      else
        below := below + 1;
      end if;
      enough := below >= 20 or cardinality(document_ids) >= greatest(150, document_limit);
      exit when enough;
    end loop;
    perform set_config('enable_sort', saved_sort, true);
    enough := enough or cardinality(document_ids) >= document_limit;
  end if;
  if enough then
    return query select f.document_id, f.similarity from unnest(document_ids, similarities) as f(document_id, similarity);
  else
    return query
      with compared as materialized (
        select d.id, 1 - (e.embedding operator(extensions.<=>) query_embedding) as similarity
        from public.documents d
        join public.embeddings e on e.document_id = d.id and e.chunk_id is null
        where not d.archived and d.embedding_status = 'complete' and (embedding_model is null or e.model = embedding_model)
      )
      select c.id, c.similarity from compared c where c.similarity > match_threshold;
  end if;
end
$$;
comment on function tasklens.scan_documents is
  'Visible documents strictly above the threshold, unordered: all, or at least the document_limit nearest. embedding_model null: vectors of any model.';

insert into tasklens.migrations (version) values ('20261127001135');
