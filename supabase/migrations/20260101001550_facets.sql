-- How many matches of a query each status and each project has, for the filters beside a list of results.

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
  -- A facet ignores its own filter; without filters both count the same matches, which are found once.
  with of_statuses as materialized (
    select m.project_id, m.ticket_id, m.complete
    from private.find_matches(
      search_facets.query_text, search_facets.query_embedding, search_facets.embedding_model, search_facets.match_threshold,
      search_facets.project_filter, null, 10000, search_facets.filters) m
  ), of_projects as materialized (
    select o.project_id, o.ticket_id, o.complete from of_statuses o
    where search_facets.project_filter is null and search_facets.status_filter is null
    union all
    select m.project_id, m.ticket_id, m.complete
    from private.find_matches(
      search_facets.query_text, search_facets.query_embedding, search_facets.embedding_model, search_facets.match_threshold,
      null, search_facets.status_filter, 10000, search_facets.filters) m
    where search_facets.project_filter is not null or search_facets.status_filter is not null
  ), status_counts as (
    select t.status_id, count(*) as count, not bool_and(o.complete) as capped
    from of_statuses o join public.tickets t on t.ticket_id = o.ticket_id
    group by t.status_id
  ), project_counts as (
    select o.project_id, count(*) as count, not bool_and(o.complete) as capped from of_projects o group by o.project_id
  )
  (
    select 'status', s.status_id, s.name, n.count, n.capped
    from status_counts n join public.status s using (status_id)
    order by n.count desc, s.name, s.status_id limit 400
  )
  union all
  (
    select 'project', p.project_id, p.name, n.count, n.capped
    from project_counts n join public.projects p using (project_id)
    order by n.count desc, p.name, p.project_id limit 400
  )
$$;
comment on function public.search_facets(text, extensions.vector, text, double precision, bigint, text, jsonb) is
  'How many matches of a hybrid search each status and each project has, the most first, at most 400 of each (facet status, project; value is the id). A status counts under project_filter alone, a project under status_filter alone; a project''s own text has no status. At most 10,000 matches are counted, capped where there are more: those named by key, the nearest 100 by meaning over match_threshold, and then those that hold the rarest words of the query; of equals, those that lie first in the table, so that a count stays the same until something is written.';
revoke execute on function public.search_facets(text, extensions.vector, text, double precision, bigint, text, jsonb) from public, anon, authenticated;
grant execute on function public.search_facets(text, extensions.vector, text, double precision, bigint, text, jsonb) to authenticated, service_role;

insert into private.migrations (version) values ('20260101001550');
