-- Selects the entries worth ranking: those with the rare words of a query. The work does not
-- depend on how common the other words are.

-- The comments worth ranking, by the same rule as entries, and the best three per ticket: a ticket
-- ranks by its best comment, not by its number of comments. If few entries count and they have few
-- comments, all are checked. gain: the weights of the words in the best comment.
create function tasklens.comment_candidates(search tasklens.search, reach integer, candidate_limit integer, latest text default null)
returns table (ticket_id bigint, gain double precision, comment_ids bigint[])
language plpgsql stable rows 100 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  scope constant tasklens.scope := search.scope;
  words constant tasklens.words := search.words;
  few constant bigint[] := case when search.few is not null then array(
    select e.ticket_id from public.keyword_entries e where e.keyword_entry_id = any (search.few) and e.ticket_id is not null) end;
  by_time constant text := case when latest is not null then format('(select t.%I from public.tickets t where t.ticket_id = %%s.ticket_id) desc', latest) end;
  conditions text := '';
  hits text;
begin
  if (select sum(u) from unnest(words.comments) as u) > 0 is not true then
    return;
  end if;
  if few is not null and (
    select count(*) from (select from public.comment_entries m where m.ticket_id = any (few) limit 2 * reach + 1) counted) <= 2 * reach
  then
    hits := 'select m.comment_id, m.ticket_id, m.length, t.idf
      from public.comment_entries m join unnest(($2).terms, ($2).idfs) as t(term, idf) on m.words @@ t.term::tsquery
      where m.ticket_id = any ($4)';
  else
    if few is not null then
      conditions := ' and m.ticket_id = any ($4)';
    else
      if scope.projects is not null then
        conditions := ' and m.project_id = any (($1).projects)';
      end if;
      if scope.on_tickets then
        conditions := conditions || format(' and (select %s from public.tickets t where t.ticket_id = m.ticket_id)', scope.condition_of_one);
      end if;
    end if;
    hits := format('select m.comment_id, m.ticket_id, m.length, t.idf
      from (
        select coalesce(q.query && $3, q.query) as query, u.idf,
          case when sum(u.comments) over (order by u.place) <= $5 then u.comments when u.place = 1 then $5 else 0 end as take
        from unnest(($2).terms, ($2).idfs, ($2).comments) with ordinality as u(term, idf, comments, place)
        cross join lateral (select u.term::tsquery) q(query)
      ) t cross join lateral (
        select m.comment_id, m.ticket_id, m.length from public.comment_entries m where m.words @@ t.query%s%s limit t.take) m', conditions, ' order by ' || format(by_time, 'm'));
  end if;
  for ticket_id, gain, comment_ids in execute format('
      select c.ticket_id, max(c.gain), (array_agg(c.comment_id order by c.gain desc, c.length, c.comment_id desc))[1:3]
      from (
        select h.comment_id, h.ticket_id, h.length, sum(h.idf) as gain from (%s) h group by h.comment_id, h.ticket_id, h.length
      ) c
      group by c.ticket_id order by %s, 1 limit $6', hits, coalesce(format(by_time, 'c'), '2 desc'))
    using scope, words, case when few is null then (search.query).required end, few, reach, candidate_limit
  loop
    return next;
  end loop;
end
$$;
comment on function tasklens.comment_candidates is
  'Tickets whose comments contain the rare words of a search, by the weights of the words in the best comment, or the latest by this column, with the ids of the best three.';

-- A word is looked up while it and the rarer ones together are in at most reach entries (the rarest
-- always, up to that many); a commoner word only in names, by the same rule. Among few entries each
-- word counts: they are found by their words, or each is read, whichever costs less. gain: the
-- weights of an entry's words, times 1.7 for a word of its name, plus half of its best comment's
-- gain. At most candidate_limit, the best or, by a column of tickets and projects, the latest.
create function tasklens.keyword_candidates(search tasklens.search, reach integer, candidate_limit integer, latest text default null)
returns table (keyword_entry_id bigint, project_id bigint, ticket_id bigint, gain double precision, comment_ids bigint[])
-- Use the index on words: a scan of all entries would take too long.
language plpgsql stable rows 1000 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  scope constant tasklens.scope := search.scope;
  words constant tasklens.words := search.words;
  has_comments constant boolean := coalesce((select sum(u) from unnest(words.comments) as u), 0) > 0;
  by_time constant text := case when latest is not null then format(
    'coalesce((select t.%1$I from public.tickets t where t.ticket_id = %%1$s.ticket_id), (select p.%1$I from public.projects p where p.project_id = %%1$s.project_id)) desc,
      %%1$s.ticket_id nulls last, %%1$s.project_id', latest) end;
  conditions text := '';
  hits text;
begin
  if search.few is not null then
    hits := 'select e.keyword_entry_id, e.project_id, e.ticket_id, case when e.title_words @@ t.title_query then 1.7 else 1 end * t.idf as gain,
        null::bigint[] as comment_ids
      from ' || case
        when (select sum(u) from unnest(words.entries) as u) <= 12 * cardinality(search.few)
          -- "offset 0": or the planner would check all words of the few.
          then 'term t cross join lateral (select e.* from public.keyword_entries e where e.words @@ t.title_query offset 0) e'
        else 'public.keyword_entries e join term t on e.words @@ t.title_query' end
      || ' where e.keyword_entry_id = any (($6).few)';
  else
    if scope.projects is not null then
      conditions := ' and e.project_id = any (($1).projects)';
    end if;
    if scope.on_tickets then
      conditions := conditions || format(' and (select %s from public.tickets t where t.ticket_id = e.ticket_id)', scope.condition_of_one);
    end if;
    hits := format('
      select e.keyword_entry_id, e.project_id, e.ticket_id, t.idf as gain, null::bigint[] as comment_ids
      from term t cross join lateral (
        select e.keyword_entry_id, e.project_id, e.ticket_id from public.keyword_entries e
        -- For a word beyond the cut-off, names are counted as a whole below.
        where e.words @@ t.query and not (t.is_cut and e.title_words @@ t.title_query)%1$s%2$s
        limit least(t.take, case when $7 is not null then $5 end)) e
      union all
      -- A word of the name that was looked up everywhere was already counted once.
      select e.keyword_entry_id, e.project_id, e.ticket_id, case when t.take > 0 and not t.is_cut then 0.7::double precision else 1.7 end * t.idf, null
      from term t cross join lateral (
        select e.keyword_entry_id, e.project_id, e.ticket_id from public.keyword_entries e
        where e.title_words @@ t.title_query and ($3 is null or e.words @@ $3)%1$s%2$s
        limit least(t.take_titles, case when $7 is not null then $5 end)) e', conditions, ' order by ' || format(by_time, 'e'));
  end if;
  for keyword_entry_id, project_id, ticket_id, gain, comment_ids in execute format($query$
    with term as materialized (
      select q.query as title_query, coalesce(q.query && $3, q.query) as query, u.idf, u.entries > $4 as is_cut,
        case when sum(u.entries) over rarest <= $4 then u.entries when u.place = 1 then $4 else 0 end as take,
        case when sum(u.titles) over rarest <= $4 then u.titles when u.place = 1 then $4 else 0 end as take_titles
      from unnest(($2).terms, ($2).idfs, ($2).entries, ($2).titles) with ordinality as u(term, idf, entries, titles, place)
      cross join lateral (select u.term::tsquery) q(query)
      window rarest as (order by u.place)
    ), hit as (%s%s)
    select h.* from (
      select h.keyword_entry_id, min(h.project_id) as project_id, min(h.ticket_id) as ticket_id, sum(h.gain) as gain, %s from hit h group by 1) h
    order by %s limit $5$query$, hits,
    case when has_comments then '
      union all
      select e.keyword_entry_id, e.project_id, e.ticket_id, 0.5 * c.gain, c.comment_ids
      from tasklens.comment_candidates($6, $4, $5, $7) c
      join public.keyword_entries e on e.ticket_id = c.ticket_id' end,
    case when has_comments then 'max(h.comment_ids)' else 'null::bigint[]' end,
    coalesce(format(by_time, 'h'), '4 desc, 1'))
    using scope, words, (search.query).required, reach, candidate_limit, search, latest
  loop
    return next;
  end loop;
end
$$;
comment on function tasklens.keyword_candidates is
  'Entries that contain the rare words of a search, or whose comments do, by the weights of these words, or the latest by this column, with the ids of their best comments. Filters apply first.';

insert into tasklens.migrations (version) values ('20261127000550');
