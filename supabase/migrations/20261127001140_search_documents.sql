-- Search of documents by meaning only.

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
    from tasklens.scan_documents(
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
    cross join lateral tasklens.scan_documents(e.embedding, e.model, -2, tasklens.clamp(find_similar_documents.match_count, 5, 1, 100) + 1) s
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

insert into tasklens.migrations (version) values ('20261127001140');
