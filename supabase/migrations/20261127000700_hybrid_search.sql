-- Fuses both searches. rrf: reciprocal rank fusion (Cormack, Clarke and Büttcher 2009), k = 60.
-- convex: a weighted sum of scores, with the similarity of unrelated texts as the minimum of a
-- cosine (Bruch, Gai and Ingber 2022). docs/quality.md compares them.

-- Before anything is read for display. Both searches return a fixed number of candidates for any
-- page, so that pages form one list.
create function tasklens.fuse_searches(
  search tasklens.search, vector_weight double precision, keyword_weight double precision, fusion text
)
returns table (
  place bigint, project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision, vector_rank bigint,
  keyword_score double precision, keyword_rank bigint, exact boolean,
  vector_contribution double precision, keyword_contribution double precision, rrf_score double precision, fused_score double precision
)
language plpgsql stable rows 500 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  convex constant boolean := fuse_searches.fusion is not distinct from 'convex';
  -- The maximum that each search adds to the convex score with weight 1.
  vector_share constant double precision := 0.4;
  keyword_share constant double precision := 0.6;
  least_similarity double precision;
  -- Where vectors find something, words count by rank if they are all of the query's, or carry this
  -- share of its weight near to the best. Or rank 4 of one word and rank 60 by vector came first.
  least_score constant double precision := 0.4 * (select sum(w.idf) from unnest((search.words).idfs) as w(idf));
  near_best constant double precision := 0.7;
begin
  if convex then
    least_similarity := tasklens.unrelated_similarity(search.embedding_model);
  end if;

  return query
  with nearest as materialized (
    -- source: a ticket, or ~ of a project's id.
    select v.project_id, v.ticket_id, v.chunk_id, v.similarity, coalesce(v.ticket_id, ~v.project_id) as source, v.rank
    from tasklens.nearest_sources(search) v
  ), word_match as materialized (
    select k.*, coalesce(k.ticket_id, ~k.project_id) as source,
      -- Of tickets that the query does not name: a named ticket's score includes the match of its key.
      first_value(k.score) over (order by k.tier = 3, k.rank) as best
    from tasklens.rank_entries(search, 1000) k
  ), counted as (
    select k.*, case when convex or k.tier > 0 or k.holds_all or k.score >= greatest(least_score, near_best * k.best) or not exists (select from nearest)
      then k.rank end as counts_as
    from word_match k
  ), ranked as (
    select coalesce(v.project_id, k.project_id) as project_id, coalesce(v.ticket_id, k.ticket_id) as ticket_id, v.chunk_id,
      v.similarity, v.rank as vector_rank, k.score as keyword_score, k.counts_as as keyword_rank, k.rank as word_place, k.best, coalesce(k.tier, 0) as tier,
      coalesce(fuse_searches.vector_weight / (60 + v.rank), 0) as vector_by_rank,
      coalesce(fuse_searches.keyword_weight / (60 + k.counts_as), 0) as keyword_by_rank
    from nearest v
    full join counted k using (source)
  ), scored as (
    select r.*,
      case when convex
        then coalesce(fuse_searches.vector_weight * vector_share * greatest(0, (r.similarity - least_similarity) / (1 - least_similarity)), 0)
        else r.vector_by_rank end as by_vector,
      case when convex
        then coalesce(fuse_searches.keyword_weight * keyword_share * r.keyword_score / nullif(r.best, 0), 0)
        else r.keyword_by_rank end as by_keyword
    from ranked r
  )
  select row_number() over (
      order by s.tier desc, s.by_vector + s.by_keyword desc, s.vector_rank is null and s.keyword_rank is null,
        case when convex or s.keyword_rank is null then s.word_place end nulls last, s.ticket_id nulls last, s.project_id),
    s.project_id, s.ticket_id, s.chunk_id, s.similarity, s.vector_rank, s.keyword_score, s.keyword_rank, s.tier > 0,
    s.by_vector, s.by_keyword, s.vector_by_rank + s.keyword_by_rank, s.by_vector + s.by_keyword
  from scored s
  order by 1;
end
$$;
comment on function tasklens.fuse_searches is
  'Tickets and projects found by either search, in order (place), with what each search adds to the fused score. Candidates are fixed: 100 by vector, 1,000 by keyword. fusion is rrf or convex.';

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
  fusion text default 'rrf',
  sort text default 'relevance',
  filters jsonb default null,
  filters_in_text boolean default true,
  unfinished boolean default false
)
returns table (
  ticket_id bigint, text text, similarity double precision, source text, rrf_score double precision, fused_score double precision,
  project_id bigint, project_name text, ticket_key text, ticket_name text, status text,
  vector_rank bigint, keyword_rank bigint, keyword_score double precision,
  vector_contribution double precision, keyword_contribution double precision,
  matched_by text[], exact boolean, highlight text, chunk_id uuid, has_more boolean, relaxed boolean,
  comment jsonb, fields jsonb, languages text[]
)
-- Planning takes longer than looking up ten rows, so the plan is cached: lookups by key have only
-- one good plan. The setting also applies to the functions called here; those with filters reset
-- it.
language plpgsql stable rows 10 security invoker set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  query constant tasklens.typed_query := tasklens.read_search(search_hybrid.query_text, tasklens.check_arguments(
    search_hybrid.filters, search_hybrid.query_embedding, search_hybrid.embedding_model, fusion => search_hybrid.fusion, sort => search_hybrid.sort,
    project_filter => search_hybrid.project_filter, status_filter => search_hybrid.status_filter), search_hybrid.filters_in_text);
  serving_set smallint;
begin
  if query.text is null and (query.filters is not null or search_hybrid.query_text is not null or not search_hybrid.filters_in_text) then
    return query
    select l.ticket_id, l.text, null::double precision, 'filters', 0::double precision, 0::double precision,
      l.project_id, l.project_name, l.ticket_key, l.ticket_name, l.status,
      null::bigint, null::bigint, null::double precision, 0::double precision, 0::double precision,
      '{}'::text[], false, l.highlight, null::uuid, l.has_more, false, null::jsonb, l.fields, null::text[]
    from public.list_tickets(search_hybrid.match_count, search_hybrid.match_offset,
      sort => case when 'updated' in (search_hybrid.sort, query.sort) then 'updated' else 'newest' end, filters => query.filters) l;
    return;
  end if;
  serving_set := tasklens.searched_set(null);
  return query
  select g.ticket_id, shown.text, g.similarity,
    case when g.vector_rank is null then 'keyword' else 'vector' end,
    g.rrf_score, g.fused_score, p.project_id, p.name, t.key, t.name, s.name,
    g.vector_rank, g.keyword_rank, g.keyword_score, g.vector_contribution, g.keyword_contribution,
    -- Matches without a rank, on a page by time, match by keyword.
    array_remove(array[
      case when g.vector_rank is not null then 'vector' end, case when g.keyword_rank is not null or g.vector_rank is null then 'keyword' end], null),
    g.exact,
    coalesce(named.line, lit.line),
    shown.chunk_id, g.has_more, g.relaxed,
    m.comment,
    coalesce(tasklens.ticket_fields(g.ticket_id), jsonb_build_object('created_at', p.created_at, 'updated_at', p.updated_at)), g.languages
  from tasklens.find_page(
    query.text, search_hybrid.query_embedding, search_hybrid.embedding_model, search_hybrid.match_threshold,
    query.filters, search_hybrid.vector_weight, search_hybrid.keyword_weight, search_hybrid.fusion,
    case search_hybrid.sort when 'relevance' then coalesce(query.sort, 'relevance') else search_hybrid.sort end,
    tasklens.clamp(match_offset, 0, 0, 1000), tasklens.clamp(match_count, 10, 1, 100), search_hybrid.unfinished) g
  -- "offset 0", here and below: evaluated once, and only for the rows that need it.
  left join lateral (select t.* from public.tickets t where t.ticket_id = g.ticket_id offset 0) t on true
  cross join lateral (
    select p.project_id, p.name, p.description, p.visible_text, p.created_at, p.updated_at, l.language, ('tasklens.' || l.language)::regconfig as configuration
    from public.projects p cross join lateral (select coalesce(p.language, (select c.language from public.search_config c), 'english') as language) l
    where p.project_id = g.project_id offset 0
  ) p
  left join public.status s on s.status_id = t.status_id
  left join lateral (select c.text from public.chunks c where c.chunk_id = g.chunk_id offset 0) c on true
  -- Found by words alone: the chunk that matches them best by full-text rank, the first on a tie.
  left join lateral (
    select r.chunk_id, r.text
    from (
      select x.*, max(x.rank) over () as best
      from (
        -- Most have one chunk, which needs no ranking.
        select k.*, case when g.wanted is null or count(*) over () = 1 then 1 else ts_rank(to_tsvector(p.configuration, k.text), g.wanted) end as rank
        from (
          -- A ticket with thousands of chunks or comments is not ranked as a whole for one excerpt.
          (select c.chunk_id, c.text, c.position, false as remark from public.chunks c
          where c.ticket_id = g.ticket_id and c.project_id = g.project_id and c.comment_id is null and c.embedding_set = serving_set
          order by c.position limit 50)
          union all
          (select c.chunk_id, c.text, c.position, true
          from (
            select m.comment_id from (
              select e.comment_id, e.words from public.comment_entries e where e.ticket_id = g.ticket_id and e.project_id = g.project_id
              order by e.comment_id desc limit 500
            ) m
            where m.words @@ g.wanted order by ts_rank('{1, 1, 0, 0}', m.words, g.wanted) desc, m.comment_id desc limit 5
          ) m
          join public.chunks c on c.comment_id = m.comment_id and c.embedding_set = serving_set
          limit 50)
          union all
          (select c.chunk_id, c.text, c.position, false from public.chunks c
          where g.ticket_id is null and c.project_id = g.project_id and c.ticket_id is null and c.embedding_set = serving_set
          order by c.position limit 50)
        ) k
      ) x
    ) r
    where g.chunk_id is null
    -- Splitting names and scripts without spaces takes four times as long, so it is done only if
    -- plain words do not match.
    order by case when r.best > 0 then r.rank else ts_rank(to_tsvector(p.configuration, tasklens.plain_text(r.text)), g.wanted) end desc, r.remark, r.position
    limit 1
  ) b on true
  cross join lateral (
    select left(concat_ws(e'\n\n', coalesce(t.name, p.name), nullif(
      case when t.ticket_id is null then coalesce(p.visible_text, p.description) else coalesce(t.visible_text, t.description) end, '')), 2000) as beginning
  ) own
  -- What is not embedded yet shows the beginning of its text.
  cross join lateral (
    select case when g.chunk_id is null then b.chunk_id else g.chunk_id end as chunk_id, coalesce(c.text, b.text, own.beginning) as text
  ) shown
  left join lateral (
    select jsonb_build_object('comment_id', m.comment_id, 'author', m.author, 'created_at', m.created_at) as comment
    from public.chunks c join public.comments m on m.comment_id = c.comment_id
    where c.chunk_id = shown.chunk_id offset 0
  ) m on true
  cross join lateral (select tasklens.highlight(shown.text, g.wanted, p.language) as line offset 0) lit
  -- Where more words match in the name than in the chunk, the beginning of the text says more than
  -- a note or comment. A ticket's first chunk begins with its name.
  left join lateral (
    select tasklens.highlight(own.beginning, g.wanted, p.language) as line
    where not starts_with(shown.text, coalesce(t.name, p.name))
      and regexp_count(tasklens.highlight(coalesce(t.name, p.name), g.wanted, p.language), '<mark>') > regexp_count(lit.line, '<mark>')
    offset 0
  ) named on true
  order by g.place;
end
$$;
comment on function public.search_hybrid is
  'Keyword and vector search fused, for a query as people type it, with filters (read_query); filters_in_text false: it is taken as it is; unfinished: while it is typed, its last word is also the beginning of words. Without a text, the tickets that pass the filters, the latest first (source filters). Each ticket or project (ticket_id null) once, tickets named by their key first, then texts that hold the identifier that the query is, as typed and in another form, then by fused_score. exact: named, or a text that holds an identifier of the query whole. fusion rrf: the sum of weight / (60 + rank); where vectors find something, a match by words has a rank only if it holds all words of the query, or keyword_score reaches 0.4 of their weight and 0.7 of the best; else it stands last. convex: the sum of vector_weight × 0.4 × (similarity - u) / (1 - u), where u is tasklens.unrelated_similarity(embedding_model), and keyword_weight × 0.6 × keyword_score / the best keyword_score. Without query_embedding: keyword search only. match_count at most 100, match_offset 1,000. has_more: another page follows. relaxed: no text contains the quoted phrases, so their words count. languages: those in which the query is read. comment: {comment_id, author, created_at} of the comment that the text is from. fields: what tasklens.ticket_fields returns of a ticket, its people, dates, links …; of a project created_at and updated_at.';

insert into tasklens.migrations (version) values ('20261127000700');
