-- Which entries are worth ranking: those that hold the rare words of a query. What is looked at does not grow with how
-- common the words are.

-- The entries of a filter and of required phrases, when these leave few enough to look at each; else null.
create function private.narrow_entries(scope private.scope, required tsquery, entry_limit integer) returns bigint[]
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off
as $$
declare
  holds constant text := case when required is null then '' else ' and e.words @@ $2' end;
  reach integer;
  entry_ids bigint[];
begin
  -- Those of projects are read from an index alone.
  foreach reach in array array[case when scope.on_tickets then least(500, entry_limit) else entry_limit end, entry_limit] loop
    execute case
      when scope.on_tickets then format('select array(
          select e.keyword_entry_id from public.tickets t join public.keyword_entries e on e.ticket_id = t.ticket_id where %s%s limit $3)',
        private.scope_condition(scope, false), holds)
      else format('select array(select e.keyword_entry_id from public.keyword_entries e where %s%s limit $3)',
        case when scope.projects is null then 'true' else 'e.project_id = any (($1).projects)' end, holds) end
      into entry_ids using scope, required, reach + 1;
    if cardinality(entry_ids) <= reach then
      return entry_ids;
    end if;
    exit when reach = entry_limit or required is null and private.is_broad(scope, entry_limit);
  end loop;
  return null;
end
$$;
comment on function private.narrow_entries(private.scope, tsquery, integer) is 'The entries of a scope that hold what is required, where they are at most entry_limit, else null.';
revoke execute on function private.narrow_entries(private.scope, tsquery, integer) from public;

-- A word is looked up as long as it and the rarer ones are together in at most reach entries (the rarest always, up to
-- that many); a commoner one in the names alone, by the same rule. gain: the weights of the words an entry holds, 1.7
-- times for a word of its name. At most candidate_limit, the best first.
create function private.keyword_candidates(
  words text[], idfs double precision[], entries bigint[], titles bigint[],
  scope private.scope, required tsquery, reach integer, candidate_limit integer
)
returns table (keyword_entry_id bigint, project_id bigint, ticket_id bigint, gain double precision)
-- The index knows where a word is; reading every entry for it would not end.
language plpgsql stable rows 1000 security invoker set search_path = '' set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  total double precision;
  few bigint[];
  conditions text := '';
begin
  if scope.projects is not null or scope.on_tickets or required is not null then
    select greatest(t.entries, 1) into total from private.word_entries(array['']) t;
    -- Reading an entry's words costs about twelve times what counting it costs.
    few := private.narrow_entries(scope, required, greatest(1000, sqrt(reach * total / 12)::integer));
    if few is not null then
      return query
        select e.keyword_entry_id, e.project_id, e.ticket_id, sum(case when e.title_words @@ t.query then t.title_idf else t.idf end)
        from public.keyword_entries e
        join (select u.word::tsquery as query, u.idf, 1.7 * u.idf as title_idf from unnest(words, idfs) as u(word, idf)) t on e.words @@ t.query
        where e.keyword_entry_id = any (few)
        group by e.keyword_entry_id
        order by 4 desc, 1
        limit candidate_limit;
      return;
    end if;
  end if;

  if scope.projects is not null then
    conditions := ' and e.project_id = any (($1).projects)';
  end if;
  if scope.on_tickets then
    conditions := conditions || format(' and (select %s from public.tickets t where t.ticket_id = e.ticket_id)', private.scope_condition(scope, true));
  end if;
  return query execute format($query$
    with term as materialized (
      select q.query as title_query, coalesce(q.query && $6, q.query) as query, u.idf, u.entries > $7 as is_cut,
        case when sum(u.entries) over rarest <= $7 then u.entries when u.place = 1 then $7 else 0 end as take,
        case when sum(u.titles) over rarest <= $7 then u.titles when u.place = 1 then $7 else 0 end as take_titles
      from unnest($2, $3, $4, $5) with ordinality as u(word, idf, entries, titles, place)
      cross join lateral (select u.word::tsquery) q(query)
      window rarest as (order by u.place)
    ), hit as (
      select e.keyword_entry_id, e.project_id, e.ticket_id, t.idf as gain
      from term t cross join lateral (
        select e.keyword_entry_id, e.project_id, e.ticket_id from public.keyword_entries e
        -- Of a word that is cut off, the names are counted whole below.
        where e.words @@ t.query and not (t.is_cut and e.title_words @@ t.title_query)%1$s
        limit t.take) e
      union all
      -- A word of the name that was looked up everywhere has been counted once already.
      select e.keyword_entry_id, e.project_id, e.ticket_id, case when t.take > 0 and not t.is_cut then 0.7::double precision else 1.7 end * t.idf
      from term t cross join lateral (
        select e.keyword_entry_id, e.project_id, e.ticket_id from public.keyword_entries e
        where e.title_words @@ t.title_query and ($6 is null or e.words @@ $6)%1$s
        limit t.take_titles) e
    )
    select h.keyword_entry_id, min(h.project_id), min(h.ticket_id), sum(h.gain)
    from hit h group by h.keyword_entry_id order by 4 desc, 1 limit $8$query$, conditions)
    using scope, words, idfs, entries, titles, required, reach, candidate_limit;
end
$$;
comment on function private.keyword_candidates(text[], double precision[], bigint[], bigint[], private.scope, tsquery, integer, integer) is
  'Entries that hold the rare words of a query, by the weights of the words they hold; filters hold before that. The arrays go in step, rarest word first.';
revoke execute on function private.keyword_candidates(text[], double precision[], bigint[], bigint[], private.scope, tsquery, integer, integer) from public;

insert into private.migrations (version) values ('20260101001170');
