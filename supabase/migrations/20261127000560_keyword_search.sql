-- Keyword search: BM25F over name and text (Robertson and Zaragoza 2009), with proximity of
-- neighbouring words.

-- Scores entries as if all were scored: each word by its frequency in the name (times three), in
-- the text (in a note half) and in one comment of each (four tenths; the arrays are parallel), each
-- normalised by length. The best near_count also get proximity, of neighbours in the query that
-- are within three positions in the entry, in order, and the similarity of query and name. Both
-- only add, so that none falls behind one that was not looked at.
create function tasklens.score_entries(entry_ids bigint[], comment_ids bigint[], words tasklens.words, plain text, near_count integer)
returns table (keyword_entry_id bigint, score double precision, words_held bigint)
language plpgsql stable rows 300 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  usual record; -- lengths
  terms constant tsquery[] := words.terms::tsquery[];
  -- Of each term, which ts_rank divides by.
  stems constant integer[] := array(select regexp_count(t.term, ' \| ') + 1 from unnest(words.terms) with ordinality t(term, place) order by t.place);
  pairs tsquery[];
  pair_idfs double precision[];
begin
  select greatest(l.titles / greatest(t.entries, 1)::double precision, 1) as title, greatest(l.entries / greatest(t.entries, 1)::double precision, 1) as body,
      greatest(l.comments / greatest(t.comments, 1)::double precision, 1) as comment
    into usual from tasklens.word_entries(array['']) t cross join tasklens.word_entries(array[' ']) l;
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
    select e.keyword_entry_id, e.project_id, e.ticket_id, a.comment_id, s.score, s.words_held,
      row_number() over (order by s.score desc, e.ticket_id nulls last, e.project_id) as place
    from unnest(score_entries.entry_ids, score_entries.comment_ids) as a(entry_id, comment_id)
    join public.keyword_entries e on e.keyword_entry_id = a.entry_id
    left join public.comment_entries m on m.comment_id = a.comment_id
    cross join lateral (
      select sum(f.idf * f.n / (1.2 + f.n)) as score, count(*) as words_held
      from (
        -- For n occurrences in a part, ts_rank returns (1/1² + 1/2² + … + 1/n²) / (π²/6).
        -- n is 0.645 times the odds rank / (1 - rank), within 6 per cent up to 30
        -- occurrences; beyond that it is lower, at most 270.
        select r.idf, r.title * (r.a / (1.0024 - r.a)) + r.body * (r.b / (1.0024 - r.b) + 0.5 * r.c / (1.0024 - r.c)) + r.comment * (r.m / (1.0024 - r.m)) as n
        from (
          select t.idf, w.title, w.body, w.comment,
            case when e.title_words @@ t.query then least(1, t.stems * ts_rank('{0, 0, 0, 1}', w.words, t.query)) else 0 end as a,
            -- D: words that the entry only implies.
            least(1, t.stems * ts_rank('{1, 0, 1, 0}', w.words, t.query)) as b, least(1, t.stems * ts_rank('{0, 1, 0, 0}', w.words, t.query)) as c,
            case when w.comment_words @@ t.query then least(1, t.stems * ts_rank('{1, 1, 0, 0}', w.comment_words, t.query)) else 0 end as m
          from (
            -- As array elements, so that a TOASTed value is fetched once and not per word.
            select (array[e.words])[1] as words, (array[m.words])[1] as comment_words, 0.645 * 3 / (0.25 + (0.75 / usual.title) * e.title_length) as title,
              0.645 / (0.25 + (0.75 / usual.body) * e.body_length) as body, 0.4 * 0.645 / (0.25 + (0.75 / usual.comment) * coalesce(m.length, 0)) as comment
            offset 0
          ) w join unnest(terms, words.idfs, stems) as t(query, idf, stems) on w.words @@ t.query or w.comment_words @@ t.query
          -- "offset 0", here and above, prevents recomputing an expression at every use.
          offset 0
        ) r
        offset 0
      ) f
    ) s
    where s.score is not null
  )
  select b.keyword_entry_id,
    -- Looked up one by one: a join would be planned as a scan of all tickets.
    b.score + 0.3 * coalesce(n.score, 0) + 8 * extensions.similarity(
      case when b.ticket_id is null then (select p.name from public.projects p where p.project_id = b.project_id)
        else (select t.name from public.tickets t where t.ticket_id = b.ticket_id) end, left(plain, 500)),
    b.words_held
  from by_words b
  cross join lateral (
    select sum(p.idf * case when w.words @@ p.query then 1 + (e.title_words @@ p.query)::integer else 0.4 end) as score
    from public.keyword_entries e
    left join public.comment_entries m on m.comment_id = b.comment_id
    cross join lateral (select (array[e.words])[1] as words, (array[m.words])[1] as comment_words offset 0) w
    join unnest(pairs, pair_idfs) as p(query, idf) on w.words @@ p.query or w.comment_words @@ p.query
    where e.keyword_entry_id = b.keyword_entry_id
  ) n
  where b.place <= near_count
  union all
  select b.keyword_entry_id, b.score, b.words_held from by_words b where b.place > near_count;
end
$$;
comment on function tasklens.score_entries is
  'BM25F of some entries, each with a comment or null, with proximity of neighbouring words and similarity of the name to plain. words_held: how many of the words it holds.';

-- reach: see keyword_candidates; scored_count: how many of the best are scored; near_count: see
-- score_entries. Without limits the result is the exact ranking that the limited one approximates.
create function tasklens.rank_entries(
  search tasklens.search, match_count integer, reach integer default 4000, scored_count integer default 500, near_count integer default 100
)
returns table (rank bigint, project_id bigint, ticket_id bigint, score double precision, tier integer, holds_all boolean)
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
  return query
  with candidate as materialized (
    -- Best first.
    select c.*, row_number() over () as place
    from tasklens.keyword_candidates(search, reach, greatest(1000, scored_count)) c
    where cardinality((search.words).terms) > 0
  ), first as materialized (
    select e.keyword_entry_id, e.project_id, e.ticket_id,
      case when e.keyword_entry_id = any (query.named_tickets) then 3 when e.keyword_entry_id = any (search.holders) then 2 else 1 end as tier
    from public.keyword_entries e
    where e.keyword_entry_id = any (tasklens.passing_tickets(search.scope, query.named_tickets) || search.holders || search.alike)
  ), listed as materialized (
    select keyword_entry_id, coalesce(f.project_id, c.project_id) as project_id, coalesce(f.ticket_id, c.ticket_id) as ticket_id,
      coalesce(c.gain, 0) as gain, c.comment_id, coalesce(f.tier, 0) as tier, f.tier < 3 or c.place <= scored_count as is_scored
    from candidate c full join first f using (keyword_entry_id)
  ), scored as materialized (
    select s.* from (
      select array_agg(l.keyword_entry_id) as entries, array_agg(l.comment_id) as comments from listed l where l.is_scored) a
    cross join lateral tasklens.score_entries(a.entries, a.comments, search.words, query.plain, near_count) s
  )
  select row_number() over (order by l.tier desc, coalesce(s.score, 0) desc, l.gain desc, l.ticket_id nulls last, l.project_id),
    l.project_id, l.ticket_id, coalesce(s.score, 0), l.tier, coalesce(s.words_held = query.all_words, false)
  from listed l left join scored s using (keyword_entry_id)
  order by 1
  limit greatest(1, match_count);
end
$$;
comment on function tasklens.rank_entries is
  'The tickets and projects of a search by their words; see search_by_keyword. tier: 3 for a ticket that the query names, 2 for a text that holds the identifier that the query is, 1 in another form, else 0. holds_all: it holds every word of the query.';

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
  'Tickets and projects (ticket_id null) by BM25F over their words, computed from ts_rank: any word matches, rare ones weigh more, "phrases" are required, -words are excluded; tickets whose key the query names come first, then texts that hold the identifier that it is (9.3.0.GA). exact: these, and texts that hold an identifier of it whole. Unknown words are replaced by the nearest known ones. At most 1,000; from the 501st on keyword_score is 0.';

insert into tasklens.migrations (version) values ('20261127000560');
