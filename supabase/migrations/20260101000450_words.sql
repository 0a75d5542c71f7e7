-- What counts as a word, on both sides: what is written and what is asked.

-- English stemming, accents apart: "resume" is "résumé".
create text search configuration private.words (copy = pg_catalog.english);
alter text search configuration private.words
  alter mapping for hword, hword_part, word with extensions.unaccent, pg_catalog.english_stem;
comment on text search configuration private.words is 'English, without regard to accents.';

-- In PL/pgSQL, which plans once a session what an SQL function within another plans at every call.

create function private.unspaced_scripts() returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  -- Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean.
  return '\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff';
end
$$;
comment on function private.unspaced_scripts() is 'The characters of scripts that have no spaces between words, as they stand within the brackets of a regular expression.';
revoke execute on function private.unspaced_scripts() from public;
grant execute on function private.unspaced_scripts() to authenticated, service_role;

-- A character that can be written in several ways in one of them (NFKC): é as e with an accent of its own and Korean in
-- letters, as file names on a Mac have them, and half and full widths. In pieces, because normalize() puts the marks of a
-- character in order by way of all their pairs: a hundred thousand of them would take minutes, and nothing could stop it.
-- Marks that a piece begins with are left out. Nothing gets longer than twice what it was.
create function private.compose_text(text text) returns text
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
comment on function private.compose_text(text) is 'A text whose characters are written in one way, whichever they came in.';
revoke execute on function private.compose_text(text) from public;
grant execute on function private.compose_text(text) to authenticated, service_role;

create function private.part_names(text text, mark text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return regexp_replace(regexp_replace(part_names.text,
    '([[:lower:][:digit:]])([[:upper:]])', '\1' || mark || '\2', 'g'),
    '([[:upper:]])([[:upper:]][[:lower:]]{2})', '\1' || mark || '\2', 'g');
end
$$;
comment on function private.part_names(text, text) is 'A text with a mark between the parts of its camelCase names.';
revoke execute on function private.part_names(text, text) from public;
grant execute on function private.part_names(text, text) to authenticated, service_role;

-- A text as words that stand apart, so that the parser sees no host names, paths, tags and signed numbers in them:
-- Ti.UI.TableView is "Ti UI Table View", ERR_51 "ERR 51", Vec<T> "Vec T". Scripts without spaces are cut into pairs of
-- characters, at even and at odd places, so that any two neighbours are a word; one that is left over at an end stands in
-- such a pair already.
create function private.plain_text(text text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  line constant text := regexp_replace(private.part_names(private.compose_text(coalesce(plain_text.text, '')), ' '), '[^[:alnum:]]+', ' ', 'g');
  unspaced constant text := '[' || private.unspaced_scripts() || ']';
  spaced constant text := '[^' || private.unspaced_scripts() || ']';
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
comment on function private.plain_text(text) is 'A text as words that stand apart: camelCase and dotted names cut, scripts without spaces as pairs of characters.';
revoke execute on function private.plain_text(text) from public;
grant execute on function private.plain_text(text) to authenticated, service_role;

-- camelCase names as a whole, in small letters: who writes tableview means TableView. They stand behind the text, where
-- they part no words that are neighbours.
create function private.whole_names(text text) returns text
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(string_agg(lower(m[1]), ' '), '')
  from regexp_matches(whole_names.text, '\m([[:alnum:]]{0,60}[[:lower:][:digit:]][[:upper:]][[:alnum:]]{0,60})\M', 'g') as m
$$;
comment on function private.whole_names(text) is 'The camelCase names in a text, in small letters; empty for a text without any.';
revoke execute on function private.whole_names(text) from public;
grant execute on function private.whole_names(text) to authenticated, service_role;

-- Stable, because the dictionaries could be altered.
create function private.to_words(text text) returns tsvector
language plpgsql stable security invoker set search_path = ''
as $$
begin
  return to_tsvector('private.words', private.plain_text(to_words.text) || ' ' || private.whole_names(private.compose_text(to_words.text)));
end
$$;
comment on function private.to_words(text) is 'The words of a text, stemmed, with their places.';
revoke execute on function private.to_words(text) from public;
grant execute on function private.to_words(text) to authenticated, service_role;

create function private.count_words(words tsvector) returns integer
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(sum(cardinality(u.positions)), 0)::integer from unnest(count_words.words) u
$$;
comment on function private.count_words(tsvector) is 'The number of places in a text search vector: the length of its text in words.';
revoke execute on function private.count_words(tsvector) from public;
grant execute on function private.count_words(tsvector) to service_role;

-- A word as it is written in a tsquery.
create function private.quote_word(word text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return '''' || replace(replace(word, '\', '\\'), '''', '''''') || '''';
end
$$;
comment on function private.quote_word(text) is 'A word quoted for a tsquery.';
revoke execute on function private.quote_word(text) from public;
grant execute on function private.quote_word(text) to authenticated, service_role;
