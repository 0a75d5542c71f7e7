-- How many matches of a query each value of a filter has, for the filters beside a list of results.

create function public.search_facets(
  query_text text,
  query_embedding extensions.vector(1536) default null,
  embedding_model text default null,
  match_threshold double precision default 0.7,
  project_filter bigint default null, status_filter text default null, filters jsonb default null
)
returns table (facet text, value bigint, label text, count bigint, capped boolean)
language plpgsql stable rows 20 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  all_filters constant jsonb := tasklens.check_arguments(
    search_facets.filters, search_facets.query_embedding, search_facets.embedding_model,
    project_filter => search_facets.project_filter, status_filter => search_facets.status_filter);
  part record; -- of the query: a list of the columns that are counted
begin
  select string_agg(format('%s.%I', case s.source when 'project_id' then 'm' else 't' end, s.source), ', ') as columns,
      string_agg(format('when grouping(m.%I) then %L', s.source, s.source), ' ') as names,
      string_agg(format('m.%I::text', s.source), ', ') as texts,
      string_agg(format('(m.search, m.%I)', s.source), ', ') as sets
    into part
    from (select distinct m.source from tasklens.ticket_members() m where m.facet is not null) s;
  for facet, value, label, count, capped in execute format($query$
  with asked as materialized (
    -- A facet ignores its own filter, except under "not".
    select f.*, dense_rank() over (order by f.filters) as search
    from (
      select m.place, m.facet, m.kind, m.source, (
          select jsonb_agg(f.value - m.member order by f.place)
          from jsonb_array_elements($5) with ordinality f(value, place) where jsonb_typeof(f.value) = 'object') as filters
      from tasklens.ticket_members() with ordinality m(member, kind, source, facet, place)
      where m.facet is not null
    ) f
  ), filtered as (
    -- Facets under equal filters count the same matches, which are computed once.
    select distinct on (a.search) a.* from asked a order by a.search
  ), matched as materialized (
    select m.filtered as search, m.complete, %1$s
    from tasklens.find_matches($1, $2, $3, $4, array(select f.filters from filtered f order by f.search), 10000) m
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
    using query_text, query_embedding, embedding_model, match_threshold, all_filters
  loop
    return next;
  end loop;
end
$$;
comment on function public.search_facets is
  'How many matches of a hybrid search each value of a facet (tasklens.ticket_members) has, most frequent first. value: the id of a status or project; label: the most frequent spelling. Each facet ignores its own filter. A ticket without a value is not counted; a project''s own text counts only for its project. At most 10,000 matches count: those named by key, the nearest 100 over match_threshold, then those whose words weigh most. At most 1,000 values, of which each facet has an equal share. capped: there are more matches or values, or the words are in more than 20,000 texts.';

insert into tasklens.migrations (version) values ('20261127000750');
