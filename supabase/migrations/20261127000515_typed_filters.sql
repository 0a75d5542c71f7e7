-- Reads the filters that people type in a query: status:"in progress", -label:ios, created:>7d.
-- docs/api.md lists the forms.

-- As phones and word processors write them.
create function tasklens.quotes() returns text
language sql immutable security invoker set search_path = ''
as $$ select '"“”„‟«»「」『』〝〞〟' $$;
comment on function tasklens.quotes is 'The quotes that can be around a phrase or a value, for a bracket expression of a regular expression.';

-- A day, month or year, from its first day to its last; or a moment. is_away: so many days from
-- today.
create type tasklens.period as (first_day date, last_day date, moment text, is_away boolean);

-- Months are mo: m is minutes in some trackers and months in others. 7d is seven days ago, or seven
-- days ahead for a day that usually lies in the future (of_days); -7d is always ago.
create function tasklens.read_period(typed text, today date, of_days boolean) returns tasklens.period
language plpgsql stable security invoker set search_path = ''
as $$
declare
  p tasklens.period;
  part constant text[] := regexp_match(typed, '^([+-]?)(\d{1,4})(d|w|mo|y)$');
begin
  p.is_away := part is not null;
  if p.is_away then
    p.first_day := today + (
      (part[2] || case part[3] when 'd' then ' days' when 'w' then ' weeks' when 'mo' then ' months' else ' years' end)::interval
      * case when part[1] = '-' or part[1] = '' and not of_days then -1 else 1 end);
    p.last_day := p.first_day;
  elsif typed ~ '^@?(yesterday|today|tomorrow)$' then
    p.first_day := today + case ltrim(typed, '@') when 'yesterday' then -1 when 'today' then 0 else 1 end;
    p.last_day := p.first_day;
  elsif typed ~ '^\d{4}(-\d\d){0,2}$' then
    p.first_day := (typed || substr('-01-01', length(typed) - 3))::date;
    p.last_day := p.first_day + case length(typed) when 4 then '1 year' when 7 then '1 month' else '1 day' end::interval - '1 day'::interval;
  elsif not of_days and typed ~ '^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$' then
    p.moment := upper(typed);
  else
    return null;
  end if;
  return p;
exception when data_exception then -- 2025-02-30
  return null;
end
$$;
comment on function tasklens.read_period is 'What is typed as a date, in lower case; null if it is none.';

create function tasklens.read_dates(typed text, today date, of_days boolean) returns jsonb
language plpgsql stable security invoker set search_path = '' set datestyle = 'ISO'
as $$
declare
  ends constant text[] := regexp_match(typed, '^(.*?)\.\.(.*)$');
  operator constant text := substring(typed from '^(<=|>=|[<>=])');
  p tasklens.period;
  q tasklens.period;
  start text;
  stop text;
  dates jsonb;
begin
  if ends is not null then
    p := tasklens.read_period(ends[1], today, of_days);
    q := tasklens.read_period(ends[2], today, of_days);
    if p is null and ends[1] not in ('', '*') or q is null and ends[2] not in ('', '*') then
      return null;
    end if;
    start := coalesce(p.moment, p.first_day::text);
    stop := coalesce(q.moment, q.last_day::text);
  else
    p := tasklens.read_period(substr(typed, 1 + coalesce(length(operator), 0)), today, of_days);
    if p is null or p.moment is not null and coalesce(operator, '=') = '=' then
      return null;
    elsif operator = '>' then -- "more than 3 days ago" leaves out the whole day
      start := coalesce(p.moment, (p.last_day + case when p.is_away and not of_days then 0 else 1 end)::text);
    elsif operator = '>=' then
      start := coalesce(p.moment, p.first_day::text);
    elsif operator = '<' or operator = '<=' and p.is_away and not of_days then
      stop := coalesce(p.moment, (p.first_day - 1)::text);
    elsif operator = '<=' then
      stop := coalesce(p.moment, p.last_day::text);
    else -- so many days: from then to today
      start := least(p.first_day, case when p.is_away then today end)::text;
      stop := greatest(p.last_day, case when p.is_away then today end)::text;
    end if;
  end if;
  dates := jsonb_strip_nulls(jsonb_build_object('from', start, 'to', stop));
  perform tasklens.filter_range(dates, '', case when of_days then 'date' else 'time' end);
  return nullif(dates, '{}');
exception when data_exception then -- from is after to, or a year of five digits
  return null;
end
$$;
comment on function tasklens.read_dates is
  'A date, a date behind an operator, or two ends with dots between, as the member of filters; null if it is none. of_days: the member is a day, not a moment.';

-- Comma-separated values, bare or in quotes, up to a space.
create function tasklens.read_values(typed text, out names text[], out size integer)
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  quote constant text := '[' || tasklens.quotes() || ']';
  quoted constant text := '[^' || tasklens.quotes() || ']*';
begin
  size := length(substring(typed from format('^(%1$s?(?:,%1$s?)*)(?=\s|$)', format('(?:%1$s%2$s%1$s|(?!%1$s)[^,\s]+)', quote, quoted))));
  names := array(
    select btrim(v.name)
    from regexp_matches(left(typed, size), format('%1$s(%2$s)%1$s|([^,]+)', quote, quoted), 'g') with ordinality m(part, place)
    cross join lateral (select coalesce(m.part[1], m.part[2])) v(name)
    where btrim(v.name) <> '' order by m.place);
end
$$;
comment on function tasklens.read_values is 'The values at the start of a text, and how many characters they take; none if a quote is not closed.';

-- The first words of a text, without the punctuation behind them, as far as they may be a value of
-- several words: a quote or a colon ends them.
create function tasklens.leading_words(typed text) returns table (words text, size integer)
language sql immutable rows 6 security invoker set search_path = ''
as $$
  select rtrim(h.head, '?!.,;'), length(h.head)
  from format('[^\s:%s]+', tasklens.quotes()) one
  cross join regexp_split_to_table(substring(left(typed, 500) from format('^%1$s(?: %1$s)*(?= |$)', one)), ' ') with ordinality w(word, place)
  cross join lateral (select substring(typed from format('^(?:\S+ ){%s}\S+', w.place - 1))) h(head)
  where w.place <= 6
$$;
comment on function tasklens.leading_words is 'The one to six words at the start of a text, and how many characters they take.';

-- One filter of a query. size: of its text, 0 if there is none. value: as in filters. candidates:
-- its names that nothing has, with those that resemble them. is_doubtful: nothing has any of its
-- names.
create type tasklens.typed_filter as (
  size integer, member text, kind text, is_negated boolean, value jsonb, candidates jsonb, is_doubtful boolean
);

-- What the names of a filter mean: at most six of a member are near, and one that is near enough
-- takes the place of a name that nothing has. A project is known by its key.
create function tasklens.resolve_names(typed tasklens.typed_filter, names text[]) returns tasklens.typed_filter
language plpgsql stable security invoker set search_path = ''
as $$
declare
  stored constant jsonb := (
    select jsonb_object_agg(f.spelling, f.names)
    from (
      select f.spelling, coalesce(jsonb_agg(jsonb_build_object('value', f.value, 'near', f.near, 'exact', f.exact)) filter (where f.value is not null), '[]') as names
      from tasklens.match_names(jsonb_build_object(typed.member, names), not typed.is_negated) f group by 1) f);
begin
  select jsonb_agg(coalesce(to_jsonb(n.id), to_jsonb(n.me), case
      when not n.is_stored or typed.kind = 'project' then n.only -> 'value' end, to_jsonb(n.name)) order by n.place),
    jsonb_agg(jsonb_build_object('member', typed.member, 'value', n.name, 'names', coalesce(jsonb_path_query_array(n.found, '$[*].value'), '[]')) order by n.place)
      filter (where n.is_unknown),
    bool_and(n.is_unknown and n.only is null)
    into typed.value, typed.candidates, typed.is_doubtful
  from (
    select u.name, u.place, k.*, s.found, coalesce((s.found #>> '{0,exact}')::boolean, false) as is_stored,
      case when jsonb_array_length(s.found) = 1 and (s.found #>> '{0,near}')::boolean then s.found -> 0 end as only,
      (s.found #>> '{0,exact}' is distinct from 'true' or typed.kind = 'project' and jsonb_array_length(s.found) > 1)
        and k.id is null and k.me is null and not typed.is_negated as is_unknown
    from unnest(names) with ordinality u(name, place)
    cross join lateral (
      select case when typed.kind = 'project' and u.name ~ '^[0-9]{1,18}$' then nullif(u.name::bigint, 0) end as id,
        case when typed.kind = 'person' and lower(u.name) in ('me', '@me') then 'me' end as me) k
    cross join lateral (select stored -> u.name as found) s
  ) n;
  return typed;
end
$$;
comment on function tasklens.resolve_names is 'A filter with these names as its value, as far as they are stored.';

create function tasklens.read_typed_filter(rest text, today date) returns tasklens.typed_filter
language plpgsql stable security invoker set search_path = ''
as $$
declare
  typed tasklens.typed_filter;
  part constant text[] := regexp_match(rest, '^(-?)([[:alpha:]]+):( ?)(.*)$');
  part_name constant text := lower(part[2]);
  value constant text := part[4];
  names text[]; -- the values
  size integer;
  stored text; -- the value of several words
  taken integer; -- its size
  missing constant boolean := part_name = 'no';
begin
  typed.size := 0;
  if part is null then
    return typed;
  end if;
  typed.is_negated := part[1] = '-';
  typed.is_doubtful := false;
  select r.names, r.size into names, size from tasklens.read_values(value) r;
  select m.member, m.kind into typed.member, typed.kind from tasklens.ticket_members m
  where case when missing then lower(names[1]) else part_name end = any (m.typed) and (not missing or m.kind = 'person');
  if typed.kind in ('status', 'project', 'person', 'text', 'labels') and not missing and (part[3] = ' ' or value ~ '^\S+ \S') then
    -- The most words that are a value: two at least, where no space stands before them.
    select min(f.value), l.size into stored, taken
    from tasklens.leading_words(value) l
    join tasklens.match_names(jsonb_build_object(typed.member, array(select w.words from tasklens.leading_words(value) w)), false) f on f.spelling = l.words
    where part[3] = ' ' or l.words ~ ' '
    group by l.words, l.size having count(*) = 1
    order by l.size desc limit 1;
  end if;
  if stored is not null then
    size := taken;
    typed.value := to_jsonb(array[stored]);
  elsif coalesce(cardinality(names), 0) = 0
    or part[3] = ' ' and not (typed.kind in ('time', 'date') or part_name = 'is' or value ~ ('^[' || tasklens.quotes() || ']'))
  then
    return typed;
  elsif cardinality(names) = 1 and (part_name = 'is' and names[1] ~* '^(open|done|closed)$' or typed.member = 'statuses' and names[1] ~* '^(open|closed)$'
    and not exists (select from tasklens.match_names(jsonb_build_object('statuses', names), false)))
  then
    typed.kind := 'open';
    typed.member := 'open';
    typed.value := to_jsonb((lower(names[1]) = 'open') <> typed.is_negated);
    typed.is_negated := false;
  elsif typed.kind is null then
    return typed;
  elsif missing then
    typed.value := '[null]';
  elsif typed.kind in ('time', 'date') then
    typed.value := case when cardinality(names) = 1 then tasklens.read_dates(lower(names[1]), today, typed.kind = 'date') end;
    if typed.value is null then
      return typed;
    end if;
  else
    typed := tasklens.resolve_names(typed, names);
  end if;
  typed.size := length(rest) - length(value) + size;
  return typed;
end
$$;
comment on function tasklens.read_typed_filter is 'The filter at the start of a text, such as -label:ios or no:assignee.';

-- As in "bugs in the Mobile App". A single word in lower case is a word (a loop in compiler), and a
-- capital behind it continues another name.
create function tasklens.read_typed_project(rest text) returns tasklens.typed_filter
language plpgsql stable security invoker set search_path = ''
as $$
declare
  typed tasklens.typed_filter;
  part constant text[] := regexp_match(rest, '^((in|project) )((?:the )?(?:project )?)(.*)$', 'i');
begin
  typed := row(0, 'projects', 'project', false, null, null, false);
  if part is null then
    return typed;
  end if;
  select to_jsonb(array[f.value]), f.size into typed.value, typed.size
  from (
    select h.place, l.words, l.size as length,
      length(h.before) + l.size + case when substr(h.behind, l.size + 1) ~* '^ project\y(?!:)' then length(' project') else 0 end as size, min(m.value) as value,
      bool_and(h.before ~* 'project' or substr(h.behind, l.size + 1) ~* '^ project\y(?!:)'
        or l.words ~ '[[:upper:] ]' and substr(h.behind, l.size + 1) !~ '^ ?[[:upper:]]') as is_meant
    from (values (1, part[1], part[3] || part[4]), (2, part[1] || part[3], part[4])) h(place, before, behind)
    cross join lateral tasklens.leading_words(h.behind) l
    join (
      select m.spelling, m.value
      from tasklens.match_names(jsonb_build_object('projects', array(
        select w.words from tasklens.leading_words(part[3] || part[4]) w
        union select w.words from tasklens.leading_words(part[4]) w)), false) m
    ) m on m.spelling = l.words
    group by 1, 2, 3, 4 having count(*) = 1
  ) f
  where f.is_meant
  order by f.place, f.length desc
  limit 1;
  typed.size := coalesce(typed.size, 0);
  return typed;
end
$$;
comment on function tasklens.read_typed_project is 'The project that a text names at its start, behind "in" or "project".';

-- Several values of one name are alternatives, except labels, which must all be present, and dates,
-- whose ends join to one range.
create function tasklens.add_typed_filter(filters jsonb, typed tasklens.typed_filter) returns jsonb
language plpgsql stable security invoker set search_path = ''
as $$
declare
  path constant text[] := case when typed.is_negated then array['not', typed.member] else array[typed.member] end;
  name constant text := (select coalesce(m.facet, m.member) from tasklens.ticket_members m where m.member = typed.member);
  former constant jsonb := filters #> path;
  problem text;
  joined jsonb := typed.value;
begin
  if typed.kind = 'open' then
    problem := case when former <> joined then 'is cannot be both open and done' end;
  elsif typed.kind in ('time', 'date') and former is not null then
    joined := former || joined;
    if typed.is_negated or joined = former or joined = typed.value or former ?| array(select jsonb_object_keys(typed.value)) then
      problem := name || ' has two ranges: write one, as in 2025-01-01..2025-03-31';
    else
      begin
        perform tasklens.filter_range(joined, '', case when typed.kind = 'date' then 'date' else 'time' end);
      exception when data_exception then
        problem := name || ' ends before it begins';
      end;
    end if;
  elsif typed.kind = 'labels' then
    joined := case
      when former is null then jsonb_build_object('any', typed.value)
      when typed.is_negated then jsonb_build_object('any', former -> 'any' || typed.value)
      when jsonb_array_length(typed.value) = 1 then former || jsonb_build_object('all', coalesce(former -> 'all', '[]') || typed.value)
      when jsonb_array_length(former -> 'any') = 1 then jsonb_build_object('any', typed.value, 'all', coalesce(former -> 'all', '[]') || (former -> 'any')) end;
    problem := case when joined is null then name || ' has two lists of alternatives' end;
  elsif former is not null then
    joined := former || joined;
  end if;
  if problem is not null then
    raise exception 'query: %', problem using errcode = '22023';
  end if;
  return case when typed.is_negated then jsonb_set(filters, '{not}', coalesce(filters -> 'not', '{}') || jsonb_build_object(typed.member, joined))
    else filters || jsonb_build_object(typed.member, joined) end;
end
$$;
comment on function tasklens.add_typed_filter is 'Filters with one more. A combination that one object cannot express is an error (22023).';

-- What is typed in the language of another tracker: created > 2025-03-01, status != Done, labels in
-- (a, b), assignee is empty. ours is the same as it is typed here. It is a filter only if something
-- has its value: else it may be a line of code.
create type tasklens.foreign_filter as (typed tasklens.typed_filter, theirs text, ours text);

create function tasklens.read_foreign_filter(rest text, today date) returns tasklens.foreign_filter
language plpgsql stable security invoker set search_path = ''
as $$
declare
  typed tasklens.typed_filter;
  theirs text;
  ours text;
  part constant text[] := regexp_match(rest,
    '^(-)?(\(*)([[:alpha:]]+)(?: ?(!=|<>|>=|<=|=|>|<) ?| (not in|in) ?(?=\()| (is not|is) (?=(?:empty|null)\y))(.*)$', 'i');
  operator constant text := lower(coalesce(part[4], part[5], part[6]));
  is_negated constant boolean := (part[1] is not null) <> (operator in ('!=', '<>', 'not in', 'is not'));
  name constant text := lower(part[3]);
  kind constant text := (select m.kind from tasklens.ticket_members m where lower(part[3]) = any (m.typed));
  value text := substring(part[7] from case when part[5] is not null then '^\([^()]*\)' when part[6] is not null then '^\w+'
    else '^(?:"[^"]*"|''[^'']*''|[^\s,()]+(?:\([^()\s]*\))?)' end);
begin
  typed.size := 0;
  if kind is null or value is null then
    return row(typed, theirs, ours);
  end if;
  theirs := left(rest, length(rest) - length(part[7]) + length(value)) || coalesce(substring(substr(part[7], length(value) + 1) from '^\)+'), '');
  value := translate(case when part[5] is not null then regexp_replace(btrim(value, '()'), '\s*,\s*', ',', 'g') else value end, '''', '"');
  if kind = 'person' then
    value := regexp_replace(value, '^currentuser\(\)$', 'me', 'i');
  elsif kind in ('time', 'date') then
    value := regexp_replace(regexp_replace(lower(btrim(value, '"')), '^(now|startofday|endofday)\("?([-+]?\d+[dw])?"?\)$', 'today\2'), '^today(?=[-+]?\d)', '');
  end if;
  ours := case when part[6] is not null then 'no:' || name when kind in ('time', 'date') then name || ':' || replace(operator, '!=', '=') || value
    when operator in ('=', '!=', '<>', 'in', 'not in') then name || ':' || value end;
  typed := tasklens.read_typed_filter(ours, today);
  if typed.size is distinct from length(ours) or typed.is_doubtful or is_negated and typed.candidates <> '[]' then
    typed.size := 0;
  else
    typed.size := length(theirs);
    typed.is_negated := is_negated and typed.kind <> 'open';
    typed.value := case when typed.kind = 'open' and is_negated then to_jsonb(not typed.value::boolean) else typed.value end;
  end if;
  return row(typed, theirs, case when is_negated then '-' else '' end || ours);
end
$$;
comment on function tasklens.read_foreign_filter is
  'The filter at the start of a text in the form of another tracker: as it is typed there and here. size 0: it is none.';

-- text: what is searched for, null if the query is filters alone. sort: null if nothing in it is an
-- order. candidates: names that nothing has: [{member, value, names}]; one that is near took its
-- place, or the filter is text. not_read: at most ten [{text, instead}] of another tracker's
-- language, which counts as words; instead is null if there is nothing.
create type tasklens.typed_query as (text text, filters jsonb, sort text, candidates jsonb, not_read jsonb);

-- AND is what filters and words mean anyway; NOT is a minus before a filter, but NOT FOUND a
-- message. In lower case these words count between filters alone.
create function tasklens.read_operator(rest text, behind_filter boolean, out is_or boolean, out further text)
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  part constant text[] := coalesce(
    regexp_match(rest, '^(AND NOT |&& ?!|NOT |!|AND |&& |OR |\|\| )(.*)$'), case when behind_filter then regexp_match(rest, '^(and not |and |or )(.*)$') end);
  before_filter constant boolean := part[2] ~* '^-?\(*[[:alpha:]]+(?: ?[<>=~:]| ?!=| (?:not )?in ?\w*\(| is (?:not )?(?:empty|null)\y)';
begin
  if part is null or part[1] ~ '^[ao]' and not before_filter then
    return;
  elsif part[1] ~* '^(and not |&& ?!)' and part[2] !~ '^\(' or part[1] in ('NOT ', '!') and before_filter then
    further := case when part[2] ~ '^-' then substr(part[2], 2) else '-' || part[2] end;
  elsif part[1] ~* '^(and|or|&&|\|\|) $' and (behind_filter or part[1] in ('AND ', '&& ') and before_filter) then
    is_or := part[1] ~* '^(or|\|\|) $';
    further := part[2];
  end if;
end
$$;
comment on function tasklens.read_operator is
  'A word of another tracker''s language at the start of a text, AND, OR or NOT: whether it is an OR, and the text behind it, where NOT is a minus. Null: it is none, or text.';

create function tasklens.read_order(rest text, behind_filter boolean, out typed text, out sort text)
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  typed := (regexp_match(rest, case when behind_filter or rest ~ '^[Os]' then '^(?:order by .*|sort:\S+)' else '^sort:\S+' end, 'i'))[1];
  sort := case lower((regexp_match(typed, '^(?:order by|sort:) ?(created|updated)(?:date)?(?: desc|-desc)?$', 'i'))[1])
    when 'created' then 'newest' when 'updated' then 'updated' end;
  if typed ~* 'by \w+$' then -- the oldest first
    sort := null;
  end if;
end
$$;
comment on function tasklens.read_order is 'An order at the start of a text, as typed, and which one of ours it is, null if it is none.';

-- Each token is a filter, a name of a project behind "in", or text with the phrases in it. A quote
-- after a letter or digit opens no phrase: 5" and 6".
create function tasklens.read_typed_query(query_text text, today date) returns tasklens.typed_query
language plpgsql stable security invoker set search_path = ''
as $$
declare
  quote constant text := '[' || tasklens.quotes() || ']';
  quoted constant text := '[^' || tasklens.quotes() || ']*';
  token constant text := '^(?:(?<![[:alnum:]])' || quote || quoted || quote || '|[^\s' || tasklens.quotes() || ']'
    '|(?<=[[:alnum:]])' || quote || '|' || quote || '(?!' || quoted || quote || '))+';
  -- Fields of other trackers that tickets lack here.
  lacking constant text := '^(-?is:\S+|-?(?:affectedversion|commenter|components?|cycle|epic|estimate|fixversions?|involves|mentions|milestone|repo|resolution|sprint|watcher)'
    '(?: ?!?[=~] ?(?:"[^"]*"|\S+)|:\S+| (?:not )?in ?\w*\([^()]*\)| is (?:not )?(?:empty|null)\y))';
  most_filters constant integer := 40;
  found tasklens.typed_query;
  typed tasklens.typed_filter;
  former tasklens.typed_filter; -- directly before
  theirs tasklens.foreign_filter;
  operator record;
  ordered record;
  doubtful tasklens.typed_filter[] := array[]::tasklens.typed_filter[];
  rest text := ltrim(regexp_replace(left(query_text, 2000), '[\s\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]+', ' ', 'g'));
  kept text := '';
  is_text boolean := false; -- beside filters
  is_changed boolean := false;
  is_or boolean := false;
  part text[];
  filters integer := 0;
begin
  found := row(query_text, '{}', null, '[]', '[]');
  if rest !~ '[<>=~]|\y(AND|OR|NOT)\y' and rest !~* '[[:alpha:]]:|\y(in|project) |\yorder by|\yis (not )?(empty|null)\y' then
    return found;
  end if;
  while rest <> '' loop
    operator := tasklens.read_operator(rest, former.size > 0);
    if operator.further is not null then
      rest := operator.further;
      is_or := coalesce(operator.is_or, is_or);
      is_changed := true;
      continue;
    elsif rest ~ '^NOT [[:lower:]]' then
      found.not_read := found.not_read || jsonb_build_object('text', substring(rest from '^NOT \S+'), 'instead', '-' || substring(rest from '^NOT (\S+)'));
    end if;
    ordered := tasklens.read_order(rest, former.size > 0);
    if ordered.typed is not null then
      found.sort := ordered.sort;
      if ordered.sort is null then
        found.not_read := found.not_read || jsonb_build_object('text', ordered.typed, 'instead', 'sort:created or sort:updated');
      end if;
      rest := ltrim(substr(rest, length(ordered.typed) + 1));
      is_changed := true;
      continue;
    end if;

    typed.size := 0;
    if filters < most_filters and rest ~* '^-?\(*[[:alpha:]]+(?: ?[<>=]| ?!=| (?:not )?in ?\(| is )' then
      filters := filters + 1;
      theirs := tasklens.read_foreign_filter(rest, today);
      typed := theirs.typed;
      if typed.size = 0 and theirs.theirs is not null then
        found.not_read := found.not_read || jsonb_build_object('text', theirs.theirs, 'instead', theirs.ours);
      end if;
    elsif filters < most_filters and rest ~* '^-?[[:alpha:]]+:|^(in|project) ' then
      filters := filters + 1;
      typed := tasklens.read_typed_filter(rest, today);
      if typed.size = 0 then
        typed := tasklens.read_typed_project(rest);
      end if;
    end if;
    if typed.size = 0 then
      typed := row(0, null, null, false, null, null, false);
    end if;
    if is_or and (typed.size = 0 or former.member <> typed.member or former.is_negated or typed.is_negated) then
      found.not_read := found.not_read || jsonb_build_object('text', 'OR', 'instead', 'status:a,b');
    end if;

    if is_or and typed.size > 0 and former.member = typed.member then
      typed.is_doubtful := false; -- the other one has values
    end if;

    if typed.size = 0 or typed.is_doubtful then
      part := regexp_match(rest, '^((?:text|summary|description|title|comment|body) ?~ ?|(?:key|issuekey|issue|id) ?= ?)("[^"]*"|''[^'']*''|\S+)(.*)$', 'i');
      if part is not null then -- the words of text ~ "two words", and the key of key = TX-400
        rest := translate(part[2], '"''', '') || part[3];
        is_changed := true;
      elsif rest ~* lacking then
        found.not_read := found.not_read || jsonb_build_object('text', (regexp_match(rest, lacking, 'i'))[1], 'instead', null);
      end if;
      is_text := is_text or typed.size = 0;
      typed.size := case when typed.size = 0 then greatest(1, length(substring(rest from token))) else typed.size end;
      kept := kept || ' ' || left(rest, typed.size);
      rest := ltrim(substr(rest, typed.size + 1));
      if typed.is_doubtful then
        doubtful := doubtful || typed;
        found.candidates := found.candidates || typed.candidates;
      end if;
      former := null;
    else
      if is_or and typed.kind = 'labels' and former.kind = 'labels' then -- instead of one more that must be there
        found.filters := jsonb_set(found.filters, '{labels,any}', (found.filters #> '{labels,any}') || typed.value);
      else
        found.filters := tasklens.add_typed_filter(found.filters, typed);
      end if;
      found.candidates := found.candidates || coalesce(typed.candidates, '[]');
      rest := ltrim(substr(rest, typed.size + 1));
      former := typed;
    end if;
    is_or := false;
  end loop;
  if not is_text then -- nothing else is asked for
    kept := '';
    foreach typed in array doubtful loop
      found.filters := tasklens.add_typed_filter(found.filters, typed);
    end loop;
  end if;
  if found.filters <> '{}' or is_changed then
    found.text := nullif(btrim(kept), '');
  end if;
  found.not_read := (
    select coalesce(jsonb_agg(jsonb_build_object('text', left(n ->> 'text', 255), 'instead', left(n ->> 'instead', 255))), '[]')
    from jsonb_path_query(found.not_read, '$[0 to 9]') n);
  return found;
end
$$;
comment on function tasklens.read_typed_query is 'The filters in a query of which the first 2,000 characters count, and the rest of its text. Contradictions are an error (22023).';

-- filters: a list, or null if there are none.
create function tasklens.read_search(query_text text, filters jsonb, filters_in_text boolean) returns tasklens.typed_query
language plpgsql stable security invoker set search_path = ''
as $$
declare
  found tasklens.typed_query := row(query_text, '{}', null, null, null);
begin
  if filters_in_text is not false then
    found := tasklens.read_typed_query(query_text, (now() at time zone 'utc')::date);
  end if;
  found.filters := nullif(coalesce(read_search.filters, '[]') || case found.filters when '{}' then '[]' else jsonb_build_array(found.filters) end, '[]');
  return found;
end
$$;
comment on function tasklens.read_search is 'The text to search for, and all filters: those given and those in the text, unless it is taken as it is.';

insert into tasklens.migrations (version) values ('20261127000515');
