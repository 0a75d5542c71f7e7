-- Selects entries: those that hold an identifier of a query, and those worth scoring, with its rare
-- words. The work does not depend on how common the other words are.

-- The index knows the parts of an identifier in sequence; the texts that hold these are read.
create function tasklens.identifier_holders(search tasklens.search, among bigint[], out holders bigint[], out alike bigint[])
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  read_limit constant integer := 2000; -- texts and comments of each identifier
  query constant tasklens.query := search.query;
  scope constant tasklens.scope := search.scope;
  identifier text;
  hash text;
  needle text;
  words tsquery; -- of texts that hold it
  pattern text;
  as_typed bigint[];
  otherwise bigint[];
begin
  holders := array[]::bigint[];
  alike := array[]::bigint[];
  foreach identifier in array query.identifiers[:8] loop
    -- Letters may precede a version (2.14.1, v2.14.1); a hash may be cut to seven digits or more.
    hash := lower(substring(identifier from '(?i)^(?=.*[0-9])(?=.*[a-f])[0-9a-f]{7,40}$'));
    if hash is not null then
      needle := left(hash, 7);
      words := (select (string_agg(quote_literal(left(hash, i)), ' | ') || ':*')::tsquery from generate_series(7, length(hash)) i) || tasklens.phrase(identifier, query.languages);
      pattern := '(?<![[:alnum:]])' || needle || coalesce((select string_agg('(?:' || substr(hash, i, 1), '' order by i) from generate_series(8, length(hash)) i), '')
        || '[0-9a-f]*' || repeat(')?', length(hash) - 7) || '(?![[:alnum:]])';
    else
      needle := lower(regexp_replace(identifier, '^[[:alpha:]]{1,12}(?=[0-9]+[.][0-9])', ''));
      words := tasklens.phrase(needle, query.languages) || coalesce(tasklens.phrase(identifier, query.languages), tasklens.phrase(needle, query.languages));
      -- 8.1 is not 8.1.1.
      pattern := case when needle ~ '^[0-9]+[.][0-9]' then '(?<![0-9])' when needle ~ '^[0-9]+$' then '(?<![[:alnum:]-])' else '(?<![[:alnum:]])' end || '(?<![0-9][.])'
        || regexp_replace(needle, '([^[:alnum:]])', '\\\1', 'g') || '(?![[:alnum:]])(?![.][0-9])';
    end if;
    -- Among others, compounds such as non-blocking and and/or are words.
    continue when words is null or not query.is_identifier and identifier ~ '^[[:alpha:]]+([-/][[:alpha:]]+)+$';
    execute format($statement$
      with entry as not materialized (
        select e.keyword_entry_id, e.project_id, e.ticket_id, e.words from public.keyword_entries e
        where (e.ticket_id in (select unnest(($1.query).excluded_tickets))) is not true
          and (($1.query).excluded is null or not e.words @@ ($1.query).excluded)%s
      ), own_text as (
        select e.keyword_entry_id, x.text
        from (select * from entry e where e.words @@ $2 limit $4) e
        cross join lateral (
          select left(concat_ws(e'\n', t.name, coalesce(t.visible_text, t.description), (
              select string_agg(coalesce(s.visible_text, s.note), e'\n') from public.status_changes s where s.ticket_id = t.ticket_id)), tasklens.text_limit()) as text
          from public.tickets t where t.ticket_id = e.ticket_id
          union all
          select concat_ws(e'\n', p.name, coalesce(p.visible_text, p.description)) from public.projects p where e.ticket_id is null and p.project_id = e.project_id
        ) x
      ), remark as (
        select e.keyword_entry_id, coalesce(c.visible_text, c.body) as text
        from (select m.comment_id, m.ticket_id from public.comment_entries m where m.words @@ $2%s%s limit $4) m
        join public.comments c on c.comment_id = m.comment_id
        join entry e on e.ticket_id = m.ticket_id
      )
      select array_agg(x.keyword_entry_id) filter (where x.text ~* $6), array_agg(x.keyword_entry_id) filter (where not x.text ~* $6)
      from (select * from own_text union all select * from remark) x
      -- The plain comparison is the faster one.
      where strpos(lower(x.text), $3) > 0 and x.text ~* $5
      $statement$,
      concat(case when among is not null then ' and e.keyword_entry_id = any ($7)' else concat(
        case when scope.projects is not null then ' and e.project_id = any (($1.scope).projects)' end,
        case when scope.on_tickets then format(' and (select %s from public.tickets t where t.ticket_id = e.ticket_id)', replace(scope.condition_of_one, '($1)', '($1.scope)')) end,
        case when query.required is not null then ' and e.words @@ ($1.query).required' end) end),
      case when scope.projects is not null then ' and m.project_id = any (($1.scope).projects)' end,
      case when among is not null then ' and m.ticket_id = any ($7)' end)
      into as_typed, otherwise
      using search, words, needle, read_limit, pattern, '(?<![[:alnum:]])' || regexp_replace(identifier, '([^[:alnum:]])', '\\\1', 'g') || '(?![[:alnum:]])', among;
    holders := holders || as_typed;
    alike := alike || otherwise;
  end loop;
end
$$;
comment on function tasklens.identifier_holders is
  'The entries of a search, or those among these, whose text or comment holds an identifier of the query whole, whatever its case: as typed, and in another form (2.14.1 for v2.14.1).';

-- A word is looked up while it and the rarer ones together are in at most reach texts, in names, in
-- the rest of a text, and in comments. gain: the weights of the words in an entry, times 1.7 in its
-- name, plus half of that of its best comment: a ticket does not rank by the number of these.
create function tasklens.keyword_candidates(search tasklens.search, reach integer, candidate_limit integer, latest text default null)
returns table (keyword_entry_id bigint, project_id bigint, ticket_id bigint, gain double precision, comment_id bigint)
-- Use the index on words: a scan of all entries would take too long.
language plpgsql stable rows 1000 security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
declare
  scope constant tasklens.scope := search.scope;
  few constant bigint[] := search.few;
  few_tickets bigint[];
  -- The statement's parts, of which t is a term, and x an entry or a comment.
  budget constant text := 'case when sum(u.%1$s) over rarest <= $4 then u.%1$s when u.place = 1 then $4 else 0 end';
  entries text := 'null::bigint'; -- that a term is looked up in
  titles text := 'null::bigint';
  comments text := format(budget, 'comments');
  entry_condition text;
  comment_condition text;
  in_entries text; -- what terms are found in
  in_comments text;
  best_comments text := 'x.gain desc, x.ticket_id';
  best text := 'x.gain desc, x.ticket_id nulls last, x.project_id';
  latest_first text := '';
begin
  if latest is not null then
    best := format(
      'coalesce((select t.%1$I from public.tickets t where t.ticket_id = x.ticket_id), (select p.%1$I from public.projects p where p.project_id = x.project_id)) desc,
        x.ticket_id nulls last, x.project_id', latest);
    best_comments := best;
    latest_first := ' order by ' || best;
  end if;
  if few is null then
    entries := format(budget, 'entries');
    titles := format(budget, 'titles');
    entry_condition := concat(
      case when scope.projects is not null then ' and x.project_id = any (($1).projects)' end,
      case when scope.on_tickets then format(' and (select %s from public.tickets t where t.ticket_id = x.ticket_id)', scope.condition_of_one) end);
    comment_condition := entry_condition;
  else
    few_tickets := array(select u from unnest(few) as u where u >= 0);
    -- "is true": a condition for which no index is used.
    entry_condition := ' and (x.keyword_entry_id = any ($6)) is true';
    comment_condition := ' and x.ticket_id = any ($7)';
  end if;

  if (select sum(u) from unnest((search.words).entries) as u) > 12 * cardinality(few) then
    in_entries := 'select x.keyword_entry_id, x.project_id, x.ticket_id, case when x.title_words @@ t.word then 1.7 else 1 end * t.idf as gain, null::bigint as comment_id
      from public.keyword_entries x join term t on x.words @@ t.word where x.keyword_entry_id = any ($6)';
  else
    in_entries := format('select x.*, t.idf as gain, null::bigint as comment_id from term t cross join lateral (
        select x.keyword_entry_id, x.project_id, x.ticket_id from public.keyword_entries x
        where x.words @@ t.query and not x.title_words @@ t.word%1$s%2$s limit least(t.entries, %3$s)) x
      union all
      select x.*, 1.7 * t.idf, null from term t cross join lateral (
        select x.keyword_entry_id, x.project_id, x.ticket_id from public.keyword_entries x
        where x.title_words @@ t.word and ($3 is null or x.words @@ $3)%1$s%2$s limit least(t.titles, %3$s)) x',
      entry_condition, latest_first, case when latest is null then 'null' else '$5' end);
  end if;
  if few is not null
    and (select count(*) from (select from public.comment_entries m where m.ticket_id = any (few_tickets) limit 2 * reach + 1) counted) <= 2 * reach
  then
    comments := 'null::bigint';
    in_comments := 'public.comment_entries x join term t on x.words @@ t.word where x.ticket_id = any ($7)';
  else
    in_comments := format('term t cross join lateral (select x.* from public.comment_entries x where x.words @@ t.query%s%s limit t.comments) x',
      comment_condition, latest_first);
  end if;

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
      select x.ticket_id, x.project_id, x.ticket_id, 0.5 * x.gain, x.comment_id from (select x.* from comment x order by %s limit $5) x
    )
    select x.* from (
      select x.* from (
        select h.keyword_entry_id, min(h.project_id) as project_id, min(h.ticket_id) as ticket_id, sum(h.gain) as gain, min(h.comment_id) from hit h group by 1) x
      order by %s limit $5) x
    -- Not "not exists", which would be planned as a join with all entries that hold common words.
    where (x.ticket_id in (select unnest($8))) is not true
      and ($9 is null or (select e.words @@ $9 from public.keyword_entries e where e.keyword_entry_id = x.keyword_entry_id) is not true)$query$, entries, titles, comments, in_comments, in_entries, best_comments, best)
    using scope, search.words, case when few is null then (search.query).required end, reach, candidate_limit, few, few_tickets,
      (search.query).excluded_tickets, (search.query).excluded
  loop
    return next;
  end loop;
end
$$;
comment on function tasklens.keyword_candidates is
  'Entries with the rare words of a search, in their own text or a comment, by the weights of these words, or the latest by this column. comment_id: of the comment with most of them. Filters apply first, what the query excludes is left out last.';

insert into tasklens.migrations (version) values ('20261127000550');
