-- Tickets (by key or name), projects (by key or name) and statuses named in a question, and texts
-- that hold an identifier of it whole. They become candidates for retrieval with any similarity,
-- because "What is the status of TX-400?" is similar to any ticket about a status.

-- The normal form of names and questions: words in lower case, separated by single spaces;
-- characters of scripts without spaces are separate words. Truncated, because a B-tree key is
-- limited to a third of a page. Used in indexes, so every writer of projects needs execute.
create function tasklens.name_words(name text) returns text
language plpgsql immutable security definer set search_path = ''
as $$
begin
  return left(btrim(regexp_replace(regexp_replace(
    lower(tasklens.compose_text(left(name_words.name, 400))), '([' || tasklens.unspaced_scripts() || '])', ' \1 ', 'g'), '[^[:alnum:]]+', ' ', 'g')), 200);
end
$$;
comment on function tasklens.name_words is 'The words of a name in lower case, separated by single spaces, for comparison with questions.';

create index projects_name_words_idx on public.projects (tasklens.name_words(name));
create index projects_key_words_idx on public.projects (tasklens.name_words(key));

-- The runs of up to 12 words in a question's first 200, normalised. marked: in quotes, or next to a
-- word such as "project". capital: each word is capitalised, and not because a sentence starts.
-- capitals: all capitals, in a question that also has lower case. final: at the end, after "of",
-- "in" or the like. numbered: followed by a number, as in a ticket key.
create function tasklens.word_runs(question text)
returns table (words text, first integer, last integer, marked boolean, capital boolean, capitals boolean, final boolean, numbered boolean)
language plpgsql immutable rows 100 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  typed constant text := regexp_replace(tasklens.compose_text(left(question, 2000)), '([' || tasklens.unspaced_scripts() || '])', ' \1 ', 'g');
  has_small constant boolean := typed ~ '[[:lower:]]';
  project_word constant text := '^(projects?|apps?|applications?|boards?|teams?|workspaces?|products?|programs?|programmes?|initiatives?|projekts?|projets?|proyectos?|progetti|progetto)$';
  preposition constant text := '^(of|in|on|for|about|with|within|from|at)$';
  tokens text[];
  small text[]; -- tokens in lower case
  gaps text[]; -- the text before each token
begin
  select coalesce(array_agg(r.m[2] order by r.place), '{}'), coalesce(array_agg(r.m[1] order by r.place), '{}') into tokens, gaps
    from regexp_matches(typed, '([^[:alnum:]]*)([[:alnum:]]+)', 'g') with ordinality as r(m, place)
    where r.place <= 200;
  gaps := gaps || substring(typed from '[^[:alnum:]]*$');
  small := array(select lower(t.token) from unnest(tokens) with ordinality as t(token, place) order by t.place);

  return query
  with token as materialized (
    -- How many long words up to here start with a lower-case letter, and how many are cased:
    -- counted once, not per run.
    select t.place::integer as place,
      gaps[t.place] ~ '["''“”„‘’«»`「『]$' as opens, gaps[t.place + 1] ~ '^["''“”‘’«»`」』]' as closes,
      coalesce(small[t.place - 1] ~ project_word, false) and gaps[t.place] ~ '^[\s:"''“”„‘’«»`]+$' as follows,
      coalesce(small[t.place + 1] ~ project_word, false) and gaps[t.place + 1] ~ '^[\s"''“”‘’«»`-]+$' as leads,
      coalesce(small[t.place - 1] ~ preposition or small[t.place - 1] = 'the' and small[t.place - 2] ~ preposition, false) as led,
      coalesce(small[t.place + 1] ~ '^[0-9]+$', false) as numbered,
      has_small and left(t.token, 1) <> left(small[t.place], 1) as is_capital,
      t.place > 1 and gaps[t.place] !~ '[.!?:\n]' as within_sentence,
      (length(t.token) > 3 and left(t.token, 1) = left(small[t.place], 1))::integer as begins_small,
      (t.token <> upper(t.token))::integer as has_small,
      sum((length(t.token) > 3 and left(t.token, 1) = left(small[t.place], 1))::integer) over (order by t.place) as small_beginnings,
      sum((t.token <> upper(t.token))::integer) over (order by t.place) as small_words
    from unnest(tokens) with ordinality as t(token, place)
  )
  select array_to_string(small[f.place:l.place], ' '), f.place, l.place,
    f.opens and l.closes or f.follows or l.leads,
    f.is_capital and f.within_sentence and l.small_beginnings - f.small_beginnings + f.begins_small = 0,
    f.is_capital and l.small_words - f.small_words + f.has_small = 0,
    l.place = cardinality(tokens) and f.led, l.numbered
  from token f
  join token l on l.place between f.place and f.place + 11;
end
$$;
comment on function tasklens.word_runs is 'The runs of words in a question that may be names, with the evidence.';

-- ticket_ids: at most five, in the order of the question. project_ids: at most three, longest names
-- first. status_id: of a named status. listed: the question only asks for tickets in it.
create type tasklens.names as (ticket_ids bigint[], project_ids bigint[], status_id bigint, listed boolean);
comment on type tasklens.names is 'What a question names, of what is in its scope.';

create function tasklens.named_projects(scope tasklens.scope, question text, out project_ids bigint[], out status_id bigint, out phrases text)
language plpgsql stable security invoker set search_path = '' set jit = off set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  with run as materialized (
    select r.* from tasklens.word_runs(question) r
  ), name as (
    -- A name of several words is unambiguous; a single word may be an ordinary one.
    select r.words, r.first, r.last from run r where r.last > r.first or r.marked or r.capital or r.final
    union all
    -- "Phoenix" may be the project Phoenix, the Phoenix project or the Phoenix app.
    select g.words, r.first, r.last from run r
    cross join lateral (
      select r.words || ' ' || w from unnest(array['project', 'app', 'application', 'platform', 'team', 'system', 'service', 'product', 'tools']) w
      union all
      select w || ' ' || r.words from unnest(array['project', 'the', 'team']) w) g(words)
    where r.last - r.first < 6 and (r.marked or r.capital or r.final)
  ), key as (
    select r.words, r.first, r.last from run r where r.marked or r.capitals and length(r.words) > 1 and not r.numbered
  ), project as materialized (
    select distinct on (f.project_id) f.project_id, f.first, f.last
    from (
      select p.project_id, n.first, n.last from public.projects p join name n on tasklens.name_words(p.name) = n.words
      where tasklens.name_words(p.name) = any (array(select n.words from name n))
      union all
      select p.project_id, k.first, k.last from public.projects p join key k on tasklens.name_words(p.key) = k.words
      where tasklens.name_words(p.key) = any (array(select k.words from key k))
    ) f
    where scope.projects is null or f.project_id = any (scope.projects)
    order by f.project_id, f.last - f.first desc, f.first
  ), chosen as materialized (
    -- In "Data Platform", the project Data is only a part.
    select p.* from project p
    where not exists (
      select from project q where q.first <= p.first and q.last >= p.last and q.last - q.first > p.last - p.first)
    order by p.last - p.first desc, p.first, p.project_id
    limit 3
  ), status as materialized (
    select s.status_id, r.first, r.last
    from public.status s join run r on tasklens.name_words(s.name) = r.words
    where not exists (select from chosen c where r.first >= c.first and r.last <= c.last)
      and (scope.statuses is null or s.status_id = any (scope.statuses))
    order by r.last - r.first desc, r.first, s.status_id
    limit 1
  )
  select array(select c.project_id from chosen c order by c.last - c.first desc, c.first, c.project_id),
      (select s.status_id from status s),
      (select string_agg(r.words, ' ') from run r join (
        select c.first, c.last from chosen c union all select s.first, s.last from status s) n on n.first = r.first and n.last = r.last)
    into project_ids, status_id, phrases;
end
$$;
comment on function tasklens.named_projects is
  'The projects and the status of a scope that a question names, and the words that do. A single word must be marked as a name: by a capital, quotes, the word "project", or the end of the question.';

create function tasklens.read_names(scope tasklens.scope, question text) returns tasklens.names
language plpgsql stable security invoker set search_path = '' set jit = off set enable_seqscan = off
as $$
declare
  named tasklens.names;
  phrases text;
  query tasklens.query;
  keys text[]; -- in upper case, as the question has them
  number text;
begin
  if scope.is_empty or question is null then
    return named;
  end if;
  select n.project_ids, n.status_id, n.phrases into named.project_ids, named.status_id, phrases from tasklens.named_projects(scope, question) n;
  query := tasklens.parse_query(question);
  -- Questions may also contain TX 400, TX#400, TX_400 and tx400. "In 2024" is not a key: stop words
  -- only count in capitals. A false key is looked up and not found.
  keys := array(
    select k.key from (
      select w.key, 1 as sort from unnest(query.ticket_keys) as w(key)
      union
      select upper(m[1] || '-' || m[2]), 2
      from regexp_matches(query.plain, '(?<![[:alnum:]_-])([[:alpha:]][[:alnum:]]*)(?: {1,2}| ?# ?|_| - )([0-9]{1,15})(?![[:alnum:]])', 'g') as m
      where m[1] = upper(m[1]) or ts_lexize('pg_catalog.english_stem', lower(m[1])) <> '{}'
      union
      select upper(m[1] || '-' || m[2]), 3
      from regexp_matches(query.plain, '(?<![[:alnum:]_-])([[:alpha:]]+)([0-9]{1,15})(?![[:alnum:]])', 'g') as m
    ) k
    group by k.key
    order by position(k.key in upper(query.plain)) = 0, position(k.key in upper(query.plain)), min(k.sort), k.key
    limit 50);
  if cardinality(keys) > 0 then
    -- With an array, for which the planner uses the index whatever the statistics say; a join may
    -- scan the table.
    named.ticket_ids := (tasklens.passing_tickets(scope, array(
      select t.ticket_id from public.tickets t where upper(t.key) = any (keys) order by array_position(keys, upper(t.key)))))[1:5];
  end if;
  if coalesce(cardinality(named.ticket_ids), 0) = 0 then
    -- "ticket 400" may be in any project if the question names none.
    number := substring(lower(left(question, 2000)) from '\m(?:ticket|issue|bug|story|task)\s+(?:no\.?|nr\.?|number)?\s*#?\s*([0-9]{1,9})(?![[:alnum:].,]*[[:alnum:]])');
    if number is not null then
      keys := array(
        select upper(p.key || '-' || number) from public.projects p
        where (scope.projects is null or p.project_id = any (scope.projects))
          and (cardinality(named.project_ids) = 0 or p.project_id = any (named.project_ids)));
      named.ticket_ids := (tasklens.passing_tickets(scope, array(
        select t.ticket_id from public.tickets t where upper(t.key) = any (keys) order by t.ticket_id)))[1:5];
    end if;
  end if;
  named.listed := named.status_id is not null and not exists (
    select unnest(tsvector_to_array(to_tsvector('pg_catalog.english', left(question, 2000))))
    except
    select unnest(tsvector_to_array(to_tsvector('pg_catalog.english', coalesce(phrases, '') || ' '
      || 'what which where list show give tell ticket tickets issue issues bug bugs task tasks story stories item items work project projects app '
      || 'status state current currently still open many everything everybody thing things anything please right moment present now today whose'))));
  return named;
end
$$;
comment on function tasklens.read_names is
  'The tickets, projects and status of a scope that a question names: keys in any usual spelling, names as whole phrases.';

-- The words of names are looked up while they and the rarer ones together are in at most so many
-- names. If all are commoner, a name must have each word of the question.
create function tasklens.titled_tickets(scope tasklens.scope, question text) returns bigint[]
language plpgsql stable security invoker set search_path = '' set jit = off set enable_seqscan = off
as $$
declare
  reach constant integer := 2000;
  asked constant text[] := tsvector_to_array(tasklens.to_words(left(question, 2000)));
  some_words tsquery;
  each_word tsquery;
begin
  select string_agg(quote_literal(w.word), ' | ') filter (where w.total <= reach)::tsquery, string_agg(quote_literal(w.word), ' & ')::tsquery
    into some_words, each_word
    from (
      select e.word, sum(e.titles) over (order by e.titles, e.word) as total from tasklens.word_entries(asked) e where e.titles > 0) w;
  return (tasklens.passing_tickets(scope, array(
    select n.ticket_id
    from (
      select e.ticket_id, e.title_length as words, length(e.title_words) - length(ts_delete(e.title_words, asked)) as shared
      from (
        select k.ticket_id, k.title_length, k.title_words from public.keyword_entries k
        where k.title_words @@ coalesce(some_words, each_word) and k.ticket_id is not null
          and (scope.projects is null or k.project_id = any (scope.projects))
        limit reach) e
    ) n
    where n.shared >= 2 and n.shared >= 0.8 * n.words and n.shared >= case when n.shared >= 3 then 0.5 else 0.8 end * cardinality(asked)
    order by n.shared desc, n.words, n.ticket_id desc
    limit 20)))[:2];
end
$$;
comment on function tasklens.titled_tickets is
  'At most two tickets whose name is the question, or nearly: it has at least four fifths of the words of the name, and the name half of its words, four fifths if they share two. One word names no ticket.';

-- Of a ticket: its own text first, its newest note and newest comment, which have the resolution,
-- and the chunk nearest to the question. Of a project: the beginning of its text, and the nearest
-- chunk. For a named status, of a project (or of the whole tracker if nothing else is asked): the
-- nearest chunk of each of the nearest tickets, ten if nothing else is asked, else two.
create function tasklens.named_chunks(search tasklens.search, question text)
returns table (chunk_id uuid, project_id bigint, ticket_id bigint, similarity double precision)
language plpgsql stable rows 10 security invoker set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  scope constant tasklens.scope := search.scope;
  named tasklens.names := tasklens.read_names(scope, question);
  few_holders constant integer := 5;
  set_id constant smallint := tasklens.searched_set(search.embedding_model);
  in_status tasklens.search := search;
  holding tasklens.search := search;
begin
  if scope.is_empty or question is null then
    return;
  end if;
  in_status.match_threshold := -2;
  in_status.scope.on_tickets := true;
  in_status.scope.statuses := array[named.status_id];
  if cardinality(named.project_ids) > 0 then
    in_status.scope.projects := named.project_ids;
  end if;
  in_status.scope.condition := concat_ws(' and ',
    scope.condition, case when cardinality(named.project_ids) > 0 then 't.project_id = any (($1).projects)' end, 't.status_id = any (($1).statuses)');
  in_status.scope.condition_of_one := scope.condition_of_one || ' and t.status_id = any (($1).statuses)';
  in_status.scope.is_empty := named.status_id is null or cardinality(named.ticket_ids) > 0
    or (cardinality(named.project_ids) > 0 or scope.projects is distinct from tasklens.projects_as('viewer') and cardinality(scope.projects) = 1 or named.listed) is not true;
  in_status.few := case when not (in_status.scope).is_empty then tasklens.few_entries(in_status.scope, null) end;

  -- What holds a code or another identifier whole, if few do. Of a key, only its ticket is named.
  holding.query := tasklens.parse_query(question);
  holding.query.excluded := null;
  holding.query.required := null;
  holding.query.identifiers := array(select i from unnest((holding.query).identifiers) i where i !~ '^[[:alnum:]_-]+-[0-9]+$');
  named.ticket_ids := named.ticket_ids || tasklens.titled_tickets(scope, question) || array(
    select e.ticket_id
    from tasklens.identifier_holders(holding, null) h join public.keyword_entries e on e.keyword_entry_id = any (h.holders || h.alike)
    where ((holding.query).is_identifier or cardinality(h.holders || h.alike) <= few_holders) and e.ticket_id is not null order by e.ticket_id desc);
  named.ticket_ids := array(
    select u.id from unnest(named.ticket_ids) with ordinality u(id, place) group by u.id order by min(u.place) limit 5);

  return query
  with serving as not materialized (
    select c.* from public.chunks c where c.model = search.embedding_model and c.embedding_set = set_id
  ), source as materialized (
    select t.project_id, t.ticket_id from public.tickets t where t.ticket_id = any (named.ticket_ids)
    union all
    select p.project_id, null from public.projects p where p.project_id = any (named.project_ids) and not scope.on_tickets
  ), compared as materialized (
    select x.chunk_id, s.project_id, s.ticket_id, x.position, x.is_newest, x.embedding operator(extensions.<=>) search.embedding as distance
    from source s
    cross join lateral (
      -- At most this many chunks of a long ticket are compared.
      (select c.chunk_id, c.position, c.embedding, false as is_newest from serving c
      where c.ticket_id = s.ticket_id and c.project_id = s.project_id and c.comment_id is null order by c.position limit 200)
      union all
      -- Of its newest comments, placed after its own text.
      select c.chunk_id, null, c.embedding, false
      from (select m.comment_id from public.comments m where m.ticket_id = s.ticket_id order by m.created_at desc, m.comment_id desc limit 200) m
      join serving c on c.comment_id = m.comment_id
      union all
      (select c.chunk_id, c.position, c.embedding, false from serving c
      where s.ticket_id is null and c.project_id = s.project_id and c.ticket_id is null order by c.position limit 200)
      union all
      (select c.chunk_id, null, c.embedding, true from serving c
      where c.status_change_id = (
        select n.status_change_id from serving n
        where n.ticket_id = s.ticket_id and n.project_id = s.project_id and n.comment_id is null and n.status_change_id is not null
        order by n.position desc limit 1)
      order by c.position limit 1)
      union all
      (select c.chunk_id, null, c.embedding, true from serving c
      where c.comment_id = (
        select m.comment_id from public.comments m where m.ticket_id = s.ticket_id order by m.created_at desc, m.comment_id desc limit 1)
      order by c.position limit 1)
    ) x
  ), placed as (
    select k.*, row_number() over (partition by k.ticket_id, k.project_id order by k.is_newest, k.position nulls last) as place,
      row_number() over (partition by k.ticket_id, k.project_id order by k.is_newest, h.holds desc, k.distance, k.chunk_id) as nearness
    from compared k
    -- The chunk that holds the identifier is the nearest.
    cross join lateral (
      select exists (
        select from public.chunks c, unnest((holding.query).identifiers) i where c.chunk_id = k.chunk_id and strpos(lower(c.text), lower(i)) > 0) as holds) h
  ), listed as (
    select distinct on (l.ticket_id) l.* from tasklens.scan_chunks(in_status, 100, 10) l order by l.ticket_id, l.similarity desc, l.chunk_id
  )
  select distinct p.chunk_id, p.project_id, p.ticket_id, 1 - p.distance from placed p where p.place = 1 or p.nearness = 1 or p.is_newest
  union all
  (select l.chunk_id, l.project_id, l.ticket_id, l.similarity from listed l
  order by l.similarity desc, l.chunk_id
  limit case when named.listed then 10 else 2 end)
  union all
  -- A ticket that is not embedded yet is represented by its own text.
  select null, s.project_id, s.ticket_id, null from source s
  where not exists (select from compared k where k.project_id = s.project_id and k.ticket_id is not distinct from s.ticket_id);
end
$$;
comment on function tasklens.named_chunks is
  'The chunks of what a question names, with their true similarity; chunk_id is null for a ticket or project that is not embedded yet. At most 36.';

create function tasklens.beginning_of(name text, description text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return left(name || coalesce(e'\n\n' || nullif(description, ''), ''), 2000);
end
$$;
comment on function tasklens.beginning_of is 'The beginning of a ticket''s or project''s text, for one that is not embedded yet.';

insert into tasklens.migrations (version) values ('20261127000800');
