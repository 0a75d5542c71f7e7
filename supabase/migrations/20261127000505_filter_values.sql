-- What the values of filters can mean, for people who type them and for lists that stay empty.

-- Names are compared by trigrams. Security definer, because under row-level security no index finds
-- names; it reads only what the caller may see. A word that looks like a key, such as UTF-8, is one if
-- a project's key begins alike, or that of the one ticket of each project that an index finds first.
create function tasklens.find_filter_values(filters jsonb, close boolean)
returns table (member text, spelling text, value text, exact boolean)
language plpgsql stable rows 10 security definer set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  visible constant bigint[] := tasklens.projects_as('viewer');
  asked record; -- a member with its spellings
  stored text; -- selects value, and name, by which it is known
  unknown text[]; -- spellings that no stored value has
  resembling bigint;
begin
  for asked in
    select m.member, m.kind, m.source, array_agg(distinct s.spelling) as spellings
    from (select m.member, m.kind, m.source from tasklens.ticket_members() m union all values ('keys', 'key', 'key')) m
    cross join lateral (
      select left(tasklens.filter_text(v.value #>> '{}'), 255) as spelling
      from jsonb_path_query(filters, ('lax $.**.' || m.member || '.** ? (@.type() == "string")')::jsonpath) v(value)
      limit 500) s
    where m.kind in ('status', 'project', 'person', 'text', 'labels', 'key') and lower(s.spelling) <> 'me'
    group by 1, 2, 3
    order by 1
  loop
    stored := case asked.kind
      when 'status' then 'select s.name as value, s.name from public.status s'
      when 'project' then 'select p.key as value, n.name from public.projects p cross join lateral (values (p.key), (p.name)) n(name)
        where ($2 is null or p.project_id = any ($2))'
      when 'labels' then 'select l.name as value, l.name from public.tickets t cross join unnest(t.labels) l(name)
        where ($2 is null or t.project_id = any ($2))'
      else format('select t.%1$I as value, t.%1$I as name from public.tickets t
        where t.%1$I is not null and ($2 is null or t.project_id = any ($2))', asked.source) end;
    unknown := asked.spellings;
    for member, spelling, value, exact in execute format(
      'select $3, u.spelling, x.value, true from unnest($1) u(spelling) cross join lateral (
        select distinct on (lower(s.value)) s.value from (%s%s) s where lower(s.name) = lower(u.spelling) order by lower(s.value) limit 6) x
      order by u.spelling, x.value', stored, case asked.kind
        when 'labels' then ' and tasklens.fold_labels(t.labels) @> array[lower(u.spelling)]'
        when 'person' then format(' and lower(t.%I) = lower(u.spelling)', asked.source)
        when 'text' then format(' and lower(t.%I) = lower(u.spelling)', asked.source)
        when 'key' then ' and upper(t.key) = upper(u.spelling)' end)
      using asked.spellings, visible, asked.member
    loop
      unknown := array_remove(unknown, spelling);
      return next;
    end loop;
    continue when not close;
    foreach spelling in array unknown[:100] loop
      resembling := 0;
      if asked.kind <> 'key' then
        return query execute format($query$
          select $3, $4, b.value, false
          from (
            select s.value, s.likeness, max(s.likeness) over () as best
            from (
              select min(s.value) as value, max(greatest(extensions.similarity(lower(s.name), $1), extensions.word_similarity($1, lower(s.name)))) as likeness
              from (select distinct * from (%s) s) s group by lower(s.value)) s
          ) b
          where b.likeness >= 0.4 and b.likeness >= 0.8 * b.best
          order by b.likeness desc, b.value limit 6$query$, stored)
          using lower(spelling), visible, asked.member, spelling;
        get diagnostics resembling = row_count;
      end if;
      if resembling = 0 and (asked.kind <> 'key' or exists (
        select from public.projects p
        left join lateral (select t.key from public.tickets t where t.project_id = p.project_id order by t.status_id limit 1) t on true
        where upper(substring(spelling from '^(.*)-[0-9]+$')) in (upper(p.key), upper(substring(t.key from '^(.*)-[0-9]+$')))
          and (visible is null or p.project_id = any (visible))))
      then
        return query select asked.member, spelling, null::text, false;
      end if;
    end loop;
  end loop;
end
$$;
comment on function tasklens.find_filter_values is 'find_filter_values, in what the caller may see.';

create function public.find_filter_values(filters jsonb, close boolean default true)
returns table (member text, spelling text, value text, exact boolean)
language sql stable rows 10 security invoker set search_path = ''
as $$
  select f.* from tasklens.find_filter_values(find_filter_values.filters, find_filter_values.close) f
$$;
comment on function public.find_filter_values is
  'What the names in filters mean: each member and spelling with the stored values of that name (exact), whatever the case; if there are none and close is set, with at most six that resemble it, or null. A project is found by its name too, as its key. keys: of tickets; null is one that no ticket has, though others begin alike.';

insert into tasklens.migrations (version) values ('20261127000505');
