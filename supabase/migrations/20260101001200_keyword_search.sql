-- Search by words: BM25F over name and text (Robertson and Zaragoza 2009), with the closeness of neighbouring words.

-- The score of some entries, as if all entries were scored: each word by its frequency in the name (three times) and in
-- the text, each against its usual length. Of the best close_limit by this, the closeness of words: neighbours in the query
-- that stand within three places of one another in the entry, in that order. Of the best alike_limit by both, how alike
-- query and name are as a whole. level says how far an entry came: 0, 1 close, 2 alike.
create function private.score_entries(
  entry_ids bigint[], words text[], idfs double precision[], places integer[], plain text, close_limit integer, alike_limit integer
)
returns table (keyword_entry_id bigint, score double precision, level integer)
language plpgsql stable rows 300 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
return query
  with usual as (
    select greatest(t.title_words / greatest(t.entries, 1)::double precision, 1) as title_length,
      greatest(t.body_words / greatest(t.entries, 1)::double precision, 1) as body_length
    from private.word_entries(array['']) t
  ), entry as materialized (
    -- Out of an array, so that what is stored out of line is read once and not for every word.
    select e.keyword_entry_id, e.project_id, e.ticket_id, (array[e.words])[1] as words, e.title_words,
      0.25 + 0.75 * e.title_length / u.title_length as title_factor, 0.25 + 0.75 * e.body_length / u.body_length as body_factor
    from public.keyword_entries e
    cross join usual u
    where e.keyword_entry_id = any (score_entries.entry_ids)
  ), term as materialized (
    select private.quote_word(u.word) as quoted, private.quote_word(u.word)::tsquery as query, u.idf, u.place
    from unnest(score_entries.words, score_entries.idfs, score_entries.places) as u(word, idf, place)
  ), pair as materialized (
    select (n.quoted || ' <-> ' || n.next || ' | ' || n.quoted || ' <2> ' || n.next || ' | ' || n.quoted || ' <3> ' || n.next)::tsquery as query,
      (n.idf + n.next_idf) / 2 as idf
    from (
      select t.quoted, t.idf, lead(t.quoted) over w as next, lead(t.idf) over w as next_idf from term t window w as (order by t.place, t.quoted)
    ) n
    where n.next is not null
  ), rank as (
    select e.keyword_entry_id, t.idf, e.title_factor, e.body_factor,
      ts_rank('{0, 0, 0, 1}', e.words, t.query) as a, ts_rank('{0, 0, 1, 0}', e.words, t.query) as b, ts_rank('{0, 1, 0, 0}', e.words, t.query) as c
    from entry e join term t on e.words @@ t.query
    -- Keeps each rank from being computed again for every place where it is used.
    offset 0
  ), frequency as (
    -- For a word that is in a part n times ts_rank gives (1/1² + 1/2² + … + 1/n²) / (π²/6), of which n is 0.645 times the
    -- odds, rank / (1 - rank), to within 6 per cent up to 30 times, and less of it beyond: never above 270.
    select r.keyword_entry_id, r.idf,
      0.645 * (3 * r.a / (1.0024 - r.a) / r.title_factor + (r.b / (1.0024 - r.b) + 0.5 * r.c / (1.0024 - r.c)) / r.body_factor) as n
    from rank r
  ), by_words as (
    select f.keyword_entry_id, sum(f.idf * f.n / (1.2 + f.n)) as score from frequency f group by f.keyword_entry_id
  ), best as materialized (
    select w.keyword_entry_id, w.score from by_words w order by w.score desc, w.keyword_entry_id limit score_entries.close_limit
  ), close as (
    select e.keyword_entry_id, e.project_id, e.ticket_id, b.score + 0.3 * coalesce(n.score, 0) as score,
      row_number() over (order by b.score + 0.3 * coalesce(n.score, 0) desc, e.keyword_entry_id) <= score_entries.alike_limit as is_alike
    from best b
    join entry e using (keyword_entry_id)
    cross join lateral (
      select sum(p.idf * (1 + (e.title_words @@ p.query)::integer)) as score from pair p where e.words @@ p.query
    ) n
  )
  select c.keyword_entry_id,
    c.score + case when c.is_alike then 8 * extensions.similarity(coalesce(t.name, p.name), left(score_entries.plain, 500)) else 0 end,
    1 + c.is_alike::integer
  from close c
  left join public.tickets t on c.is_alike and t.ticket_id = c.ticket_id
  left join public.projects p on c.is_alike and c.ticket_id is null and p.project_id = c.project_id
  union all
  select w.keyword_entry_id, w.score, 0 from by_words w where not exists (select 1 from best b where b.keyword_entry_id = w.keyword_entry_id);
end
$$;
comment on function private.score_entries(bigint[], text[], double precision[], integer[], text, integer, integer) is
  'BM25F of some entries with closeness of neighbouring words and likeness of the name. The arrays of words go in step.';
revoke execute on function private.score_entries(bigint[], text[], double precision[], integer[], text, integer, integer) from public;
grant execute on function private.score_entries(bigint[], text[], double precision[], integer[], text, integer, integer) to service_role;

-- The whole search. The last four bound its work (see search_by_keyword); without bounds the answer is the one that they
-- must come near to.
create function private.rank_by_keyword(
  query_text text, match_count integer, project_filter bigint, status_filter text,
  reach integer, scored integer, close_limit integer, alike_limit integer
)
returns table (rank bigint, project_id bigint, ticket_id bigint, score double precision, exact boolean)
language plpgsql volatile rows 300 security invoker set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  query record;
  filter_status bigint;
begin
  query := private.plan_query(query_text);
  if status_filter is not null then
    select s.status_id into filter_status from public.status s where lower(s.name) = lower(status_filter);
    if filter_status is null then
      return;
    end if;
  end if;

  return query
  with candidate as materialized (
    select c.*, row_number() over (order by c.gain desc, c.keyword_entry_id) as place
    from private.keyword_candidates(
      query.words, query.idfs, query.entries, query.titles, project_filter, filter_status, query.required, reach, greatest(1000, scored)) c
    where cardinality(query.words) > 0
      and (query.excluded is null or not exists (
        select 1 from public.keyword_entries e where e.keyword_entry_id = c.keyword_entry_id and e.words @@ query.excluded))
  ), scores as materialized (
    select s.keyword_entry_id, s.score, s.level
    from private.score_entries(
      array(select c.keyword_entry_id from candidate c order by c.place limit scored),
      query.words, query.idfs, query.places, query.plain, close_limit, alike_limit) s
  ), named as (
    select t.project_id, t.ticket_id from public.tickets t
    where upper(t.key) = any (query.ticket_keys)
      and (project_filter is null or t.project_id = project_filter)
      and (filter_status is null or t.status_id = filter_status)
      and (query.excluded is null or not private.entry_holds(t.project_id, t.ticket_id, query.excluded))
  ), listed as (
    select coalesce(n.project_id, c.project_id) as project_id, coalesce(n.ticket_id, c.ticket_id) as ticket_id,
      coalesce(s.score, 0) as score, coalesce(s.level, -1) as level, coalesce(c.gain, 0) as gain, n.ticket_id is not null as exact
    from (candidate c left join scores s using (keyword_entry_id)) full join named n on n.ticket_id = c.ticket_id
  )
  select row_number() over (
      order by l.exact desc, l.level desc, l.score desc, l.gain desc, l.ticket_id nulls last, l.project_id),
    l.project_id, l.ticket_id, l.score, l.exact
  from listed l
  order by 1
  limit greatest(1, match_count);
end
$$;
comment on function private.rank_by_keyword(text, integer, bigint, text, integer, integer, integer, integer) is
  'search_by_keyword with bounds of one''s own: reach, the entries that are looked up for the words of a query together; scored, the best of these that are scored; and the limits of score_entries.';
revoke execute on function private.rank_by_keyword(text, integer, bigint, text, integer, integer, integer, integer) from public;
grant execute on function private.rank_by_keyword(text, integer, bigint, text, integer, integer, integer, integer) to service_role;

create function public.search_by_keyword(
  query_text text,
  match_count integer default 10,
  project_filter bigint default null,
  status_filter text default null
)
returns table (rank bigint, project_id bigint, ticket_id bigint, score double precision, exact boolean)
language sql volatile rows 300 security invoker set search_path = ''
as $$
  select r.rank, r.project_id, r.ticket_id, r.score, r.exact
  from private.rank_by_keyword(
    search_by_keyword.query_text, least(1000, search_by_keyword.match_count),
    search_by_keyword.project_filter, search_by_keyword.status_filter, 8000, 600, 200, 50) r
$$;
comment on function public.search_by_keyword(text, integer, bigint, text) is
  'Tickets and projects (ticket_id null) by BM25F over their words, made of ts_rank: any of the words counts, rare ones more, "phrases" must occur, -words must not; tickets whose key the query names come first, exact. Unknown words stand for the nearest known ones. At most 1,000; from the 601st on the score is 0 and the order rougher.';
revoke execute on function public.search_by_keyword(text, integer, bigint, text) from public, anon, authenticated;
grant execute on function public.search_by_keyword(text, integer, bigint, text) to service_role;
