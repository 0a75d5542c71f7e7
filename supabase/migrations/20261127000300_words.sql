-- How texts and queries are split into words.

-- English stemming without accents: "resume" matches "résumé".
create text search configuration tasklens.words (copy = pg_catalog.english);
alter text search configuration tasklens.words
  alter mapping for hword, hword_part, word with extensions.unaccent, pg_catalog.english_stem;
comment on text search configuration tasklens.words is 'English, without regard to accents.';

-- PL/pgSQL caches plans per session; a nested SQL function is planned at every call.

create function tasklens.unspaced_scripts() returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  -- Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean.
  return '\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff';
end
$$;
comment on function tasklens.unspaced_scripts is 'The characters of scripts without spaces between words, for a bracket expression of a regular expression.';

-- Normalises to NFKC: decomposed accents and Korean (as in Mac file names), half and full widths.
-- In pieces, because normalize() takes quadratic time on runs of combining marks and cannot be
-- cancelled. Leading marks of a piece are dropped. The result is at most twice as long.
create function tasklens.compose_text(text text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if compose_text.text ~ '[\u0300-\u036f\u1100-\u11ff\u3099\u309a\uff00-\uffef]' then
    return (
      select left(regexp_replace(string_agg(normalize(substr(compose_text.text, 300 * p + 1, 300), nfkc), '' order by p), '[\u0300-\u036f]+', '', 'g'),
        2 * length(compose_text.text))
      from generate_series(0, length(compose_text.text) / 300) p);
  end if;
  return compose_text.text;
end
$$;
comment on function tasklens.compose_text is 'A text in Unicode normal form (NFKC).';

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
create function tasklens.plain_text(text text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  line constant text := regexp_replace(tasklens.part_names(tasklens.compose_text(coalesce(plain_text.text, '')), ' ', ' ', ' '), '[^[:alnum:]]+', ' ', 'g');
  unspaced constant text := '[' || tasklens.unspaced_scripts() || ']';
  spaced constant text := '[^' || tasklens.unspaced_scripts() || ']';
  pair constant text := '(' || unspaced || '{2})';
begin
  if line !~ unspaced then
    return line;
  end if;
  return regexp_replace(regexp_replace(line, pair, ' \1 ', 'g'), '(' || unspaced || '{2} )' || unspaced || '(' || spaced || '|$)', '\1\2', 'g')
    || ' ' || regexp_replace(
      regexp_replace(regexp_replace(line, '(^|' || spaced || ')' || unspaced, '\1 ', 'g'), pair, ' \1 ', 'g'),
      '(^|' || spaced || ')' || unspaced || '(' || spaced || '|$)', '\1\2', 'g');
end
$$;
comment on function tasklens.plain_text is 'A text split into plain words: camelCase and dotted names split, scripts without spaces as pairs of characters.';

-- Names with a leading dot, spelled out: .NET is also "dotnet". Paths, methods and ellipses do not
-- count.
create function tasklens.dotted_names(text text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if dotted_names.text is null or dotted_names.text !~ '[.][[:alpha:]]' then
    return '';
  end if;
  return (
    select coalesce(string_agg('dot' || lower(m[1]), ' '), '')
    from regexp_matches(dotted_names.text, '(?<![])[:alnum:]./])[.]([[:alpha:]][[:alnum:]]{0,39})', 'g') as m);
end
$$;
comment on function tasklens.dotted_names is 'The names in a text with a leading dot, as words (dotnet); empty if there are none.';

-- Stable, because the dictionaries could be altered.
create function tasklens.to_words(text text) returns tsvector
language plpgsql stable security invoker set search_path = ''
as $$
declare
  composed constant text := tasklens.compose_text(to_words.text);
  whole_names text := '';
begin
  if coalesce(composed, '') = '' then
    return ''::tsvector;
  end if;
  -- camelCase names as a whole, in lower case: a query for tableview means TableView. Few texts
  -- have one, which a pattern without captures shows in a tenth of the time.
  if composed ~ '[[:lower:][:digit:]][[:upper:]]' then
    whole_names := (
      select coalesce(string_agg(lower(m[1]), ' '), '')
      from regexp_matches(composed, '\m([[:alnum:]]{0,60}[[:lower:][:digit:]][[:upper:]][[:alnum:]]{0,60})\M', 'g') as m);
  end if;
  -- Appended, so that they do not separate neighbours.
  return to_tsvector('tasklens.words', tasklens.plain_text(composed) || ' ' || whole_names || ' ' || tasklens.dotted_names(composed));
end
$$;
comment on function tasklens.to_words is 'The stemmed words of a text with their positions.';

-- English particles. The dictionary drops them, which would reduce "log in" to "log".
create function tasklens.particles() returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return 'in|out|on|off|up|down|over';
end
$$;
comment on function tasklens.particles is 'English particles as alternatives of a regular expression.';

insert into tasklens.migrations (version) values ('20261127000300');
