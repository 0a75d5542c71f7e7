-- Selects the entries worth scoring: those with the rare words of a query. The work does not
-- depend on how common the other words are.

-- A word is looked up while it and the rarer ones together are in at most reach texts (the rarest
-- always, up to that many): in names, in the rest of a text, and in comments, each by its own
-- counts. Among few entries each word counts; they are read one by one where that costs less than
-- finding them by their words. gain: the weights of the words in an entry, times 1.7 in its name,
-- plus half of the gain of its best comment (a ticket does not rank by the number of its comments).
-- At most candidate_limit, the best or, by a column of tickets and projects, the latest.
create function tasklens.keyword_candidates(search tasklens.search, reach integer, candidate_limit integer, latest text default null)
returns table (keyword_entry_id bigint, project_id bigint, ticket_id bigint, gain double precision, comment_id bigint)
-- Use the index on words: a scan of all entries would take too long.
language plpgsql stable rows 1000 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  scope constant tasklens.scope := search.scope;
  words constant tasklens.words := search.words;
  few constant bigint[] := search.few;
  few_tickets constant bigint[] := case when few is not null then array(
    select e.ticket_id from public.keyword_entries e where e.keyword_entry_id = any (few) and e.ticket_id is not null) end;
  read_entries constant boolean := coalesce((select sum(u) from unnest(words.entries) as u) > 12 * cardinality(few), false);
  read_comments constant boolean := few is not null and (
    select count(*) from (select from public.comment_entries m where m.ticket_id = any (few_tickets) limit 2 * reach + 1) counted) <= 2 * reach;
  -- Of a text x in the scope.
  in_scope constant text := concat(
    case when scope.projects is not null then ' and x.project_id = any (($1).projects)' end,
    case when scope.on_tickets then format(' and (select %s from public.tickets t where t.ticket_id = x.ticket_id)', scope.condition_of_one) end);
  take constant text := 'case when sum(u.%1$s) over rarest <= $4 then u.%1$s when u.place = 1 then $4 else 0 end';
  by_time constant text := case when latest is not null then format(
    'coalesce((select t.%1$I from public.tickets t where t.ticket_id = x.ticket_id), (select p.%1$I from public.projects p where p.project_id = x.project_id)) desc,
      x.ticket_id nulls last, x.project_id', latest) end;
begin
  for keyword_entry_id, project_id, ticket_id, gain, comment_id in execute format($query$
    with term as materialized (
      select q.word, coalesce(q.word && $3, q.word) as query, u.idf, %s as entries, %s as titles, %s as comments
      from unnest(($2).terms, ($2).idfs, ($2).entries, ($2).titles, ($2).comments) with ordinality as u(term, idf, entries, titles, comments, place)
      cross join lateral (select u.term::tsquery) q(word)
      window rarest as (order by u.place)
    ), comment as (
      select distinct on (x.ticket_id) x.* from (
        select x.comment_id, x.ticket_id, x.project_id, x.length, sum(t.idf) as gain from %s group by 1, 2, 3, 4) x
      order by x.ticket_id, x.gain desc, x.length, x.comment_id desc
    ), hit as (
      %s
      union all
      select e.keyword_entry_id, x.project_id, x.ticket_id, 0.5 * x.gain, x.comment_id
      from (select x.* from comment x order by %s limit $5) x
      join public.keyword_entries e on e.ticket_id = x.ticket_id
    )
    select x.* from (
      select h.keyword_entry_id, min(h.project_id) as project_id, min(h.ticket_id) as ticket_id, sum(h.gain) as gain, min(h.comment_id) from hit h group by 1) x
    order by %s limit $5$query$,
    case when few is null then format(take, 'entries') else 'null::bigint' end,
    case when few is null then format(take, 'titles') else 'null::bigint' end,
    case when not read_comments then format(take, 'comments') else 'null::bigint' end,
    case when read_comments then 'public.comment_entries x join term t on x.words @@ t.word where x.ticket_id = any ($7)'
      else format('term t cross join lateral (
        select x.* from public.comment_entries x where x.words @@ t.query%s%s limit t.comments) x',
        case when few is null then in_scope else ' and x.ticket_id = any ($7)' end, ' order by ' || by_time) end,
    case when read_entries then 'select x.keyword_entry_id, x.project_id, x.ticket_id,
        case when x.title_words @@ t.word then 1.7 else 1 end * t.idf as gain, null::bigint as comment_id
      from public.keyword_entries x join term t on x.words @@ t.word where x.keyword_entry_id = any ($6)'
      else format('select x.*, t.idf as gain, null::bigint as comment_id from term t cross join lateral (
        select x.keyword_entry_id, x.project_id, x.ticket_id from public.keyword_entries x
        where x.words @@ t.query and not x.title_words @@ t.word%1$s%2$s limit least(t.entries, %3$s)) x
      union all
      select x.*, 1.7 * t.idf, null from term t cross join lateral (
        select x.keyword_entry_id, x.project_id, x.ticket_id from public.keyword_entries x
        where x.title_words @@ t.word and ($3 is null or x.words @@ $3)%1$s%2$s limit least(t.titles, %3$s)) x',
        -- "is true": a condition for which no index is used.
        case when few is null then in_scope else ' and (x.keyword_entry_id = any ($6)) is true' end,
        ' order by ' || by_time, case when by_time is null then 'null' else '$5' end) end,
    coalesce(by_time, 'x.gain desc, x.ticket_id'), coalesce(by_time, 'x.gain desc, x.keyword_entry_id'))
    using scope, words, case when few is null then (search.query).required end, reach, candidate_limit, few, few_tickets loop
    return next;
  end loop;
end
$$;
comment on function tasklens.keyword_candidates is
  'Entries with the rare words of a search, in their own text or a comment, by the weights of these words, or the latest by this column. comment_id: of the comment with most of them. Filters apply first.';

insert into tasklens.migrations (version) values ('20261127000550');
