-- What a search works out once and passes on: its scope, its parsed query and its words.

-- Required phrases may be in the ticket's own text or in a comment. Exclusions are checked in the
-- former only: settle_query already collected the tickets whose comments contain them.
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

create function private.settle_query(parsed private.query, visible bigint[]) returns private.query
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  named text;
  tickets bigint[];
  read_limit constant integer := 20000; -- maximum number of comments with excluded words
begin
  parsed.excluded_tickets := '{}';
  foreach named in array parsed.excluded_keys loop
    -- Tickets that only mention the key stay. What looks like a key but is none (utf-8) is a word.
    tickets := array(select t.ticket_id from public.tickets t where upper(t.key) = named and (visible is null or t.project_id = any (visible)));
    parsed.excluded_tickets := parsed.excluded_tickets || tickets;
    if tickets = '{}' then
      parsed.excluded := coalesce(parsed.excluded || private.phrase(named), private.phrase(named), parsed.excluded);
    end if;
  end loop;
  if parsed.excluded is not null then
    parsed.excluded_tickets := parsed.excluded_tickets || array(
      select distinct m.ticket_id from (
        select e.ticket_id from public.comment_entries e
        where e.words @@ parsed.excluded and (visible is null or e.project_id = any (visible)) limit read_limit
      ) m);
  end if;
  -- Users paste names with quotes: a phrase that no text contains is searched as words. Invisible
  -- texts do not count, or a phrase would reveal whether it exists there.
  parsed.relaxed := parsed.required is not null and not private.occurs(parsed.required, visible)
    and not exists (
      select 1 from public.tickets t
      where upper(t.key) = any (parsed.ticket_keys) and (visible is null or t.project_id = any (visible))
        and parsed.required_of_named is distinct from parsed.required
        and (parsed.required_of_named is null or private.entry_holds(t.project_id, t.ticket_id, parsed.required_of_named, null)));
  if parsed.relaxed then
    parsed.required := null;
    parsed.required_of_named := null;
  end if;
  parsed.required_of_chunks := parsed.required;
  return parsed;
end
$$;
comment on function private.settle_query is 'A query, resolved against these projects (null: all).';

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
    search.query := private.settle_query(private.parse_query(query_text), visible);
    search.words := private.plan_words((search.query).plain, visible);
  end if;
  return search;
end
$$;
comment on function private.begin_search is 'A search by the caller: its filters and query resolved, and its words planned.';

insert into private.migrations (version) values ('20260101001160');
