-- The filters of a search: one JSON object, parsed and validated here (docs/sql.md lists the
-- members).

-- A blank filter, as sent by an empty drop-down, counts as absent. Trims Unicode white space.
create function private.filter_text(filter text) returns text
language sql immutable security invoker set search_path = ''
as $$
  select nullif(btrim(filter, U&' \0009\000A\000B\000C\000D\0085\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000'), '')
$$;
comment on function private.filter_text is 'A filter trimmed of white space; null if blank.';

-- The members of a ticket that can be filtered and counted: this table defines them. A member reads
-- a column of public.tickets by its kind; the database adds the rest.
create function private.ticket_members() returns table (member text, kind text, source text, facet text)
language sql immutable rows 11 security invoker set search_path = ''
as $$
  values
    ('statuses', 'status', 'status_id', 'status'),
    ('projects', 'project', 'project_id', 'project'),
    ('assignee', 'person', 'assignee', 'assignee'),
    ('reporter', 'person', 'reporter', 'reporter'),
    ('types', 'text', 'ticket_type', 'type'),
    ('priorities', 'text', 'priority', 'priority'),
    ('labels', 'labels', 'labels', 'label'),
    ('created', 'time', 'created_at', null),
    ('updated', 'time', 'updated_at', null),
    ('due', 'date', 'due_date', null),
    ('open', 'open', 'status_id', 'open')
$$;
comment on function private.ticket_members is
  'What tickets can be filtered by: the member of filters, its kind, its column, and the name of its facet, if it is counted.';

-- The condition of one member. names, in lower case, keys in upper: any of them, null for a ticket
-- without a value; all_names: all of them; start is inclusive, stop exclusive. Null: no condition.
create type private.filter as (
  kind text, source text, negated boolean, names text[], all_names text[], ids bigint[], start timestamptz, stop timestamptz
);
comment on type private.filter is 'A filter of a search: the validated condition of one member.';

-- The only function that maps users to names. It affects filters, not permissions.
create function private.caller_names() returns text[]
language sql stable security invoker set search_path = ''
as $$
  select array(
    select distinct lower(n.name)
    from (select auth.jwt() as claims) j
    cross join lateral (values
      (j.claims ->> 'email'), (j.claims ->> 'sub'), (j.claims #>> '{user_metadata,full_name}'), (j.claims #>> '{user_metadata,name}'),
      (j.claims #>> '{user_metadata,user_name}'), (j.claims #>> '{user_metadata,preferred_username}')) n(name)
    where private.filter_text(n.name) is not null
    order by 1)
$$;
comment on function private.caller_names is 'The names that a tracker may use for the token''s user, in lower case: address, id and the names of the profile. Empty without a user''s token.';

-- path names the value in messages; accepted: the JSON types of its items. A single value counts as
-- a list.
create function private.filter_list(value jsonb, path text, accepted text[]) returns jsonb
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  is_list constant boolean := jsonb_typeof(value) = 'array';
  place integer := 0;
  item record;
  name text;
begin
  if value is null or jsonb_typeof(value) = 'null' then
    return '[]'::jsonb;
  end if;
  if not is_list then
    value := jsonb_build_array(value);
  end if;
  if jsonb_array_length(value) > 50 then
    raise exception '% has % values', path, jsonb_array_length(value) using errcode = '22023', hint = 'A list has at most 50 values.';
  end if;
  for item in select jsonb_typeof(e) as type, e #>> '{}' as text from jsonb_array_elements(value) e loop
    name := path || case when is_list then format('[%s]', place) else '' end;
    place := place + 1;
    if item.type <> all (accepted) then
      raise exception '% is %', name, private.name_type(item.type) using errcode = '22023', hint = format('Allowed types: %s.', array_to_string(accepted, ', '));
    end if;
    if item.type = 'number' and item.text !~ '^[0-9]{1,18}$' then
      raise exception '% is %', name, left(item.text, 40) using errcode = '22023', hint = 'An id is a whole number.';
    end if;
    if item.type = 'string' and private.filter_text(item.text) is null then
      raise exception '% is blank', name using errcode = '22023', hint = 'Omit it, or give a value.';
    end if;
    if item.type = 'string' and length(item.text) > 255 then
      raise exception '% has % characters', name, length(item.text) using errcode = '22023', hint = 'A value has at most 255.';
    end if;
  end loop;
  return value;
end
$$;
comment on function private.filter_list is 'A filter''s validated list of values: at most 50, of the accepted types. Anything else is an error (22023) that names it by its path.';

create function private.name_type(type text) returns text
language sql immutable security invoker set search_path = ''
as $$ select case when name_type.type in ('array', 'object') then 'an ' || name_type.type when name_type.type = 'null' then 'null' else 'a ' || name_type.type end $$;
comment on function private.name_type is 'A JSON type with its article, for messages.';

create function private.filter_names(value jsonb, path text, accepted text[] default '{string}') returns text[]
language sql immutable security invoker set search_path = ''
as $$
  select nullif(array(
    select lower(private.filter_text(e)) from jsonb_array_elements_text(private.filter_list(filter_names.value, path, accepted)) e), '{}')
$$;
comment on function private.filter_names is 'A filter''s list of names in lower case; null if it has none.';

create function private.filter_people(value jsonb, path text) returns text[]
language plpgsql stable security invoker set search_path = ''
as $$
declare
  names constant text[] := private.filter_names(value, path, '{string,"null"}');
begin
  if 'me' = any (names) then
    if private.caller_names() = '{}' then
      raise exception '%: me needs a user''s token', path using errcode = '22023', hint = 'Give the name of the person, or search with a user''s token.';
    end if;
    return array_remove(names, 'me') || private.caller_names();
  end if;
  return names;
end
$$;
comment on function private.filter_people is 'A filter''s list of people in lower case, with the names of the caller for "me"; null for nobody.';

-- The start is inclusive, the stop exclusive. A date starts at midnight UTC; as an end, the whole
-- day is included.
create function private.filter_range(value jsonb, path text, takes_times boolean, out start timestamptz, out stop timestamptz)
language plpgsql stable security invoker set search_path = ''
as $$
declare
  limits record;
  at timestamptz;
begin
  if value is null or jsonb_typeof(value) = 'null' then
    return;
  end if;
  if jsonb_typeof(value) <> 'object' then
    raise exception '% is %', path, private.name_type(jsonb_typeof(value)) using errcode = '22023', hint = 'Use an object with from and to.';
  end if;
  for limits in
    select e.key, jsonb_typeof(e.value) as type, e.value #>> '{}' as text, e.value #>> '{}' ~ '^\d{4}-\d\d-\d\d$' as is_date from jsonb_each(value) e order by e.key
  loop
    if limits.key not in ('from', 'to') then
      raise exception '%.% is unknown', path, left(limits.key, 40) using errcode = '22023', hint = 'Use an object with from and to.';
    end if;
    continue when limits.type = 'null';
    if limits.type <> 'string' then
      raise exception '%.% is %', path, limits.key, private.name_type(limits.type) using errcode = '22023', hint = 'Use a date as a string.';
    end if;
    begin
      at := case
        when limits.is_date then (limits.text || ' 00:00:00+00')::timestamptz
        when takes_times and limits.text ~* '^\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$' then limits.text::timestamptz end;
    exception when data_exception then
      at := null;
    end;
    if at is null then
      raise exception '%.% is "%"', path, limits.key, left(limits.text, 40) using errcode = '22023',
        hint = case when takes_times then 'Use a date (2025-03-31) or a time with its zone (2025-03-31T12:00:00Z).' else 'Use a date (2025-03-31).' end;
    end if;
    if limits.key = 'from' then
      start := at;
    else
      stop := at + case when limits.is_date then '24 hours' else '0' end::interval;
      if stop < start or limits.is_date and stop = start then
        raise exception '%: from is after to', path using errcode = '22023', hint = 'Swap them.';
      end if;
    end if;
  end loop;
end
$$;
comment on function private.filter_range is 'A filter''s range of dates or times: from start to before stop, null if open. An invalid date is an error (22023).';

create function private.read_filter(kind text, source text, negated boolean, value jsonb, path text) returns private.filter
language plpgsql stable security invoker set search_path = ''
as $$
declare
  read private.filter := row(kind, source, negated, null, null, null, null, null);
  list jsonb;
  unknown text;
  dates record;
begin
  case
  when kind = 'project' then
    list := private.filter_list(value, path, '{string,number}');
    read.ids := array(select (e #>> '{}')::bigint from jsonb_array_elements(list) e where jsonb_typeof(e) = 'number');
    read.names := array(select upper(private.filter_text(e #>> '{}')) from jsonb_array_elements(list) e where jsonb_typeof(e) = 'string');
    return case when list <> '[]' then read end;
  when kind = 'open' then
    if jsonb_typeof(value) <> 'boolean' then
      raise exception '% is %', path, private.name_type(jsonb_typeof(value)) using errcode = '22023', hint = 'Use true or false.';
    end if;
    read.names := array[case value when 'true' then 'open' else 'done' end];
  when kind = 'person' then
    read.names := private.filter_people(value, path);
  when kind = 'labels' and jsonb_typeof(value) = 'object' then
    select k into unknown from jsonb_object_keys(value) k where k not in ('any', 'all') order by k limit 1;
    if found then
      raise exception '%.% is unknown', path, left(unknown, 40) using errcode = '22023', hint = 'Use a list, or an object with any and all.';
    end if;
    read.names := private.filter_names(value -> 'any', path || '.any');
    read.all_names := private.filter_names(value -> 'all', path || '.all');
  when kind in ('time', 'date') then
    dates := private.filter_range(value, path, kind = 'time');
    read.start := dates.start;
    read.stop := dates.stop;
  else
    read.names := private.filter_names(value, path);
  end case;
  return case when coalesce(read.names::text, read.all_names::text, read.start::text, read.stop::text) is not null then read end;
end
$$;
comment on function private.read_filter is 'The validated condition of one member of filters, by its kind; null if it has none. Anything else is an error (22023) whose message names its path.';

-- Null, {} and empty lists mean no filter.
create function private.read_filters(filters jsonb) returns private.filter[]
language plpgsql stable security invoker set search_path = ''
as $$
declare
  read private.filter[] := array[]::private.filter[];
  part record; -- the filters, and those under "not"
  allowed text[];
  unknown text;
begin
  if coalesce(jsonb_typeof(filters), 'null') = 'null' then
    return read;
  end if;
  for part in
    select * from (values ('filters', filters, false), ('filters.not', filters -> 'not', true)) p(path, members, negated)
    where jsonb_typeof(p.members) <> 'null'
  loop
    if jsonb_typeof(part.members) <> 'object' then
      raise exception '% is %', part.path, private.name_type(jsonb_typeof(part.members)) using errcode = '22023', hint = 'Use an object.';
    end if;
    allowed := array(
      select m.member from private.ticket_members() m where not (part.negated and m.kind = 'open')
      union all select 'not' where not part.negated);
    select k into unknown from jsonb_object_keys(part.members) k where k <> all (allowed) order by k limit 1;
    if found then
      raise exception '%.% is unknown', part.path, left(unknown, 40) using errcode = '22023', hint = format('Allowed: %s.', array_to_string(allowed, ', '));
    end if;
    read := read || array(
      select f
      from private.ticket_members() m
      cross join lateral private.read_filter(m.kind, m.source, part.negated, part.members -> m.member, part.path || '.' || m.member) f
      where jsonb_typeof(part.members -> m.member) <> 'null' and f.kind is not null);
  end loop;
  return read;
end
$$;
comment on function private.read_filters is 'The validated filters of a search (docs/sql.md). Anything that private.ticket_members does not define is an error (22023) whose message names the member.';

insert into private.migrations (version) values ('20260101000940');
