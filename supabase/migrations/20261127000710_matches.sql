-- Everything that matches a query, for counting: unranked and not limited to a list.

-- What a hybrid search would list without limits: the tickets that the query names, the nearest
-- over the threshold, and every keyword match. Words are looked up while they and the rarer ones
-- together are in at most twice match_limit texts, commoner ones in names only, and the list is
-- incomplete.
create function tasklens.list_matches(search tasklens.search, match_limit integer, latest text default null)
returns table (project_id bigint, ticket_id bigint, complete boolean)
language plpgsql stable rows 1000 security invoker set search_path = '' set jit = off set plan_cache_mode = auto
as $$
#variable_conflict use_column
declare
  scope constant tasklens.scope := search.scope;
  query constant tasklens.query := search.query;
  reach constant integer := greatest(20000, 2 * match_limit);
begin
  if scope.is_empty then
    return;
  end if;
  if search.words is null then
    -- Planned separately for every filter.
    for project_id, ticket_id, complete in execute format(
      'select l.*, count(*) over () <= $2 from (
        select t.project_id, t.ticket_id from public.tickets t where %s order by t.%I desc, t.ticket_id limit $2 + 1) l
      limit $2', scope.condition, coalesce(latest, 'created_at')) using scope, match_limit
    loop
      return next;
    end loop;
    return;
  end if;

  return query
  select f.project_id, f.ticket_id, bool_and(bool_and(f.complete)) over () and count(*) over () <= match_limit
  from (
    select n.project_id, n.ticket_id, 1 as place, true as complete from tasklens.nearest_sources(search) n
    union all
    select (select t.project_id from public.tickets t where t.ticket_id = n.ticket_id), n.ticket_id, 1, true
    from unnest(tasklens.passing_tickets(scope, query.named_tickets)) as n(ticket_id)
    union all
    select c.project_id, c.ticket_id, 2, search.few is not null or t.texts <= reach
    from (select sum(u.entries + u.comments) as texts from unnest((search.words).entries, (search.words).comments) as u(entries, comments)) t
    -- What is excluded only here leaves enough of the latest.
    cross join tasklens.keyword_candidates(search, reach,
      case when latest is null or query.excluded is null then match_limit + 1 + cardinality(query.excluded_tickets) else reach end, latest) c
    where (c.ticket_id in (select unnest(query.excluded_tickets))) is not true
      and (query.excluded is null
        or (select e.words @@ query.excluded from public.keyword_entries e where e.keyword_entry_id = c.keyword_entry_id) is not true)
  ) f
  left join public.tickets t on latest is not null and t.ticket_id = f.ticket_id
  left join public.projects p on latest is not null and f.ticket_id is null and p.project_id = f.project_id
  group by f.project_id, f.ticket_id, t.ticket_id, p.project_id
  order by case latest when 'created_at' then coalesce(t.created_at, p.created_at) when 'updated_at' then coalesce(t.updated_at, p.updated_at) end desc,
    case when latest is null then min(f.place) end, f.ticket_id nulls last, f.project_id
  limit match_limit;
end
$$;
comment on function tasklens.list_matches is
  'Tickets and projects (ticket_id null) that a search matches: those named by key, the nearest by vector, then by words; complete: these are all. By created_at or updated_at, the latest of all these first. Without a query: the tickets in its scope, newest first.';

create function tasklens.find_matches(
  query_text text, query_embedding extensions.vector, embedding_model text, match_threshold double precision,
  filters jsonb[], match_limit integer
)
returns table (filtered bigint, project_id bigint, ticket_id bigint, complete boolean)
language plpgsql stable rows 1000 security definer set search_path = ''
as $$
declare
  search tasklens.search := tasklens.begin_search(query_text, null, query_embedding, embedding_model, match_threshold);
begin
  for i in 1..cardinality(find_matches.filters) loop
    search.scope := tasklens.resolve_scope(find_matches.filters[i]);
    search.few := case when search.words is not null then tasklens.few_entries(search.scope, (search.query).required) end;
    return query select i::bigint, m.* from tasklens.list_matches(search, match_limit) m;
  end loop;
end
$$;
comment on function tasklens.find_matches is
  'list_matches of one query under several filters, in what the caller may see; filtered: which of them.';

insert into tasklens.migrations (version) values ('20261127000710');
