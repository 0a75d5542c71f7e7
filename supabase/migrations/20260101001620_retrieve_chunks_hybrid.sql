-- Retrieval for answers by keywords and vectors, so that exact codes are found, too. The candidates
-- are those of the fused list.

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
  named boolean, project_key text, comment_id bigint, comment_author text, comment_created_at timestamptz
)
language plpgsql volatile rows 20 security invoker set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  question constant text := query_text;
  query private.query := private.read_query(query_text);
  ranking constant private.word_ranking := private.rank_words(query_text, project_filter, status_filter, filters);
begin
  -- Questions quote names and messages, and the answer may be elsewhere: a phrase narrows keyword
  -- matches, but not vector matches.
  query.required := null;
  return query
  with named as materialized (
    select n.* from private.named_chunks(
      question, retrieve_chunks_hybrid.query_embedding, retrieve_chunks_hybrid.embedding_model, retrieve_chunks_hybrid.project_filter,
      retrieve_chunks_hybrid.status_filter, retrieve_chunks_hybrid.filters) n
  ), fused as (
    select f.place, f.project_id, f.ticket_id, f.chunk_id, f.exact, f.fused_score as score
    from private.fuse_searches(
      ranking, query, retrieve_chunks_hybrid.query_embedding, retrieve_chunks_hybrid.embedding_model,
      retrieve_chunks_hybrid.match_threshold, retrieve_chunks_hybrid.project_filter, retrieve_chunks_hybrid.status_filter,
      retrieve_chunks_hybrid.vector_weight, retrieve_chunks_hybrid.keyword_weight, private.clamp(retrieve_chunks_hybrid.match_count, 20, 1, 100),
      retrieve_chunks_hybrid.fusion, retrieve_chunks_hybrid.filters) f
  ), best as (
    select f.* from fused f order by f.place
    limit private.clamp(retrieve_chunks_hybrid.match_count, 20, 1, 100)
  ), shown as materialized (
    -- Scaled to the full range: fused scores are close together, and MMR weighs them against
    -- cosines. A ticket named by the question has relevance 1.
    select b.place, b.ticket_id, b.exact, p.project_id, coalesce(b.chunk_id, w.chunk_id) as first_chunk_id,
      case when b.exact then 1
        else coalesce((b.score - min(b.score) over ()) / nullif(max(b.score) over () - min(b.score) over (), 0), 1) end as relevance
    from best b
    left join lateral private.best_chunk_by_words(b.project_id, b.ticket_id, query.wanted) w on b.chunk_id is null
    -- As in search_hybrid.
    left join lateral (select t.project_id from public.tickets t where t.ticket_id = b.ticket_id offset 0) t on true
    cross join lateral (
      select p.project_id from public.projects p
      where p.project_id = case when t.project_id is null then b.project_id else t.project_id end offset 0
    ) p
    where b.ticket_id is null or t.project_id is not null
  ), chosen as (
    select s.place, s.project_id, s.ticket_id, s.relevance, s.first_chunk_id as chunk_id, 0 as place_in_source
    from shown s
    union all
    -- The matching chunk is not always the one with the answer.
    select s.place, s.project_id, s.ticket_id, s.relevance, n.chunk_id, n.place_in_source
    from shown s
    cross join lateral (
      select c.chunk_id, row_number() over (
          order by c.embedding operator(extensions.<=>) retrieve_chunks_hybrid.query_embedding, c.chunk_id) as place_in_source
      from (
        select c.* from public.chunks c where c.ticket_id = s.ticket_id and c.project_id = s.project_id and c.comment_id is null
        union all
        -- Of a ticket with thousands of comments, the newest.
        select c.*
        from (select m.comment_id from public.comments m where m.ticket_id = s.ticket_id order by m.created_at desc, m.comment_id desc limit 200) m
        join public.chunks c on c.comment_id = m.comment_id
      ) c
      where c.model = retrieve_chunks_hybrid.embedding_model
        and c.embedding_set = (select private.searched_set(retrieve_chunks_hybrid.embedding_model))
        and c.chunk_id is distinct from s.first_chunk_id
    ) n
    -- A question that names a ticket by its key usually needs the ticket's notes, too.
    where n.place_in_source < greatest(coalesce(retrieve_chunks_hybrid.source_chunk_limit, 1), case when s.exact then 3 else 1 end)
    union all
    -- As relevant as their ticket or project. Items named only by project and state come last.
    select coalesce(s.place, 1000), n.project_id, n.ticket_id, coalesce(s.relevance, 0), n.chunk_id, 100
    from named n
    left join shown s on s.ticket_id = n.ticket_id or n.ticket_id is null and s.ticket_id is null and s.project_id = n.project_id
    where n.chunk_id is not null or s.place is null
    union all
    -- The nearest chunk shows how close a search without results came.
    select null, n.project_id, n.ticket_id, null, n.chunk_id, 0
    from private.scan_chunks(
      retrieve_chunks_hybrid.query_embedding, retrieve_chunks_hybrid.embedding_model, retrieve_chunks_hybrid.project_filter,
      retrieve_chunks_hybrid.status_filter, retrieve_chunks_hybrid.match_threshold, 1, 1, filters => retrieve_chunks_hybrid.filters) n
  ), numbered as (
    -- If the list is full, named sources take precedence.
    select x.*, row_number() over (order by x.place is null, not x.named, x.place, x.place_in_source) as cut,
      row_number() over (order by x.place nulls last, x.place_in_source, x.ticket_id, x.project_id, x.chunk_id) as position
    from (
      select distinct on (o.ticket_id, o.project_id, o.chunk_id) o.*,
        exists (select from named n where (n.chunk_id is null or n.chunk_id = o.chunk_id)
          and n.ticket_id is not distinct from o.ticket_id and n.project_id = o.project_id) as named
      from chosen o
      order by o.ticket_id, o.project_id, o.chunk_id, o.place nulls last, o.place_in_source
    ) x
  ), candidate as materialized (
    -- Normalised for the same reason as in retrieve_chunks.
    select x.*, c.kind, c.text, c.tokens, c.comment_id, extensions.l2_normalize(v.embedding) as embedding,
      1 - (v.embedding operator(extensions.<=>) retrieve_chunks_hybrid.query_embedding) as similarity
    from numbered x
    left join public.chunks c on c.chunk_id = x.chunk_id
    -- A vector of another model cannot be compared.
    left join public.chunks v on v.chunk_id = x.chunk_id and v.model = retrieve_chunks_hybrid.embedding_model
    where x.cut <= private.clamp(retrieve_chunks_hybrid.match_count, 20, 1, 100) or x.place is null
  )
  select x.chunk_id, x.ticket_id, x.project_id, p.name, t.key, t.name, s.name, coalesce(x.kind, case when x.ticket_id is null then 'project' else 'ticket' end),
    -- A ticket that is not embedded yet is represented by the beginning of its text.
    coalesce(x.text, private.beginning_of(coalesce(t.name, p.name), case when t.ticket_id is null then p.description else t.description end)),
    x.tokens, x.similarity, coalesce(x.similarity > retrieve_chunks_hybrid.match_threshold, false), x.relevance,
    array(
      select coalesce(-(x.embedding operator(extensions.<#>) y.embedding), 0)::real from candidate y where y.position < x.position order by y.position),
    x.named, p.key, m.comment_id, m.author, m.created_at
  from candidate x
  join public.projects p on p.project_id = x.project_id
  left join public.tickets t on t.ticket_id = x.ticket_id
  left join public.status s on s.status_id = t.status_id
  left join public.comments m on m.comment_id = x.comment_id
  order by x.position;
end
$$;
comment on function public.retrieve_chunks_hybrid is
  'Candidates for an answer from the list that search_hybrid fuses: the best chunk of each ticket or project (with source_chunk_limit, up to this many of each ticket), and chunks of the tickets and projects that the question names, with named set, whatever their similarity. A quoted phrase is required of keyword matches, but not of vector matches. relevance is the fused score scaled to 0 (the last candidate) to 1 (the best, or a named ticket); it is null in an additional last row that only provides the nearest similarity. similarity is null without a vector of this model, chunk_id and tokens if nothing is embedded, and comment_* except for a comment''s chunk. similarities[i] is the cosine similarity to row i, 0 if unknown, for the rows before its own. match_count at most 100.';

insert into private.migrations (version) values ('20260101001620');
