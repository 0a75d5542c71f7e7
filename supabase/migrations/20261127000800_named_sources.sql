-- Tickets and projects named in a question, by key or name, and texts that hold an identifier of it
-- whole. They become candidates for retrieval with any similarity, because "What is the status of
-- TX-400?" is similar to any ticket about a status.

-- The normal form of names and questions: words in lower case, separated by single spaces;
-- characters of scripts without spaces are separate words. Truncated, because a B-tree key is
-- limited to a third of a page. bare: without the words that say what a project is: Phoenix is the
-- project Phoenix, the Phoenix app. Used in indexes, so every writer of projects needs execute.
create function tasklens.name_words(name text, bare boolean default false) returns text
language plpgsql immutable security definer set search_path = ''
as $$
declare
  words constant text := btrim(regexp_replace(regexp_replace(
    lower(tasklens.compose_text(left(name_words.name, 400))), '([' || tasklens.unspaced_scripts() || '])', ' \1 ', 'g'), '[^[:alnum:]]+', ' ', 'g'));
begin
  return left(case when bare
    then regexp_replace(words, '^(the|team|project) (?=.)|(?<=.) (project|app|application|platform|team|system|service|product|tools)$', '', 'g')
    else words end, 200);
end
$$;
comment on function tasklens.name_words is 'The words of a name in lower case, separated by single spaces, for comparison with questions.';

create index projects_name_words_idx on public.projects (tasklens.name_words(name));
create index projects_bare_words_idx on public.projects (tasklens.name_words(name, true));
create index projects_key_words_idx on public.projects (tasklens.name_words(key));

-- Names and keys are looked for among the runs of up to 12 of a question's first 200 words.
create function tasklens.named_projects(scope tasklens.scope, question text) returns bigint[]
language plpgsql stable security invoker set search_path = '' set jit = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  typed constant text := regexp_replace(tasklens.compose_text(left(question, 2000)), '([' || tasklens.unspaced_scripts() || '])', ' \1 ', 'g');
  words constant text[] := (string_to_array(btrim(regexp_replace(lower(typed), '[^[:alnum:]]+', ' ', 'g')), ' '))[:200];
  quotes constant text := '"''“”„‘’«»`「」『』';
  project_word constant text := '(projects?|apps?|applications?|boards?|teams?|workspaces?|products?|programs?|programmes?|initiatives?|projekts?|projets?|proyectos?|progetti|progetto)';
begin
  return array(
    with run as materialized (
      select f.place as first, l.place as last, array_to_string(words[f.place:l.place], ' ') as words
      from generate_subscripts(words, 1) f(place) cross join lateral generate_series(f.place, least(f.place + 11, cardinality(words))) l(place)
    ), matched as materialized (
      select p.project_id, r.*, 'name' as by from public.projects p join run r on tasklens.name_words(p.name) = r.words
      where tasklens.name_words(p.name) = any (array(select r.words from run r))
      union all
      select p.project_id, r.*, 'bare' from public.projects p join run r on tasklens.name_words(p.name, true) = r.words
      where tasklens.name_words(p.name, true) = any (array(select r.words from run r))
      union all
      select p.project_id, r.*, 'key' from public.projects p join run r on tasklens.name_words(p.key) = r.words
      where tasklens.name_words(p.key) = any (array(select r.words from run r))
    ), project as materialized (
      select distinct on (m.project_id) m.*
      from matched m
      cross join lateral (
        select regexp_instr(typed, '[[:alnum:]]+', 1, m.first::integer) as start, regexp_instr(typed, '[[:alnum:]]+', 1, m.last::integer, 1) as stop) x
      cross join lateral (select left(typed, x.start - 1) as before, substr(typed, x.start, x.stop - x.start) as name, substr(typed, x.stop) as after) t
      cross join lateral (
        select typed ~ '[[:lower:]]' and t.name ~ '^[[:upper:]]' as is_capital,
          t.before ~ ('[' || quotes || ']$') and t.after ~ ('^[' || quotes || ']')
            or t.before ~* ('\m' || project_word || '[\s:' || quotes || ']+$') or t.after ~* ('^[\s' || quotes || '-]+' || project_word || '\M') as is_marked) e
      where (scope.projects is null or m.project_id = any (scope.projects)) and (e.is_marked
        -- A name of several words is unambiguous; a single word may be an ordinary one, unless all
        -- its words are capitals within a sentence, or it ends the question after "of", "in" or the
        -- like.
        or m.by = 'name' and m.last > m.first
        or m.by <> 'key' and (e.is_capital and t.name !~ '\m[[:lower:]][[:alnum:]]{3}' and t.before ~ '[[:alnum:]][^[:alnum:].!?:\n]*$'
          or t.after !~ '[[:alnum:]]' and t.before ~* '\m(of|in|on|for|about|with|within|from|at)[^[:alnum:]]+(the[^[:alnum:]]+)?$')
        -- Not the beginning of a ticket's key.
        or m.by = 'key' and e.is_capital and t.name !~ '[[:lower:]]' and length(m.words) > 1 and t.after !~ '^[^[:alnum:]]*[0-9]+([^[:alnum:]]|$)')
      order by m.project_id, m.last - m.first desc, m.first
    )
    select p.project_id from project p
    -- In "Data Platform", the project Data is only a part.
    where not exists (select from project q where q.first <= p.first and q.last >= p.last and q.last - q.first > p.last - p.first)
    order by p.last - p.first desc, p.first, p.project_id
    limit 3);
end
$$;
comment on function tasklens.named_projects is
  'At most three projects of a scope that a question names, longest names first. A single word must be marked as a name: by a capital, quotes, the word "project", or the end of the question.';

-- A ticket whose name is the question, or nearly: it has at least four fifths of the words of the
-- name, and the name half of its words, four fifths if they share two. One word names no ticket.
-- The words of names are looked up while they and the rarer ones together are in at most so many
-- names (reach). If all are commoner, a name must have each word of the question.
create function tasklens.read_names(scope tasklens.scope, question text, out ticket_ids bigint[], out project_ids bigint[])
language plpgsql stable security invoker set search_path = '' set jit = off set enable_seqscan = off
as $$
declare
  query constant tasklens.query := tasklens.parse_query(question, tasklens.languages_in(scope.projects));
  keys text[]; -- in upper case, as the question has them
  number text;
  reach constant integer := 2000;
  asked text[];
  typed bigint; -- words
  some_words tsquery;
  each_word tsquery;
begin
  if scope.is_empty or question is null then
    return;
  end if;
  project_ids := tasklens.named_projects(scope, question);
  -- Questions may also contain TX 400, TX#400, TX_400 and tx400. "In 2024" is not a key: stop words
  -- only count in capitals. A false key is looked up and not found.
  keys := array(
    select k.key from (
      select w.key, 1 as sort from unnest(query.ticket_keys) as w(key)
      union
      select upper(m[1] || '-' || m[2]), 2
      from regexp_matches(query.plain, '(?<![[:alnum:]_-])([[:alpha:]][[:alnum:]]*)(?: {1,2}| ?# ?|_| - )([0-9]{1,15})(?![[:alnum:]])', 'g') as m
      where m[1] = upper(m[1]) or not exists (select from tasklens.read_words(m[1], query.languages, true) w where w.is_common)
      union
      select upper(m[1] || '-' || m[2]), 3
      from regexp_matches(query.plain, '(?<![[:alnum:]_-])([[:alpha:]]+)([0-9]{1,15})(?![[:alnum:]])', 'g') as m
    ) k
    group by k.key
    order by position(k.key in upper(query.plain)) = 0, position(k.key in upper(query.plain)), min(k.sort), k.key
    limit 50);
  if cardinality(keys) > 0 then
    ticket_ids := (tasklens.passing_tickets(scope, array(
      select k.ticket_id from tasklens.keyed_tickets(keys) k order by array_position(keys, k.key))))[1:5];
  end if;
  if coalesce(cardinality(ticket_ids), 0) = 0 then
    -- "ticket 400" may be in any project if the question names none.
    number := substring(lower(left(question, 2000)) from '\m(?:ticket|issue|bug|story|task)\s+(?:no\.?|nr\.?|number)?\s*#?\s*([0-9]{1,9})(?![[:alnum:].,]*[[:alnum:]])');
    if number is not null then
      keys := array(
        select upper(p.key || '-' || number) from public.projects p
        where (scope.projects is null or p.project_id = any (scope.projects))
          and (cardinality(project_ids) = 0 or p.project_id = any (project_ids)));
      ticket_ids := (tasklens.passing_tickets(scope, array(
        select t.ticket_id from public.tickets t where upper(t.key) = any (keys) order by t.ticket_id)))[1:5];
    end if;
  end if;
  with question_word as materialized (
    select r.term, r.words from tasklens.read_words(left(question, 2000), tasklens.languages_in(scope.projects)) r
  ), titled as (
    select q.term, sum(e.titles) as titles
    from question_word q cross join lateral unnest(q.words) u(word) join tasklens.word_entries(array(select unnest(x.words) from question_word x)) e using (word)
    where e.titles > 0 group by q.term
  )
  select array(select unnest(q.words) from question_word q), (select count(*) from question_word),
      string_agg(t.term, ' | ') filter (where t.total <= reach)::tsquery, string_agg(t.term, ' & ')::tsquery
    into asked, typed, some_words, each_word
    from (select x.term, sum(x.titles) over (order by x.titles, x.term) as total from titled x) t;
  ticket_ids := ticket_ids || (tasklens.passing_tickets(scope, array(
    select n.ticket_id
    from (
      select e.ticket_id, e.title_length as words, length(e.title_words) - length(ts_delete(e.title_words, asked)) as shared
      from (
        select k.ticket_id, k.title_length, k.title_words from public.keyword_entries k
        where k.title_words @@ coalesce(some_words, each_word) and k.ticket_id is not null
          and (scope.projects is null or k.project_id = any (scope.projects))
        limit reach) e
    ) n
    where n.shared >= 2 and n.shared >= 0.8 * n.words and n.shared >= case when n.shared >= 3 then 0.5 else 0.8 end * typed
    order by n.shared desc, n.words, n.ticket_id desc
    limit 20)))[:2];
end
$$;
comment on function tasklens.read_names is
  'What a question names of a scope: at most five tickets, in its order, by keys in any usual spelling, then two by name, and projects by key or name.';

-- Of a ticket: its own text first, its newest note and newest comment, which have the resolution,
-- and the chunk nearest to the question. Of a project: the beginning of its text, and the nearest
-- chunk.
create function tasklens.named_chunks(search tasklens.search, question text)
returns table (chunk_id uuid, project_id bigint, ticket_id bigint, similarity double precision)
language plpgsql stable rows 10 security invoker set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  scope constant tasklens.scope := search.scope;
  named record;
  few_holders constant integer := 5;
  set_id constant smallint := tasklens.searched_set(search.embedding_model);
  holding tasklens.search := search;
begin
  if scope.is_empty or question is null then
    return;
  end if;
  named := tasklens.read_names(scope, question);
  -- What holds a code or another identifier whole, if few do. Of a key, only its ticket is named.
  holding.query := tasklens.parse_query(question, tasklens.languages_in(scope.projects));
  holding.query.excluded := null;
  holding.query.required := null;
  holding.query.identifiers := array(select i from unnest((holding.query).identifiers) i where i !~ '^[[:alnum:]_-]+-[0-9]+$');
  named.ticket_ids := named.ticket_ids || array(
    select u
    from tasklens.identifier_holders(holding, null) h cross join unnest(h.holders || h.alike) as u
    where ((holding.query).is_identifier or cardinality(h.holders || h.alike) <= few_holders) and u >= 0 order by u desc);
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
  )
  select distinct p.chunk_id, p.project_id, p.ticket_id, 1 - p.distance from placed p where p.place = 1 or p.nearness = 1 or p.is_newest
  union all
  -- A ticket that is not embedded yet is represented by its own text.
  select null, s.project_id, s.ticket_id, null from source s
  where not exists (select from compared k where k.project_id = s.project_id and k.ticket_id is not distinct from s.ticket_id);
end
$$;
comment on function tasklens.named_chunks is
  'The chunks of what a question names, with their true similarity; chunk_id is null for a ticket or project that is not embedded yet. At most 26.';

insert into tasklens.migrations (version) values ('20261127000800');
