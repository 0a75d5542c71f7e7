-- Parses a query into full-text search conditions.

-- In scripts without spaces, overlapping pairs of characters replace the order, because pairs at
-- even and odd offsets have none.
create function tasklens.phrase(phrase_text text, languages text[]) returns tsquery
language sql stable security invoker set search_path = ''
as $$
  select string_agg('(' || p.query || ')', ' & ')::tsquery
  from tasklens.unspaced_scripts() u(scripts)
  cross join lateral (
    select m[1] as pairs, m[2] as typed, null as signs from regexp_matches(phrase_text, '([' || u.scripts || ']+)|([^' || u.scripts || ']+)', 'g') as m
    union all
    select null, null, phrase_text
  ) part
  cross join lateral (
    select string_agg(distinct f.form::text, ' | ') as query
    from unnest(languages) l(language)
    cross join lateral (select ('tasklens.' || l.language)::regconfig as language) c
    cross join lateral (
      select case when part.typed is not null then phraseto_tsquery(c.language, tasklens.plain_text(part.typed, l.language))
        when part.pairs is not null then plainto_tsquery(c.language, tasklens.plain_text(part.pairs))
        else plainto_tsquery(c.language, nullif(tasklens.other_words(part.signs, l.language, true), '')) end) f(form)
    where numnode(f.form) > 0
  ) p
$$;
comment on function tasklens.phrase is 'A tsquery for the words of a composed text in sequence, in any of these languages; null if it has none.';

-- languages: those in which it is read. plain: the query without exclusions. wanted: its words in
-- every form (set by begin_search). required: the "quoted phrases", in a ticket's own text or one
-- comment; required_of_named: of tickets named by their key: those that are not keys, because such
-- a ticket need not mention it. excluded: a word or phrase after a minus; excluded_keys: possible
-- keys after a minus; left_out: both, as typed. ticket_keys: possible keys and names of pages in
-- upper case: TX-400 anywhere, "tx 400" as the whole query. identifiers: versions, paths, options,
-- names and codes of errors, addresses (9.3.0.GA, E0463), as typed; is_identifier: the query is
-- nothing else. Set by begin_search: excluded_tickets, those with excluded keys and those whose
-- comments contain excluded words; named_tickets, those with ticket_keys that contain what is
-- required and nothing excluded; relaxed: nothing visible contains all phrases, so none is
-- required.
create type tasklens.query as (
  languages text[], plain text, wanted tsquery, required tsquery, required_of_named tsquery, excluded tsquery,
  excluded_keys text[], left_out text[], ticket_keys text[], identifiers text[], is_identifier boolean,
  excluded_tickets bigint[], named_tickets bigint[], relaxed boolean, all_words integer
);

-- Only the first 2,000 characters count: thousands of phrases would take minutes.
create function tasklens.parse_query(query_text text, languages text[] default '{english}') returns tasklens.query
language plpgsql stable security invoker set search_path = ''
as $$
declare
  ticket_key constant text := '[[:alnum:]_]+(?:-[[:alnum:]_]+)*-[0-9]+'; -- TX-400. The project key may contain a hyphen.
  -- A token is what stands between spaces and brackets, without the punctuation around it, unless
  -- that is part of an identifier, and without the scheme of an address.
  token_part constant text := '[^][(){}<>"''`,;[:space:]]*';
  before_token constant text := '^((?!--[[:alnum:]]|[§$€£¥][0-9])[^[:alnum:]])*([[:alpha:]]+://(www\.)?)?';
  after_token constant text := '([^[:alnum:]%]|(?<![0-9])%)+$';
  identifier constant text := concat_ws('|',
    '[0-9]%$', '^[§$€£¥][0-9]', '^--[[:alnum:]]', -- 100%, §12, --force
    '[[:alnum:]][._/:#@\\-]+[[:alnum:]]', -- 9.3.0, src/main, non-blocking
    '[[:lower:][:digit:]][[:upper:]]', -- TableView
    '[[:alpha:]].*[0-9][0-9]', '[0-9].*[[:alpha:]].*[0-9]'); -- E0463, 7d865e9
  parsed tasklens.query;
  typed text;
  part text[];
  phrase tsquery;
  options tsquery;
  is_command boolean;
begin
  parsed.languages := parse_query.languages;
  parsed.plain := '';
  parsed.excluded_keys := '{}';
  parsed.left_out := '{}';
  -- Phones and word processors curl quotes and turn the hyphen of a key into a dash.
  typed := translate(tasklens.compose_text(left(query_text, 2000)), tasklens.quotes(), repeat('"', 14));
  typed := regexp_replace(typed, '([[:alnum:]])[‐‑‒–−]([0-9])', '\1-\2', 'g');
  -- A minus excludes, unless the query is a command: one of its options has a single letter or two
  -- dashes, or a text that the caller sees has it as typed.
  options := (select string_agg(w.term, ' | ')::tsquery from tasklens.read_words(typed, languages) w where w.kind = 'option');
  is_command := typed ~ '(?<!\S)(-[A-Za-z]|--[[:alnum:]]\S*)(?!\S)'
    or options is not null and tasklens.occurs(options, tasklens.projects_as('viewer'));
  for part in
    -- A quote after a letter or digit does not open a phrase: 5" and 6".
    select m from regexp_matches(left(typed, 2000), '(?<![[:alnum:]])(-?)"([^"]*)"|([^\s"]+)', 'g') as m
  loop
    if part[3] is null then
      phrase := tasklens.phrase(part[2], languages);
      continue when phrase is null;
      if part[1] = '-' then
        parsed.excluded := coalesce(parsed.excluded || phrase, phrase);
        parsed.excluded_keys := parsed.excluded_keys || upper(substring(part[2] from '^\s*(' || ticket_key || ')\s*$'));
        parsed.left_out := parsed.left_out || format('"%s"', part[2]);
      else
        parsed.required := coalesce(parsed.required && phrase, phrase);
        if part[2] !~ ('^\s*' || ticket_key || '\s*$') then
          parsed.required_of_named := coalesce(parsed.required_of_named && phrase, phrase);
        end if;
        parsed.plain := parsed.plain || ' ' || part[2];
      end if;
    elsif part[3] ~ ('^-' || ticket_key || '[^[:alnum:]]*$') and part[3] ~ '^-.*[[:alpha:]]' then
      parsed.excluded_keys := parsed.excluded_keys || upper(substring(part[3] from ticket_key));
      parsed.left_out := parsed.left_out || substring(part[3] from 2);
    -- Nor is a number excluded: exit code -9.
    elsif not is_command and part[3] ~ '^-\.?[[:alnum:]]' and part[3] !~ '^-(0x[[:xdigit:]]+|[0-9.,]+)[^[:alnum:]]*$' then
      phrase := tasklens.phrase(substring(part[3] from 2), languages);
      parsed.left_out := parsed.left_out || substring(part[3] from 2);
      parsed.excluded := coalesce(parsed.excluded || phrase, phrase, parsed.excluded);
    else
      parsed.plain := parsed.plain || ' ' || part[3];
    end if;
  end loop;
  parsed.excluded_keys := array_remove(parsed.excluded_keys, null);
  parsed.ticket_keys := array(
    -- Both readings of A-B-12: the project may be B or A-B.
    select upper(m[1]) from regexp_matches(parsed.plain, '([[:alnum:]_]+-[0-9]+)(?![[:alnum:]])', 'g') as m
    union
    select upper(m[1]) from regexp_matches(parsed.plain, '(' || ticket_key || ')(?![[:alnum:]])', 'g') as m
    union
    select upper(replace(m[1], ' ', '-')) from regexp_matches(parsed.plain, '^\s*([[:alpha:]][[:alnum:]_]* [0-9]+)\s*$') as m
    union
    select n from regexp_matches(parsed.plain, '[^][\s<>()"'',;]+/[^][\s<>()"'',;]+', 'g') as m cross join unnest(tasklens.page_names(rtrim(m[1], '.!?:'))) n);
  select coalesce(array_agg(t.token order by t.place) filter (where t.is_identifier), '{}'), coalesce(bool_and(t.is_identifier), false)
    into parsed.identifiers, parsed.is_identifier
    from (
      select s.token, r.place, s.token ~ identifier as is_identifier
      from regexp_matches(parsed.plain, token_part || '[[:alnum:]]' || token_part, 'g') with ordinality as r(m, place)
      cross join lateral (select regexp_replace(regexp_replace(m[1], after_token, ''), before_token, '')) s(token)
    ) t;
  -- A number alone, too.
  if parsed.identifiers = '{}' and parsed.plain ~ '^\s*[0-9]{3,}\s*$' then
    parsed.identifiers := array[btrim(parsed.plain)];
    parsed.is_identifier := true;
  end if;
  return parsed;
end
$$;
comment on function tasklens.parse_query is 'The required phrases, exclusions, ticket keys and identifiers of a query.';

insert into tasklens.migrations (version) values ('20261127000520');
