-- Everything that matches a query, for counting: unranked and not limited to a list.

-- The entries that match the words, those with rare words first. Words are processed from rare to
-- common: first as one lookup those that are together in at most match_limit entries, then each
-- other word for what it adds, until there are match_limit matches, or reach entries were read
-- because a filter let few pass. So the work does not grow with how common words are. Comments
-- with the same words add their tickets. Of few entries all are found.
create function private.match_entries(search private.search, match_limit integer)
returns table (project_id bigint, ticket_id bigint, complete boolean)
-- Use the index on words: a scan of all entries would take seconds.
language plpgsql stable rows 1000 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  scope constant private.scope := search.scope;
  query constant private.query := search.query;
  words constant private.words := search.words;
  reach constant integer := 50000;
  filtered constant boolean := scope.projects is not null or scope.on_tickets;
  has_comments constant boolean := coalesce((select sum(u) from unnest(words.comments) as u), 0) > 0;
  tables constant text[] := case when has_comments then array['keyword_entries', 'comment_entries'] else array['keyword_entries'] end;
  own constant tsquery := case when query.excluded is null then query.required else coalesce(query.required && !!query.excluded, !!query.excluded) end;
  conditions text := '';
  step text; -- a table
  wanted tsquery;
  known tsquery; -- looked up so far
  looked bigint := 0;
  found_projects bigint[] := array[]::bigint[];
  found_tickets bigint[] := array[]::bigint[];
  step_looked bigint;
  step_projects bigint[];
  step_tickets bigint[];
begin
  if search.few is not null then
    return query
      select c.project_id, c.ticket_id, true from private.keyword_candidates(search, reach, match_limit) c
      where query.excluded is null or not (select e.words @@ query.excluded from public.keyword_entries e where e.keyword_entry_id = c.keyword_entry_id);
    return;
  end if;
  if scope.projects is not null then
    conditions := ' and r.project_id = any (($1).projects)';
  end if;
  if scope.on_tickets then
    conditions := conditions || format(' and (select %s from public.tickets t where t.ticket_id = r.ticket_id)', scope.condition_of_one);
  end if;

  <<terms>>
  for wanted in
    select string_agg(g.term, ' | ')::tsquery
    from (
      select u.term, u.place, sum(u.entries + u.comments) over (order by u.place) <= match_limit as rare
      from unnest(words.terms, words.entries, words.comments) with ordinality as u(term, entries, comments, place)
    ) g
    group by case when not g.rare then g.place end
    order by min(g.place)
  loop
    foreach step in array tables loop
      execute format('
        with raw as materialized (
          select e.project_id, e.ticket_id from public.%I e where e.words @@ $2 and (e.ticket_id in (select unnest($5))) is not true limit $3
        ), passed as (
          select r.project_id, r.ticket_id from (select %s w.* from raw w) r where true%s%s limit $4
        )
        select (select count(*) from raw) as looked, array_agg(p.project_id) as projects, array_agg(p.ticket_id) as tickets from passed p',
        step, case step when 'comment_entries' then 'distinct' end, conditions,
        case when step = 'comment_entries' and query.excluded is not null
          then ' and not exists (select from public.keyword_entries e where e.ticket_id = r.ticket_id and e.words @@ $6)' end)
        into step_looked, step_projects, step_tickets
        using scope,
          case step when 'comment_entries' then coalesce(wanted && query.required, wanted)
            else coalesce(wanted && !!known && own, wanted && !!known, wanted && own, wanted) end,
          case when filtered or step = 'comment_entries' then reach - looked else match_limit - cardinality(found_projects) end,
          match_limit - cardinality(found_projects), found_tickets, query.excluded;
      looked := looked + step_looked;
      found_projects := found_projects || step_projects;
      found_tickets := found_tickets || step_tickets;
      exit terms when looked >= reach or cardinality(found_projects) >= match_limit;
    end loop;
    known := coalesce(known || wanted, wanted);
  end loop;
  return query
    select f.project_id, f.ticket_id, looked < reach and cardinality(found_projects) < match_limit
    from unnest(found_projects, found_tickets) as f(project_id, ticket_id);
end
$$;
comment on function private.match_entries is
  'Tickets and projects (ticket_id null) that contain any of a search''s words, in their own texts or in a comment, those with rare words first; complete: whether these are all.';

-- What a hybrid search would list without limits: the tickets that the query names, the nearest
-- over the threshold, and every keyword match, by the rules of search_by_keyword.
create function private.list_matches(search private.search, match_limit integer)
returns table (project_id bigint, ticket_id bigint, complete boolean)
language plpgsql stable rows 1000 security invoker set search_path = '' set jit = off set plan_cache_mode = auto
as $$
#variable_conflict use_column
declare
  scope constant private.scope := search.scope;
  excluded_tickets constant bigint[] := (search.query).excluded_tickets;
begin
  if scope.is_empty then
    return;
  end if;
  if search.words is null then
    -- Planned separately for every filter.
    for project_id, ticket_id, complete in execute format(
      'select l.*, count(*) over () <= $2 from (
        select t.project_id, t.ticket_id from public.tickets t where %s order by t.created_at desc, t.ticket_id limit $2 + 1) l
      limit $2', scope.condition) using scope, match_limit
    loop
      return next;
    end loop;
    return;
  end if;

  return query
  select f.project_id, f.ticket_id, bool_and(bool_and(f.complete)) over () and count(*) over () <= match_limit
  from (
    select n.project_id, n.ticket_id, 1 as place, true as complete from private.nearest_sources(search) n
    union all
    select (select t.project_id from public.tickets t where t.ticket_id = n.ticket_id), n.ticket_id, 1, true
    from unnest(private.passing_tickets(scope, (search.query).named_tickets)) as n(ticket_id)
    union all
    select m.project_id, m.ticket_id, 2, m.complete
    from private.match_entries(search, match_limit + 1 + cardinality(excluded_tickets)) m
    where (m.ticket_id in (select unnest(excluded_tickets))) is not true
  ) f
  group by f.project_id, f.ticket_id
  order by min(f.place), f.ticket_id nulls last, f.project_id
  limit match_limit;
end
$$;
comment on function private.list_matches is
  'Tickets and projects (ticket_id null) that a search matches: first those named by key, then the nearest by vector, then by words; complete: whether these are all. Without a query: the tickets in its scope, newest first.';

create function private.find_matches(
  query_text text, query_embedding extensions.vector, embedding_model text, match_threshold double precision,
  project_filters bigint[], status_filters text[], filters jsonb[], match_limit integer
)
returns table (filtered bigint, project_id bigint, ticket_id bigint, complete boolean)
language plpgsql stable rows 1000 security definer set search_path = ''
as $$
declare
  search private.search := private.begin_search(query_text, null, null, null, query_embedding, embedding_model, match_threshold);
begin
  for i in 1..cardinality(find_matches.filters) loop
    search.scope := private.resolve_scope(project_filters[i], status_filters[i], find_matches.filters[i]);
    search.few := case when search.words is not null then private.few_entries(search.scope, (search.query).required) end;
    return query select i::bigint, m.* from private.list_matches(search, match_limit) m;
  end loop;
end
$$;
comment on function private.find_matches is
  'list_matches of one query under several filters, in what the caller may see; filtered: which of them. The arrays are parallel.';

insert into private.migrations (version) values ('20260101000710');
