-- Enrichment: a model reads a document and describes it. Its queue is that of embedding_jobs.

create function public.store_enrichment(source_id bigint, source_hash text, keywords text[], named_entities jsonb, temporal_class text, model text)
returns boolean
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  target constant uuid := (select s.document_id from tasklens.sources s where s.source_id = store_enrichment.source_id);
begin
  if cardinality(store_enrichment.keywords) > 15 then
    raise exception 'an enrichment has at most 15 keywords' using errcode = '22023', hint = 'Omit the least specific ones.';
  end if;
  -- The text is compared once nobody can change it.
  perform from public.documents d where d.id = target for no key update;
  update public.documents d
    set (keywords, enriched_keywords) = (
        select tasklens.combine_keywords(k.given, store_enrichment.keywords, k.removed), tasklens.combine_keywords(k.removed, store_enrichment.keywords, k.given)
        from (select tasklens.combine_keywords('{}', d.keywords, d.enriched_keywords) as given,
          tasklens.combine_keywords('{}', d.enriched_keywords, d.keywords) as removed) k),
      (named_entities, enriched_entities) = (
        select tasklens.combine_items(e.given, store_enrichment.named_entities, e.removed), tasklens.combine_items(e.removed, store_enrichment.named_entities, e.given)
        from (select tasklens.combine_items('[]', d.named_entities, d.enriched_entities) as given,
          tasklens.combine_items('[]', d.enriched_entities, d.named_entities) as removed) e),
      temporal_class = coalesce(d.given_temporal_class, store_enrichment.temporal_class),
      enriched_at = clock_timestamp(),
      enrichment_model = store_enrichment.model,
      enrichment_error = null
    where d.id = target and store_enrichment.source_hash = (select t.source_hash from tasklens.source_texts(array[store_enrichment.source_id]) t);
  return found;
end
$$;
comment on function public.store_enrichment is
  'Stores a model''s description of a document: at most 15 keywords, and named_entities ([{name, type}]), which replace those found before and follow those given. False if source_hash, from read_sources, is no longer that of its text.';

create function public.enrichment_stats()
returns table (total bigint, enriched bigint, unenriched bigint, failed bigint)
language sql stable rows 1 security invoker set search_path = ''
as $$
  select count(*), count(d.enriched_at), count(*) - count(d.enriched_at),
    count(*) filter (where d.enriched_at is null and d.enrichment_error is not null)
  from public.documents d
$$;
comment on function public.enrichment_stats is
  'How many documents there are, with the current text enriched, not enriched, and not enriched because the last attempt failed.';

create function public.list_unenriched_documents(after uuid default null, match_limit integer default 1000)
returns table (id uuid, title text, attempts integer, last_error text)
language sql stable rows 100 security invoker set search_path = ''
as $$
  select d.id, d.title, coalesce(j.attempts, 0), d.enrichment_error
  from public.documents d
  left join (tasklens.sources s join tasklens.embedding_jobs j on j.source_id = s.source_id and j.kind = 'enrich') on s.document_id = d.id
  where d.enriched_at is null and (list_unenriched_documents.after is null or d.id > list_unenriched_documents.after)
  order by d.id
  limit tasklens.clamp(list_unenriched_documents.match_limit, 1000, 1, 1000)
$$;
comment on function public.list_unenriched_documents is
  'The documents that enrichment_stats counts as unenriched, by id: how often their text was tried, and the error of the last attempt. after: the last id of the previous page.';

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

insert into tasklens.migrations (version) values ('20261127001255');
