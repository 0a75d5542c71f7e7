-- Prepares a query for searching.

-- Required phrases may be in the ticket's own text or in a comment. Exclusions are checked in the
-- former only: read_query already collected the tickets whose comments contain them.
create function private.entry_holds(of_project bigint, of_ticket bigint, required tsquery, excluded tsquery) returns boolean
language plpgsql stable security invoker set search_path = ''
as $$
begin
  -- Two branches, because "is not distinct from" cannot use an index.
  if of_ticket is not null then
    return exists (
      select 1 from public.keyword_entries e
      where e.ticket_id = of_ticket and (excluded is null or not e.words @@ excluded)
        and (required is null or e.words @@ required
          or exists (select 1 from public.comment_entries m where m.ticket_id = of_ticket and m.words @@ required)));
  end if;
  return exists (
    select 1 from public.keyword_entries e
    where e.ticket_id is null and e.project_id = of_project and (excluded is null or not e.words @@ excluded)
      and (required is null or e.words @@ required));
end
$$;
comment on function private.entry_holds is 'Whether a ticket (or project, of_ticket null) contains the required words and none of the excluded ones, for any caller.';

-- required: null if nothing visible contains all phrases, which relaxes them. excluded_tickets:
-- those with keys after a minus, and those whose comments contain excluded words.
-- required_of_named: the conditions for tickets that the query names by key.
create type private.query as (
  plain text, wanted tsquery, required tsquery, required_of_named tsquery, excluded tsquery,
  ticket_keys text[], excluded_tickets bigint[], relaxed boolean
);
comment on type private.query is 'A parsed query, resolved against what the caller may see.';

-- Security definer, because under row-level security no index can find words. It reads only what
-- the caller may see.
create function private.read_query(query_text text) returns private.query
language plpgsql stable security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  visible constant bigint[] := private.visible_projects();
  parsed constant record := private.parse_query(query_text);
  settled private.query;
  named text;
  read_limit constant integer := 20000; -- maximum number of comments with excluded words
begin
  settled := row(
    parsed.plain, parsed.wanted, parsed.required, parsed.required_of_named, parsed.excluded, parsed.ticket_keys, array[]::bigint[], false);
  foreach named in array parsed.excluded_keys loop
    -- Tickets that only mention the key stay. What looks like a key but is none (utf-8) is a word.
    settled.excluded_tickets := settled.excluded_tickets || (
      select t.ticket_id from public.tickets t where upper(t.key) = named and (visible is null or t.project_id = any (visible)));
    if settled.excluded_tickets[cardinality(settled.excluded_tickets)] is null then
      settled.excluded_tickets := array_remove(settled.excluded_tickets, null);
      settled.excluded := coalesce(settled.excluded || private.phrase(named), private.phrase(named), settled.excluded);
    end if;
  end loop;
  if settled.excluded is not null then
    settled.excluded_tickets := settled.excluded_tickets || array(
      select distinct m.ticket_id from (
        select e.ticket_id from public.comment_entries e
        where e.words @@ settled.excluded and (visible is null or e.project_id = any (visible)) limit read_limit
      ) m);
  end if;
  if settled.required is not null then
    -- Users paste names with quotes: a phrase that no text contains is searched as words. Invisible
    -- texts do not count, or a phrase would reveal whether it exists there.
    settled.relaxed := not exists (
        select 1 from public.keyword_entries e where e.words @@ settled.required and (visible is null or e.project_id = any (visible)))
      and not exists (
        select 1 from public.comment_entries e where e.words @@ settled.required and (visible is null or e.project_id = any (visible)))
      and not exists (
        select 1 from public.tickets t
        where upper(t.key) = any (settled.ticket_keys) and (visible is null or t.project_id = any (visible))
          and settled.required_of_named is distinct from settled.required
          and (settled.required_of_named is null or private.entry_holds(t.project_id, t.ticket_id, settled.required_of_named, null)));
    if settled.relaxed then
      settled.required := null;
      settled.required_of_named := null;
    end if;
  end if;
  return settled;
end
$$;
comment on function private.read_query is 'Parses a query and resolves it against what the caller may see.';

-- The terms of a query, rarest first, each in tsquery syntax: a word, or two neighbouring words.
-- The arrays are parallel.
create function private.plan_query(
  query private.query,
  out words text[], out idfs double precision[], out places integer[], out entries bigint[], out titles bigint[],
  out comments bigint[]
)
language plpgsql stable security invoker set search_path = ''
as $$
declare
  visible constant bigint[] := private.visible_projects();
begin
  select coalesce(array_agg(w.term), '{}'), coalesce(array_agg(w.idf), '{}'), coalesce(array_agg(w.place), '{}'),
      coalesce(array_agg(w.entries), '{}'), coalesce(array_agg(w.titles), '{}'), coalesce(array_agg(w.comments), '{}')
    into words, idfs, places, entries, titles, comments
    from (
      select * from (
        select private.quote_word(k.word) as term, k.idf, k.place, k.entries, k.titles, k.comments from private.query_words(query.plain, visible) k
        union all
        select s.term, s.idf, 2000 + s.place, s.entries, s.titles, 0 from private.split_words(query.plain, visible) s
      ) t
      order by t.entries + t.comments, t.term
    ) w;
end
$$;
comment on function private.plan_query is
  'The words of a query that are known to the caller, rarest first: each with its weight, its position in the query, and its numbers of entries, titles and comments.';

insert into private.migrations (version) values ('20260101001160');
