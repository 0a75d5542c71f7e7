-- What people write about a document and what enrichment finds are stored separately. The columns
-- that search reads are derived from both: enrichment writes only enriched_*, everyone else any
-- other column. Keywords and entities are lists of items with a key.

-- PL/pgSQL plans a query once per session; SQL functions do so at every call.
create function private.item_key(item jsonb) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return case jsonb_typeof(item)
    when 'object' then jsonb_build_array(lower(btrim(item ->> 'name')), lower(nullif(btrim(item ->> 'type'), '')))::text
    else lower(btrim(item #>> '{}')) end;
end
$$;
comment on function private.item_key is 'The key of a keyword or named entity, empty or null if it is blank. Items with equal keys are duplicates.';

create function private.combine_items(first jsonb, second jsonb, without jsonb default '[]') returns jsonb
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(case jsonb_typeof(k.item) when 'string' then to_jsonb(btrim(k.item #>> '{}')) else k.item end order by k.is_second, k.place), '[]')
    from (
      select distinct on (g.key) g.*
      from (
        select f.item, false as is_second, f.place, private.item_key(f.item) as key from jsonb_array_elements(first) with ordinality as f(item, place)
        union all
        select s.item, true, s.place, private.item_key(s.item) from jsonb_array_elements(second) with ordinality as s(item, place)
      ) g
      where g.key <> '' and not (g.is_second and g.key = any (array(select private.item_key(w.item) from jsonb_array_elements(without) as w(item))))
      order by g.key, g.is_second, g.place
    ) k);
end
$$;
comment on function private.combine_items is
  'The items of the first list, then those of the second that the third lacks, without blanks and duplicates.';

create function private.combine_keywords(first text[], second text[], without text[] default '{}') returns text[]
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return array(select jsonb_array_elements_text(private.combine_items(to_jsonb(first), to_jsonb(second), to_jsonb(without))));
end
$$;
comment on function private.combine_keywords is 'combine_items for keywords.';

create function private.edit_items(
  before jsonb, written jsonb, enriched jsonb, given_before jsonb, inout given jsonb, inout removed jsonb, out items jsonb
)
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if written is null then
    given := '[]';
    removed := '[]';
  else
    -- An item that is written again is no longer removed.
    removed := private.combine_items('[]', removed, private.combine_items('[]', given, given_before));
    written := private.combine_items(written, case when before is null then given end);
    before := coalesce(before, enriched);
    if written <> before then
      -- An item that the edit keeps remains given or enriched.
      given := private.combine_items('[]', (
        select coalesce(jsonb_agg(w.item order by w.place), '[]')
        from jsonb_array_elements(written) with ordinality as w(item, place)
        where private.item_key(w.item) in (select private.item_key(g.item) from jsonb_array_elements(given) as g(item))
          or not exists (select from jsonb_array_elements(before) as b(item) where b.item = w.item)));
      removed := private.combine_items('[]', removed || before, written);
    end if;
  end if;
  items := private.combine_items('[]', given || enriched, removed);
end
$$;
comment on function private.edit_items is
  'Applies an edit of a list of given and enriched items: new items become given, missing ones removed. written null drops all edits. before and given_before are null for a new list.';

-- The only trigger before a document is written.
create function private.prepare_document() returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  known public.documents;
  edited record;
  weight bigint;
begin
  if tg_op = 'INSERT' then
    -- An upsert keeps existing values. The lock keeps them current until the conflict is detected.
    select d.* into known from public.documents d where d.id = new.id for no key update;
    new.id := coalesce(new.id, gen_random_uuid());
    new.temporal_class := coalesce(new.temporal_class, known.temporal_class);
    -- In an update, null unsets these three.
    new.keywords := coalesce(new.keywords, known.keywords, '{}');
    new.named_entities := coalesce(new.named_entities, known.named_entities, '[]');
    new.utility_score := coalesce(new.utility_score, known.utility_score, 0);
    new.helpful_votes := 0;
    new.unhelpful_votes := 0;
  end if;
  -- supabase-js and other clients send null for columns that one row of a batch omits.
  new.content := coalesce(new.content, known.content, '');
  new.archived := coalesce(new.archived, known.archived, false);
  new.given_keywords := coalesce(new.given_keywords, known.given_keywords, '{}');
  new.given_entities := coalesce(new.given_entities, known.given_entities, '[]');
  new.embedding_status := coalesce(new.embedding_status, known.embedding_status, 'pending');
  new.retrieval_count := coalesce(new.retrieval_count, known.retrieval_count, 0);
  new.retrieval_queries := coalesce(new.retrieval_queries, known.retrieval_queries, '{}');
  new.created_at := coalesce(new.created_at, known.created_at, old.created_at, now());
  new.updated_at := coalesce(new.updated_at, known.updated_at, now());
  if (new.keywords, new.given_keywords, new.enriched_keywords, new.removed_keywords)
    is distinct from (old.keywords, old.given_keywords, old.enriched_keywords, old.removed_keywords) then
    select e.* into edited from private.edit_items(to_jsonb(old.keywords), to_jsonb(new.keywords), to_jsonb(new.enriched_keywords),
      to_jsonb(old.given_keywords), to_jsonb(new.given_keywords), to_jsonb(new.removed_keywords)) e;
    new.given_keywords := array(select jsonb_array_elements_text(edited.given));
    new.removed_keywords := array(select jsonb_array_elements_text(edited.removed));
    new.keywords := array(select jsonb_array_elements_text(edited.items));
  end if;
  -- Check constraints reject invalid entities.
  if (new.named_entities, new.given_entities, new.enriched_entities, new.removed_entities)
    is distinct from (old.named_entities, old.given_entities, old.enriched_entities, old.removed_entities)
    and private.are_entities(coalesce(new.named_entities, '[]')) and private.are_entities(new.given_entities)
    and private.are_entities(new.enriched_entities) and private.are_entities(new.removed_entities) then
    select e.* into edited from private.edit_items(old.named_entities, new.named_entities, new.enriched_entities,
      old.given_entities, new.given_entities, new.removed_entities) e;
    new.given_entities := edited.given;
    new.removed_entities := edited.removed;
    new.named_entities := edited.items;
  end if;
  if tg_op = 'UPDATE' and new.temporal_class is distinct from old.temporal_class then
    new.given_temporal_class := new.temporal_class;
  elsif tg_op = 'INSERT' and new.temporal_class is distinct from new.enriched_temporal_class then
    new.given_temporal_class := coalesce(new.temporal_class, new.given_temporal_class);
  end if;
  new.temporal_class := coalesce(new.given_temporal_class, new.enriched_temporal_class);
  weight := 19 + new.helpful_votes + new.unhelpful_votes;
  if tg_op = 'INSERT' and new.utility_base is null or new.utility_score <> old.utility_score then
    -- A written score is kept; its base is derived from it.
    new.utility_base := (least(10, new.utility_score) * weight - 10 * new.helpful_votes) / 19;
  elsif (new.utility_score, new.utility_base, new.helpful_votes, weight) is distinct from
    (old.utility_score, old.utility_base, old.helpful_votes, 19 + old.helpful_votes + old.unhelpful_votes) then
    new.utility_base := case when new.utility_score is not null then new.utility_base else 0 end;
    new.utility_score := greatest(0, least(10, (19 * new.utility_base + 10 * new.helpful_votes) / weight));
  end if;
  -- A new text is embedded and enriched again. Until then the old keywords are kept.
  if tg_op = 'UPDATE' and (new.title, new.content) is distinct from (old.title, old.content) then
    new.embedding_status := 'pending';
    new.enriched_at := null;
    new.enrichment_attempts := 0;
    new.enrichment_error := null;
    new.enrichment_due_at := clock_timestamp();
    new.enrichment_lease_id := null;
  end if;
  if tg_op = 'UPDATE' and (new.title, new.content, new.keywords, new.named_entities, new.temporal_class, new.archived)
    is distinct from (old.title, old.content, old.keywords, old.named_entities, old.temporal_class, old.archived) then
    new.updated_at := now();
  end if;
  return new;
end
$$;
comment on function private.prepare_document is
  'Trigger: fills nulls, separates edits of keywords, entities and class from enrichment and derives the columns that search reads, derives utility_score from the votes and utility_base (or the base from a written score), and queues a changed text.';

create trigger prepare_document before insert or update on public.documents
  for each row execute function private.prepare_document();

insert into private.migrations (version) values ('20260101001105');
