-- Writing, reading and deleting documents, and finding them by what they name.

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
returns table (stored bigint, documents bigint, examples text[])
language sql volatile rows 1 security invoker set search_path = ''
as $$
  with owned as materialized (
    select d.id, d.title, d.id <> all (prune_documents.listed) as is_unlisted from public.documents d where d.origin = prune_documents.origin
  ), gone as (
    delete from public.documents d
    where d.id in (select o.id from owned o where o.is_unlisted order by o.id limit tasklens.clamp(prune_documents.match_count, 0, 0, 1000))
    returning d.id
  )
  select count(*), case when prune_documents.match_count > 0 then (select count(*) from gone) else count(*) filter (where o.is_unlisted) end,
    (array_agg(o.title order by o.title) filter (where o.is_unlisted))[:5]
  from owned o
$$;
comment on function public.prune_documents is
  'How many documents an import of this origin stored, and how many of them it does not list any more, with examples. Deletes at most match_count of the latter, and counts these: call it until none is left.';

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

-- The index contains every substring of up to 3 characters. A text of 1 to 3 characters is one of
-- them; a longer text can only be contained where all its 3-character substrings are. Unlike
-- pg_trgm's trigrams, these include "c++" and "go".
create function tasklens.pieces(texts text[], shortest integer default 1) returns text[]
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(array_agg(distinct substr(t.text, s.start, s.length)), '{}')
  from (select lower(x) as text from unnest(pieces.texts) x) t
  cross join lateral (
    select start, length from generate_series(1, length(t.text)) start, generate_series(1, 3) length
    where start + length - 1 <= length(t.text) and length >= least(pieces.shortest, length(t.text))
  ) s
$$;
comment on function tasklens.pieces is
  'All substrings of 1 to 3 characters, in lower case; with shortest 3, those that any text containing one of these must have.';

-- Search of documents by the people and systems that they name.

create function tasklens.entity_names(entities jsonb) returns text[]
language sql immutable security invoker set search_path = ''
as $$
  -- Nobody looks for more of a name.
  select array(select left(btrim(e ->> 'name'), 500) from jsonb_array_elements(entity_names.entities) e)
$$;
comment on function tasklens.entity_names is 'The names of a list of entities.';

create index documents_entity_pieces_idx on public.documents using gin (tasklens.pieces(tasklens.entity_names(named_entities))) where not archived;

-- Security definer: with row-level security the index on names could not be used.
create function tasklens.find_entities(entity_name text, entity_type text, match_limit integer)
returns table (id uuid, title text, matched_entity text, matched_type text)
-- Force the lookup of names to use the index, whatever the statistics say.
language plpgsql stable rows 10 security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  wanted constant text := lower(btrim(entity_name));
  wanted_type constant text := lower(tasklens.filter_text(entity_type));
begin
  -- A caller without projects sees no documents. No indexed name is longer, and splitting such a
  -- text could take minutes.
  if coalesce(wanted, '') = '' or length(wanted) > 500 or tasklens.projects_as('viewer') = '{}' then
    return;
  end if;
  return query
    select d.id, d.title, e.name, e.type
    from public.documents d
    cross join lateral (
      select distinct on (lower(n.name), lower(n.type)) n.*
      from (
        select btrim(x.entity ->> 'name') as name, nullif(btrim(x.entity ->> 'type'), '') as type, x.place
        from jsonb_array_elements(d.named_entities) with ordinality as x(entity, place)
      ) n
      order by lower(n.name), lower(n.type), n.place
    ) e
    where not d.archived and tasklens.pieces(tasklens.entity_names(d.named_entities)) @> tasklens.pieces(array[wanted], 3)
      and strpos(lower(e.name), wanted) > 0 and (wanted_type is null or lower(e.type) = wanted_type)
    -- The shorter the name, the better the match.
    order by lower(e.name) <> wanted, length(e.name), lower(e.name), d.title, d.id, e.place
    limit tasklens.clamp(match_limit, 10, 1, 100);
end
$$;
comment on function tasklens.find_entities is 'find_documents_by_entity, for what the caller may see.';

create function public.find_documents_by_entity(entity_name text, entity_type text default null, match_limit integer default 10)
returns table (id uuid, title text, matched_entity text, matched_type text)
language sql stable rows 10 security invoker set search_path = ''
as $$
  select f.id, f.title, f.matched_entity, f.matched_type
  from tasklens.find_entities(find_documents_by_entity.entity_name, find_documents_by_entity.entity_type, find_documents_by_entity.match_limit) f
$$;
comment on function public.find_documents_by_entity is
  'Documents that name an entity whose name contains entity_name (case-insensitive): exact names first, then by length. Archived documents are excluded.';

insert into tasklens.migrations (version) values ('20261127001125');
