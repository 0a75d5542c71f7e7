-- Both searches in one list: reciprocal rank fusion (Cormack, Clarke and Büttcher 2009), k = 60.

-- The keyword side of a hybrid search on its own, so that it can be found while the query is still being embedded.
create function public.keyword_ranking(query_text text, project_filter bigint default null, status_filter text default null)
returns table (version text, projects bigint[], tickets bigint[], scores double precision[], exact integer)
language plpgsql volatile rows 1 security invoker set search_path = ''
as $$
begin
  -- Before the words are looked up: what changes meanwhile is then taken to have changed since.
  version := private.read_data_version(null);
  select coalesce(array_agg(k.project_id order by k.rank), '{}'), coalesce(array_agg(k.ticket_id order by k.rank), '{}'),
      coalesce(array_agg(k.score order by k.rank), '{}'), count(*) filter (where k.exact)
    into projects, tickets, scores, exact
    from public.search_by_keyword(keyword_ranking.query_text, 1000, keyword_ranking.project_filter, keyword_ranking.status_filter) k;
  return next;
end
$$;
comment on function public.keyword_ranking(text, bigint, text) is
  'What search_by_keyword finds, at most 1,000, the best first, as arrays that go in step (a project''s own text has no ticket); the first so many are exact. As JSON for search_hybrid and retrieve_chunks_hybrid with the same query and filters. version is the data_version from before.';
revoke execute on function public.keyword_ranking(text, bigint, text) from public, anon, authenticated;
grant execute on function public.keyword_ranking(text, bigint, text) to authenticated, service_role;

-- The rows of a ranking that was made a moment ago. Where anything has changed since, those that are gone or pass the
-- filters no more are left out; what has come since is not there, as if the search had ended then.
create function private.read_ranking(ranking jsonb, project_filter bigint, status_filter text)
returns table (project_id bigint, ticket_id bigint, score double precision, rank bigint, exact boolean)
language plpgsql volatile rows 300 security definer set search_path = ''
as $$
#variable_conflict use_column
declare
  scope constant record := private.resolve_scope(project_filter, status_filter);
  exact_rows constant integer := (ranking ->> 'exact')::integer;
  unchanged constant boolean := ranking ->> 'version' = private.read_data_version(null);
  rows_of integer[];
begin
  if jsonb_typeof(ranking) = 'object' then
    rows_of := array(
      select case when jsonb_typeof(ranking -> n) = 'array' then jsonb_array_length(ranking -> n) end
      from unnest(array['projects', 'tickets', 'scores']) as n);
  end if;
  if rows_of is null or exact_rows is null or rows_of [1] is null or rows_of <> array_fill(rows_of [1], array[3]) then
    raise exception 'keyword_ranking is not a row of the function keyword_ranking' using errcode = '22023', hint = 'Pass one row as a JSON object.';
  end if;
  return query
  -- Counted in the order of the arrays, which the rows come in.
  select now.project_id, l.ticket_id, l.score, row_number() over (), l.place <= exact_rows
  from unnest(
    -- A JSON array of numbers and nulls is a Postgres array but for its brackets.
    translate(ranking ->> 'projects', '[]', '{}')::bigint[], translate(ranking ->> 'tickets', '[]', '{}')::bigint[],
    translate(ranking ->> 'scores', '[]', '{}')::double precision[]
  ) with ordinality as l(project_id, ticket_id, score, place)
  cross join lateral (
    -- Looked up one by one: a join would be planned as a scan of all.
    select case when unchanged then l.project_id
      when l.ticket_id is not null then (
        select t.project_id from public.tickets t
        where t.ticket_id = l.ticket_id and (scope.status_id is null or t.status_id = scope.status_id))
      when scope.status_id is null then (select p.project_id from public.projects p where p.project_id = l.project_id)
      end as project_id
    offset 0
  ) now
  where l.place <= 1000 and now.project_id is not null
    and not scope.is_empty and (scope.projects is null or now.project_id = any (scope.projects));
end
$$;
comment on function private.read_ranking(jsonb, bigint, text) is 'The tickets and projects (ticket_id null) of a keyword_ranking that pass the filters; where its version is not the present one, those that are still there, and still pass. A ranking may come from anywhere: whether whoever asks may see a ticket is left to the policies.';
revoke execute on function private.read_ranking(jsonb, bigint, text) from public;

-- The fused list, before anything is read to show it. Both searches give the same number of candidates whatever page
-- is asked for, so that pages add up to one list. "Security definer", for looking up what is excluded; what may be seen
-- is the searches' own care, and of a ranking that was handed in that of the policies on what shows it.
create function private.fuse_searches(
  query_text text,
  query_embedding extensions.vector,
  embedding_model text,
  match_threshold double precision,
  project_filter bigint,
  status_filter text,
  vector_weight double precision,
  keyword_weight double precision,
  keyword_ranking jsonb
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
    where fuse_searches.keyword_ranking is null
    union all
    select r.project_id, r.ticket_id, r.score, r.rank, r.exact
    from private.read_ranking(fuse_searches.keyword_ranking, fuse_searches.project_filter, fuse_searches.status_filter) r
    where fuse_searches.keyword_ranking is not null
  )
  select coalesce(v.project_id, k.project_id), coalesce(v.ticket_id, k.ticket_id), v.chunk_id, v.similarity, v.rank,
    k.score, k.rank, coalesce(k.exact, false),
    coalesce(fuse_searches.vector_weight / (60 + v.rank), 0), coalesce(fuse_searches.keyword_weight / (60 + k.rank), 0)
  from nearest v
  full join worded k
    on (coalesce(v.ticket_id, -v.project_id)) = (coalesce(k.ticket_id, -k.project_id));
end
$$;
comment on function private.fuse_searches(text, extensions.vector, text, double precision, bigint, text, double precision, double precision, jsonb) is
  'Tickets and projects found by either search, with their ranks and what each adds to the fused score. The numbers of candidates are fixed: 300 by vector, 1,000 by keyword.';
revoke execute on function private.fuse_searches(text, extensions.vector, text, double precision, bigint, text, double precision, double precision, jsonb) from public;
grant execute on function private.fuse_searches(text, extensions.vector, text, double precision, bigint, text, double precision, double precision, jsonb) to authenticated, service_role;

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
  keyword_weight double precision default 1,
  keyword_ranking jsonb default null
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
      search_hybrid.project_filter, search_hybrid.status_filter, search_hybrid.vector_weight, search_hybrid.keyword_weight,
      search_hybrid.keyword_ranking) f
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
  -- Not what went a moment ago.
  where g.ticket_id is null or t.ticket_id is not null
  order by g.place;
end
$$;
comment on function public.search_hybrid(text, extensions.vector, text, double precision, integer, integer, bigint, text, double precision, double precision, jsonb) is
  'Keyword and vector search fused by reciprocal rank (k = 60): each ticket or project (ticket_id null) once, tickets named by their key first. Without query_embedding: keyword search alone. match_count at most 101, match_offset at most 1,000. With keyword_ranking, a row of that function as JSON, the words are not looked up again.';
revoke execute on function public.search_hybrid(text, extensions.vector, text, double precision, integer, integer, bigint, text, double precision, double precision, jsonb) from public, anon, authenticated;
grant execute on function public.search_hybrid(text, extensions.vector, text, double precision, integer, integer, bigint, text, double precision, double precision, jsonb) to authenticated, service_role;
