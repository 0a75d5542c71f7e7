-- Retrieval for answers by keywords and vectors, so that exact codes are found, too. The candidates
-- are those of the fused list.

-- place: of the ticket or project in the fused list, null in a last row with the nearest chunk,
-- which shows how close a search without results came. relevance: the fused score scaled to the
-- full range, because fused scores are close together, and MMR weighs them against cosines.
create function tasklens.find_candidates(
  query_text text, query_embedding extensions.vector, embedding_model text, match_threshold double precision,
  filters jsonb,
  vector_weight double precision, keyword_weight double precision, fusion text, source_chunk_limit integer, match_count integer
)
returns table (place bigint, place_in_source bigint, project_id bigint, ticket_id bigint, chunk_id uuid, relevance double precision, named boolean)
language plpgsql stable rows 50 security definer set search_path = '' set jit = off set plan_cache_mode = auto
as $$
#variable_conflict use_column
declare
  set_id constant smallint := tasklens.searched_set(find_candidates.embedding_model);
  search tasklens.search;
  plain tasklens.search; -- without conditions on words
begin
  search := tasklens.begin_search(
    find_candidates.query_text, find_candidates.filters, find_candidates.query_embedding, find_candidates.embedding_model, find_candidates.match_threshold);
  -- Questions quote names and messages, and the answer may be elsewhere: a phrase narrows keyword
  -- matches, but not vector matches.
  search.query.required_of_chunks := null;
  -- A text that only mentions what the question is about is no better a source than another.
  search.holders := null;
  plain := search;
  plain.query := null;
  plain.few := case when (search.query).required is null then search.few end;
  return query
  with named as materialized (
    select n.* from tasklens.named_chunks(plain, find_candidates.query_text) n
  ), best as (
    select f.place, f.project_id, f.ticket_id, f.chunk_id, f.exact, f.fused_score as score
    from tasklens.fuse_searches(search, find_candidates.vector_weight, find_candidates.keyword_weight, find_candidates.fusion, find_candidates.match_count) f
    order by f.place
    limit find_candidates.match_count
  ), source as materialized (
    -- A ticket named by the question has relevance 1.
    select b.place, b.project_id, b.ticket_id, b.exact, coalesce(b.chunk_id, w.chunk_id) as first_chunk_id,
      case when b.exact then 1
        else coalesce((b.score - min(b.score) over ()) / nullif(max(b.score) over () - min(b.score) over (), 0), 1) end as relevance
    from best b
    left join lateral tasklens.best_chunk_by_words(b.project_id, b.ticket_id, (search.query).wanted) w on b.chunk_id is null
  ), chosen as (
    select s.place, 0::bigint as place_in_source, s.project_id, s.ticket_id, s.first_chunk_id as chunk_id, s.relevance
    from source s
    union all
    -- The matching chunk is not always the one with the answer.
    select s.place, n.place_in_source, s.project_id, s.ticket_id, n.chunk_id, s.relevance
    from source s
    cross join lateral (
      select c.chunk_id, row_number() over (order by c.embedding operator(extensions.<=>) search.embedding, c.chunk_id) as place_in_source
      from (
        select c.* from public.chunks c where c.ticket_id = s.ticket_id and c.project_id = s.project_id and c.comment_id is null
        union all
        -- Of a ticket with thousands of comments, the newest.
        select c.*
        from (select m.comment_id from public.comments m where m.ticket_id = s.ticket_id order by m.created_at desc, m.comment_id desc limit 200) m
        join public.chunks c on c.comment_id = m.comment_id
      ) c
      where c.model = search.embedding_model and c.embedding_set = set_id and c.chunk_id is distinct from s.first_chunk_id
    ) n
    -- A question that names a ticket by its key usually needs the ticket's notes, too.
    where n.place_in_source < greatest(coalesce(find_candidates.source_chunk_limit, 1), case when s.exact then 3 else 1 end)
    union all
    -- As relevant as their ticket or project. Items named only by project and state come last.
    select coalesce(s.place, 1000), 100, n.project_id, n.ticket_id, n.chunk_id, coalesce(s.relevance, 0)
    from named n
    left join source s on s.ticket_id = n.ticket_id or n.ticket_id is null and s.ticket_id is null and s.project_id = n.project_id
    where n.chunk_id is not null or s.place is null
    union all
    select null, 0, n.project_id, n.ticket_id, n.chunk_id, null from tasklens.scan_chunks(plain, 1, 1) n
  )
  select distinct on (o.ticket_id, o.project_id, o.chunk_id) o.*,
    exists (select from named n where (n.chunk_id is null or n.chunk_id = o.chunk_id)
      and n.ticket_id is not distinct from o.ticket_id and n.project_id = o.project_id)
  from chosen o
  order by o.ticket_id, o.project_id, o.chunk_id, o.place nulls last, o.place_in_source;
end
$$;
comment on function tasklens.find_candidates is
  'The candidates of retrieve_chunks_hybrid, before they are cut to match_count and read for display.';

create function public.retrieve_chunks_hybrid(
  query_text text,
  query_embedding extensions.vector(1536),
  embedding_model text,
  match_threshold double precision default 0.7,
  match_count integer default 20,
  project_filter bigint default null,
  status_filter text default null,
  vector_weight double precision default 1,
  keyword_weight double precision default 1,
  source_chunk_limit integer default null,
  fusion text default 'rrf',
  filters jsonb default null
)
returns table (
  chunk_id uuid, ticket_id bigint, project_id bigint, project_name text, ticket_key text, ticket_name text, status text, kind text,
  text text, tokens integer, similarity double precision, over_threshold boolean, relevance double precision, similarities real[],
  named boolean, project_key text, comment_id bigint, comment_author text, comment_created_at timestamptz, fields jsonb
)
language plpgsql stable rows 20 security invoker set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  wanted constant integer := tasklens.clamp(match_count, 20, 1, 100);
  all_filters constant jsonb := tasklens.check_arguments(
    retrieve_chunks_hybrid.filters, retrieve_chunks_hybrid.query_embedding, retrieve_chunks_hybrid.embedding_model, fusion => retrieve_chunks_hybrid.fusion,
    project_filter => retrieve_chunks_hybrid.project_filter, status_filter => retrieve_chunks_hybrid.status_filter);
begin
  return query
  select d.chunk_id, d.ticket_id, d.project_id, d.project_name, d.ticket_key, d.ticket_name, d.status, d.kind, d.text, d.tokens, d.similarity,
    coalesce(d.similarity > retrieve_chunks_hybrid.match_threshold, false), d.relevance, d.similarities, d.named, d.project_key, d.comment_id,
    d.comment_author, d.comment_created_at, d.fields
  from tasklens.describe_chunks(array(
    select row(x.chunk_id, x.ticket_id, x.project_id, null, 1 - (c.embedding operator(extensions.<=>) retrieve_chunks_hybrid.query_embedding),
      x.relevance, x.named)::tasklens.retrieved
    from (
      -- If the list is full, named sources take precedence.
      select f.*, row_number() over (order by f.place is null, not f.named, f.place, f.place_in_source) as cut
      from tasklens.find_candidates(
        retrieve_chunks_hybrid.query_text, retrieve_chunks_hybrid.query_embedding, retrieve_chunks_hybrid.embedding_model,
        retrieve_chunks_hybrid.match_threshold, all_filters, retrieve_chunks_hybrid.vector_weight, retrieve_chunks_hybrid.keyword_weight, retrieve_chunks_hybrid.fusion,
        retrieve_chunks_hybrid.source_chunk_limit, wanted) f
    ) x
    left join public.chunks c on c.chunk_id = x.chunk_id and c.model = retrieve_chunks_hybrid.embedding_model
    where x.cut <= wanted or x.place is null
    order by x.place nulls last, x.place_in_source, x.ticket_id, x.project_id, x.chunk_id
  ), retrieve_chunks_hybrid.embedding_model) d;
end
$$;
comment on function public.retrieve_chunks_hybrid is
  'Candidates for an answer from the list that search_hybrid fuses: the best chunk of each ticket or project, up to source_chunk_limit of each ticket, and chunks of what the question names. A quoted phrase is required of keyword matches only. relevance: the fused score scaled from 0 (the last) to 1 (the best, or a named ticket); null in a last row that only shows the nearest similarity. similarity is null without a vector of this model; else as retrieve_chunks. match_count at most 100.';

insert into tasklens.migrations (version) values ('20261127000820');
