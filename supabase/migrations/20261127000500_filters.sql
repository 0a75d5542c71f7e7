-- The filters of a search: one JSON object, or several that must all hold, parsed and validated
-- here (docs/sql.md lists the members).

-- A blank filter, as sent by an empty drop-down, counts as absent. Trims Unicode white space.
create function tasklens.filter_text(filter text) returns text
language sql immutable security invoker set search_path = ''
as $$
  select nullif(btrim(filter, U&' \0009\000A\000B\000C\000D\0085\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000'), '')
$$;
comment on function tasklens.filter_text is 'A filter trimmed of white space; null if blank.';

-- The members of a ticket that can be filtered and counted: this table defines them. A member reads
-- a column of public.tickets by its kind; the database adds the rest.
create view tasklens.ticket_members (member, kind, source, facet, typed, place) with (security_invoker = on) as
  values
    ('statuses', 'status', 'status_id', 'status', '{status,state}'::text[], 1),
    ('projects', 'project', 'project_id', 'project', '{project}', 2),
    ('assignee', 'person', 'assignee', 'assignee', '{assignee}', 3),
    ('reporter', 'person', 'reporter', 'reporter', '{reporter,author,creator}', 4),
    ('types', 'text', 'ticket_type', 'type', '{type,issuetype}', 5),
    ('priorities', 'text', 'priority', 'priority', '{priority}', 6),
    ('labels', 'labels', 'labels', 'label', '{label,labels,tag,tags}', 7),
    ('created', 'time', 'created_at', null, '{created}', 8),
    ('updated', 'time', 'updated_at', null, '{updated}', 9),
    ('resolved', 'time', 'resolved_at', null, '{resolved,resolutiondate,closed}', 10),
    ('due', 'date', 'due_date', null, '{due,duedate}', 11),
    ('open', 'open', 'status_id', 'open', '{}', 12);
comment on view tasklens.ticket_members is
  'What tickets can be filtered by: the member of filters, its kind, its column, its facet, if it is counted, and its names as typed before a colon, here and in other trackers.';

-- The condition of one member. names, in lower case: any of them (#42 is the id 42), null for a
-- ticket without a value; all_names: all of them; start is inclusive, stop exclusive. Null: no
-- condition.
create type tasklens.filter as (
  kind text, source text, negated boolean, names text[], all_names text[], start timestamptz, stop timestamptz
);

-- The start is inclusive, the stop exclusive. A date starts at midnight UTC; as an end, the whole
-- day is included.
create function tasklens.filter_range(value jsonb, path text, kind text, out start timestamptz, out stop timestamptz)
language plpgsql stable security invoker set search_path = ''
as $$
declare
  limits record;
  at timestamptz;
begin
  if jsonb_typeof(value) <> 'object' then
    raise exception '% is of type %', path, jsonb_typeof(value) using errcode = '22023', hint = 'Use an object with from and to.';
  end if;
  for limits in
    select e.key, jsonb_typeof(e.value) as type, e.value #>> '{}' as text, e.value #>> '{}' ~ '^\d{4}-\d\d-\d\d$' as is_date from jsonb_each(value) e order by e.key
  loop
    if limits.key not in ('from', 'to') then
      raise exception '%.% is unknown', path, left(limits.key, 40) using errcode = '22023', hint = 'Use an object with from and to.';
    end if;
    continue when limits.type = 'null';
    if limits.type <> 'string' then
      raise exception '%.% is of type %', path, limits.key, limits.type using errcode = '22023', hint = 'Use a date as a string.';
    end if;
    begin
      at := case
        when limits.is_date then (limits.text || ' 00:00:00+00')::timestamptz
        when kind = 'time' and limits.text ~* '^\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$' then limits.text::timestamptz end;
    exception when data_exception then
      at := null;
    end;
    if at is null then
      raise exception '%.% is "%"', path, limits.key, left(limits.text, 40) using errcode = '22023',
        hint = case kind when 'time' then 'Use a date (2025-03-31) or a time with its zone (2025-03-31T12:00:00Z).' else 'Use a date (2025-03-31).' end;
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
comment on function tasklens.filter_range is 'A filter''s range of dates, or of times if that is its kind: from start to before stop, null if open. An invalid date is an error (22023).';

-- Null, {} and empty lists mean no filter.
create function tasklens.read_filters(filters jsonb) returns tasklens.filter[]
language plpgsql stable security invoker set search_path = ''
as $$
declare
  read tasklens.filter[] := array[]::tasklens.filter[];
  one tasklens.filter;
  part record; -- the filters, and those under "not"
  given record; -- a member of it
  list record; -- its names
  item record;
  names text[];
  accepted text[]; -- JSON types of a name
  allowed text[];
  unknown text;
  dates record;
  own_names text[];
begin
  for part in
    select p.*
    from jsonb_array_elements(case jsonb_typeof(filters) when 'array' then filters else jsonb_build_array(filters) end) f(value)
    cross join lateral (values ('filters', f.value, false), ('filters.not', f.value -> 'not', true)) p(path, members, negated)
    where jsonb_typeof(p.members) <> 'null'
  loop
    if jsonb_typeof(part.members) <> 'object' then
      raise exception '% is of type %', part.path, jsonb_typeof(part.members) using errcode = '22023', hint = 'Use an object.';
    end if;
    allowed := array(
      select m.member from tasklens.ticket_members m where not (part.negated and m.kind = 'open')
      union all select 'not' where not part.negated);
    select k into unknown from jsonb_object_keys(part.members) k where k <> all (allowed) order by k limit 1;
    if found then
      raise exception '%.% is unknown', part.path, left(unknown, 40) using errcode = '22023', hint = format('Allowed: %s.', array_to_string(allowed, ', '));
    end if;
    for given in
      select m.kind, m.source, part.path || '.' || m.member as path, part.members -> m.member as value, jsonb_typeof(part.members -> m.member) as type
      from tasklens.ticket_members m
      where jsonb_typeof(part.members -> m.member) <> 'null'
    loop
      one := row(given.kind, given.source, part.negated, null, null, null, null);
      if given.kind in ('time', 'date') then
        dates := tasklens.filter_range(given.value, given.path, given.kind);
        one.start := dates.start;
        one.stop := dates.stop;
      elsif given.kind = 'open' then
        if given.type <> 'boolean' then
          raise exception '% is of type %', given.path, given.type using errcode = '22023', hint = 'Use true or false.';
        end if;
        one.names := array[case given.value when 'true' then 'open' else 'done' end];
      else
        if given.kind = 'labels' and given.type = 'object' then
          select k into unknown from jsonb_object_keys(given.value) k where k not in ('any', 'all') order by k limit 1;
          if found then
            raise exception '%.% is unknown', given.path, left(unknown, 40) using errcode = '22023', hint = 'Use a list, or an object with any and all.';
          end if;
        end if;
        accepted := case given.kind when 'project' then array['string', 'number'] when 'person' then array['string', 'null'] else array['string'] end;
        for list in
          -- A single value counts as a list.
          select l.path, l.is_all, jsonb_typeof(l.value) = 'array' as is_list, case jsonb_typeof(l.value) when 'array' then l.value else jsonb_build_array(l.value) end as items
          from (
            select given.path, given.value, false as is_all where given.kind <> 'labels' or given.type <> 'object'
            union all
            select given.path || '.' || k, given.value -> k, k = 'all' from unnest('{any,all}'::text[]) k where given.kind = 'labels' and given.type = 'object'
          ) l
          where jsonb_typeof(l.value) <> 'null'
        loop
          if jsonb_array_length(list.items) > 50 then
            raise exception '% has % values', list.path, jsonb_array_length(list.items) using errcode = '22023', hint = 'A list has at most 50 values.';
          end if;
          names := null;
          for item in
            select list.path || case when list.is_list then format('[%s]', e.place - 1) else '' end as path, jsonb_typeof(e.value) as type, e.value #>> '{}' as text,
              lower(tasklens.filter_text(e.value #>> '{}')) as name
            from jsonb_array_elements(list.items) with ordinality e(value, place) order by e.place
          loop
            if item.type <> all (accepted) then
              raise exception '% is of type %', item.path, item.type using errcode = '22023', hint = format('Allowed types: %s.', array_to_string(accepted, ', '));
            elsif item.type = 'number' and item.text !~ '^[1-9][0-9]{0,17}$' then
              raise exception '% is %', item.path, left(item.text, 40) using errcode = '22023', hint = 'An id is a positive whole number.';
            elsif item.type = 'string' and item.name is null then
              raise exception '% is blank', item.path using errcode = '22023', hint = 'Omit it, or give a value.';
            elsif length(item.text) > 255 then
              raise exception '% has % characters', item.path, length(item.text) using errcode = '22023', hint = 'A value has at most 255.';
            end if;
            names := names || case item.type when 'number' then '#' || item.text else item.name end;
          end loop;
          if list.is_all then
            one.all_names := names;
          else
            one.names := names;
          end if;
        end loop;
        if given.kind = 'person' and 'me' = any (one.names) then
          -- The names that a tracker may use for the token's user: they affect filters, not permissions.
          own_names := array(
            select distinct lower(n.name)
            from (select auth.jwt() as claims) j
            cross join lateral (values
              (j.claims ->> 'email'), (j.claims ->> 'sub'), (j.claims #>> '{user_metadata,full_name}'), (j.claims #>> '{user_metadata,name}'),
              (j.claims #>> '{user_metadata,user_name}'), (j.claims #>> '{user_metadata,preferred_username}')) n(name)
            where tasklens.filter_text(n.name) is not null
            order by 1);
          if own_names = '{}' then
            raise exception '%: nobody is signed in, so "me" is unknown', given.path using errcode = '22023', hint = 'Give the name of the person, or sign in.';
          end if;
          one.names := array_remove(one.names, 'me') || own_names;
        end if;
      end if;
      if coalesce(one.names::text, one.all_names::text, one.start::text, one.stop::text) is not null then
        read := read || one;
      end if;
    end loop;
  end loop;
  return read;
end
$$;
comment on function tasklens.read_filters is 'The validated filters of a search (docs/sql.md): an object, or a list of objects that must all hold. Anything else is an error (22023) whose message names the member.';

insert into tasklens.migrations (version) values ('20261127000500');
