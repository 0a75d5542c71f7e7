-- What a search works out once and passes on: its scope, its parsed query and its words.

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

-- required: null if nothing visible contains all phrases, which relaxes them; required_of_named: of
-- tickets that the query names by key; required_of_chunks: of vector matches. excluded_tickets: those
-- with keys after a minus, and those whose comments contain excluded words.
create type private.query as (
  plain text, wanted tsquery, required tsquery, required_of_named tsquery, required_of_chunks tsquery, excluded tsquery,
  ticket_keys text[], excluded_tickets bigint[], relaxed boolean
);
comment on type private.query is 'A parsed query, resolved against what the caller may see.';

create function private.read_query(query_text text, visible bigint[]) returns private.query
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  parsed constant record := private.parse_query(query_text);
  read private.query;
  named text;
  read_limit constant integer := 20000; -- maximum number of comments with excluded words
begin
  read := row(
    parsed.plain, parsed.wanted, parsed.required, parsed.required_of_named, null, parsed.excluded, parsed.ticket_keys, array[]::bigint[], false);
  foreach named in array parsed.excluded_keys loop
    -- Tickets that only mention the key stay. What looks like a key but is none (utf-8) is a word.
    read.excluded_tickets := read.excluded_tickets || (
      select t.ticket_id from public.tickets t where upper(t.key) = named and (visible is null or t.project_id = any (visible)));
    if read.excluded_tickets[cardinality(read.excluded_tickets)] is null then
      read.excluded_tickets := array_remove(read.excluded_tickets, null);
      read.excluded := coalesce(read.excluded || private.phrase(named), private.phrase(named), read.excluded);
    end if;
  end loop;
  if read.excluded is not null then
    read.excluded_tickets := read.excluded_tickets || array(
      select distinct m.ticket_id from (
        select e.ticket_id from public.comment_entries e
        where e.words @@ read.excluded and (visible is null or e.project_id = any (visible)) limit read_limit
      ) m);
  end if;
  if read.required is not null then
    -- Users paste names with quotes: a phrase that no text contains is searched as words. Invisible
    -- texts do not count, or a phrase would reveal whether it exists there.
    read.relaxed := not private.occurs(read.required, visible)
      and not exists (
        select 1 from public.tickets t
        where upper(t.key) = any (read.ticket_keys) and (visible is null or t.project_id = any (visible))
          and read.required_of_named is distinct from read.required
          and (read.required_of_named is null or private.entry_holds(t.project_id, t.ticket_id, read.required_of_named, null)));
    if read.relaxed then
      read.required := null;
      read.required_of_named := null;
    end if;
  end if;
  read.required_of_chunks := read.required;
  return read;
end
$$;
comment on function private.read_query is 'Parses a query and resolves it against these projects (null: all).';

-- query and words are null without a text. embedding: that of the text by embedding_model, or null.
create type private.search as (
  scope private.scope, query private.query, words private.words,
  embedding extensions.vector, embedding_model text, match_threshold double precision
);
comment on type private.search is 'A search, resolved against what its caller may see.';

-- Under row-level security no index can find words or apply a filter before ranking. So searches
-- run in "security definer" functions, and read what is in their scope only. A function that takes
-- a private.search trusts it, and therefore has no callers but these.
create function private.begin_search(
  query_text text,
  project_filter bigint,
  status_filter text,
  filters jsonb,
  query_embedding extensions.vector default null,
  embedding_model text default null,
  match_threshold double precision default null
)
returns private.search
language plpgsql stable security invoker set search_path = ''
as $$
declare
  visible bigint[];
  search private.search;
begin
  search.scope := private.resolve_scope(project_filter, status_filter, filters);
  search.embedding := query_embedding;
  search.embedding_model := begin_search.embedding_model;
  search.match_threshold := begin_search.match_threshold;
  if query_text is not null and not (search.scope).is_empty then
    visible := private.visible_projects();
    search.query := private.read_query(query_text, visible);
    search.words := private.plan_words((search.query).plain, visible);
  end if;
  return search;
end
$$;
comment on function private.begin_search is 'A search by the caller: its filters and query resolved, and its words planned.';

insert into private.migrations (version) values ('20260101001160');
