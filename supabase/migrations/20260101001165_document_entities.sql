-- Search of documents by the people and systems that they name.

create table public.document_entities (
  document_id uuid not null references public.documents on delete cascade,
  place integer not null,
  name text not null,
  type text,
  primary key (document_id, place)
);
comment on table public.document_entities is 'The named entities of documents for lookup, each once per document, kept by a trigger.';
create index document_entities_name_idx on public.document_entities (lower(name));
create index document_entities_name_pieces_idx on public.document_entities using gin (private.pieces(array[name]));

alter table public.document_entities enable row level security;
revoke all on public.document_entities from anon, authenticated;
grant select on public.document_entities to authenticated, service_role;
create policy read_entities on public.document_entities for select to authenticated
  using ((select private.projects_as('viewer')) <> '{}');

-- Security definer: with row-level security the indexes on names could not be used.
create function private.find_entities(entity_name text, entity_type text, match_limit integer)
returns table (id uuid, title text, matched_entity text, matched_type text)
-- Force the lookup of names to use the indexes, whatever the statistics say.
language plpgsql stable rows 10 security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  wanted constant text := lower(btrim(entity_name));
  wanted_type constant text := lower(private.filter_text(entity_type));
  wanted_count constant integer := private.clamp(match_limit, 10, 1, 100);
  exact_count bigint;
begin
  -- A caller without projects sees no documents. No stored name is longer, and splitting such a
  -- text could take minutes.
  if coalesce(wanted, '') = '' or length(wanted) > 500 or private.projects_as('viewer') = '{}' then
    return;
  end if;
  return query
    with named as materialized (
      select e.* from public.document_entities e
      where lower(e.name) = wanted and (wanted_type is null or lower(e.type) = wanted_type)
    )
    select d.id, d.title, e.name, e.type
    from named e
    join public.documents d on d.id = e.document_id
    where not d.archived
    order by d.title, d.id, e.place
    limit wanted_count;
  get diagnostics exact_count = row_count;
  if exact_count < wanted_count then
    return query
      with named as materialized (
        select e.* from public.document_entities e
        where private.pieces(array[e.name]) @> private.pieces(array[wanted], 3)
          and strpos(lower(e.name), wanted) > 0 and lower(e.name) <> wanted and (wanted_type is null or lower(e.type) = wanted_type)
      )
      select d.id, d.title, e.name, e.type
      from named e
      join public.documents d on d.id = e.document_id
      where not d.archived
      -- The shorter the name, the better the match.
      order by length(e.name), lower(e.name), d.title, d.id, e.place
      limit wanted_count - exact_count;
  end if;
end
$$;
comment on function private.find_entities is 'find_documents_by_entity, for what the caller may see.';

create function public.find_documents_by_entity(entity_name text, entity_type text default null, match_limit integer default 10)
returns table (id uuid, title text, matched_entity text, matched_type text)
language sql stable rows 10 security invoker set search_path = ''
as $$
  select f.id, f.title, f.matched_entity, f.matched_type
  from private.find_entities(find_documents_by_entity.entity_name, find_documents_by_entity.entity_type, find_documents_by_entity.match_limit) f
$$;
comment on function public.find_documents_by_entity is
  'Documents that name an entity whose name contains entity_name (case-insensitive): exact names first, then by length. Archived documents are excluded.';

insert into private.migrations (version) values ('20260101001165');
