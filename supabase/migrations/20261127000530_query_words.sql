-- The words of a query with their weights: rare words weigh more.

create function tasklens.word_entries(words text[])
returns table (word text, entries bigint, titles bigint, comments bigint)
language plpgsql stable rows 8 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
return query
  select w.word, coalesce(sum(c.entries), 0)::bigint, coalesce(sum(c.titles), 0)::bigint, coalesce(sum(c.comments), 0)::bigint
  from unnest(word_entries.words) as w(word)
  left join lateral (
    select k.entries, k.titles, k.comments from tasklens.word_counts k where k.word = w.word
    union all
    select g.entries, g.titles, g.comments from tasklens.word_count_changes g where g.word = w.word
  ) c on true
  group by w.word;
end
$$;
comment on function tasklens.word_entries is 'The number of entries, titles and comments that contain each word; for the empty word how many there are, for a space how many words they have.';

-- A word that occurs only in texts that a caller does not see must behave like an unknown one, or
-- spelling correction would reveal it. Words in over 200 texts (texts, if counted already) are no
-- secret, and not looked up.
create function tasklens.occurs(words tsquery, visible bigint[], texts bigint default null) returns boolean
-- Use the index on words, whatever the statistics say.
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
begin
  if texts = 0 or texts > 0 and visible is null or texts > 200 then
    return texts > 0;
  end if;
  return exists (
    select 1 from public.keyword_entries e where e.words @@ occurs.words and (visible is null or e.project_id = any (visible))) or exists (
    select 1 from public.comment_entries e where e.words @@ occurs.words and (visible is null or e.project_id = any (visible)));
end
$$;
comment on function tasklens.occurs is 'Whether an entry or a comment of these projects (null: all) matches; assumed if more than 200 texts do.';

-- The nearest known words by shared trigrams, or with two letters swapped, which leaves few
-- trigrams. Words with digits are codes: a similar one is wrong, but not one typed halfway.
create function tasklens.nearest_words(word text, visible bigint[])
returns table (near text, entries bigint, titles bigint, comments bigint, similarity double precision)
language plpgsql stable rows 3 security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  is_code constant boolean := nearest_words.word ~ '[0-9]';
begin
  if length(nearest_words.word) not between 4 and 40 or nearest_words.word ~ '^[0-9]{4}$' then
    return;
  end if;
  return query
  with known as not materialized (
    select c.word from tasklens.word_counts c union all select g.word from tasklens.word_count_changes g
  )
  select n.word, e.entries, e.titles, e.comments, n.similarity
  from (
    select x.word, max(x.similarity) as similarity
    from (
      select k.word, extensions.similarity(k.word, nearest_words.word)::double precision as similarity from known k
      where length(k.word) between 4 and 40 and k.word operator(extensions.%) nearest_words.word and not is_code
      union all
      select k.word, 0.8 from generate_series(1, length(nearest_words.word) - 1) i
      join known k on k.word = overlay(nearest_words.word placing reverse(substr(nearest_words.word, i, 2)) from i)
      where not is_code
      union all
      select k.word, 0.9 from known k where length(k.word) between 4 and 40 and k.word like nearest_words.word || '%' and is_code
    ) x
    where (is_code or x.word !~ '[0-9]') and x.similarity >= 0.45
    group by x.word
    order by 2 desc, 1
    -- For restricted callers some of the nearest may be invisible.
    limit case when visible is null then 3 else 20 end
  ) n
  cross join lateral tasklens.word_entries(array[n.word]) e
  -- Implied words (weight D) do not count: "error in" makes no "errorin".
  where e.entries + e.comments > 0 and tasklens.occurs((quote_literal(n.word) || ':ABC')::tsquery, visible)
  order by n.similarity desc, n.word
  limit 3;
end
$$;
comment on function tasklens.nearest_words is 'At most three words that resemble an unknown one, of those known in these projects (null: all).';

-- One word that occurs as two neighbours counts as these, too: checkbox "check box". The first of
-- the two is no common word but a particle ("on boarding"), so that "inform" is not "in form".
-- Looked up only if the rarer half, and the entries likely to have both, are few.
create function tasklens.split_words(plain text, visible bigint[], languages text[])
returns table (term text, place integer, entries bigint, titles bigint, idf double precision)
language plpgsql stable rows 3 security invoker set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
  with half as materialized (
    select t.place, (ts_lexize(l.stems, t.token)) [1] as whole, s.one[1] as one, s.other[1] as other
    from unnest(languages) n(language)
    cross join lateral (select ('tasklens.' || n.language)::regdictionary as stems offset 0) l
    cross join (
      select distinct on (t.token) t.token, t.place
      from (
        select lower(m[1]) as token, r.place::integer as place
        from regexp_matches(split_words.plain, '[[:alnum:]]+', 'g') with ordinality as r(m, place)
        order by r.place limit 32
      ) t
      where t.token ~ '^[a-z]{4,20}$'
      order by t.token, t.place
    ) t
    cross join generate_series(1, length(t.token) - 2) as cut
    cross join lateral (
      select case when left(t.token, cut) ~ '^(on|out|off|up|down|over)$' then array[left(t.token, cut) || tasklens.word_mark('common')] else ts_lexize(l.stems, left(t.token, cut)) end,
        ts_lexize(l.stems, substr(t.token, cut + 1)) offset 0
    ) s(one, other)
    where cardinality(s.one) > 0 and cardinality(s.other) > 0
  ), known_half as materialized (
    select w.word, w.entries from tasklens.word_entries(array(select h.one from half h union select h.other from half h)) w where w.entries > 0
  ), total as materialized (
    select greatest(t.entries, 1) as entries from tasklens.word_entries(array['']) t
  ), split as (
    select h.place, h.whole, least(length(h.one), length(h.other)) < 3 as is_short, quote_literal(h.one) || ' <-> ' || quote_literal(h.other) as term
    from half h join known_half a on a.word = h.one join known_half b on b.word = h.other cross join total t
    where least(a.entries, b.entries) <= 2000 and a.entries::double precision * b.entries / t.entries <= 200
    limit 8
  )
  select distinct on (p.term) p.term, p.place, n.entries, n.titles,
    ln(1 + greatest(t.entries - w.entries, 0.0) / (w.entries + 0.5) + 0.5 / (w.entries + 0.5))::double precision / 2
  from split p
  cross join total t
  cross join lateral (
    select count(*) as entries, count(*) filter (where f.in_title) as titles
    from (
      select e.title_words @@ p.term::tsquery as in_title from public.keyword_entries e
      where e.words @@ p.term::tsquery and (visible is null or e.project_id = any (visible))
      limit 1000
    ) f
  ) n
  cross join lateral (select greatest(n.entries, e.entries) as entries from tasklens.word_entries(array[p.whole]) e) w
  -- Short halves are rarely meant: "l int" is no lint.
  where n.entries > 0 and (not p.is_short or 20 * n.entries >= w.entries);
end
$$;
comment on function tasklens.split_words is 'Pairs of neighbouring words, known in these projects (null: all), into which words of a query split, as terms of a tsquery.';

-- The terms of a query, rarest first, in tsquery syntax: a word, or two neighbouring words. The
-- arrays are parallel. places: positions in the query, of joined words from 1000 on, of split ones
-- from 2000 on, so that neither separates neighbours. entries, titles, comments: how many have it.
create type tasklens.words as (
  terms text[], idfs double precision[], places integer[], entries bigint[], titles bigint[], comments bigint[]
);

-- idf as in BM25 (Robertson and Zaragoza 2009), where an entry is a text and so is a comment. Of a
-- long query the 32 rarest words count. Common words count if there are no others: who can.
create function tasklens.plan_words(query_text text, visible bigint[], common boolean default false, languages text[] default '{english}', quoted tsquery default null) returns tasklens.words
-- The generic plan, because a list of one language makes others look cheaper by more than planning
-- takes. The settings apply to the functions called here, too.
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  plain constant text := tasklens.plain_text(query_text);
  words tasklens.words;
begin
  with asked as materialized (
    -- Other forms of a word have later positions, and are not corrected; nor is a common word of
    -- one of the languages. One that is not typed weighs half.
    select w.term, w.words, w.place, common or w.is_common or w.place > p.length as is_final,
      case when w.place > p.length and strpos(lower(query_text), w.words[1]) = 0 and w.kind is null then 0.5 else 1 end as worth
    from tasklens.read_words(query_text, languages, common) w cross join regexp_count(plain, '\S+') p(length)
  ), counted as (
    select a.*, e.entries, e.titles, e.comments, tasklens.occurs(a.term::tsquery, visible, e.entries + e.comments) as is_known
    from asked a
    join (
      select a.term, sum(e.entries)::bigint as entries, sum(e.titles)::bigint as titles, sum(e.comments)::bigint as comments
      from asked a cross join lateral unnest(a.words) u(word)
      join tasklens.word_entries(array(select unnest(x.words) from asked x)) e using (word)
      group by a.term) e using (term)
  ), joined as (
    -- Neighbours that also occur as one word: "log in" is login, "e mail" email. The first is no
    -- common word, but may be a particle, and the second one is: see split_words.
    select distinct on (j.word) j.word, array_remove(array[s.stems[1], (ts_lexize(l.stems, n.next)) [1]], null) as halves, n.place
    from (
      select t.token, lead(t.token) over (order by t.place) as next, t.place::integer as place
      from (
        select lower(m[1]) as token, r.place
        from regexp_matches(tasklens.compose_text(query_text), '[[:alpha:]]+|[^[:alpha:][:space:]-]+', 'g') with ordinality as r(m, place)
        order by r.place limit 40
      ) t
    ) n
    cross join unnest(languages) i(language)
    cross join lateral (select ('tasklens.' || i.language)::regdictionary as stems offset 0) l
    cross join lateral (select ts_lexize(l.stems, n.token)) s(stems)
    cross join lateral unnest(array[
      (ts_lexize(l.stems, n.token || n.next)) [1],
      case when n.next ~ '^(in|on|out|off|up|down|over)$' then (ts_lexize(l.stems, s.stems[1] || n.next)) [1] end]) j(word)
    where n.token ~ '^[a-z]{1,20}$' and n.next ~ '^[a-z]{1,20}$' and j.word is not null
      and (cardinality(s.stems) > 0 or n.token ~ '^(on|out|off|up|down|over)$')
    order by j.word, n.place
  ), known as (
    select c.term, c.place, c.entries, c.titles, c.comments, c.worth, c.entries + c.comments as weighed
    from counted c where c.is_known
    union all
    select quote_literal(n.near), u.place, n.entries, n.titles, n.comments, n.similarity / 2, n.entries + n.comments
    from (
      select c.words, c.place from counted c
      where not c.is_known and not c.is_final and strpos(coalesce(quoted::text, ''), quote_literal(c.words[1])) = 0 order by c.place limit 8) u
    cross join lateral unnest(u.words) w(word)
    cross join lateral tasklens.nearest_words(w.word, visible) n
    union all
    -- The joined word weighs no more than the rarer half.
    select quote_literal(j.word), 1000 + j.place, e.entries, e.titles, e.comments, 0.5,
      greatest(e.entries + e.comments, (select min(h.entries + h.comments) from tasklens.word_entries(j.halves) h))
    from joined j
    cross join lateral tasklens.word_entries(array[j.word]) e
    where e.entries + e.comments > 0 and tasklens.occurs((quote_literal(j.word) || ':ABC')::tsquery, visible)
  ), chosen as (
    select distinct on (k.entries + k.comments, k.term) k.term, k.place, k.entries, k.titles, k.comments,
      k.worth * ln(1 + greatest(t.texts - k.weighed, 0.0) / (k.weighed + 0.5) + 0.5 / (k.weighed + 0.5)) as idf
    from known k cross join (select greatest(t.entries + t.comments, 1) as texts from tasklens.word_entries(array['']) t) t
    order by k.entries + k.comments, k.term, k.worth desc, k.place
    limit 32
  )
  select coalesce(array_agg(w.term), '{}'), coalesce(array_agg(w.idf), '{}'), coalesce(array_agg(w.place), '{}'),
      coalesce(array_agg(w.entries), '{}'), coalesce(array_agg(w.titles), '{}'), coalesce(array_agg(w.comments), '{}')
    into words
    from (
      select * from (
        select c.term, c.idf, c.place, c.entries, c.titles, c.comments from chosen c
        union all
        select s.term, s.idf, 2000 + s.place, s.entries, s.titles, 0 from tasklens.split_words(plain, visible, languages) s
      ) t
      order by t.entries + t.comments, t.term
    ) w;
  if words.terms = '{}' and not common and not exists (
    select from tasklens.read_words(query_text, languages) w where not w.is_common and w.kind is null)
  then
    return tasklens.plan_words(query_text, visible, true, languages, quoted);
  end if;
  return words;
end
$$;
comment on function tasklens.plan_words is 'The words of a query, read in these languages, that are known in these projects (null: all). quoted: those that are not replaced by similar ones.';

-- While one types, the last word is also the beginning of words, or of a word longer than its stem:
-- connecti is connect. The commonest count, as one term, and so little that whole words come first.
create function tasklens.add_begun_word(words tasklens.words, query_text text, visible bigint[]) returns tasklens.words
language plpgsql stable security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
declare
  begun constant text := substring(lower(extensions.unaccent(tasklens.compose_text(query_text))) from '(?:^|[^[:alnum:]"-])([[:alpha:]][[:alnum:]]{2,39})$');
  most_words constant integer := 12;
  added record;
begin
  with longer as materialized (
    select c.word, c.entries + c.comments as texts from tasklens.word_counts c where length(c.word) between 4 and 40 and c.word like begun || '%'
    union all
    select g.word, g.entries + g.comments from tasklens.word_count_changes g where length(g.word) between 4 and 40 and g.word like begun || '%'
  ), shorter as (
    select w.word from tasklens.word_entries(array(select left(begun, n) from generate_series(greatest(4, length(begun) / 2), length(begun) - 1) n)) w
    where w.entries + w.comments > 0 and not exists (select from longer)
    order by length(w.word) desc limit 1
  ), known as (
    select e.word, e.entries, e.titles, e.comments
    from tasklens.word_entries(array((select l.word from longer l group by 1 order by sum(l.texts) desc, 1 limit 2 * most_words) union all select s.word from shorter s)) e
    where tasklens.occurs((quote_literal(e.word) || ':ABC')::tsquery, visible, e.entries + e.comments)
    order by e.entries + e.comments desc, e.word limit most_words
  )
  select '(' || string_agg(quote_literal(k.word), ' | ') || ')' as term, sum(k.entries)::bigint as entries, sum(k.titles)::bigint as titles, sum(k.comments)::bigint as comments
    into added from known k;
  if added.term is not null then
    words.terms := words.terms || added.term;
    words.idfs := words.idfs || 0.1::double precision;
    words.places := words.places || 3000;
    words.entries := words.entries || added.entries;
    words.titles := words.titles || added.titles;
    words.comments := words.comments || added.comments;
  end if;
  return words;
end
$$;
comment on function tasklens.add_begun_word is 'The words of a query, with those that its last word begins, from three letters on, known in these projects (null: all).';

create function tasklens.explain_query(query_text text, filters jsonb) returns table (
  excluded text[], ignored text[], languages text[], corrected jsonb, unknown_keys text[], candidates jsonb
)
-- As in search_hybrid, which reads the same words: planning them takes longer than reading.
language plpgsql stable rows 1 security definer set search_path = '' set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  query constant tasklens.query := tasklens.parse_query(query_text, tasklens.languages_in((tasklens.resolve_scope(filters)).projects));
  visible constant bigint[] := tasklens.projects_as('viewer');
  words constant tasklens.words := tasklens.plan_words(query.plain, visible, false, query.languages, query.required);
begin
  return query select query.left_out, array(
    select t.token from (
      select t.token from regexp_split_to_table(query.plain, '\s+') with ordinality t(token, place)
      where t.token ~ '[^][(){}<>"''`,;.:!?/\\•·…–—-]' and (t.token !~ '[[:alnum:]]' or words.terms = '{}')
      group by t.token order by min(t.place) limit 32 -- reading each takes a millisecond
    ) t
    where not exists (
        select from tasklens.read_words(t.token, query.languages, true) w cross join unnest(w.words) u(lexeme)
        where not w.is_common and w.kind is null or strpos(array_to_string(words.terms, ' '), quote_literal(u.lexeme)) > 0)
    order by 1), query.languages, (
    select coalesce(jsonb_agg(jsonb_build_object('from', c.token, 'to', c.near) order by c.place), '[]') from (
      select t.token, t.place, array_agg(n.near order by n.similarity desc, n.near) as near
      from (select m[1] as token, min(r.place) as place from regexp_matches(query.plain, '[[:alnum:]]{4,40}', 'g') with ordinality r(m, place) group by 1 order by 2 limit 32) t
      cross join lateral tasklens.read_words(t.token, query.languages) w
      cross join lateral tasklens.nearest_words(w.words[1], visible) n
      where not w.is_common and w.kind is null and not tasklens.occurs(w.term::tsquery, visible)
        and quote_literal(n.near) = any (words.terms) and strpos(coalesce(query.required::text, ''), quote_literal(w.words[1])) = 0
      group by 1, 2) c),
    array(
      select f.spelling
      from (
        select array_agg(k.key) as keys
        from (select m[1] as key from regexp_matches(query.plain, '[[:alnum:]_]+(?:-[[:alnum:]_]+)*-[0-9]+', 'g') m limit 20) k having count(*) > 0) typed
      cross join tasklens.match_names(jsonb_build_object('keys', typed.keys), true) f
      where not f.exact order by 1),
    (select coalesce(jsonb_agg(jsonb_build_object('member', n.member, 'value', n.spelling, 'names', n.names) order by n.member, n.spelling), '[]')
    from (
      select f.member, f.spelling, coalesce(jsonb_agg(f.value) filter (where f.value is not null), '[]') as names
      from tasklens.match_names((select jsonb_agg(c.value - 'not') from jsonb_array_elements(filters) c(value)), true) f
      where explain_query.filters is not null and (not f.exact or lower(f.value) <> lower(f.spelling)) group by 1, 2) n);
end
$$;
comment on function tasklens.explain_query is 'The function of this name in the schema public, in what the caller may see.';

create function public.explain_query(query_text text, filters jsonb default null)
returns table (excluded text[], ignored text[], languages text[], corrected jsonb, unknown_keys text[], candidates jsonb)
language sql stable rows 1 security invoker set search_path = ''
as $$
  select e.* from tasklens.explain_query(explain_query.query_text, tasklens.check_arguments(explain_query.filters)) e
$$;
comment on function public.explain_query is
  'How a search uses a query, without its filters: what it leaves out (words, "phrases" and keys after a minus, as typed), what no text holds and no search can use (signs; common words where there are no others; of the first 32 in question), in which languages, those of the projects in these filters, which words that no text holds are replaced by which similar ones (as stems; not in quotes): [{from, to}], the keys in it that no ticket has though others begin alike, and the names in the filters that nothing has, with those that resemble them: [{member, value, names}].';

-- The version is that from before, for caches: what is read may be newer.
create function public.read_query(query_text text, today date default (now() at time zone 'utc')::date, further_filters jsonb default null)
returns table (text text, filters jsonb, sort text, candidates jsonb, not_read jsonb, version text, model text, match_thresholds jsonb)
language plpgsql stable rows 1 security invoker set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
begin
  return query select r.text, r.filters, r.sort, r.candidates, r.not_read, v.version, v.model, v.match_thresholds
    from public.data_version(null, read_query.further_filters) v cross join tasklens.read_typed_query(read_query.query_text, coalesce(read_query.today, (now() at time zone 'utc')::date)) r;
end
$$;
comment on function public.read_query is
  'Reads the filters in a query (docs/api.md), as search_hybrid does: text is what to search for, null if there is none; filters, those that were typed; candidates, names in them that nothing has: [{member, value, names}], where a single one that is near took its place, or the filter is text beside other words; sort, an order in it; not_read, what looks like the language of another tracker and counts as words: [{text, instead}]. With data_version, and further_filters checked, so that the service asks once. Contradictions are an error (22023).';

insert into tasklens.migrations (version) values ('20261127000530');
