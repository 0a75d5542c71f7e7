-- What a patch release may do to functions and to a table in use, by the rules of
-- docs/development.md. TestUpgrade applies it.

-- Searches that come while it waits for a lock wait too: give up soon, and be repeated.
set local lock_timeout = '2s';

alter table public.tickets add column severity text;
comment on column public.tickets.severity is 'How bad it is, as in the tracker.';
insert into tasklens.installed_parts
select p.kind, p.part, p.on_table, p.definition from tasklens.present_parts() p where p.part = 'public.tickets.severity';

-- The same arguments and results: it keeps its grants and its comment, but not its settings.
create or replace function tasklens.nearest_sources(search tasklens.search, match_count integer default 100)
returns table (rank bigint, project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision)
language plpgsql stable rows 300 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  -- Changed by an upgrade.
  return query
  with best as (
    select distinct on (s.ticket_id, s.project_id) s.project_id, s.ticket_id, s.chunk_id, s.similarity
    from tasklens.scan_chunks(search, 10000, match_count, false) s
    where s.similarity > search.match_threshold
    order by s.ticket_id, s.project_id, s.similarity desc, s.chunk_id
  )
  select row_number() over (order by b.similarity desc, b.ticket_id nulls last, b.project_id) as rank,
    b.project_id, b.ticket_id, b.chunk_id, b.similarity
  from best b
  where search.embedding is not null
  order by 1
  limit match_count;
end
$$;

-- Another column in its result, the last: it is created again, and has lost everything.
drop function public.list_statuses(bigint, integer);
create function public.list_statuses(after bigint default 0, match_count integer default 1000)
returns table (status_id bigint, name text, category text)
language sql stable security invoker set search_path = ''
as $$
  select s.status_id, s.name, s.category
  from public.status s
  where s.status_id > coalesce(list_statuses.after, 0)
  order by s.status_id
  limit tasklens.clamp(list_statuses.match_count, 1000, 1, 1000)
$$;
comment on function public.list_statuses is
  'The statuses, in order of creation. match_count at most 1,000; after: the last status_id of the previous page. No rows follow the last page.';
do 'begin perform tasklens.set_grants(); end';

insert into tasklens.migrations (version) values ('20990101000000');
