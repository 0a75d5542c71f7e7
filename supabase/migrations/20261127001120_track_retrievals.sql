-- Counts retrievals of documents.

-- Rows are locked in order of ids, so that concurrent searches cannot deadlock. A session that
-- waited sees the other one's update, so no count is lost.
create function public.track_document_retrievals(doc_ids uuid[], query_text text)
returns void
language sql volatile security invoker set search_path = ''
as $$
  with found as materialized (
    select d.id from public.documents d where d.id = any (track_document_retrievals.doc_ids) order by d.id for no key update
  ), query as (
    select left(track_document_retrievals.query_text, 200) as text
  )
  update public.documents d
  set retrieval_count = d.retrieval_count + 1,
    last_retrieved_at = greatest(d.last_retrieved_at, now()),
    retrieval_queries = case when q.text ~ '\S' then (
        select array_agg(l.text order by l.place)
        from (
          select x.text, x.place
          from unnest(array_remove(d.retrieval_queries, q.text) || q.text) with ordinality as x(text, place)
          order by x.place desc
          limit 50
        ) l)
      else d.retrieval_queries end
  from found f
  cross join query q
  where d.id = f.id
$$;
comment on function public.track_document_retrievals is
  'Counts one retrieval of each document and stores its time and the last 50 distinct queries, each cut to 200 characters.';

create function public.track_document_retrieval(doc_id uuid, query_text text)
returns void
language sql volatile security invoker set search_path = ''
as $$
  select public.track_document_retrievals(array[track_document_retrieval.doc_id], track_document_retrieval.query_text)
$$;
comment on function public.track_document_retrieval is 'Counts the retrieval of one document; see track_document_retrievals.';

insert into tasklens.migrations (version) values ('20261127001120');
