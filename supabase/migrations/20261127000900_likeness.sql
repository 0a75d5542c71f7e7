-- Keyword search by a whole text. Unlike a query, a text has no operators, may be long, and most of
-- its words are unspecific.

-- A text is weighed like an entry of the index: each word of its name and description by its idf
-- and by the saturated frequency with which search_by_keyword would score it. The name is planned
-- like a query, with corrections of misspelt words. Of the description the first 200 distinct words
-- count, and the 32 heaviest words are searched for, as many as plan_words takes of a long query.
create type tasklens.text_plan as (
  name text, words tasklens.words, own_score double precision, name_words text[], name_worths double precision[], specificity double precision
);

-- An issue form is what its tickets have in common, and says nothing about one: headings from the
-- second level on, bold lines, check boxes, labels without a value, "_No response_". What is left
-- of its lines is empty.
create function tasklens.without_form(text text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return regexp_replace(without_form.text,
    '^[ \t]*(?:#{2,6}[ \t].*|(?:\*\*[^*\n]+\*\*|__[^_\n]+__):?|[-*+][ \t]+\[[ xX]\][ \t].*|[^:\n]{1,60}:(?:\*\*|__)?|[_*]?no response[_*]?'
    '|[^\w\n]*(?:(?:bug|defect|incident|issue|problem|question|feature|enhancement|improvement|change|task|ticket|support|help|report|request|title|summary|untitled|new|your|here)\M[^\w\n]*)+)'
    '[ \t\r]*$', '', 'gni');
end
$$;
comment on function tasklens.without_form is 'A text without the lines of an issue form.';

create function tasklens.plan_text(text text, least_texts integer) returns tasklens.text_plan
language plpgsql stable security invoker set search_path = ''
as $$
#variable_conflict use_column
declare
  typed constant text := tasklens.without_form(ltrim(left(plan_text.text, 20000), e' \t\r\n'));
  first_line constant text := split_part(typed, e'\n', 1);
  body_length constant integer := regexp_count(tasklens.plain_text(substr(typed, length(first_line) + 1)), '\S+');
  visible constant bigint[] := tasklens.projects_as('viewer');
  languages constant text[] := tasklens.languages_in(visible);
  planned tasklens.words;
  chosen tasklens.words;
  plan tasklens.text_plan;
  usual record;
begin
  plan.name := left(first_line, 500);
  planned := tasklens.plan_words(plan.name, visible, false, languages);
  select greatest(t.entries + t.comments, 1) as texts, greatest(l.titles / greatest(t.entries, 1)::double precision, 1) as title,
      greatest(l.entries / greatest(t.entries, 1)::double precision, 1) as body
    into usual
    from tasklens.word_entries(array['']) t cross join tasklens.word_entries(array[' ']) l;

  with name_term as (
    select p.term, p.idf, p.place, p.entries, p.titles, p.comments,
      3 / (0.25 + (0.75 / usual.title) * count(*) filter (where p.place < 1000) over ()) as n
    from unnest(planned.terms, planned.idfs, planned.places, planned.entries, planned.titles, planned.comments)
      as p(term, idf, place, entries, titles, comments)
  ), name_word as (
    select t.term, 1.4 * t.idf * t.n / (1.2 + t.n) as worth from name_term t where t.entries + t.comments >= least_texts
  ), body_word as materialized (
    select w.term, w.words, w.place, w.times
    from tasklens.read_words(substr(typed, length(first_line) + 1), languages) w
    -- Without forms of words that are not typed: their parts say as much.
    where w.place <= body_length or strpos(lower(typed), w.words[1]) > 0
    order by w.place, w.term limit 200
  ), body_term as (
    select b.term,
      ln(1 + greatest(usual.texts - (e.entries + e.comments), 0.0) / (e.entries + e.comments + 0.5) + 0.5 / (e.entries + e.comments + 0.5)) as idf,
      3000 + b.place as place, e.entries, e.titles, e.comments,
      b.times / (0.25 + (0.75 / usual.body) * (select sum(w.times) from body_word w)) as n
    from body_word b
    join (
      select w.term, sum(k.entries)::bigint as entries, sum(k.titles)::bigint as titles, sum(k.comments)::bigint as comments
      from body_word w cross join lateral unnest(w.words) u(word) join tasklens.word_entries(array(select unnest(x.words) from body_word x)) k using (word)
      group by w.term) e using (term)
    where tasklens.occurs(b.term::tsquery, visible, e.entries + e.comments)
  ), term as (
    select t.term, max(t.idf) as idf, min(t.place) as place, min(t.entries) as entries, min(t.titles) as titles, min(t.comments) as comments, sum(t.n) as n
    from (select * from name_term union all select * from body_term) t
    where t.entries + t.comments >= least_texts
    group by t.term
  ), chosen as (
    -- 1.4: a word that stands once in a name of the usual length weighs what it does in a query.
    select t.term, 1.4 * t.idf * t.n / (1.2 + t.n) as idf, t.place, t.entries, t.titles, t.comments, t.n / (1.2 + t.n) as part
    from term t
    order by 2 desc, t.place, t.term
    limit 32
  ), neighbour as (
    select c.*, lead(c.place) over in_order - c.place as gap, (c.idf + lead(c.idf) over in_order) / 2 as pair_idf
    from chosen c
    window in_order as (order by c.place, c.term)
  )
  select coalesce(array_agg(c.term order by c.entries + c.comments, c.term), '{}'), coalesce(array_agg(c.idf order by c.entries + c.comments, c.term), '{}'),
      coalesce(array_agg(c.place order by c.entries + c.comments, c.term), '{}'), coalesce(array_agg(c.entries order by c.entries + c.comments, c.term), '{}'),
      coalesce(array_agg(c.titles order by c.entries + c.comments, c.term), '{}'), coalesce(array_agg(c.comments order by c.entries + c.comments, c.term), '{}'),
      -- As score_entries would score the text itself: words, neighbours, and likeness of the name.
      coalesce(sum(c.idf * c.part), 0) + 8
        + 0.3 * coalesce(sum(c.pair_idf * case when c.place < 1000 then 2 else 1 end) filter (where c.gap <= 3), 0),
      (select coalesce(array_agg(w.term order by w.term), '{}') from name_word w),
      (select coalesce(array_agg(w.worth order by w.term), '{}') from name_word w),
      -- Half for a name that says as much as one word that a single text has.
      (select coalesce(sum(w.worth), 0) / (coalesce(sum(w.worth), 0) + ln(usual.texts + 1)) from name_word w)
    into chosen.terms, chosen.idfs, chosen.places, chosen.entries, chosen.titles, chosen.comments,
      plan.own_score, plan.name_words, plan.name_worths, plan.specificity
    from neighbour c;
  plan.words := chosen;
  return plan;
end
$$;
comment on function tasklens.plan_text is
  'The words to compare a text by (its name in the first line), rarest first, with their weights: those known to the caller and in at least least_texts entries and comments. own_score: what the text itself would score. name_words, name_worths: those of the name; specificity: how much these say, 0 to 1.';

-- Each with the first letter of its kind, so that two names can be compared kind by kind.
create function tasklens.specifics(name text) returns text[]
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  rest text := lower(name);
  kind record;
  specifics text[] := array[]::text[];
begin
  -- Keys, hosts (not file names), versions, numbers: each is removed before the next is looked for.
  for kind in
    select * from (values
      ('k', '\m[a-z][a-z0-9_]*-[0-9]+\M(?![.][0-9])'),
      ('h', '\m(?:www[.][a-z0-9.-]+|(?:[a-z0-9-]+[.])+(?:com|org|net|edu|gov|info)|(?:[a-z0-9-]+[.]){2,}[a-z]{2})\M'),
      ('v', '[0-9]+(?:[.][0-9]+)+'),
      ('n', '\m[0-9]+\M')) k(letter, pattern)
  loop
    specifics := specifics || array(select kind.letter || m[1] from regexp_matches(rest, '(' || kind.pattern || ')', 'g') m);
    rest := regexp_replace(rest, kind.pattern, ' ', 'g');
  end loop;
  return specifics;
end
$$;
comment on function tasklens.specifics is 'The keys, hosts, versions and numbers in a name, in lower case, each after the first letter of its kind.';

insert into tasklens.migrations (version) values ('20261127000900');
