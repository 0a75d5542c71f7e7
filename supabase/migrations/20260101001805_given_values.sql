-- What people write about a document and what enrichment finds are stored separately. The columns
-- that search reads are derived from both: enrichment writes only enriched_*, everyone else any
-- other column.

create function private.combine_keywords(first text[], second text[]) returns text[]
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return (
    select coalesce(array_agg(k.keyword order by k.place), '{}')
    from (
      select distinct on (lower(btrim(g.keyword))) btrim(g.keyword) as keyword, g.place
      from unnest(combine_keywords.first || combine_keywords.second) with ordinality as g(keyword, place)
      where g.keyword ~ '\S'
      order by lower(btrim(g.keyword)), g.place
    ) k);
end
$$;
comment on function private.combine_keywords is 'The keywords of both lists in order, without blanks and without duplicates (case-insensitive).';

-- Keywords and entities are lists of items with a key. plpgsql, because it plans a query once per
-- session, not once per row.
create function private.item_key(item jsonb) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return case jsonb_typeof(item)
    when 'object' then jsonb_build_array(lower(btrim(item ->> 'name')), lower(nullif(btrim(item ->> 'type'), '')))::text
    else lower(btrim(item #>> '{}')) end;
end
$$;
comment on function private.item_key is 'The key of a keyword or named entity. Items with equal keys are duplicates.';

create function private.combine_items(first jsonb, second jsonb) returns jsonb
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(k.item order by k.place), '[]')
    from (
      select distinct on (private.item_key(g.item)) g.item, g.place
      from jsonb_array_elements(combine_items.first || combine_items.second) with ordinality as g(item, place)
      order by private.item_key(g.item), g.place
    ) k);
end
$$;
comment on function private.combine_items is 'The items of both lists in order, without duplicates.';

create function private.subtract_items(items jsonb, others jsonb) returns jsonb
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if others = '[]' then
    return items;
  end if;
  return (
    select coalesce(jsonb_agg(i.item order by i.place), '[]')
    from jsonb_array_elements(subtract_items.items) with ordinality as i(item, place)
    where private.item_key(i.item) not in (select private.item_key(o.item) from jsonb_array_elements(subtract_items.others) as o(item)));
end
$$;
comment on function private.subtract_items is 'The items of the first list that are not in the second, in order.';

create function private.edit_items(before jsonb, written jsonb, enriched jsonb, inout given jsonb, inout removed jsonb, out items jsonb)
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if written is null then
    given := '[]';
    removed := '[]';
  elsif written <> before then
    -- An item that the edit keeps remains given or enriched.
    given := private.combine_items('[]', (
      select coalesce(jsonb_agg(w.item order by w.place), '[]')
      from jsonb_array_elements(written) with ordinality as w(item, place)
      where private.item_key(w.item) in (select private.item_key(g.item) from jsonb_array_elements(given) as g(item))
        or not exists (select from jsonb_array_elements(before) as b(item) where b.item = w.item)));
    removed := private.subtract_items(private.combine_items(removed, private.subtract_items(before, written)), written);
  end if;
  items := private.subtract_items(private.combine_items(given, enriched), removed);
end
$$;
comment on function private.edit_items is
  'Applies an edit of a list of given and enriched items: new items become given, missing ones removed. written null drops all edits.';

create function private.derive_document() returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  written_keywords jsonb := to_jsonb(case when new.keywords is not null then private.combine_keywords(new.keywords, '{}') end);
  written_entities jsonb := new.named_entities;
  edited record;
begin
  if tg_op = 'INSERT' then
    written_keywords := private.combine_items(written_keywords, to_jsonb(new.given_keywords));
  end if;
  select e.* into edited from private.edit_items(
    to_jsonb(coalesce(old.keywords, new.enriched_keywords)), written_keywords, to_jsonb(new.enriched_keywords), to_jsonb(new.given_keywords),
    -- A keyword that is written again is no longer removed.
    private.subtract_items(to_jsonb(new.removed_keywords), private.subtract_items(to_jsonb(new.given_keywords), to_jsonb(old.given_keywords)))) e;
  new.given_keywords := array(select jsonb_array_elements_text(edited.given));
  new.removed_keywords := array(select jsonb_array_elements_text(edited.removed));
  new.keywords := array(select jsonb_array_elements_text(edited.items));

  -- Check constraints reject invalid entities.
  if private.are_entities(coalesce(new.named_entities, '[]')) and private.are_entities(new.given_entities)
    and private.are_entities(new.enriched_entities) and private.are_entities(new.removed_entities) then
    if tg_op = 'INSERT' then
      written_entities := private.combine_items(written_entities, new.given_entities);
    end if;
    select e.* into edited from private.edit_items(
      coalesce(old.named_entities, new.enriched_entities), written_entities, new.enriched_entities, new.given_entities,
      private.subtract_items(new.removed_entities, private.subtract_items(new.given_entities, old.given_entities))) e;
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
  return new;
end
$$;
comment on function private.derive_document is
  'Trigger: separates edits of keywords, entities and temporal class from enrichment, and derives the columns that search reads.';

create trigger derive_document before insert or update of
  keywords, given_keywords, enriched_keywords, removed_keywords, named_entities, given_entities, enriched_entities, removed_entities,
  temporal_class, given_temporal_class, enriched_temporal_class on public.documents
  for each row execute function private.derive_document();

insert into private.migrations (version) values ('20260101001805');
