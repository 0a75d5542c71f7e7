-- Both searches in one list: reciprocal rank fusion (Cormack, Clarke and Büttcher 2009), k = 60.

-- The fused list, before anything is read to show it. Both searches give the same number of candidates whatever page
-- is asked for, so that pages add up to one list. "Security definer", for looking up what is excluded; what may be seen
-- is the searches' own care.
create function private.fuse_searches(
  query_text text,
  query_embedding extensions.vector,
  embedding_model text,
  match_threshold double precision,
  project_filter bigint,
  status_filter text,
  vector_weight double precision,
  keyword_weight double precision
)
returns table (
  project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision, vector_rank bigint,
  keyword_score double precision, keyword_rank bigint, exact boolean,
  vector_contribution double precision, keyword_contribution double precision
)
language plpgsql volatile rows 500 security definer set search_path = ''
as $$
#variable_conflict use_column
declare
  excluded constant tsquery := (private.parse_query(query_text)).excluded;
begin
  return query
  with nearest as (
    select v.project_id, v.ticket_id, v.chunk_id, v.similarity,
      row_number() over (order by v.rank) as rank
    from public.search_by_vector(
      fuse_searches.query_embedding, fuse_searches.embedding_model, fuse_searches.match_threshold, 300,
      fuse_searches.project_filter, fuse_searches.status_filter) v
    where fuse_searches.query_embedding is not null
      and (excluded is null or not private.entry_holds(v.project_id, v.ticket_id, excluded))
  ), worded as (
    select k.project_id, k.ticket_id, k.score, k.rank, k.exact
    from public.search_by_keyword(fuse_searches.query_text, 1000, fuse_searches.project_filter, fuse_searches.status_filter) k
  )
  select coalesce(v.project_id, k.project_id), coalesce(v.ticket_id, k.ticket_id), v.chunk_id, v.similarity, v.rank,
    k.score, k.rank, coalesce(k.exact, false),
    coalesce(fuse_searches.vector_weight / (60 + v.rank), 0), coalesce(fuse_searches.keyword_weight / (60 + k.rank), 0)
  from nearest v
  full join worded k
    on (coalesce(v.ticket_id, -v.project_id)) = (coalesce(k.ticket_id, -k.project_id));
end
$$;
comment on function private.fuse_searches(text, extensions.vector, text, double precision, bigint, text, double precision, double precision) is
  'Tickets and projects found by either search, with their ranks and what each adds to the fused score. The numbers of candidates are fixed: 300 by vector, 1,000 by keyword.';
revoke execute on function private.fuse_searches(text, extensions.vector, text, double precision, bigint, text, double precision, double precision) from public;
grant execute on function private.fuse_searches(text, extensions.vector, text, double precision, bigint, text, double precision, double precision) to authenticated, service_role;

create function public.search_hybrid(
  query_text text,
  query_embedding extensions.vector(1536) default null,
  embedding_model text default null,
  match_threshold double precision default 0.7,
  match_count integer default 10,
  match_offset integer default 0,
  project_filter bigint default null,
  status_filter text default null,
  vector_weight double precision default 1,
  keyword_weight double precision default 1
)
returns table (
  ticket_id bigint, text text, similarity double precision, source text, rrf_score double precision,
  project_id bigint, project_name text, ticket_key text, ticket_name text, status text,
  vector_rank bigint, keyword_rank bigint, keyword_score double precision,
  vector_contribution double precision, keyword_contribution double precision,
  matched_by text[], exact boolean, highlight text, chunk_id uuid
)
language plpgsql volatile rows 10 security invoker set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  wanted constant tsquery := (private.parse_query(query_text)).wanted;
begin
  return query
  with page as (
    select f.*, f.vector_contribution + f.keyword_contribution as rrf_score,
      row_number() over (
        order by f.exact desc, f.vector_contribution + f.keyword_contribution desc, f.ticket_id nulls last, f.project_id) as place
    from private.fuse_searches(
      search_hybrid.query_text, search_hybrid.query_embedding, search_hybrid.embedding_model, search_hybrid.match_threshold,
      search_hybrid.project_filter, search_hybrid.status_filter, search_hybrid.vector_weight, search_hybrid.keyword_weight) f
    order by place
    limit greatest(1, least(101, search_hybrid.match_count)) offset greatest(0, least(1000, search_hybrid.match_offset))
  )
  select g.ticket_id, shown.text, g.similarity,
    case when g.vector_rank is null then 'keyword' else 'vector' end,
    g.rrf_score, g.project_id, p.name, t.key, t.name, s.name,
    g.vector_rank, g.keyword_rank, g.keyword_score, g.vector_contribution, g.keyword_contribution,
    array_remove(array[
      case when g.vector_rank is not null then 'vector' end, case when g.keyword_rank is not null then 'keyword' end], null),
    g.exact,
    -- What matches is in the name then, or nowhere. A ticket's first chunk begins with its name.
    case when lit.line ~ '<mark>' or starts_with(shown.text, coalesce(t.name, p.name)) then lit.line else private.highlight(coalesce(t.name, p.name), wanted) || ' — ' || lit.line end,
    shown.chunk_id
  from page g
  join public.projects p on p.project_id = g.project_id
  left join public.tickets t on t.ticket_id = g.ticket_id
  left join public.status s on s.status_id = t.status_id
  left join public.chunks c on c.chunk_id = g.chunk_id
  -- "offset 0" here and below: called for the rows that need it, and once.
  left join lateral (
    select b.chunk_id, b.text from private.best_chunk_by_words(g.project_id, g.ticket_id, wanted) b where g.chunk_id is null offset 0
  ) b on true
  -- A ticket that is not embedded yet is shown by the beginning of its text.
  cross join lateral (
    select coalesce(g.chunk_id, b.chunk_id) as chunk_id,
      coalesce(c.text, b.text, left(coalesce(t.name || coalesce(e'\n\n' || nullif(t.description, ''), ''), p.name), 2000)) as text
  ) shown
  cross join lateral (select private.highlight(shown.text, wanted) as line offset 0) lit
  order by g.place;
end
$$;
comment on function public.search_hybrid(text, extensions.vector, text, double precision, integer, integer, bigint, text, double precision, double precision) is
  'Keyword and vector search fused by reciprocal rank (k = 60): each ticket or project (ticket_id null) once, tickets named by their key first. Without query_embedding: keyword search alone. match_count at most 101, match_offset at most 1,000.';
revoke execute on function public.search_hybrid(text, extensions.vector, text, double precision, integer, integer, bigint, text, double precision, double precision) from public, anon, authenticated;
grant execute on function public.search_hybrid(text, extensions.vector, text, double precision, integer, integer, bigint, text, double precision, double precision) to authenticated, service_role;
