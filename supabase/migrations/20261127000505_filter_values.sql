-- What the values of filters can mean, for people who type them and for lists that stay empty.

-- All names of a member are looked up at once, and those that nothing has compared by trigrams with
-- the commonest values. Security definer, because under row-level security no index finds names; it
-- reads only what the caller may see. A word that looks like a key, such as UTF-8, is one if a
-- project's key begins alike, or that of the one ticket of each project that an index finds first.
create function tasklens.match_names(filters jsonb, close boolean)
returns table (member text, spelling text, value text, exact boolean, near boolean)
language plpgsql stable rows 10 security definer set search_path = '' set jit = off
as $$
#variable_conflict use_column
declare
  visible constant bigint[] := tasklens.projects_as('viewer');
  asked record; -- a member with its spellings
  stored text; -- selects value, and name, by which it is known
  unknown text[]; -- spellings that no stored value has
  room integer := 20; -- how many of these are still compared, in all members
begin
  for asked in
    select m.member, m.kind, m.source, array_agg(distinct s.spelling) as spellings
    from (select m.member, m.kind, m.source from tasklens.ticket_members m union all values ('keys', 'key', 'key')) m
    cross join lateral (
      select left(tasklens.filter_text(v.value #>> '{}'), 255) as spelling
      from jsonb_path_query(filters, ('lax $.**.' || m.member || '.** ? (@.type() == "string")')::jsonpath) v(value)
      limit 500) s
    where m.kind in ('status', 'project', 'person', 'text', 'labels', 'key') and not (m.kind = 'person' and lower(s.spelling) = 'me')
    group by 1, 2, 3
    order by 1
  loop
    stored := case asked.kind
      when 'status' then 'select s.name as value, s.name from public.status s where true'
      when 'project' then 'select p.key as value, n.name from public.projects p cross join lateral (values (p.key), (p.name)) n(name)
        where ($2 is null or p.project_id = any ($2))'
      when 'labels' then 'select l.name as value, l.name from public.tickets t cross join unnest(t.labels) l(name)
        where ($2 is null or t.project_id = any ($2))'
      when 'key' then 'select t.key as value, k.key as name from tasklens.keyed_tickets(array(select upper(u) from unnest($4) u)) k join public.tickets t using (ticket_id)
        where ($2 is null or t.project_id = any ($2))'
      else format('select t.%1$I as value, t.%1$I as name from public.tickets t
        where t.%1$I is not null and ($2 is null or t.project_id = any ($2))', asked.source) end;
    unknown := asked.spellings;
    for member, spelling, value, exact, near in execute format($query$
      select $3, u.spelling, x.value, true, true
      from unnest($1) u(spelling)
      join (
        select lower(s.name) as folded, min(s.value collate "C") as value, row_number() over (partition by lower(s.name) order by lower(s.value)) as place
        from (%s and %s) s group by lower(s.name), lower(s.value)) x on x.folded = lower(u.spelling) and x.place <= 6
      order by u.spelling, x.value$query$, stored, case asked.kind
        when 'status' then 'lower(s.name) = any ($4)'
        when 'project' then 'lower(n.name) = any ($4)'
        when 'labels' then 'tasklens.fold_labels(t.labels) && $4 and lower(l.name) = any ($4)'
        when 'key' then 'true'
        else format('lower(t.%I) = any ($4)', asked.source) end)
      using asked.spellings, visible, asked.member, array(select distinct lower(u) from unnest(asked.spellings) u)
    loop
      unknown := array_remove(unknown, spelling);
      return next;
    end loop;
    continue when not close or unknown = '{}';
    if asked.kind = 'key' then
      return query
        with stem as materialized (
          select upper(k.stem) as stem from public.projects p
          cross join lateral (
            select p.key as stem union all
            (select substring(t.key from '^(.*)-[0-9]+$') from public.tickets t where t.project_id = p.project_id order by t.status_id limit 1)) k
          where visible is null or p.project_id = any (visible))
        select asked.member, u.spelling, null::text, false, false from unnest(unknown) u(spelling)
        where upper(substring(u.spelling from '^(.*)-[0-9]+$')) in (select s.stem from stem s);
      continue;
    end if;
    if room > 0 then
      return query execute format($query$
        with known as materialized (
          select left(lower(s.name), 255) as name, lower(s.value) as folded, s.value
          from (select s.value, s.name from (%s) s group by 1, 2 order by count(*) desc, 1, 2 limit 5000) s
        ), compared as (
          select u.spelling, min(k.value) as value, max(extensions.word_similarity(lower(u.spelling), k.name)) as likeness,
            max(extensions.similarity(lower(u.spelling), k.name)) as whole_likeness
          from unnest($1) u(spelling) cross join known k group by u.spelling, k.folded
        ), ranked as (
          select c.*, max(c.likeness) over (partition by c.spelling) as best, row_number() over (partition by c.spelling order by c.likeness desc, c.value) as rank
          from compared c
        )
        select $3, u.spelling, r.value, false, r.likeness >= 0.7 or r.whole_likeness >= 0.3
        from unnest($1) u(spelling)
        left join ranked r on r.spelling = u.spelling and r.rank <= 6 and r.likeness >= 0.4 and r.likeness >= 0.8 * r.best
        order by u.spelling, r.rank$query$, stored)
        using unknown[:room], visible, asked.member;
    end if;
    return query select asked.member, u.spelling, null::text, false, false from unnest(unknown[room + 1:]) u(spelling);
    room := greatest(0, room - cardinality(unknown));
  end loop;
end
$$;
comment on function tasklens.match_names is 'find_filter_values, in what the caller may see. near: exact, or so alike that it may take the place of what is typed: foo is no forecast.';

create function public.find_filter_values(filters jsonb, close boolean default true)
returns table (member text, spelling text, value text, exact boolean)
language sql stable rows 10 security invoker set search_path = ''
as $$
  select f.member, f.spelling, f.value, f.exact from tasklens.match_names(find_filter_values.filters, find_filter_values.close) f
$$;
comment on function public.find_filter_values is
  'What the names in filters mean: each member and spelling with the stored values of that name (exact), whatever the case; if there are none and close is set, with at most six of the 5,000 commonest that resemble it, or null; of the first 20 such names, others have null. A project is found by its name too, as its key. keys: of tickets; null is one that no ticket has, though others begin alike.';

insert into tasklens.migrations (version) values ('20261127000505');
