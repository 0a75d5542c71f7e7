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

-- In scripts without spaces the pairs of neighbours take the place of the order: at even and at odd places they have none.
create function private.phrase(phrase_text text) returns tsquery
language sql stable security invoker set search_path = ''
as $$
  select string_agg('(' || p.query::text || ')', ' & ')::tsquery
  from private.unspaced_scripts() u(scripts)
  cross join regexp_matches(private.compose_text(phrase_text), '([' || u.scripts || ']+)|([^' || u.scripts || ']+)', 'g') as m
  cross join lateral (
    select case when m[1] is null then phraseto_tsquery('private.words', private.plain_text(m[2]))
      else replace(private.any_word(m[1])::text, ' | ', ' & ')::tsquery end
  ) p(query)
  -- A single character of theirs is no word, unless it stands alone.
  where numnode(p.query) > 0 and (m[2] is not null or length(m[1]) > 1 or m[1] = phrase_text)
$$;
comment on function private.phrase(text) is 'A tsquery for the words of a text, one after the other; null when it has none.';
revoke execute on function private.phrase(text) from public;
grant execute on function private.phrase(text) to authenticated, service_role;

-- plain: what is asked for without what is excluded. wanted: any of its words (a question finds tickets that hold some
-- of them). required: the "quoted phrases".
-- excluded: what follows a minus, a word or a quoted phrase; what looks like a negative number is one (exit code -9).
-- ticket_keys: what looks like the key of a ticket, in upper case: TX-400 anywhere, "tx 400" when it is the whole query. Of
-- a longer query the first 2,000 characters count: what thousands of phrases ask for takes minutes to put together.
create function private.parse_query(
  query_text text,
  out plain text, out wanted tsquery, out required tsquery, out excluded tsquery, out ticket_keys text[]
)
language plpgsql stable security invoker set search_path = ''
as $$
declare
  typed text;
  part text[];
  phrase tsquery;
begin
  plain := '';
  -- Phones and word processors make the quotes curly and the hyphen of a key a dash.
  typed := translate(private.compose_text(left(query_text, 2000)), '“”„‟«»', '""""""');
  typed := regexp_replace(typed, '([[:alnum:]])[‐‑‒–−]([0-9])', '\1-\2', 'g');
  for part in
    select m from regexp_matches(left(typed, 2000), '(^|\s)(-?)"([^"]*)"|(\S+)', 'g') as m
  loop
    if part[3] is not null then
      phrase := private.phrase(part[3]);
      continue when phrase is null;
      if part[2] = '-' then
        excluded := coalesce(excluded || phrase, phrase);
      else
        required := coalesce(required && phrase, phrase);
        plain := plain || ' ' || part[3];
      end if;
    elsif part[4] ~ '^-[[:alnum:]]' and part[4] !~ '^-(0x[[:xdigit:]]+|[0-9.,]+)[^[:alnum:]]*$' then
      phrase := private.phrase(substring(part[4] from 2));
      excluded := coalesce(excluded || phrase, phrase, excluded);
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
