-- A query ready to be searched by.

-- The parts of a query as parse_query gives them, and its words, rarest first; the arrays go in step.
create function private.plan_query(
  query_text text,
  out plain text, out required tsquery, out excluded tsquery, out ticket_keys text[],
  out words text[], out idfs double precision[], out places integer[], out entries bigint[], out titles bigint[]
)
language plpgsql stable security invoker set search_path = ''
as $$
declare
  visible constant bigint[] := private.visible_projects();
begin
  select q.plain, q.required, q.excluded, q.ticket_keys into plain, required, excluded, ticket_keys
    from private.parse_query(query_text) q;
  select coalesce(array_agg(w.word order by w.entries, w.word), '{}'), coalesce(array_agg(w.idf order by w.entries, w.word), '{}'),
      coalesce(array_agg(w.place order by w.entries, w.word), '{}'), coalesce(array_agg(w.entries order by w.entries, w.word), '{}'),
      coalesce(array_agg(w.titles order by w.entries, w.word), '{}')
    into words, idfs, places, entries, titles
    from private.query_words(plain, visible) w;
  if required is not null then
    -- People paste names with quotes in them: a phrase that nothing holds is taken as its words. What one may not see counts
    -- for nothing, or a phrase would tell whether it is there.
    if not exists (
      select 1 from public.keyword_entries e where e.words @@ required and (visible is null or e.project_id = any (visible))
    ) then
      required := null;
    end if;
  end if;
end
$$;
comment on function private.plan_query(text) is
  'What a query asks for, with the words that are known to whoever asks, rarest first: each with its weight, its place in the query, and in how many entries and titles it is.';
revoke execute on function private.plan_query(text) from public;

create function private.entry_holds(of_project bigint, of_ticket bigint, query tsquery) returns boolean
language plpgsql stable security invoker set search_path = ''
as $$
begin
  -- Two branches, because "is not distinct from" cannot use an index.
  if of_ticket is not null then
    return exists (select 1 from public.keyword_entries e where e.ticket_id = of_ticket and e.words @@ query);
  end if;
  return exists (select 1 from public.keyword_entries e where e.ticket_id is null and e.project_id = of_project and e.words @@ query);
end
$$;
comment on function private.entry_holds(bigint, bigint, tsquery) is 'Whether the words of a ticket (or project, of_ticket null) match, whoever asks.';
revoke execute on function private.entry_holds(bigint, bigint, tsquery) from public;
