-- Writing, reading and deleting documents.

create function public.upsert_documents(documents jsonb)
returns table (id uuid, created boolean, embedding_status text)
language sql volatile rows 100 security invoker set search_path = ''
as $$
  with given as materialized (
    select coalesce(g.id, gen_random_uuid()) as id, g.title, coalesce(g.content, '') as content, g.keywords, g.temporal_class, g.archived,
      g.created_at, g.origin, g.place
    from rows from (jsonb_to_recordset(upsert_documents.documents) as (
      id uuid, title text, content text, keywords text[], temporal_class text, archived boolean, created_at timestamptz, origin text
    )) with ordinality as g(id, title, content, keywords, temporal_class, archived, created_at, origin, place)
  ), written as (
    -- If an id occurs more than once, the last row counts. Rows are locked in order of ids to avoid
    -- deadlocks. The trigger replaces a null by the stored value.
    insert into public.documents as d (id, title, content, keywords, upserted_keywords, temporal_class, archived, created_at, origin)
    select distinct on (g.id) g.id, g.title, g.content, k.keywords, k.keywords, g.temporal_class, g.archived, g.created_at, g.origin
    from given g
    cross join lateral (select case when g.keywords is not null then tasklens.combine_keywords(g.keywords, '{}') end as keywords) k
    order by g.id, g.place desc
    on conflict (id) do update set title = excluded.title, content = excluded.content, archived = excluded.archived,
      origin = coalesce(excluded.origin, d.origin),
      keywords = case when excluded.upserted_keywords is null then d.keywords
        else tasklens.combine_keywords(excluded.upserted_keywords, d.keywords, d.upserted_keywords) end,
      upserted_keywords = coalesce(excluded.upserted_keywords, d.upserted_keywords),
      temporal_class = excluded.temporal_class, given_temporal_class = coalesce(excluded.given_temporal_class, d.given_temporal_class)
    returning d.id, d.embedding_status, d.xmax = 0 as created
  )
  select g.id, w.created, w.embedding_status
  from given g
  join written w using (id)
  order by g.place
$$;
comment on function public.upsert_documents is
  'Inserts or updates documents: [{id, title, content, keywords, temporal_class, archived, created_at, origin}], of which only title is required. keywords, temporal_class, archived and origin stay unchanged if absent; keywords replace those of the previous call. Returns one row per document, in order.';

create function public.prune_documents(origin text, listed uuid[], match_count integer default 0)
returns table (stored bigint, unlisted bigint, removed bigint, examples text[])
language sql volatile rows 1 security invoker set search_path = ''
as $$
  with owned as materialized (
    select d.id, d.title, d.id <> all (prune_documents.listed) as is_unlisted from public.documents d where d.origin = prune_documents.origin
  ), gone as (
    delete from public.documents d
    where d.id in (select o.id from owned o where o.is_unlisted order by o.id limit tasklens.clamp(prune_documents.match_count, 0, 0, 1000))
    returning d.id
  )
  select count(*), count(*) filter (where o.is_unlisted), (select count(*) from gone),
    (array_agg(o.title order by o.title) filter (where o.is_unlisted))[:5]
  from owned o
$$;
comment on function public.prune_documents is
  'How many documents an import of this origin stored, and how many of them it does not list any more, with examples; match_count of the latter, at most 1,000, are deleted.';

create function tasklens.document_queries(doc_id uuid) returns text[]
language sql stable security definer set search_path = ''
as $$
  select d.retrieval_queries from public.documents d where d.id = document_queries.doc_id and tasklens.is_unrestricted()
$$;
comment on function tasklens.document_queries is 'The queries that found a document; null for users, because they are those of others.';

create function public.get_document(doc_id uuid, visible boolean default false)
returns table (
  id uuid, title text, content text, keywords text[], named_entities jsonb, temporal_class text, archived boolean, embedding_status text, truncated boolean,
  utility_score double precision, retrieval_count bigint, last_retrieved_at timestamptz, retrieval_queries text[],
  enriched_at timestamptz, enrichment_model text, enrichment_error text, created_at timestamptz, updated_at timestamptz
)
language sql stable rows 1 security invoker set search_path = ''
as $$
  select d.id, d.title, case when get_document.visible then coalesce(d.visible_text, d.content) else d.content end, d.keywords, d.named_entities, d.temporal_class, d.archived, d.embedding_status, length(coalesce(d.visible_text, d.content)) > tasklens.text_limit(),
    d.utility_score, d.retrieval_count, d.last_retrieved_at, coalesce(tasklens.document_queries(d.id), '{}'),
    d.enriched_at, d.enrichment_model, d.enrichment_error, d.created_at, d.updated_at
  from public.documents d
  where d.id = get_document.doc_id
$$;
comment on function public.get_document is 'A document with all its fields. visible: its content as readers see it. truncated: its content is too long to be indexed whole.';

create function public.delete_document(doc_id uuid)
returns boolean
language sql volatile security invoker set search_path = ''
as $$
  with deleted as (delete from public.documents d where d.id = delete_document.doc_id returning 1)
  select exists (select from deleted)
$$;
comment on function public.delete_document is 'Deletes a document with its chunks and vectors. False if it does not exist.';

insert into tasklens.migrations (version) values ('20261127001125');
