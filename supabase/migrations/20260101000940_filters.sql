-- The filters of a search: one JSON object, parsed and validated here (docs/sql.md lists the
-- members).

-- A blank filter, as sent by an empty drop-down, counts as absent. Trims Unicode white space.
create function private.filter_text(filter text) returns text
language sql immutable security invoker set search_path = ''
as $$
  select nullif(btrim(filter, U&' \0009\000A\000B\000C\000D\0085\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000'), '')
$$;
comment on function private.filter_text is 'A filter trimmed of white space; null if blank.';

-- The values of filters in their form for comparison: in lower case, keys in upper case. Null: the
-- filter is absent.
create type private.filter_values as (
  project_ids bigint[], project_keys text[], statuses text[], open boolean,
  assignees text[], unassigned boolean, reporters text[], unreported boolean, types text[], priorities text[],
  any_labels text[], all_labels text[],
  created_from timestamptz, created_before timestamptz, updated_from timestamptz, updated_before timestamptz,
  due_from date, due_before date
);
comment on type private.filter_values is 'The validated values of a search''s filters.';

create type private.filters as (passing private.filter_values, barred private.filter_values);
comment on type private.filters is 'The filters of a search: conditions that must hold, and conditions that must not.';

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

create function private.filter_names(value jsonb, path text) returns text[]
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  return nullif(array(
    select lower(private.filter_text(e)) from jsonb_array_elements_text(private.filter_list(filter_names.value, path, '{string}')) e), '{}');
end
$$;
comment on function private.filter_names is 'A filter''s list of names in lower case; null if it has none.';

create function private.filter_people(value jsonb, path text, out names text[], out nobody boolean)
language plpgsql stable security invoker set search_path = ''
as $$
declare
  list constant jsonb := private.filter_list(filter_people.value, path, '{string,"null"}');
begin
  names := array(select lower(private.filter_text(e)) from jsonb_array_elements_text(list) e where e is not null);
  nobody := list @> 'null';
  if 'me' = any (names) then
    if private.caller_names() = '{}' then
      raise exception '%: me needs a user''s token', path using errcode = '22023', hint = 'Give the name of the person, or search with a user''s token.';
    end if;
    names := array_remove(names, 'me') || private.caller_names();
  end if;
  names := nullif(names, '{}');
end
$$;
comment on function private.filter_people is 'A filter''s list of people in lower case, with the names of the caller for "me", and whether the list contains null (unassigned).';

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

create function private.read_filter_values(filters jsonb, path text, members text[]) returns private.filter_values
language plpgsql stable security invoker set search_path = ''
as $$
declare
  read private.filter_values;
  list jsonb;
  unknown text;
  people record;
  dates record;
begin
  if jsonb_typeof(filters) <> 'object' then
    raise exception '% is %', path, private.name_type(jsonb_typeof(filters)) using errcode = '22023', hint = 'Use an object.';
  end if;
  select k into unknown from jsonb_object_keys(filters) k where k <> all (members) order by k limit 1;
  if found then
    raise exception '%.% is unknown', path, left(unknown, 40) using errcode = '22023', hint = format('Allowed: %s.', array_to_string(members, ', '));
  end if;

  list := private.filter_list(filters -> 'projects', path || '.projects', '{string,number}');
  if list <> '[]' then
    read.project_ids := array(select (e #>> '{}')::bigint from jsonb_array_elements(list) e where jsonb_typeof(e) = 'number');
    read.project_keys := array(select upper(private.filter_text(e #>> '{}')) from jsonb_array_elements(list) e where jsonb_typeof(e) = 'string');
  end if;
  read.statuses := private.filter_names(filters -> 'statuses', path || '.statuses');
  if jsonb_typeof(filters -> 'open') not in ('boolean', 'null') then
    raise exception '%.open is %', path, private.name_type(jsonb_typeof(filters -> 'open')) using errcode = '22023', hint = 'Use true or false.';
  end if;
  read.open := (filters ->> 'open')::boolean;
  people := private.filter_people(filters -> 'assignee', path || '.assignee');
  read.assignees := people.names;
  read.unassigned := people.nobody;
  people := private.filter_people(filters -> 'reporter', path || '.reporter');
  read.reporters := people.names;
  read.unreported := people.nobody;
  read.types := private.filter_names(filters -> 'types', path || '.types');
  read.priorities := private.filter_names(filters -> 'priorities', path || '.priorities');

  list := filters -> 'labels';
  if jsonb_typeof(list) = 'object' then
    select k into unknown from jsonb_object_keys(list) k where k not in ('any', 'all') order by k limit 1;
    if found then
      raise exception '%.labels.% is unknown', path, left(unknown, 40) using errcode = '22023', hint = 'Use a list, or an object with any and all.';
    end if;
    read.any_labels := private.filter_names(list -> 'any', path || '.labels.any');
    read.all_labels := private.filter_names(list -> 'all', path || '.labels.all');
  else
    read.any_labels := private.filter_names(list, path || '.labels');
  end if;

  dates := private.filter_range(filters -> 'created', path || '.created', true);
  read.created_from := dates.start;
  read.created_before := dates.stop;
  dates := private.filter_range(filters -> 'updated', path || '.updated', true);
  read.updated_from := dates.start;
  read.updated_before := dates.stop;
  dates := private.filter_range(filters -> 'due', path || '.due', false);
  read.due_from := (dates.start at time zone 'UTC')::date;
  read.due_before := (dates.stop at time zone 'UTC')::date;
  return read;
end
$$;
comment on function private.read_filter_values is 'The validated members of an object of filters; members: the allowed ones.';

-- Null, {} and empty lists mean no filter.
create function private.read_filters(filters jsonb) returns private.filters
language plpgsql stable security invoker set search_path = ''
as $$
declare
  members constant text[] := array['projects', 'statuses', 'assignee', 'reporter', 'types', 'priorities', 'labels', 'created', 'updated', 'due'];
  read private.filters;
begin
  if filters is null or jsonb_typeof(filters) = 'null' then
    return null;
  end if;
  read.passing := private.read_filter_values(filters, 'filters', members || array['open', 'not']);
  if jsonb_typeof(filters -> 'not') <> 'null' then
    read.barred := private.read_filter_values(filters -> 'not', 'filters.not', members);
  end if;
  return read;
end
$$;
comment on function private.read_filters is 'The validated filters of a search; the only place that defines them (docs/sql.md). Anything else is an error (22023) whose message names the member.';

insert into private.migrations (version) values ('20260101000940');
