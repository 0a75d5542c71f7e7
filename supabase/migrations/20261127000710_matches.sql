-- Everything that matches a query, for counting: unranked and not limited to a list.

-- What a hybrid search would list without limits: the tickets that the query names, the nearest
-- over the threshold, and every keyword match. The list is incomplete where words that are in more
-- than twice match_limit texts, with the rarer ones, are looked up in names only.
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
    -- What is excluded last leaves enough of the latest.
    cross join tasklens.keyword_candidates(search, reach,
      case when latest is null or query.excluded is null then match_limit + 1 + cardinality(query.excluded_tickets) else reach end, latest) c
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
  filters jsonb[], match_limit integer, latest text default null, unfinished boolean default false
)
returns table (filtered bigint, project_id bigint, ticket_id bigint, complete boolean)
language plpgsql stable rows 1000 security definer set search_path = ''
as $$
declare
  search tasklens.search;
begin
  for i in 1..cardinality(find_matches.filters) loop
    search.scope := tasklens.resolve_scope(find_matches.filters[i]);
    if (search.query).languages = tasklens.languages_in((search.scope).projects) then
      search.few := tasklens.few_entries(search.scope, (search.query).required);
    else
      search := tasklens.begin_search(query_text, find_matches.filters[i], query_embedding, embedding_model, match_threshold, unfinished);
    end if;
    return query select i::bigint, m.* from tasklens.list_matches(search, match_limit, latest) m;
  end loop;
end
$$;
comment on function tasklens.find_matches is
  'list_matches of one query under several filters, in what the caller may see; filtered: which of them.';

-- How many matches of a query each value of a filter has, for the filters beside a list of results.

create function public.search_facets(
  query_text text,
  query_embedding extensions.vector(1536) default null,
  embedding_model text default null,
  match_threshold double precision default 0.7,
  project_filter bigint default null, status_filter text default null, filters jsonb default null, filters_in_text boolean default true,
  unfinished boolean default false
)
returns table (facet text, value bigint, label text, count bigint, capped boolean)
language plpgsql stable rows 20 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  query constant tasklens.typed_query := tasklens.read_search(search_facets.query_text, tasklens.check_arguments(
    search_facets.filters, search_facets.query_embedding, search_facets.embedding_model,
    project_filter => search_facets.project_filter, status_filter => search_facets.status_filter), search_facets.filters_in_text);
  part record; -- of the query: a list of the columns that are counted
begin
  select string_agg(format('%s.%I', case s.source when 'project_id' then 'm' else 't' end, s.source), ', ') as columns,
      string_agg(format('when grouping(m.%I) then %L', s.source, s.source), ' ') as names,
      string_agg(format('m.%I::text', s.source), ', ') as texts,
      string_agg(format('(m.search, m.%I)', s.source), ', ') as sets
    into part
    from (select distinct m.source from tasklens.ticket_members m where m.facet is not null) s;
  for facet, value, label, count, capped in execute format($query$
  with asked as materialized (
    -- A facet ignores its own filter, except under "not".
    select f.*, dense_rank() over (order by f.filters) as search
    from (
      select m.place, m.facet, m.kind, m.source, (
          select jsonb_agg(f.value - m.member order by f.place)
          from jsonb_array_elements($5) with ordinality f(value, place) where jsonb_typeof(f.value) = 'object') as filters
      from tasklens.ticket_members m
      where m.facet is not null
    ) f
  ), filtered as (
    -- Facets under equal filters count the same matches, which are computed once.
    select distinct on (a.search) a.* from asked a order by a.search
  ), matched as materialized (
    select m.filtered as search, m.complete, %1$s
    from tasklens.find_matches($1, $2, $3, $4, array(select f.filters from filtered f order by f.search), 10000, unfinished => $6) m
    left join public.tickets t on t.ticket_id = m.ticket_id
    where m.ticket_id is null or t.ticket_id is not null
  ), grouped as materialized (
    -- One pass over the matches counts all facets.
    select m.search, case 0 %2$s end as source, coalesce(%3$s) as value, count(*) as count, not bool_and(m.complete) as capped
    from matched m group by grouping sets (%4$s)
  ), labelled as (
    -- There are few distinct spellings and label lists, so each is normalised once.
    select a.facet, case when a.kind in ('project', 'status') then g.value::bigint end as value, l.label, sum(g.count) as count, bool_or(g.capped) as capped
    from asked a join grouped g using (search, source)
    cross join lateral (
      select g.value where a.kind in ('person', 'text')
      union all
      select distinct on (lower(u)) u from unnest(case when a.kind = 'labels' then g.value::text[] end) as u
      union all
      select p.name from public.projects p where p.project_id = case when a.kind = 'project' then g.value::bigint end
      union all
      select case when a.kind = 'status' then s.name when s.category = 'done' then 'done' else 'open' end
      from public.status s where s.status_id = case when a.kind in ('status', 'open') then g.value::bigint end
    ) l(label)
    where g.value is not null
    group by 1, 2, 3
  ), counted as (
    select l.facet, l.value, (array_agg(l.label order by l.count desc, l.label collate "C"))[1] as label, sum(l.count)::bigint as count, bool_or(l.capped) as capped
    from labelled l group by l.facet, l.value, lower(l.label))
  select c.facet, c.value, c.label, c.count, c.capped or c.found > 1000
  from (
    select r.*, row_number() over (order by r.place, r.facet) as row, count(*) over () as found
    from (select x.*, row_number() over (partition by x.facet order by x.count desc, x.label, x.value) as place from counted x) r
  ) c
  join asked a using (facet)
  where c.row <= 1000 -- Hosted PostgREST would cut the last facets whole: equal shares
  order by a.place, c.place
  $query$, part.columns, part.names, part.texts, part.sets)
    using query.text, query_embedding, embedding_model, match_threshold, query.filters, search_facets.unfinished
  loop
    return next;
  end loop;
end
$$;
comment on function public.search_facets is
  'How many matches of a hybrid search each value of a facet (tasklens.ticket_members) has, most frequent first. value: the id of a status or project; label: the most frequent spelling. Each facet ignores its own filter. A ticket without a value is not counted; a project''s own text counts only for its project. At most 10,000 matches count: those named by key, the nearest 100 over match_threshold, then those whose words weigh most. At most 1,000 values, of which each facet has an equal share. capped: there are more matches or values, or the words are in more than 20,000 texts.';

insert into tasklens.migrations (version) values ('20261127000710');
