-- How texts and queries are split into words.

-- For each language of this Postgres a dictionary and a configuration of its name: its stemming
-- after accents are removed, so that "resume" matches "résumé". simple: no stemming.
do $$
declare
  language record;
begin
  for language in
    select c.cfgname as name, format('%I.%I', m.nspname, t.tmplname) as template, d.dictinitoption as options
    from pg_catalog.pg_ts_config c
    join pg_catalog.pg_ts_dict d on d.dictnamespace = c.cfgnamespace and d.dictname in (c.cfgname || '_stem', c.cfgname)
    join pg_catalog.pg_ts_template t on t.oid = d.dicttemplate
    join pg_catalog.pg_namespace m on m.oid = t.tmplnamespace
    where c.cfgnamespace = 'pg_catalog'::regnamespace
    order by 1
  loop
    execute format('create text search dictionary tasklens.%I (%s)', language.name, concat_ws(', ', 'template = ' || language.template, language.options));
    execute format('create text search configuration tasklens.%1$I (copy = pg_catalog.%1$I)', language.name);
    execute format('alter text search configuration tasklens.%1$I alter mapping for hword, hword_part, word with extensions.unaccent, tasklens.%1$I', language.name);
    execute format('comment on text search configuration tasklens.%I is ''Words of a language, without regard to accents.''', language.name);
  end loop;
end
$$;

create function tasklens.check_language() returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if new.language is not null and not exists (
    select from pg_catalog.pg_ts_config c where c.cfgnamespace = 'tasklens'::regnamespace and c.cfgname = new.language)
  then
    raise exception 'language is "%"', left(new.language, 40) using errcode = '22023', hint = format('Use %s.', (
      select string_agg(c.cfgname, ', ' order by c.cfgname) from pg_catalog.pg_ts_config c where c.cfgnamespace = 'tasklens'::regnamespace));
  end if;
  return new;
end
$$;
comment on function tasklens.check_language is 'Trigger: a language must be one of this Postgres; the error (22023) lists them.';

-- Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean.
create function tasklens.unspaced_scripts() returns text
language sql immutable security invoker set search_path = ''
as $$ select '\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff' $$;
comment on function tasklens.unspaced_scripts is 'The characters of scripts without spaces between words, for a bracket expression of a regular expression.';

-- A marked word cannot be typed: its mark is a letter that no spelling has, so that the parser
-- keeps it in the word, and that compose_text removes from texts.
create function tasklens.word_mark(kind text) returns text
language sql immutable security invoker set search_path = ''
as $$
  select U&'\1D24' || case kind when 'sign' then 's' when 'option' then 'o' when 'capitals' then 'c' when 'common' then 'z' end
$$;
comment on function tasklens.word_mark is
  'What marks a word of the index: it precedes the bytes of a sign and the name of an option, and follows a common word, one that stemming drops, and one in capitals.';

-- Here and below, PL/pgSQL caches plans per session; a nested SQL function is planned at every
-- call.

-- Normalises to NFKC: decomposed accents and Korean (as in Mac file names), half and full widths.
-- In pieces, because normalize() takes quadratic time on runs of combining marks and cannot be
-- cancelled. Leading marks of a piece are dropped. The result is at most twice as long. The two
-- classes are those of Unicode 15, up to U+FFFF: the default ignorable characters (soft hyphen,
-- zero-width space), with the letter of word_mark, and the marks that writers may leave out, those
-- of combining classes 1 (overlays), 7 (nukta), 10 to 36 (vowels of Hebrew, Arabic, Syriac) and
-- from 200 on (accents), but none that spells a vowel of Thai, Lao, Tibetan or Telugu.
create function tasklens.compose_text(text text, bare boolean default false) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  ignorable constant text := '\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u1d24\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8';
  marks constant text := '\u0300-\u034e\u0350-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670'
    '\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d\u0859-\u085b'
    '\u0898-\u089f\u08ca-\u08e1\u08e3-\u08ff\u093c\u0951-\u0954\u09bc\u09fe\u0a3c\u0abc\u0b3c\u0c3c\u0cbc\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f82-\u0f83\u0f86-\u0f87'
    '\u0fc6\u1037\u108d\u135d-\u135f\u17dd\u18a9\u1939-\u193b\u1a17-\u1a18\u1a75-\u1a7c\u1a7f\u1ab0-\u1abd\u1abf-\u1ace\u1b34\u1b6b-\u1b73\u1be6\u1c37\u1cd0-\u1cd2'
    '\u1cd4-\u1ce0\u1ce2-\u1ce8\u1ced\u1cf4\u1cf8-\u1cf9\u1dc0-\u1dff\u20d0-\u20dc\u20e1\u20e5-\u20f0\u2cef-\u2cf1\u2de0-\u2dff\u302a-\u302f\ua66f\ua674-\ua67d'
    '\ua69e-\ua69f\ua6f0-\ua6f1\ua8e0-\ua8f1\ua92b-\ua92d\ua9b3\uaab0\uaab2-\uaab4\uaab7-\uaab8\uaabe-\uaabf\uaac1\ufb1e\ufe20-\ufe2f';
  -- Latin letters with accents are left to the dictionary.
  dropped constant text := '[' || ignorable || case when bare then marks else '' end || ']+';
begin
  if compose_text.text ~ '[\u00ad\u0300-\u200f\u202a-\u202e\u2060-\u20ff\u2c00-\ufff8]' then
    return (
      select left(regexp_replace(string_agg(
          normalize(regexp_replace(normalize(substr(compose_text.text, 300 * p + 1, 300), nfkd), dropped, '', 'g'), nfkc), '' order by p), '[\u0300-\u036f]+', '', 'g'),
        2 * length(compose_text.text))
      from generate_series(0, length(compose_text.text) / 300) p);
  end if;
  return compose_text.text;
end
$$;
comment on function tasklens.compose_text is 'A text in Unicode normal form (NFKC), without ignorable characters; bare: also without the marks that writers may leave out.';

-- A letter with ++ or # is a separate word: C++ and C# are not C.
create function tasklens.part_names(text text, mark text, opening text, closing text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  spelled text := part_names.text;
begin
  if spelled ~ '[A-Za-z](\+\+|#)' then
    spelled := regexp_replace(regexp_replace(spelled,
      '(?<![[:alnum:]])([A-Za-z])\+\+(?!\+)', opening || '\1plusplus' || closing, 'g'),
      '(?<![[:alnum:]])([A-Za-z])#(?![[:alpha:]#])', opening || '\1sharp' || closing, 'g');
  end if;
  return regexp_replace(regexp_replace(spelled,
    '([[:lower:][:digit:]])([[:upper:]])', '\1' || mark || '\2', 'g'),
    '([[:upper:]])([[:upper:]][[:lower:]]{2})', '\1' || mark || '\2', 'g');
end
$$;
comment on function tasklens.part_names is 'A text with a mark between the parts of its camelCase names, and with C++ and C# (any one letter) spelled cplusplus and csharp, each between an opening and a closing mark.';

-- Splits a text into plain words, so that the parser finds no host names, paths, tags or signed
-- numbers: Ti.UI.TableView becomes "Ti UI Table View", ERR_51 "ERR 51", Vec<T> "Vec T". Scripts
-- without spaces become overlapping pairs of characters, so that any two neighbours are a word.
-- Texts keep the words that stemming drops, marked, so that phrases are exact. A query counts them
-- only if it has no others.
create function tasklens.plain_text(text text, language text default null) returns text
language plpgsql stable security invoker set search_path = ''
as $$
declare
  line text := regexp_replace(tasklens.part_names(tasklens.compose_text(coalesce(plain_text.text, ''), true), ' ', ' ', ' '), '[^[:alnum:]]+', ' ', 'g');
  unspaced constant text := '[' || tasklens.unspaced_scripts() || ']';
  spaced constant text := '[^' || tasklens.unspaced_scripts() || ']';
  pair constant text := '(' || unspaced || '{2})';
  stems constant regdictionary := ('tasklens.' || language)::regdictionary;
begin
  if line ~ unspaced then
    line := regexp_replace(regexp_replace(line, pair, ' \1 ', 'g'), '(' || unspaced || '{2} )' || unspaced || '(' || spaced || '|$)', '\1\2', 'g')
      || ' ' || regexp_replace(
        regexp_replace(regexp_replace(line, '(^|' || spaced || ')' || unspaced, '\1 ', 'g'), pair, ' \1 ', 'g'),
        '(^|' || spaced || ')' || unspaced || '(' || spaced || '|$)', '\1\2', 'g');
  end if;
  if language is null then
    return line;
  end if;
  return (
    select string_agg(case when ts_lexize(stems, w.word) = '{}' then w.word || tasklens.word_mark('common') else w.word end, ' ')
    from string_to_table(line, ' ') w(word) where w.word <> '');
end
$$;
comment on function tasklens.plain_text is
  'A text split into plain words: camelCase and dotted names split, scripts without spaces as pairs of characters; with a language, those that its stemming drops marked as common.';

-- The words that a text also holds in another form, so that either form finds the other.
create function tasklens.other_words(composed text, language text, signs_only boolean default false) returns text
language plpgsql stable security invoker set search_path = ''
as $$
begin
  -- Few texts have each, which a pattern without captures shows in a tenth of the time.
  return (
    select coalesce(string_agg(w.word, ' '), '') from (
      -- .NET is dotnet; paths, methods and ellipses do not count.
      select 'dot' || lower(m[1]) as word
      from regexp_matches(composed, '(?<![])[:alnum:]./])[.]([[:alpha:]][[:alnum:]]{0,39})', 'g') as m
      where composed ~ '[.][[:alpha:]]'
      union all
      -- A symbol such as an emoji or an arrow is a word of its own; so are one to three operators
      -- in a row, but as a common one, because code is full of them.
      select distinct tasklens.word_mark('sign') || encode(convert_to(m[1], 'utf8'), 'hex') || case when m[1] ~ '[!-~]' then tasklens.word_mark('common') else '' end
      from regexp_matches(composed,
        '([\u00a1-\u00a9\u00ac-\u00b1\u00b4\u00b6\u00bf\u00d7\u00f7\u20a0-\u20cf\u2100-\u2bff\U0001f000-\U0001faff]|(?<![!#$%&*+/:<=>?@\\^|~-])(?:[$%&*+<=>@^|~]|[!#$%&*+/:<=>?@\\^|~-]{2,3})(?![!#$%&*+/:<=>?@\\^|~-]))', 'g') as m
      where m[1] !~ '[[:alnum:]]'
      union all
      -- camelCase names as a whole: tableview means TableView.
      select lower(m[1])
      from regexp_matches(composed, '\m([[:alnum:]]{0,60}[[:lower:][:digit:]][[:upper:]][[:alnum:]]{0,60})\M', 'g') as m
      where not signs_only and composed ~ '[[:lower:][:digit:]][[:upper:]]'
      union all
      -- Hyphenated words joined: e-mail is email.
      select lower(regexp_replace(m[1], '[-‐]', '', 'g'))
      from regexp_matches(composed, '(?<![[:alnum:]_-])([[:alpha:]]{1,20}([-‐][[:alpha:]]{1,20}){0,3}[-‐]([[:alpha:]]{1,20}|[0-9]{1,2}))(?![[:alnum:]_-])', 'g') as m
      where not signs_only and composed ~ '[[:alpha:]][-‐][[:alnum:]]'
      union all
      -- Numbers without the letters before them: v2.14.1, HTTP418.
      select replace(m[1], '.', ' ')
      from regexp_matches(composed, '(?<![[:alnum:]])[[:alpha:]]{1,12}([0-9]+([.][0-9]+)+|[0-9]{3,})(?![[:alnum:]])', 'g') as m
      where not signs_only and composed ~ '[[:alpha:]][0-9]'
      union all
      -- Options of a command: see parse_query.
      select tasklens.word_mark('option') || lower(m[1])
      from regexp_matches(composed, '(?<!\S)-([[:alpha:]][[:alnum:]]{0,39})', 'g') as m
      where not signs_only and composed ~ '(?<!\S)-[[:alpha:]]'
      union all
      -- Common words in capitals, where not all is: IT is not it.
      select lower(m[1]) || tasklens.word_mark('capitals')
      from regexp_matches(composed, '\m([[:upper:]]{2,10})\M', 'g') as m
      where not signs_only and composed ~ '\m[[:upper:]]{2}' and (composed ~ '[[:lower:]]' or composed !~ '\S\s+\S') and ts_lexize(('tasklens.' || language)::regdictionary, lower(m[1])) = '{}'
    ) w);
end
$$;
comment on function tasklens.other_words is
  'Other forms of the words in a text: names in camelCase whole, hyphenated words joined, versions and codes without their letters, and marked: signs, options, common words in capitals.';

-- The stems of one typed word are one term, for which a text in either language counts. Stable,
-- because the dictionaries could be altered.
create function tasklens.read_words(text text, languages text[], common boolean default false)
returns table (term text, words text[], place integer, times integer, is_common boolean, kind text)
language plpgsql stable rows 20 security invoker set search_path = ''
as $$
begin
  return query
  select case when cardinality(w.words) = 1 then quote_literal(w.words[1]) else (select '(' || string_agg(quote_literal(x), ' | ') || ')' from unnest(w.words) x) end,
    w.words, min(w.place)::integer, count(*)::integer, bool_or(w.is_common),
    case when starts_with(w.words[1], tasklens.word_mark('sign')) then 'sign' when starts_with(w.words[1], tasklens.word_mark('option')) then 'option'
      when right(w.words[1], 2) = tasklens.word_mark('capitals') then 'capitals' end
  from (
    select array_agg(distinct u.lexeme order by u.lexeme) filter (where common or right(u.lexeme, 2) <> tasklens.word_mark('common')) as words, p.place,
      bool_or(right(u.lexeme, 2) = tasklens.word_mark('common')) as is_common
    from (select tasklens.compose_text(coalesce(read_words.text, ''), true) as composed) c
    cross join unnest(languages) l(language)
    -- Other forms are appended, so that they do not separate neighbours.
    cross join lateral unnest(to_tsvector(('tasklens.' || l.language)::regconfig,
      concat_ws(' ', tasklens.plain_text(c.composed, l.language), tasklens.other_words(c.composed, l.language)))) u
    cross join lateral unnest(u.positions) p(place)
    group by p.place) w
  where w.words is not null
  group by w.words;
end
$$;
comment on function tasklens.read_words is
  'The words of a text, read in these languages, as terms of a tsquery: the first place and how often each stands there. is_common: a language drops it; with common, such words count too. kind: that of its mark, if it is a sign, an option or a common word in capitals.';

insert into tasklens.migrations (version) values ('20261127000300');
