-- A page of search_hybrid, by relevance or by time, and what is shown of a ticket.

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
  page_size integer,
  unfinished boolean default false
)
returns table (
  place bigint, project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision, vector_rank bigint,
  keyword_score double precision, keyword_rank bigint, exact boolean,
  vector_contribution double precision, keyword_contribution double precision, rrf_score double precision, fused_score double precision,
  has_more boolean, wanted tsquery, relaxed boolean, languages text[]
)
language plpgsql stable rows 10 security definer set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  by_time constant text := case find_page.sort when 'newest' then 'created_at' when 'updated' then 'updated_at' end;
  search constant tasklens.search := tasklens.begin_search(
    find_page.query_text, find_page.filters, find_page.query_embedding, find_page.embedding_model, find_page.match_threshold, find_page.unfinished);
  query constant tasklens.query := search.query;
begin
  return query
  with fused as materialized (
    select f.* from tasklens.fuse_searches(search, find_page.vector_weight, find_page.keyword_weight, find_page.fusion) f
  ), listed as (
    select f.place, f.project_id, f.ticket_id from fused f where by_time is null
    union all
    select m.place, m.project_id, m.ticket_id
    from tasklens.list_matches(search, page_start + page_size + 1, by_time) with ordinality m(project_id, ticket_id, complete, place)
    where by_time is not null
  ), page as materialized (
    select l.*, count(*) over () > page_start + page_size as has_more from listed l order by l.place limit page_size offset page_start
  ), holder as materialized (
    -- Beside other words an identifier does not decide the order.
    select unnest(h.holders || h.alike) as source
    from tasklens.identifier_holders(search, array(select coalesce(p.ticket_id, ~p.project_id) from page p)) h
    where not query.is_identifier and cardinality(query.identifiers) > 0
  )
  select l.place, l.project_id, l.ticket_id, f.chunk_id, f.similarity, f.vector_rank, f.keyword_score, f.keyword_rank,
    coalesce(f.exact, false) or coalesce(l.ticket_id, ~l.project_id) in (select h.source from holder h),
    coalesce(f.vector_contribution, 0), coalesce(f.keyword_contribution, 0), coalesce(f.rrf_score, 0), coalesce(f.fused_score, 0),
    l.has_more, query.wanted, coalesce(query.relaxed, false), query.languages
  from page l
  left join fused f on coalesce(f.ticket_id, ~f.project_id) = coalesce(l.ticket_id, ~l.project_id)
  order by l.place;
end
$$;
comment on function tasklens.find_page is
  'A page of search_hybrid, before anything is read for display: of the fused list, or of all matches by time. wanted and relaxed are those of the query.';

-- Links are looked up from both ends. Callers see a link if they see both tickets.
create function tasklens.ticket_fields(of_ticket bigint) returns jsonb
language plpgsql stable security invoker set search_path = ''
as $$
begin
  return (
    select jsonb_build_object('status_category', s.category, 'assignee', t.assignee, 'reporter', t.reporter, 'type', t.ticket_type, 'priority', t.priority,
      'labels', t.labels, 'due_date', t.due_date, 'resolved_at', t.resolved_at, 'created_at', t.created_at, 'updated_at', t.updated_at, 'url', t.url, 'links', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'kind', l.kind, 'direction', l.direction, 'ticket_key', l.key, 'ticket_name', l.name, 'status', l.status) order by l.direction desc, l.kind, l.other), '[]')
        from (
          select x.kind, x.direction, x.other, o.key, o.name, n.name as status
          from (
            select k.kind, 'out' as direction, k.other_ticket_id as other from public.ticket_links k where k.ticket_id = of_ticket
            union all
            select k.kind, 'in', k.ticket_id from public.ticket_links k where k.other_ticket_id = of_ticket
          ) x
          join public.tickets o on o.ticket_id = x.other
          join public.status n on n.status_id = o.status_id
          order by x.direction desc, x.kind, x.other
          limit 20
        ) l))
    from public.tickets t join public.status s on s.status_id = t.status_id
    where t.ticket_id = of_ticket);
end
$$;
comment on function tasklens.ticket_fields is
  'What a ticket has beside its names and texts, as all functions return it: its fields, and its links with the tickets at the other end, outgoing ones (out) first, at most 20.';

insert into tasklens.migrations (version) values ('20261127000720');
