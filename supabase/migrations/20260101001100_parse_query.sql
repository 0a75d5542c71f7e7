-- What a query asks for, in the terms of full-text search.

-- A tsquery that matches any of the words of a text (null for a text without words).
create function private.any_word(query_text text) returns tsquery
language sql stable security invoker set search_path = ''
as $$
  select string_agg(private.quote_word(w.lexeme), ' | ')::tsquery
  from unnest(tsvector_to_array(private.to_words(any_word.query_text))) as w(lexeme)
$$;
comment on function private.any_word(text) is 'The words of a text joined by OR; null when it has none.';
revoke execute on function private.any_word(text) from public;
grant execute on function private.any_word(text) to authenticated, service_role;

create function private.phrase(phrase_text text) returns tsquery
language sql stable security invoker set search_path = ''
as $$
  select phraseto_tsquery('private.words', private.plain_text(phrase.phrase_text))
$$;
comment on function private.phrase(text) is 'A tsquery for the words of a text, one after the other.';
revoke execute on function private.phrase(text) from public;
grant execute on function private.phrase(text) to authenticated, service_role;

-- plain: what is asked for without what is excluded. wanted: any of its words (a question finds tickets that hold some
-- of them). required: the "quoted phrases".
-- excluded: what follows a minus, a word or a quoted phrase. ticket_keys: what looks like the key of a ticket, in
-- upper case: TX-400 anywhere, "tx 400" when it is the whole query. Of a longer query the first 2,000 characters
-- count: what thousands of phrases ask for takes minutes to put together.
create function private.parse_query(
  query_text text,
  out plain text, out wanted tsquery, out required tsquery, out excluded tsquery, out ticket_keys text[]
)
language plpgsql stable security invoker set search_path = ''
as $$
declare
  part text[];
  phrase tsquery;
begin
  plain := '';
  for part in
    select m from regexp_matches(left(query_text, 2000), '(^|\s)(-?)"([^"]*)"|(\S+)', 'g') as m
  loop
    if part[3] is not null then
      phrase := private.phrase(part[3]);
      continue when numnode(phrase) = 0;
      if part[2] = '-' then
        excluded := coalesce(excluded || phrase, phrase);
      else
        required := coalesce(required && phrase, phrase);
        plain := plain || ' ' || part[3];
      end if;
    elsif part[4] ~ '^-[[:alnum:]]' then
      phrase := private.phrase(substring(part[4] from 2));
      if numnode(phrase) > 0 then
        excluded := coalesce(excluded || phrase, phrase);
      end if;
    else
      plain := plain || ' ' || part[4];
    end if;
  end loop;
  wanted := private.any_word(plain);
  ticket_keys := array(
    select distinct upper(m[1]) from regexp_matches(plain, '([[:alnum:]_]+-[0-9]+)(?![[:alnum:]])', 'g') as m
    union
    -- The key of a project may hold a minus itself.
    select upper(m[1]) from regexp_matches(plain, '([[:alnum:]_]+(?:-[[:alnum:]_]+)+-[0-9]+)(?![[:alnum:]])', 'g') as m
    union
    select upper(replace(m[1], ' ', '-')) from regexp_matches(plain, '^\s*([[:alpha:]][[:alnum:]_]* [0-9]+)\s*$') as m);
end
$$;
comment on function private.parse_query(text) is 'The words wanted (OR), the phrases required, what is excluded, and the ticket keys that a query names.';
revoke execute on function private.parse_query(text) from public;
grant execute on function private.parse_query(text) to authenticated, service_role;
