-- Search of documents by meaning. All bulk comparisons of documents' vectors happen here.

-- Few documents are all compared: a thousand rows from the index cost as much as 5,000 comparisons.
-- So are more, if the index stops before it has enough (most are archived). Its batches are not in
-- order, so scanning ends after 20 rows at or below the threshold; see scan_chunks.
create function tasklens.scan_embeddings(
  query_embedding extensions.vector,
  embedding_model text,
  match_threshold double precision,
  row_limit integer,
  of_chunks boolean default false
)
returns table (document_id uuid, chunk_id uuid, similarity double precision)
-- JIT compilation would take longer than any of these queries.
language plpgsql stable rows 1000 security definer set search_path = '' set jit = off set plan_cache_mode = auto
as $$
declare
  enough constant integer := greatest(150, row_limit);
  wanted constant text := format('e.chunk_id is %snull%s', case when of_chunks then 'not ' end, case when embedding_model is not null then ' and e.model = $2' end);
  saved_sort constant text := current_setting('enable_sort');
  document_ids uuid[] := array[]::uuid[];
  chunk_ids uuid[] := array[]::uuid[];
  similarities double precision[] := array[]::double precision[];
  below integer := 0;
begin
  -- A zero vector has no cosine similarity. A caller without projects sees no documents.
  if tasklens.projects_as('viewer') = '{}' or query_embedding is null or extensions.vector_norm(query_embedding) = 0 then
    return;
  end if;
  if of_chunks or (
    select count(*) > 5000 from (select from public.documents d where not d.archived and d.embedding_status = 'complete' limit 5001) counted)
  then
    perform set_config('hnsw.ef_search', greatest(200, least(1000, row_limit))::text, true),
      set_config('hnsw.iterative_scan', 'relaxed_order', true),
      set_config('enable_sort', 'off', true); -- force the order to come from the index, whatever the statistics say
    for document_id, chunk_id, similarity in
      -- A scalar subquery cannot become a join, which would lose the order of the index.
      execute format('select e.document_id, e.chunk_id, 1 - (e.embedding operator(extensions.<=>) $1) as similarity
        from public.embeddings e
        where %s and (select not d.archived and d.embedding_status = ''complete'' from public.documents d where d.id = e.document_id)
        order by e.embedding operator(extensions.<=>) $1
        limit $3', wanted)
      using query_embedding, embedding_model, greatest(150, row_limit + 20)
    loop
      if similarity > match_threshold then
        document_ids := document_ids || document_id;
        chunk_ids := chunk_ids || chunk_id;
        similarities := similarities || similarity;
      else
        below := below + 1;
      end if;
      exit when below >= 20 or cardinality(document_ids) >= enough;
    end loop;
    perform set_config('enable_sort', saved_sort, true);
    if below >= 20 or cardinality(document_ids) >= row_limit and cardinality(document_ids) + below >= enough then
      return query select f.* from unnest(document_ids, chunk_ids, similarities) as f;
      return;
    end if;
  end if;
  return query execute format('with compared as materialized (
      select e.document_id, e.chunk_id, 1 - (e.embedding operator(extensions.<=>) $1) as similarity
      from public.documents d join public.embeddings e on e.document_id = d.id
      where not d.archived and d.embedding_status = ''complete'' and %s)
    select c.* from compared c where c.similarity > $3', wanted)
    using query_embedding, embedding_model, match_threshold;
end
$$;
comment on function tasklens.scan_embeddings is
  'Visible documents, or chunks of documents, strictly above the threshold, unordered: all, or at least the row_limit nearest. embedding_model null: vectors of any model.';

create function public.search_documents(
  query_embedding extensions.vector(768),
  match_count integer default 10,
  match_threshold double precision default 0.3,
  embedding_model text default null
)
returns table (id uuid, title text, content text, similarity double precision)
-- Force index scans, whatever the statistics say: the table of documents must never be read
-- completely. The resulting cost estimate would trigger JIT compilation.
language sql stable rows 10 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
  select tasklens.check_arguments(null, search_documents.query_embedding, search_documents.embedding_model, 768);
  with nearest as (
    select s.document_id, s.similarity
    from tasklens.scan_embeddings(
      search_documents.query_embedding, search_documents.embedding_model, coalesce(search_documents.match_threshold, 0.3),
      tasklens.clamp(search_documents.match_count, 10, 1, 100)) s
    order by s.similarity desc, s.document_id
    limit tasklens.clamp(search_documents.match_count, 10, 1, 100)
  )
  select d.id, d.title, coalesce(d.visible_text, d.content), n.similarity
  from nearest n
  join public.documents d on d.id = n.document_id
  order by n.similarity desc, d.id
$$;
comment on function public.search_documents is
  'Documents by the cosine similarity of their own vector, strictly above match_threshold. embedding_model null: vectors of any model.';

create function public.find_similar_documents(doc_id uuid, match_count integer default 5)
returns table (id uuid, title text, similarity double precision)
language sql stable rows 5 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
  with nearest as (
    select s.document_id, s.similarity
    from public.embeddings e
    -- -2 is below every similarity: there is no threshold, only an order.
    cross join lateral tasklens.scan_embeddings(e.embedding, e.model, -2, tasklens.clamp(find_similar_documents.match_count, 5, 1, 100) + 1) s
    where e.document_id = find_similar_documents.doc_id and e.chunk_id is null and s.document_id <> e.document_id
    order by s.similarity desc, s.document_id
    limit tasklens.clamp(find_similar_documents.match_count, 5, 1, 100)
  )
  select d.id, d.title, n.similarity
  from nearest n
  join public.documents d on d.id = n.document_id
  order by n.similarity desc, d.id
$$;
comment on function public.find_similar_documents is
  'The documents whose own vector is nearest to that of a document, without a threshold.';

insert into tasklens.migrations (version) values ('20261127001135');
