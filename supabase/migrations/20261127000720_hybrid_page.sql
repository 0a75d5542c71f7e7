-- A page of search_hybrid, by relevance or by time, and the links shown in it.

-- By time, the page lists the latest of all matches, beyond what the searches rank. Ranks and
-- scores are included where they exist.
create function tasklens.find_page(
  query_text text,
  query_embedding extensions.vector,
  embedding_model text,
  match_threshold double precision,
  filters jsonb,
  vector_weight double precision,
  keyword_weight double precision,
  fusion text,
  sort text,
  page_start integer,
  page_size integer
)
returns table (
  place bigint, project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision, vector_rank bigint,
  keyword_score double precision, keyword_rank bigint, exact boolean,
  vector_contribution double precision, keyword_contribution double precision, rrf_score double precision, fused_score double precision,
  has_more boolean, wanted tsquery, relaxed boolean
)
language plpgsql stable rows 10 security definer set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  search tasklens.search;
  query tasklens.query;
begin
  search := tasklens.begin_search(
    find_page.query_text, find_page.filters, find_page.query_embedding, find_page.embedding_model, find_page.match_threshold);
  query := search.query;
  if coalesce(find_page.sort, 'relevance') = 'relevance' then
    return query
    select f.*, count(*) over () > page_start + page_size, query.wanted, coalesce(query.relaxed, false)
    from tasklens.fuse_searches(
      search, find_page.vector_weight, find_page.keyword_weight, find_page.fusion, page_start + page_size + 1) f
    order by f.place
    limit page_size offset page_start;
    return;
  end if;

  return query
  with listed as (
    select m.project_id, m.ticket_id, m.place, count(*) over () as matches
    from tasklens.list_matches(search, page_start + page_size + 1, case find_page.sort when 'newest' then 'created_at' else 'updated_at' end)
      with ordinality m(project_id, ticket_id, complete, place)
  ), fused as materialized (
    select f.* from tasklens.fuse_searches(search, find_page.vector_weight, find_page.keyword_weight, find_page.fusion, 1000) f
  )
  select l.place, l.project_id, l.ticket_id, f.chunk_id, f.similarity, f.vector_rank, f.keyword_score, f.keyword_rank, coalesce(f.exact, false),
    coalesce(f.vector_contribution, 0), coalesce(f.keyword_contribution, 0), coalesce(f.rrf_score, 0), coalesce(f.fused_score, 0),
    l.matches > page_start + page_size, query.wanted, coalesce(query.relaxed, false)
  from (select x.* from listed x order by x.place limit page_size offset page_start) l
  left join fused f on coalesce(f.ticket_id, ~f.project_id) = coalesce(l.ticket_id, ~l.project_id)
  order by l.place;
end
$$;
comment on function tasklens.find_page is
  'A page of search_hybrid, before anything is read for display: of the fused list, or of all matches by time. wanted and relaxed are those of the query.';

-- Looked up from both ends. Callers see a link if they see both tickets.
create function tasklens.links_of(of_ticket bigint) returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select jsonb_agg(jsonb_build_object(
      'kind', l.kind, 'direction', l.direction, 'ticket_key', l.key, 'ticket_name', l.name, 'status', l.status) order by l.direction desc, l.kind, l.other)
  from (
    select x.kind, x.direction, x.other, t.key, t.name, s.name as status
    from (
      select k.kind, 'out' as direction, k.other_ticket_id as other from public.ticket_links k where k.ticket_id = of_ticket
      union all
      select k.kind, 'in', k.ticket_id from public.ticket_links k where k.other_ticket_id = of_ticket
    ) x
    join public.tickets t on t.ticket_id = x.other
    join public.status s using (status_id)
    order by x.direction desc, x.kind, x.other
    limit 20
  ) l
$$;
comment on function tasklens.links_of is 'The links of a ticket with the tickets at the other end, outgoing links (out) first, at most 20; null if it has none.';

insert into tasklens.migrations (version) values ('20261127000720');
