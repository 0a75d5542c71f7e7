-- Search by words: BM25F over name and text (Robertson and Zaragoza 2009), with the closeness of neighbouring words.

-- How often a word is in the parts of a tsvector that have a weight. ts_rank adds 1/1² + 1/2² + … + 1/n² for n places
-- and divides by π²/6; what is missing of the whole series, the sum from n + 1 on, is 1 / (n + ½) to within a few per cent.
create function private.term_frequency(rank real) returns double precision
language sql immutable security invoker set search_path = ''
as $$
  select case when term_frequency.rank > 0 then 1 / greatest(pi() ^ 2 / 6 * (1 - term_frequency.rank), 0.004) - 0.5 else 0 end
$$;
comment on function private.term_frequency(real) is 'The number of places that a rank of ts_rank for one word of weight 1 stands for, up to about 250.';
revoke execute on function private.term_frequency(real) from public;
grant execute on function private.term_frequency(real) to service_role;

-- The score of some entries, as if all entries were scored: each word by its frequency in the name (three times) and in
-- the text, each against its usual length; words that are neighbours in the query and stand within three places of one
-- another in the entry, in that order; and, of the best alike_limit by this, how alike query and name are as a whole.
create function private.score_entries(
  entry_ids bigint[], words text[], idfs double precision[], places integer[], plain text, alike_limit integer
)
returns table (keyword_entry_id bigint, score double precision, alike boolean)
language sql stable rows 300 security invoker set search_path = ''
as $$
  with usual as (
    select greatest(t.title_words / greatest(t.entries, 1)::double precision, 1) as title_length,
      greatest(t.body_words / greatest(t.entries, 1)::double precision, 1) as body_length
    from private.word_entries(array['']) t
  ), entry as materialized (
    -- Concatenated with nothing, so that each is unpacked once and not for every word.
    select e.keyword_entry_id, e.project_id, e.ticket_id, e.words || ''::tsvector as words, e.title_words,
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
  ), by_words as (
    select e.keyword_entry_id, sum(t.idf * f.frequency / (1.2 + f.frequency)) as score
    from entry e
    join term t on e.words @@ t.query
    cross join lateral (
      select 3 * private.term_frequency(ts_rank('{0, 0, 0, 1}', e.words, t.query)) / e.title_factor
        + (private.term_frequency(ts_rank('{0, 0, 1, 0}', e.words, t.query))
          + private.term_frequency(ts_rank('{0, 1, 0, 0}', e.words, t.query)) / 2) / e.body_factor as frequency
    ) f
    group by e.keyword_entry_id
  ), by_neighbours as (
    select e.keyword_entry_id, sum(p.idf * (1 + (e.title_words @@ p.query)::integer)) as score
    from entry e join pair p on e.words @@ p.query
    group by e.keyword_entry_id
  ), summed as (
    select e.keyword_entry_id, e.project_id, e.ticket_id, w.score + 0.3 * coalesce(n.score, 0) as score,
      row_number() over (order by w.score + 0.3 * coalesce(n.score, 0) desc, e.keyword_entry_id) <= score_entries.alike_limit as alike
    from by_words w
    join entry e using (keyword_entry_id)
    left join by_neighbours n using (keyword_entry_id)
  )
  select s.keyword_entry_id, s.score + case when s.alike then 8 * extensions.similarity(coalesce(t.name, p.name), left(score_entries.plain, 500)) else 0 end, s.alike
  from summed s
  left join public.tickets t on s.alike and t.ticket_id = s.ticket_id
  left join public.projects p on s.alike and s.ticket_id is null and p.project_id = s.project_id
$$;
comment on function private.score_entries(bigint[], text[], double precision[], integer[], text, integer) is
  'BM25F of some entries with closeness of neighbouring words and likeness of the name. The arrays of words go in step.';
revoke execute on function private.score_entries(bigint[], text[], double precision[], integer[], text, integer) from public;
grant execute on function private.score_entries(bigint[], text[], double precision[], integer[], text, integer) to service_role;

create function public.search_by_keyword(
  query_text text,
  match_count integer default 10,
  project_filter bigint default null,
  status_filter text default null
)
returns table (rank bigint, project_id bigint, ticket_id bigint, score double precision, exact boolean)
language plpgsql volatile rows 300 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  scored constant integer := 200; -- candidates that are scored; the others follow by what they gained
  alike constant integer := 50; -- of these, the ones whose names are compared with the query as a whole
  query record;
  filter_status bigint;
  words text[];
  idfs double precision[];
  places integer[];
  entries bigint[];
  titles bigint[];
begin
  query := private.parse_query(query_text);
  if status_filter is not null then
    select s.status_id into filter_status from public.status s where lower(s.name) = lower(status_filter);
    if filter_status is null then
      return;
    end if;
  end if;
  select coalesce(array_agg(w.word order by w.entries, w.word), '{}'), coalesce(array_agg(w.idf order by w.entries, w.word), '{}'),
      coalesce(array_agg(w.place order by w.entries, w.word), '{}'), coalesce(array_agg(w.entries order by w.entries, w.word), '{}'),
      coalesce(array_agg(w.titles order by w.entries, w.word), '{}')
    into words, idfs, places, entries, titles
    from private.query_words(query.plain) w;
  -- People paste names with quotes in them: a phrase that nothing holds is taken as its words.
  if query.required is not null and not exists (select 1 from public.keyword_entries e where e.words @@ query.required) then
    query.required := null;
  end if;

  return query
  with candidate as materialized (
    select c.keyword_entry_id, c.gain, row_number() over (order by c.gain desc, c.keyword_entry_id) as place
    from private.keyword_candidates(words, idfs, entries, titles, project_filter, filter_status, query.required) c
    where cardinality(words) > 0
  ), kept as materialized (
    select e.keyword_entry_id, e.project_id, e.ticket_id, c.gain, c.place
    from candidate c join public.keyword_entries e using (keyword_entry_id)
    where query.excluded is null or not e.words @@ query.excluded
  ), scores as materialized (
    select s.keyword_entry_id, s.score, s.alike
    from private.score_entries(
      array(select k.keyword_entry_id from kept k order by k.place limit scored), words, idfs, places, query.plain, alike) s
  ), named as (
    select t.project_id, t.ticket_id from public.tickets t
    where upper(t.key) = any (query.ticket_keys)
      and (project_filter is null or t.project_id = project_filter)
      and (filter_status is null or t.status_id = filter_status)
      and not exists (
        select 1 from public.keyword_entries e where e.ticket_id = t.ticket_id and query.excluded is not null and e.words @@ query.excluded)
  ), listed as (
    select coalesce(n.project_id, k.project_id) as project_id, coalesce(n.ticket_id, k.ticket_id) as ticket_id,
      coalesce(s.score, 0) as score, s.score is not null as is_scored, coalesce(s.alike, false) as is_alike, coalesce(k.gain, 0) as gain, n.ticket_id is not null as exact
    from (kept k left join scores s using (keyword_entry_id)) full join named n on n.ticket_id = k.ticket_id
  )
  select row_number() over (
      order by l.exact desc, l.is_alike desc, l.is_scored desc, l.score desc, l.gain desc, l.ticket_id nulls last, l.project_id),
    l.project_id, l.ticket_id, l.score, l.exact
  from listed l
  order by 1
  limit greatest(1, least(1000, match_count));
end
$$;
comment on function public.search_by_keyword(text, integer, bigint, text) is
  'Tickets and projects (ticket_id null) by BM25F over their words, made of ts_rank: any of the words counts, rare ones more, "phrases" must occur, -words must not; tickets whose key the query names come first, exact. Unknown words stand for the nearest known ones. At most 1,000; from the 201st on the score is 0 and the order rougher.';
revoke execute on function public.search_by_keyword(text, integer, bigint, text) from public, anon, authenticated;
grant execute on function public.search_by_keyword(text, integer, bigint, text) to service_role;
