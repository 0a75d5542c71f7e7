-- Selects the entries worth ranking: those with the rare words of a query. The work does not
-- depend on how common the other words are.

-- The entries that pass a filter and contain the required phrases, if they are few enough to check
-- each; else null. A phrase may be in the ticket's own text or in a comment.
create function private.narrow_entries(scope private.scope, required tsquery, entry_limit integer, excluded tsquery default null)
returns bigint[]
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  read_limit constant integer := 20000; -- comments
  clean constant text := case when excluded is null then '' else ' and not e.words @@ $4' end;
  holds constant text := case when required is null then '' else ' and e.words @@ $2' end || clean;
  reach integer;
  entry_ids bigint[];
  commented bigint[]; -- tickets
begin
  -- For projects an index-only scan suffices.
  foreach reach in array array[case when scope.on_tickets then least(500, entry_limit) else entry_limit end, entry_limit] loop
    execute case
      when scope.on_tickets then format('select array(
          select e.keyword_entry_id from public.tickets t join public.keyword_entries e on e.ticket_id = t.ticket_id where %s%s limit $3)',
        scope.condition, holds)
      else format('select array(select e.keyword_entry_id from public.keyword_entries e where %s%s limit $3)',
        case when scope.projects is null then 'true' else 'e.project_id = any (($1).projects)' end, holds) end
      into entry_ids using scope, required, reach + 1, excluded;
    exit when cardinality(entry_ids) <= reach;
    if reach = entry_limit or required is null and private.is_broad(scope, entry_limit) then
      return null;
    end if;
  end loop;
  if required is not null then
    execute format('select array(select m.ticket_id from public.comment_entries m where m.words @@ $2%s limit $3)',
      case when scope.projects is null then '' else ' and m.project_id = any (($1).projects)' end)
      into commented using scope, required, read_limit + 1;
    if cardinality(commented) > read_limit then
      return null;
    elsif commented <> '{}' then
      execute format('select array(
          select u from unnest($5) as u
          union
          select e.keyword_entry_id from public.tickets t join public.keyword_entries e on e.ticket_id = t.ticket_id
          where t.ticket_id = any ($2) and %s%s
          limit $3)', scope.condition, clean)
        into entry_ids using scope, commented, entry_limit + 1, excluded, entry_ids;
    end if;
  end if;
  return case when cardinality(entry_ids) <= entry_limit then entry_ids end;
end
$$;
comment on function private.narrow_entries is 'The entries of a scope that contain what is required and nothing excluded, if there are at most entry_limit, else null.';

-- The comments worth ranking, by the same rule as entries, and the best three per ticket: a ticket
-- ranks by its best comment, not by its number of comments. few: the only tickets that count; if
-- they have few comments, all are checked. gain: the weights of the words in the best comment.
create function private.comment_candidates(search private.search, few bigint[], reach integer, candidate_limit integer)
returns table (ticket_id bigint, gain double precision, comment_ids bigint[])
language plpgsql stable rows 100 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  scope constant private.scope := search.scope;
  words constant private.words := search.words;
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
        select m.comment_id, m.ticket_id, m.length from public.comment_entries m where m.words @@ t.query%s limit t.take) m', conditions);
  end if;
  for ticket_id, gain, comment_ids in execute format('
      select c.ticket_id, max(c.gain), (array_agg(c.comment_id order by c.gain desc, c.length, c.comment_id desc))[1:3]
      from (
        select h.comment_id, h.ticket_id, h.length, sum(h.idf) as gain from (%s) h group by h.comment_id, h.ticket_id, h.length
      ) c
      group by c.ticket_id order by 2 desc, 1 limit $6', hits)
    using scope, words, case when few is null then (search.query).required end, few, reach, candidate_limit
  loop
    return next;
  end loop;
end
$$;
comment on function private.comment_candidates is
  'Tickets whose comments contain the rare words of a search, by the weights of the words in the best comment, with the ids of the best three.';

create function private.few_candidates(search private.search, few bigint[], by_index boolean, reach integer, candidate_limit integer)
returns table (keyword_entry_id bigint, project_id bigint, ticket_id bigint, gain double precision, comment_ids bigint[])
language plpgsql stable rows 1000 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
begin
  return query
  with term as materialized (
    select u.term::tsquery as query, u.idf, 1.7 * u.idf as title_idf from unnest((search.words).terms, (search.words).idfs) as u(term, idf)
  ), hit as (
    select e.keyword_entry_id, e.project_id, e.ticket_id, e.title_words, t.query, t.idf, t.title_idf
    from term t
    -- "offset 0": or the planner would check all words of the few.
    cross join lateral (select e.* from public.keyword_entries e where e.words @@ t.query offset 0) e
    where by_index and e.keyword_entry_id = any (few)
    union all
    select e.keyword_entry_id, e.project_id, e.ticket_id, e.title_words, t.query, t.idf, t.title_idf
    from public.keyword_entries e join term t on e.words @@ t.query
    where not by_index and e.keyword_entry_id = any (few)
  )
  select h.keyword_entry_id, min(h.project_id), min(h.ticket_id), sum(h.gain), max(h.comment_ids)
  from (
    select h.keyword_entry_id, h.project_id, h.ticket_id, case when h.title_words @@ h.query then h.title_idf else h.idf end as gain,
      null::bigint[] as comment_ids
    from hit h
    union all
    select e.keyword_entry_id, e.project_id, e.ticket_id, 0.5 * c.gain, c.comment_ids
    from private.comment_candidates(
      search, array(select e.ticket_id from public.keyword_entries e where e.keyword_entry_id = any (few) and e.ticket_id is not null),
      reach, candidate_limit) c
    join public.keyword_entries e on e.ticket_id = c.ticket_id
    where (select sum(u) from unnest((search.words).comments) as u) > 0
  ) h
  group by h.keyword_entry_id
  order by 4 desc, 1
  limit candidate_limit;
end
$$;
comment on function private.few_candidates is 'keyword_candidates among a few entries: by_index, found by their words, else each one read.';

-- A word is looked up while it and the rarer ones together are in at most reach entries (the rarest
-- always, up to that many); a commoner word only in names, by the same rule. gain: the weights of
-- an entry's words, times 1.7 for a word of its name, plus half of its best comment's gain. At most
-- candidate_limit, best first.
create function private.keyword_candidates(search private.search, reach integer, candidate_limit integer)
returns table (keyword_entry_id bigint, project_id bigint, ticket_id bigint, gain double precision, comment_ids bigint[])
-- Use the index on words: a scan of all entries would take too long.
language plpgsql stable rows 1000 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  scope constant private.scope := search.scope;
  words constant private.words := search.words;
  required constant tsquery := (search.query).required;
  -- Reading an entry's words costs about this many times as much as counting the entry.
  word_cost constant integer := 12;
  has_comments constant boolean := coalesce((select sum(u) from unnest(words.comments) as u), 0) > 0;
  few bigint[];
  conditions text := '';
begin
  if scope.projects is not null or scope.on_tickets or required is not null then
    few := private.narrow_entries(scope, required, greatest(1000, sqrt(reach * (
      select greatest(t.entries, 1)::double precision from private.word_entries(array['']) t) / word_cost)::integer));
    if few is not null then
      return query
        select c.* from private.few_candidates(
          search, few, (select sum(u) from unnest(words.entries) as u) <= word_cost * cardinality(few), reach, candidate_limit) c;
      return;
    end if;
  end if;

  if scope.projects is not null then
    conditions := ' and e.project_id = any (($1).projects)';
  end if;
  if scope.on_tickets then
    conditions := conditions || format(' and (select %s from public.tickets t where t.ticket_id = e.ticket_id)', scope.condition_of_one);
  end if;
  return query execute format($query$
    with term as materialized (
      select q.query as title_query, coalesce(q.query && $3, q.query) as query, u.idf, u.entries > $4 as is_cut,
        case when sum(u.entries) over rarest <= $4 then u.entries when u.place = 1 then $4 else 0 end as take,
        case when sum(u.titles) over rarest <= $4 then u.titles when u.place = 1 then $4 else 0 end as take_titles
      from unnest(($2).terms, ($2).idfs, ($2).entries, ($2).titles) with ordinality as u(term, idf, entries, titles, place)
      cross join lateral (select u.term::tsquery) q(query)
      window rarest as (order by u.place)
    ), hit as (
      select e.keyword_entry_id, e.project_id, e.ticket_id, t.idf as gain, null::bigint[] as comment_ids
      from term t cross join lateral (
        select e.keyword_entry_id, e.project_id, e.ticket_id from public.keyword_entries e
        -- For a word beyond the cut-off, names are counted as a whole below.
        where e.words @@ t.query and not (t.is_cut and e.title_words @@ t.title_query)%1$s
        limit t.take) e
      union all
      -- A word of the name that was looked up everywhere was already counted once.
      select e.keyword_entry_id, e.project_id, e.ticket_id, case when t.take > 0 and not t.is_cut then 0.7::double precision else 1.7 end * t.idf, null
      from term t cross join lateral (
        select e.keyword_entry_id, e.project_id, e.ticket_id from public.keyword_entries e
        where e.title_words @@ t.title_query and ($3 is null or e.words @@ $3)%1$s
        limit t.take_titles) e
%2$s
    )
    select h.keyword_entry_id, min(h.project_id), min(h.ticket_id), sum(h.gain), %3$s
    from hit h group by h.keyword_entry_id order by 4 desc, 1 limit $5$query$, conditions,
    case when has_comments then '
      union all
      select e.keyword_entry_id, e.project_id, e.ticket_id, 0.5 * c.gain, c.comment_ids
      from private.comment_candidates($6, null, $4, $5) c
      join public.keyword_entries e on e.ticket_id = c.ticket_id' end,
    case when has_comments then 'max(h.comment_ids)' else 'null::bigint[]' end)
    using scope, words, required, reach, candidate_limit, search;
end
$$;
comment on function private.keyword_candidates is
  'Entries that contain the rare words of a search, or whose comments do, by the weights of these words, with the ids of their best comments. Filters apply first.';

insert into private.migrations (version) values ('20260101001170');
