-- How many matches of a query each status, project, person, type, priority and label has, for the
-- filters next to a list of results.

create function public.search_facets(
  query_text text,
  query_embedding extensions.vector(1536) default null,
  embedding_model text default null,
  match_threshold double precision default 0.7,
  project_filter bigint default null,
  status_filter text default null,
  filters jsonb default null
)
returns table (facet text, value bigint, label text, count bigint, capped boolean)
language sql volatile rows 20 security invoker set search_path = ''
as $$
  with facets as (
    -- A facet ignores its own filter, except under "not".
    select f.place, f.facet,
      case when f.facet <> 'project' then search_facets.project_filter end as project_filter,
      case when f.facet <> 'status' then private.filter_text(search_facets.status_filter) end as status_filter,
      case when jsonb_typeof(search_facets.filters) <> 'object' then search_facets.filters else nullif(search_facets.filters - f.member, '{}') end as filters
    from unnest(
      array['status', 'project', 'assignee', 'reporter', 'type', 'priority', 'label', 'open'],
      array['statuses', 'projects', 'assignee', 'reporter', 'types', 'priorities', 'labels', 'open']) with ordinality as f(facet, member, place)
  ), asked as materialized (
    select f.place, f.facet, f.project_filter, f.status_filter, f.filters, dense_rank() over (order by f.project_filter, f.status_filter, f.filters) as search
    from facets f
  ), matched as materialized (
    -- Facets under equal filters count the same matches, which are computed once.
    select a.search, m.project_id, m.ticket_id, t.status_id, t.assignee, t.reporter, t.ticket_type, t.priority, t.labels, m.complete
    from (select distinct on (x.search) x.* from asked x order by x.search) a
    cross join lateral private.find_matches(
      search_facets.query_text, search_facets.query_embedding, search_facets.embedding_model, search_facets.match_threshold,
      a.project_filter, a.status_filter, 10000, a.filters) m
    left join public.tickets t on t.ticket_id = m.ticket_id
    where m.ticket_id is null or t.ticket_id is not null
  ), grouped as materialized (
    -- One pass over the matches counts all facets. There are few distinct spellings and label
    -- lists, so each is normalised once.
    select m.search, case 0 when grouping(m.project_id) then 'project' when grouping(m.status_id) then 'status' when grouping(m.assignee) then 'assignee'
        when grouping(m.reporter) then 'reporter' when grouping(m.ticket_type) then 'type' when grouping(m.priority) then 'priority' else 'label' end as facet,
      coalesce(m.project_id, m.status_id) as id, coalesce(m.assignee, m.reporter, m.ticket_type, m.priority) as name, m.labels,
      count(*) as count, not bool_and(m.complete) as capped
    from matched m
    group by grouping sets ((m.search, m.project_id), (m.search, m.status_id), (m.search, m.assignee), (m.search, m.reporter),
      (m.search, m.ticket_type), (m.search, m.priority), (m.search, m.labels))
  ), by_id as (
    select a.facet, g.id, g.count, g.capped
    from asked a join grouped g on g.search = a.search and g.facet = case a.facet when 'open' then 'status' else a.facet end
    where a.facet in ('status', 'project', 'open')
  ), by_name as (
    select a.facet, n.name, sum(g.count)::bigint as count, bool_or(g.capped) as capped
    from asked a
    join grouped g using (search, facet)
    cross join lateral (
      select g.name where a.facet <> 'label'
      union all
      select distinct on (lower(l)) l from unnest(case when a.facet = 'label' then g.labels end) l
    ) n
    where a.facet in ('assignee', 'reporter', 'type', 'priority', 'label') and n.name is not null
    group by 1, 2
  ), counted as (
    select c.facet, c.id as value, s.name as label, c.count, c.capped from by_id c join public.status s on c.facet = 'status' and s.status_id = c.id
    union all
    select c.facet, c.id, p.name, c.count, c.capped from by_id c join public.projects p on c.facet = 'project' and p.project_id = c.id
    union all
    select c.facet, null, o.label, sum(c.count)::bigint, bool_or(c.capped)
    from by_id c join public.status s on c.facet = 'open' and s.status_id = c.id
    cross join lateral (select case s.category when 'done' then 'done' else 'open' end as label) o
    group by 1, 3
    union all
    select c.facet, null, (array_agg(c.name order by c.count desc, c.name collate "C"))[1], sum(c.count)::bigint, bool_or(c.capped)
    from by_name c group by c.facet, lower(c.name)
  )
  select c.facet, c.value, c.label, c.count, c.capped or c.found > 1000
  from (
    select r.*, row_number() over (order by r.place, r.facet) as row, count(*) over () as found
    from (select x.*, row_number() over (partition by x.facet order by x.count desc, x.label, x.value) as place from counted x) r
  ) c
  join asked a using (facet)
  -- Hosted PostgREST would cut the last facets whole. Short ones leave their share to long ones.
  where c.row <= 1000
  order by a.place, c.place
$$;
comment on function public.search_facets is
  'How many matches of a hybrid search each status, project, assignee, reporter, type, priority and label has, and how many are open or done (facet open), most frequent first, at most 1,000 values in all, of which each facet has an equal share. value is the id of a status or project, label the most frequent spelling. Each facet ignores its own filter (status: status_filter and filters.statuses; project: project_filter and filters.projects). A ticket without a value is not counted; a project''s own text counts only for its project. At most 10,000 matches are counted, and capped is set if there are more matches or values: those named by key, the nearest 100 by vector over match_threshold, then those that contain the rarest words of the query; among equals, the first in the table, so that a count only changes after a write.';

insert into private.migrations (version) values ('20260101001550');
