-- Tickets that pass filters, without a search: a list by date instead of rank.

-- Security definer, because under row-level security lower() cannot use an index. It reads only
-- what the caller may see.
create function tasklens.list_passing(filters jsonb, sort text, list_limit integer, list_offset integer)
returns bigint[]
language plpgsql stable security definer set search_path = '' set jit = off
as $$
declare
  scope constant tasklens.scope := tasklens.resolve_scope(filters);
  listed bigint[] := array[]::bigint[];
begin
  if sort not in ('newest', 'updated') then
    raise exception 'sort is "%"', sort using errcode = '22023', hint = 'Use newest or updated.';
  end if;
  if not scope.is_empty then
    -- Planned separately for every filter.
    execute format(
        'select array(select t.ticket_id from public.tickets t where %s order by t.%s desc, t.ticket_id limit $2 offset $3)',
        scope.condition, case sort when 'newest' then 'created_at' else 'updated_at' end)
      into listed using scope, list_limit, list_offset;
  end if;
  return listed;
end
$$;
comment on function tasklens.list_passing is 'Tickets that pass the filters of a search and the caller may see, latest first by creation (newest) or change (updated), ties by id.';

create function public.list_tickets(
  match_count integer default 10,
  match_offset integer default 0,
  project_filter bigint default null,
  status_filter text default null,
  sort text default 'newest',
  filters jsonb default null
)
returns table (
  ticket_id bigint, text text, project_id bigint, project_name text, ticket_key text, ticket_name text, status text, highlight text, has_more boolean,
  fields jsonb
)
language plpgsql stable rows 10 security invoker set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  page_size constant integer := tasklens.clamp(match_count, 10, 1, 100);
  page constant bigint[] := tasklens.list_passing(
    tasklens.check_arguments(filters, project_filter => list_tickets.project_filter, status_filter => list_tickets.status_filter), sort, page_size + 1, tasklens.clamp(match_offset, 0, 0, 1000));
begin
  return query
  select t.ticket_id, shown.text, p.project_id, p.name, t.key, t.name, s.name, tasklens.highlight(shown.text, null), cardinality(page) > page_size,
    tasklens.ticket_fields(t.ticket_id)
  from unnest(page[1:page_size]) with ordinality as g(ticket_id, place)
  join public.tickets t on t.ticket_id = g.ticket_id
  join public.projects p on p.project_id = t.project_id
  join public.status s on s.status_id = t.status_id
  cross join lateral (select tasklens.beginning_of(t.name, coalesce(t.visible_text, t.description)) as text) shown
  order by g.place;
end
$$;
comment on function public.list_tickets is
  'Tickets that pass the filters, latest first by creation (sort newest) or change (updated), with the columns of search_hybrid that apply to a list; text is the beginning of the ticket. match_count at most 100, match_offset 1,000; has_more: another page follows. Projects'' own texts are not listed.';

insert into tasklens.migrations (version) values ('20261127000740');
