-- What counts as a word, on both sides: what is written and what is asked.

-- English stemming, accents apart: "resume" is "résumé".
create text search configuration private.words (copy = pg_catalog.english);
alter text search configuration private.words
  alter mapping for hword, hword_part, word with extensions.unaccent, pg_catalog.english_stem;
comment on text search configuration private.words is 'English, without regard to accents.';

-- A text as words that stand apart, so that the parser sees no host names, paths, tags and signed numbers in them:
-- Ti.UI.TableView is "Ti UI Table View", ERR_51 "ERR 51", Vec<T> "Vec T". Scripts without spaces are cut into pairs of
-- characters, at even and at odd places, so that any two neighbours are a word.
create function private.plain_text(text text) returns text
language sql immutable security invoker set search_path = ''
as $$
  with apart as (
    select regexp_replace(regexp_replace(regexp_replace(coalesce(plain_text.text, ''),
      '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g'),
      '([[:upper:]])([[:upper:]][[:lower:]]{2})', '\1 \2', 'g'),
      '[^[:alnum:]]+', ' ', 'g') as line,
      -- Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean.
      '\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff' as unspaced
  )
  select case when a.line ~ ('[' || a.unspaced || ']') then
      regexp_replace(a.line, '([' || a.unspaced || ']{2})', ' \1 ', 'g') || ' '
      || regexp_replace(
        regexp_replace(a.line, '(^|[^' || a.unspaced || '])[' || a.unspaced || ']', '\1 ', 'g'),
        '([' || a.unspaced || ']{2})', ' \1 ', 'g')
    else a.line end
  from apart a
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
language sql stable security invoker set search_path = ''
as $$
  select to_tsvector('private.words', private.plain_text(to_words.text) || ' ' || private.whole_names(to_words.text))
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
