-- Enrichment: a model reads a document and describes it. It replaces only the keywords and entities
-- that it found itself, and keeps every edit. Both are lists of items.

-- PL/pgSQL plans a query once per session; SQL functions do so at every call.
create function tasklens.combine_items(first jsonb, second jsonb, without jsonb default '[]') returns jsonb
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return (
    with items as (
      select l.list, i.item, i.place, case jsonb_typeof(i.item)
          when 'object' then jsonb_build_array(lower(btrim(i.item ->> 'name')), lower(nullif(btrim(i.item ->> 'type'), '')))::text
          else lower(btrim(i.item #>> '{}')) end as key
      from (values (1, first), (2, second), (3, without)) as l(list, items)
      cross join lateral jsonb_array_elements(l.items) with ordinality as i(item, place)
    ), kept as (
      select distinct on (i.key) i.* from items i
      where i.list < 3 and i.key <> '' and (i.list = 1 or not exists (select from items w where w.list = 3 and w.key = i.key))
      order by i.key, i.list, i.place
    )
    select coalesce(jsonb_agg(case jsonb_typeof(k.item) when 'string' then to_jsonb(btrim(k.item #>> '{}')) else k.item end order by k.list, k.place), '[]')
    from kept k);
end
$$;
comment on function tasklens.combine_items is
  'The keywords or entities of the first list, then those of the second that the third lacks, without blanks and duplicates. Case does not matter.';

create function tasklens.combine_keywords(first text[], second text[], without text[] default '{}') returns text[]
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return array(select jsonb_array_elements_text(tasklens.combine_items(to_jsonb(first), to_jsonb(second), to_jsonb(without))));
end
$$;
comment on function tasklens.combine_keywords is 'combine_items for keywords.';

-- The only trigger before a document is written.
create function tasklens.prepare_document() returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  known public.documents;
  weight bigint;
begin
  if tg_op = 'INSERT' then
    -- supabase-js and other clients send null for columns that one row of a batch omits: an upsert
    -- keeps existing values. The lock keeps them current until the conflict is detected.
    select d.* into known from public.documents d where d.id = new.id for no key update;
    new.id := coalesce(new.id, gen_random_uuid());
    if new.enriched_at is null then
      new.given_temporal_class := new.temporal_class;
    end if;
    new.temporal_class := coalesce(new.temporal_class, known.temporal_class);
    new.content := coalesce(new.content, known.content, '');
    new.keywords := coalesce(new.keywords, known.keywords, '{}');
    new.named_entities := coalesce(new.named_entities, known.named_entities, '[]');
    new.archived := coalesce(new.archived, known.archived, false);
    new.utility_score := coalesce(new.utility_score, known.utility_score, 0);
    new.created_at := coalesce(new.created_at, known.created_at, now());
    new.helpful_votes := 0;
    new.unhelpful_votes := 0;
    new.utility_base := coalesce(new.utility_base, least(10, new.utility_score));
    return new;
  end if;
  if new.enriched_at is not distinct from old.enriched_at then
    -- An edit. What it adds is given from now on, and enrichment does not bring back what it removes.
    if new.keywords <> old.keywords then
      new.enriched_keywords := tasklens.combine_keywords(tasklens.combine_keywords('{}', old.keywords, new.keywords),
        new.enriched_keywords, tasklens.combine_keywords('{}', new.keywords, old.keywords));
    end if;
    -- A check constraint rejects invalid entities.
    if new.named_entities <> old.named_entities and jsonb_typeof(new.named_entities) = 'array' then
      new.enriched_entities := tasklens.combine_items(tasklens.combine_items('[]', old.named_entities, new.named_entities),
        new.enriched_entities, tasklens.combine_items('[]', new.named_entities, old.named_entities));
    end if;
    if new.temporal_class is distinct from old.temporal_class then
      new.given_temporal_class := new.temporal_class;
    end if;
  end if;
  weight := 19 + new.helpful_votes + new.unhelpful_votes;
  if new.utility_score <> old.utility_score then
    -- A written score is kept; its base is derived from it.
    new.utility_base := (least(10, new.utility_score) * weight - 10 * new.helpful_votes) / 19;
  elsif (new.utility_base, new.helpful_votes, new.unhelpful_votes) is distinct from (old.utility_base, old.helpful_votes, old.unhelpful_votes) then
    new.utility_score := greatest(0, least(10, (19 * new.utility_base + 10 * new.helpful_votes) / weight));
  end if;
  -- A new text is embedded and enriched again. Until then the old keywords are kept.
  if (new.title, new.content) is distinct from (old.title, old.content) then
    new.embedding_status := 'pending';
    new.enriched_at := null;
    new.enrichment_error := null;
  end if;
  if (new.title, new.content, new.keywords, new.named_entities, new.temporal_class, new.archived)
    is distinct from (old.title, old.content, old.keywords, old.named_entities, old.temporal_class, old.archived) then
    new.updated_at := now();
  end if;
  return new;
end
$$;
comment on function tasklens.prepare_document is
  'Trigger: fills nulls, tells edits from enrichment, derives utility_score from votes and base (or the base from a written score), and marks a changed text.';

create trigger prepare_document before insert or update on public.documents
  for each row execute function tasklens.prepare_document();

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

insert into tasklens.migrations (version) values ('20261127001105');
