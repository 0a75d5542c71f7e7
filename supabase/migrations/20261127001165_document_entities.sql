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

insert into tasklens.migrations (version) values ('20261127001165');
