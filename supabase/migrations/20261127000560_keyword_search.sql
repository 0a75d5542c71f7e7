-- Keyword search: BM25F over name and text (Robertson and Zaragoza 2009), with proximity of
-- neighbouring words.

-- As in score_entries: a word's frequency in the best of these comments of each ticket.
create function tasklens.comment_frequencies(comment_ids bigint[], terms tsquery[], usual_length double precision)
returns table (ticket_id bigint, frequencies double precision[], texts tsvector[])
language plpgsql stable rows 100 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
  with remark as materialized (
    select m.ticket_id, (array[m.words])[1] as words, 0.4 * 0.645 / (0.25 + (0.75 / usual_length) * m.length) as weight
    from public.comment_entries m where m.comment_id = any (comment_ids)
  )
  select f.ticket_id, f.frequencies, x.texts
  from (
    select n.ticket_id, array_agg(n.frequency order by n.place) as frequencies
    from (
      select m.ticket_id, t.place, max(coalesce(m.weight * (r.rank / (1.0024 - r.rank)), 0)) as frequency
      from remark m
      cross join unnest(terms) with ordinality as t(query, place)
      left join lateral (select ts_rank('{1, 1, 0, 0}', m.words, t.query) as rank where m.words @@ t.query offset 0) r on true
      group by m.ticket_id, t.place
    ) n
    group by n.ticket_id
  ) f
  join (select m.ticket_id, array_agg(m.words) as texts from remark m group by m.ticket_id) x on x.ticket_id = f.ticket_id;
end
$$;
comment on function tasklens.comment_frequencies is
  'For each ticket of some comments, the weighted frequency of each term in the best one, and the words of all. usual_length: of a comment.';

-- Scores entries as if all were scored: each word by its frequency in the name (times three) and in
-- the text, each normalised by length, plus four tenths of its score in the best given comment (a
-- note counts half). The best close_limit also get proximity: neighbours in the query that are
-- within three positions in the entry, in order. The best alike_limit of these also get the
-- similarity of query and name. level is how far an entry got: 0, 1 proximity, 2 similarity.
create function tasklens.score_entries(
  entry_ids bigint[], comment_ids bigint[], words tasklens.words, plain text, close_limit integer, alike_limit integer
)
returns table (keyword_entry_id bigint, score double precision, level integer)
language plpgsql stable rows 300 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  usual record; -- lengths
  terms constant tsquery[] := words.terms::tsquery[];
  pairs tsquery[];
  pair_idfs double precision[];
begin
  select greatest(t.title_words / greatest(t.entries, 1)::double precision, 1) as title, greatest(t.body_words / greatest(t.entries, 1)::double precision, 1) as body,
      greatest(t.comment_words / greatest(t.comments, 1)::double precision, 1) as comment
    into usual from tasklens.word_entries(array['']) t;
  select array_agg((n.term || ' <-> ' || n.next || ' | ' || n.term || ' <2> ' || n.next || ' | ' || n.term || ' <3> ' || n.next)::tsquery),
      array_agg((n.idf + n.next_idf) / 2)
    into pairs, pair_idfs from (
      select u.term, u.idf, lead(u.term) over in_order as next, lead(u.idf) over in_order as next_idf
      from unnest(words.terms, words.idfs, words.places) as u(term, idf, place)
      where u.term !~ '<->'
      window in_order as (order by u.place, u.term)
    ) n where n.next is not null;
  return query
  with by_words as materialized (
    select e.keyword_entry_id, e.project_id, e.ticket_id, s.score, d.texts, row_number() over (order by s.score desc, e.keyword_entry_id) as place
    from public.keyword_entries e
    left join tasklens.comment_frequencies(score_entries.comment_ids, terms, usual.comment) d on d.ticket_id = e.ticket_id
    cross join lateral (
      select sum(f.idf * f.n / (1.2 + f.n)) as score
      from (
        -- For n occurrences in a part, ts_rank returns (1/1² + 1/2² + … + 1/n²) / (π²/6). n is
        -- 0.645 times the odds rank / (1 - rank), within 6 per cent up to 30 occurrences; beyond
        -- that it is lower, at most 270.
        select r.idf, r.title * (r.a / (1.0024 - r.a)) + r.body * (r.b / (1.0024 - r.b) + 0.5 * r.c / (1.0024 - r.c)) + r.in_comments as n
        from (
          select t.idf, w.title, w.body, coalesce(d.frequencies[t.place], 0) as in_comments,
            case when e.title_words @@ t.query then ts_rank('{0, 0, 0, 1}', w.words, t.query) else 0 end as a,
            -- D: words that the entry only implies.
            ts_rank('{1, 0, 1, 0}', w.words, t.query) as b, ts_rank('{0, 1, 0, 0}', w.words, t.query) as c
          from (
            -- As an array element, so that a TOASTed value is fetched once and not per word.
            select (array[e.words])[1] as words, 0.645 * 3 / (0.25 + (0.75 / usual.title) * e.title_length) as title,
              0.645 / (0.25 + (0.75 / usual.body) * e.body_length) as body
            offset 0
          ) w join unnest(terms, words.idfs) with ordinality as t(query, idf, place) on w.words @@ t.query or d.frequencies[t.place] > 0
          -- "offset 0", here and above, prevents recomputing an expression at every use.
          offset 0
        ) r
        offset 0
      ) f
    ) s
    where e.keyword_entry_id = any (entry_ids) and s.score is not null
  ), close as (
    select b.keyword_entry_id, b.project_id, b.ticket_id, b.score + 0.3 * coalesce(n.score, 0) as score,
      row_number() over (order by b.score + 0.3 * coalesce(n.score, 0) desc, b.keyword_entry_id) <= alike_limit as is_alike
    from by_words b
    cross join lateral (
      select sum(p.idf * case when w.words @@ p.query then 1 + (e.title_words @@ p.query)::integer else 0.4 end) as score
      from public.keyword_entries e
      cross join lateral (select (array[e.words])[1] as words offset 0) w
      join unnest(pairs, pair_idfs) as p(query, idf)
        on w.words @@ p.query or b.texts is not null and exists (select from unnest(b.texts) as m(words) where m.words @@ p.query)
      where e.keyword_entry_id = b.keyword_entry_id
    ) n
    where b.place <= close_limit
  )
  select c.keyword_entry_id,
    -- Looked up one by one: a join would be planned as a scan of all tickets.
    c.score + case when c.is_alike then 8 * extensions.similarity(
      case when c.ticket_id is null then (select p.name from public.projects p where p.project_id = c.project_id)
        else (select t.name from public.tickets t where t.ticket_id = c.ticket_id) end, left(plain, 500)) else 0 end,
    1 + c.is_alike::integer
  from close c
  union all
  select b.keyword_entry_id, b.score, 0 from by_words b where b.place > close_limit;
end
$$;
comment on function tasklens.score_entries is
  'BM25F of some entries and some of their comments, with proximity of neighbouring words and similarity of the name to plain.';

-- reach: the total number of entries looked up for the words; scored: how many of the best are
-- scored; close_limit, alike_limit: see score_entries. Without limits the result is the exact
-- ranking that the limited one approximates.
create function tasklens.rank_entries(
  search tasklens.search, match_count integer,
  reach integer default null, scored integer default null, close_limit integer default null, alike_limit integer default null
)
returns table (rank bigint, project_id bigint, ticket_id bigint, score double precision, tier integer)
-- Custom plans for the filter, whatever the caller has set.
language plpgsql stable rows 300 security invoker set search_path = '' set jit = off set plan_cache_mode = auto
as $$
#variable_conflict use_column
declare
  query constant tasklens.query := search.query;
begin
  if (search.scope).is_empty then
    return;
  end if;
  reach := coalesce(reach, 8000);
  scored := coalesce(scored, 500);
  close_limit := coalesce(close_limit, 200);
  alike_limit := coalesce(alike_limit, 50);
  return query
  with candidate as materialized (
    -- Best first, as the limits below require.
    select c.keyword_entry_id, c.project_id, c.ticket_id, c.gain, c.comment_ids
    from tasklens.keyword_candidates(search, reach, greatest(1000, scored)) c
    where cardinality((search.words).terms) > 0 and (c.ticket_id in (select unnest(query.excluded_tickets))) is not true
      -- Not "not exists", which would be planned as a join with all entries that hold common words.
      and (query.excluded is null
        or (select e.words @@ query.excluded from public.keyword_entries e where e.keyword_entry_id = c.keyword_entry_id) is not true)
  ), first as materialized (
    select e.keyword_entry_id, e.project_id, e.ticket_id, 2 as tier from public.keyword_entries e
    where e.ticket_id = any (tasklens.passing_tickets(search.scope, query.named_tickets))
    union all
    select e.keyword_entry_id, e.project_id, e.ticket_id, 1 from public.keyword_entries e
    where e.keyword_entry_id = any (search.holders) and (e.ticket_id in (select unnest(query.named_tickets))) is not true
  ), scores as materialized (
    select s.keyword_entry_id, s.score, s.level
    from tasklens.score_entries(
      array(select c.keyword_entry_id from candidate c limit scored) || search.holders,
      array(select u from (select c.comment_ids from candidate c limit scored) c, unnest(c.comment_ids) as u),
      search.words, query.plain, close_limit, alike_limit) s
  ), listed as (
    select coalesce(f.project_id, c.project_id) as project_id, coalesce(f.ticket_id, c.ticket_id) as ticket_id,
      coalesce(s.score, 0) as score, coalesce(s.level, -1) as level, coalesce(c.gain, 0) as gain, coalesce(f.tier, 0) as tier
    from candidate c full join first f using (keyword_entry_id) left join scores s using (keyword_entry_id)
  )
  select row_number() over (
      order by l.tier desc, l.level desc, l.score desc, l.gain desc, l.ticket_id nulls last, l.project_id),
    l.project_id, l.ticket_id, l.score, l.tier
  from listed l
  order by 1
  limit greatest(1, match_count);
end
$$;
comment on function tasklens.rank_entries is
  'The tickets and projects of a search by their words; see search_by_keyword. tier: 2 for a ticket that the query names, 1 for a text that holds an identifier of it, else 0.';

create function public.search_by_keyword(
  query_text text,
  match_count integer default 10,
  project_filter bigint default null,
  status_filter text default null,
  filters jsonb default null
)
returns table (
  rank bigint, project_id bigint, ticket_id bigint, keyword_score double precision, exact boolean, ticket_key text, ticket_name text
)
language plpgsql stable rows 300 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  all_filters constant jsonb := tasklens.check_arguments(
    search_by_keyword.filters, project_filter => search_by_keyword.project_filter, status_filter => search_by_keyword.status_filter);
begin
  -- Without a vector, the fused list is that of keyword search.
  return query
  select p.keyword_rank, p.project_id, p.ticket_id, p.keyword_score, p.exact, t.key, t.name
  from tasklens.find_page(
    search_by_keyword.query_text, null, null, null, all_filters, 1, 1, 'rrf', 'relevance', 0, tasklens.clamp(search_by_keyword.match_count, 10, 1, 1000)) p
  left join lateral (select t.key, t.name from public.tickets t where t.ticket_id = p.ticket_id offset 0) t on true
  order by p.place;
end
$$;
comment on function public.search_by_keyword is
  'Tickets and projects (ticket_id null) by BM25F over their words, computed from ts_rank: any word matches, rare ones weigh more, "phrases" are required, -words are excluded; tickets whose key the query names come first, then texts that hold an identifier of it whole (9.3.0.GA), both with exact set. Unknown words are replaced by the nearest known ones. At most 1,000; from the 501st on keyword_score is 0.';

insert into tasklens.migrations (version) values ('20261127000560');
