-- What a search works out once and passes on: its scope, its parsed query and its words.

-- Few are so many that reading each costs less than finding the best with the indexes. Reading the
-- words of one entry costs as much as finding twelve by a word, and a search finds at most 4,000 by
-- each word. Comparing the chunks of each with a vector breaks even at a similar number. Whether
-- there are more is decided as cheaply as possible: a wrong guess costs time and changes no result.
create function tasklens.few_entries(scope tasklens.scope, required tsquery) returns bigint[]
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  entry_limit constant integer := greatest(1000, sqrt(700.0 * (select t.entries from tasklens.word_entries(array['']) t)));
  comment_limit constant integer := 20000;
  holds constant text := case when required is null then '' else ' and e.words @@ $2' end;
  entry_ids bigint[];
  commented bigint[];
begin
  if scope.projects is null and not scope.on_tickets and required is null then
    return null;
  end if;
  -- Without a filter, most users see more than a few: an index-only scan shows it.
  if required is null and not scope.on_tickets and entry_limit < (
    select count(*) from (select from public.tickets t where t.project_id = any (scope.projects) limit entry_limit + 1) counted)
  then
    return null;
  end if;
  -- The own texts. Planned separately for every filter.
  execute case
    when scope.on_tickets then format('select array(select t.ticket_id from public.tickets t%s where %s%s limit $3)',
      case when required is not null then ' join public.keyword_entries e on e.keyword_entry_id = t.ticket_id' end, scope.condition, holds)
    else format('select array(select e.keyword_entry_id from public.keyword_entries e where %s%s limit $3)',
      case when scope.projects is null then 'true' else 'e.project_id = any (($1).projects)' end, holds) end
    into entry_ids using scope, required, entry_limit + 1;
  if cardinality(entry_ids) > entry_limit then
    return null;
  end if;
  -- The tickets with a comment that holds what is required.
  if required is not null then
    execute format('select array(select m.ticket_id from public.comment_entries m where m.words @@ $2%s limit $3)',
      case when scope.projects is null then '' else ' and m.project_id = any (($1).projects)' end)
      into commented using scope, required, comment_limit + 1;
    if cardinality(commented) > comment_limit then
      return null;
    elsif commented <> '{}' then
      execute format('select array(
          select u from unnest($4) as u
          union
          select t.ticket_id from public.tickets t where t.ticket_id = any ($2) and %s
          limit $3)', scope.condition)
        into entry_ids using scope, commented, entry_limit + 1, entry_ids;
    end if;
  end if;
  return case when cardinality(entry_ids) <= entry_limit then entry_ids end;
end
$$;
comment on function tasklens.few_entries is
  'The entries of a scope that contain what is required, in the own text or a comment, if they are so few that each can be read; else null, as without a filter and a required phrase.';

-- query and words are null without a text. few: see few_entries. holders: of a query that is an
-- identifier, the entries that hold it as typed; alike: those that hold it in another form.
-- embedding: that of the text by embedding_model, or null.
create type tasklens.search as (
  scope tasklens.scope, query tasklens.query, words tasklens.words, few bigint[], holders bigint[], alike bigint[],
  embedding extensions.vector, embedding_model text, match_threshold double precision
);

-- Under row-level security no index can find words or apply a filter before ranking. So searches
-- run in "security definer" functions, and read what is in their scope only. A function that takes
-- a tasklens.search trusts it, and therefore has no callers but these.
create function tasklens.begin_search(
  query_text text,
  filters jsonb,
  query_embedding extensions.vector default null,
  embedding_model text default null,
  match_threshold double precision default null,
  unfinished boolean default false
)
returns tasklens.search
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  visible constant bigint[] := tasklens.projects_as('viewer');
  comment_limit constant integer := 20000; -- maximum number of comments with excluded words
  most_numbered constant integer := 3;
  search tasklens.search;
  query tasklens.query;
  named text;
  tickets bigint[];
  numbered bigint[];
  terms text[];
begin
  search.scope := tasklens.resolve_scope(filters);
  search.embedding := query_embedding;
  search.embedding_model := begin_search.embedding_model;
  search.match_threshold := begin_search.match_threshold;
  if (search.scope).is_empty then
    return search;
  end if;
  if query_text is not null then
    query := tasklens.parse_query(query_text, tasklens.languages_in((search.scope).projects));
    query.excluded_tickets := '{}';
    foreach named in array query.excluded_keys loop
      -- Tickets that only mention the key stay. What only looks like a key (utf-8) is a word.
      tickets := array(select t.ticket_id from public.tickets t where upper(t.key) = named and (visible is null or t.project_id = any (visible)));
      query.excluded_tickets := query.excluded_tickets || tickets;
      if tickets = '{}' then
        query.excluded := coalesce(query.excluded || tasklens.phrase(named, query.languages), tasklens.phrase(named, query.languages), query.excluded);
      end if;
    end loop;
    if query.excluded is not null then
      query.excluded_tickets := query.excluded_tickets || array(
        select distinct m.ticket_id from (
          select e.ticket_id from public.comment_entries e
          where e.words @@ query.excluded and (visible is null or e.project_id = any (visible)) limit comment_limit
        ) m);
    end if;
    -- A number alone is that of a ticket, unless many projects have one.
    numbered := array(
      select t.ticket_id from public.tickets t
      where substring(t.key from '[0-9]+$') = substring(query.plain from '^\s*#?([0-9]{1,9})\s*$') and (visible is null or t.project_id = any (visible))
      limit most_numbered + 1);
    if cardinality(numbered) > most_numbered then
      numbered := array[]::bigint[];
    end if;
    tickets := array(
      select t.ticket_id from public.tickets t
      where t.ticket_id = any (numbered || array(select k.ticket_id from tasklens.keyed_tickets(query.ticket_keys) k)) and (visible is null or t.project_id = any (visible))
        and t.ticket_id <> all (query.excluded_tickets)
        and (query.excluded is null or (select e.words @@ query.excluded from public.keyword_entries e where e.keyword_entry_id = t.ticket_id) is not true));
    query.named_tickets := case when query.required_of_named is null then tickets else array(
      select u from unnest(tickets) as u
      where exists (select from public.keyword_entries e where e.keyword_entry_id = u and e.words @@ query.required_of_named)
        or exists (select from public.comment_entries m where m.ticket_id = u and m.words @@ query.required_of_named)) end;
    -- Nobody who types a ticket's key alone looks for others whose keys begin alike.
    if query.required is null and cardinality(query.named_tickets) > 0 and query.plain ~ '^\s*(\S+-[0-9]+|\S+/\S+)\s*$' then
      query.required := tasklens.phrase(query.plain, query.languages);
    end if;
    -- Users paste names with quotes: a phrase that no text contains is searched as words. Invisible
    -- texts do not count, or a phrase would reveal whether it exists there.
    search.words := tasklens.plan_words(query.plain, visible, false, query.languages, query.required);
    if unfinished then
      search.words := tasklens.add_begun_word(search.words, query_text, visible);
    end if;
    query.relaxed := query.required is not null and not tasklens.occurs(query.required, visible)
      and (query.named_tickets = '{}' or query.required_of_named is not distinct from query.required);
    if query.relaxed then
      query.required := null;
      query.named_tickets := tickets;
    end if;
    search.query := query;
    terms := array(select r.term from tasklens.read_words(query.plain, query.languages) r where not r.is_common);
    search.query.wanted := (
      select string_agg(w.term, ' | ')::tsquery from (select unnest((search.words).terms) union select unnest(terms)) w(term));
    -- A query with words that no text holds is held whole by none.
    search.query.all_words := greatest(cardinality((search.words).terms), cardinality(terms));
  end if;
  search.few := tasklens.few_entries(search.scope, query.required);
  if query.is_identifier then
    select h.holders, h.alike into search.holders, search.alike from tasklens.identifier_holders(search, search.few) h;
  end if;
  return search;
end
$$;
comment on function tasklens.begin_search is 'A search by the caller: its filters and query resolved, its words planned, and the entries that it can match if they are few. unfinished: its last word may be the beginning of one.';

insert into tasklens.migrations (version) values ('20261127000540');
