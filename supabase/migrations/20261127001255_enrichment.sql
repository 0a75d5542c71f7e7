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

insert into tasklens.migrations (version) values ('20261127001255');
