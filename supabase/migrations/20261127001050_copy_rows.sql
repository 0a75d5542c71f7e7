-- Copies what changed in attached views. What is refused has no copy, so that nobody finds what the
-- application no longer shows them.

-- A plan cached while the tables were small would read all of them for each batch.
create function tasklens.note_rows(kind text, keys text[], noted jsonb) returns void
language sql volatile security invoker set search_path = '' set plan_cache_mode = force_custom_plan
as $$
  -- What belongs to a row whose copy appeared or went is looked at again.
  insert into tasklens.changed_rows (kind, value, attempts)
  select c.kind, c.key, 0 from tasklens.attached_rows c
  where note_rows.kind in ('projects', 'tickets') and note_rows.kind = (select k.parent_kind from tasklens.attached_kinds k where k.kind = c.kind) and c.found_by && array(
    select (select p.needed[1] from tasklens.attached_kinds p where p.kind = note_rows.kind) || '=' || k.key
    from (select m.key from tasklens.attached_rows m where m.kind = note_rows.kind and m.key = any (note_rows.keys) and m.reason is null
      union all select n.key from jsonb_to_recordset(note_rows.noted) n(key text, reason text) where n.reason is null) k
    group by k.key having count(*) = 1)
  on conflict do nothing;
  delete from tasklens.attached_rows m
  where m.kind = note_rows.kind and m.key = any (note_rows.keys) and not exists (select from jsonb_to_recordset(note_rows.noted) n(key text) where n.key = m.key);
  insert into tasklens.attached_rows as m (kind, key, id, found_by, reason, blocked_by, cut, rows, refused_at)
  select note_rows.kind, n.key, n.id, array(
      select distinct c.name || '=' || (e #>> '{}')
      from tasklens.attached_views a cross join jsonb_object_keys(a.columns) c(name) cross join jsonb_path_query(n.shown, format('$[*].%s[*]', to_json(c.name))::jsonpath) e
      where a.kind = note_rows.kind and e <> 'null' order by 1), n.reason, n.blocked_by, n.cut, coalesce(n.rows, 1), case when n.refused then now() end
  from jsonb_to_recordset(note_rows.noted) n(key text, id bigint, shown jsonb, reason text, blocked_by text, cut text, rows bigint, refused boolean)
  on conflict (kind, key) do update
    set id = coalesce(excluded.id, m.id), found_by = excluded.found_by, reason = excluded.reason, blocked_by = excluded.blocked_by, cut = excluded.cut, rows = excluded.rows,
      refused_at = case when excluded.refused_at is not null then coalesce(m.refused_at, excluded.refused_at) end
    where (m.id, m.found_by, m.reason, m.blocked_by, m.cut, m.rows) is distinct from (excluded.id, excluded.found_by, excluded.reason, excluded.blocked_by, excluded.cut, excluded.rows);
$$;
comment on function tasklens.note_rows is 'Records what became of the rows with these keys, in attached_rows, and the values by which what was shown of them is found. Those that are not among noted are forgotten. What belongs to rows that now have a copy, or none any more, is queued.';

-- All members of a project are copied at once. People without an account see nothing.
create function tasklens.copy_members(keys text[], given jsonb) returns void
language sql volatile security invoker set search_path = ''
as $$
  with shown as materialized (
    select g.row, g.row ->> 'project_id' as key, p.id, g.row ->> 'user_id' as user_id, coalesce(g.row ->> 'role', 'viewer') as role,
      case when p.id is not null and (g.row ->> 'user_id' !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' or g.row ->> 'role' not in ('viewer', 'member', 'admin'))
        then format('no user %s with the role %s can be a member', g.row ->> 'user_id', coalesce(g.row ->> 'role', 'viewer')) end as fault
    from jsonb_array_elements(copy_members.given) g(row) left join tasklens.attached_rows p on p.kind = 'projects' and p.key = g.row ->> 'project_id' and p.reason is null
    where g.row ->> 'user_id' is not null
  ), good as materialized (
    select s.id, s.user_id::uuid, max(s.role::public.project_role) as role from shown s where s.id is not null and s.fault is null group by 1, 2
  ), gone as (
    delete from public.project_members m using tasklens.attached_rows p
    where p.kind = 'projects' and p.key = any (copy_members.keys) and m.project_id = p.id and not exists (select from good g where (g.id, g.user_id) = (m.project_id, m.user_id))
  ), written as (
    insert into public.project_members as m (project_id, user_id, role) select g.* from good g
    on conflict (user_id, project_id) do update set role = excluded.role where m.role <> excluded.role
  )
  select tasklens.note_rows('members', copy_members.keys, (select coalesce(jsonb_agg(n), '[]') from (
    select s.key, jsonb_agg(s.row) as shown, coalesce(min(s.fault), min(case when s.id is null then 'there is no copy of its project' end)) as reason, bool_or(s.fault is not null) as refused
    from shown s group by 1) n))
$$;
comment on function tasklens.copy_members is 'Copies the members of the projects with these keys. The reason for those that cannot be copied is kept.';

-- All links that start at a ticket are copied at once. Its parent is known from its own row.
-- Without a view of links, other links are not the application's.
create function tasklens.copy_links(keys text[], given jsonb) returns void
language sql volatile security invoker set search_path = ''
as $$
  with shown as materialized (
    select j.row, j.row ->> 'ticket_id' as key, j.row ->> 'kind' as kind, j.row ->> 'other_ticket_id' as other, p.id, j.reason
    from (
      select array_agg('links'::text) as kinds, array_agg(s.row) as rows
      from (
        select jsonb_array_elements(copy_links.given)
        union all
        select jsonb_build_object('ticket_id', t.key, 'kind', 'child_of', 'other_ticket_id', substr(f, 11))
        from tasklens.attached_rows t cross join unnest(t.found_by) f where t.kind = 'tickets' and t.key = any (copy_links.keys) and starts_with(f, 'parent_id=')) s(row)
      where s.row ->> 'other_ticket_id' is not null) g
    cross join lateral tasklens.judge_rows(g.kinds, g.rows, false) j
    left join tasklens.attached_rows p on p.kind = 'tickets' and p.key = j.row ->> 'ticket_id' and p.reason is null
  ), linked as materialized (
    select l.*
    from tasklens.write_links((select jsonb_agg(jsonb_build_object('id', s.id, 'kind', s.kind, 'other', s.other)) from shown s where s.id is not null and s.reason is null), false) l
  ), gone as (
    delete from public.ticket_links l using tasklens.attached_rows t
    where t.kind = 'tickets' and t.key = any (copy_links.keys) and l.ticket_id = t.id
      and (l.kind = 'child_of' or not exists (select from tasklens.attached_views a where a.kind = 'links' and a.view is null))
      and not exists (select from linked g where (g.ticket_id, g.kind, g.other_ticket_id) = (l.ticket_id, l.kind, l.other_ticket_id))
  )
  select tasklens.note_rows('links', copy_links.keys, (select coalesce(jsonb_agg(n), '[]') from (
    select s.key, jsonb_agg(s.row || jsonb_build_object('ticket_id', jsonb_build_array(s.key, s.other))) as shown, coalesce(min(f.fault), min(f.orphan)) as reason, bool_or(f.fault is not null) as refused
    from shown s
    left join linked l on (l.listed_by, l.kind, l.other) = (s.id, s.kind, s.other)
    cross join lateral (select case when s.id is null or l.ticket_id is null and s.reason is null then 'there is no copy of its ticket' end,
      case when s.id is null then null when s.reason is not null then s.reason when s.key = s.other then 'it is linked to itself' end) f(orphan, fault)
    group by 1) n))
$$;
comment on function tasklens.copy_links is 'Copies the links that start at the tickets with these keys. The reason for those that cannot be copied is kept; they are looked at again when a ticket at either end appears.';

create function tasklens.check_rows(kind text, given jsonb)
returns table (key text, id bigint, parent bigint, "row" jsonb, shown jsonb, cut text, blocked_by text, reason text, refused boolean)
language sql volatile security invoker set search_path = ''
as $$
  with shown as materialized (
    select g.row ->> k.needed[1] as key, row_number() over (order by min(g.place)) as place, count(*) as times, (array_agg(g.row order by g.place))[1] as row,
      k.kind, k.parent_kind, k.needed[1] as id_column, k.needed[2] as parent_column
    from jsonb_array_elements(check_rows.given) with ordinality g(row, place) join tasklens.attached_kinds k on k.kind = check_rows.kind
    group by 1, 5, 6, 7, 8
  ), known as materialized (
    select s.*, j.row as fields, j.cut, j.reason, p.id as parent, s.parent_kind is not null and p.id is null as orphan, w.key as wanted,
      coalesce(m.id, nextval(pg_get_serial_sequence('public.' || s.kind, s.id_column))) as id,
      s.kind <> 'comments' and w.key is not null and (row_number() over (partition by upper(w.key) order by m.id, s.place) > 1 or case s.kind
        when 'projects' then exists (select from public.projects o where o.key = w.key and o.project_id is distinct from m.id)
        else exists (select from public.tickets o where upper(o.key) = upper(w.key) and o.ticket_id is distinct from m.id) end) as held
    from shown s
    join tasklens.judge_rows(array(select i.kind from shown i order by i.place), array(select i.row from shown i order by i.place), false) j on j.place = s.place
    cross join lateral (select j.row ->> 'key' as key) w
    left join tasklens.attached_rows m on m.kind = s.kind and m.key = s.key
    left join tasklens.attached_rows p on p.kind = s.parent_kind and p.key = s.row ->> s.parent_column and p.reason is null
    order by s.place
  )
  select k.key, k.id, k.parent, k.fields, k.row, k.cut, case when k.held then k.wanted end, r.reason, r.reason is not null and not k.orphan
  from known k cross join lateral (select case
    when k.orphan then format('there is no copy of its %s', rtrim(k.parent_kind, 's'))
    when k.times > 1 then format('the view shows it %s times', k.times)
    when k.reason is not null then k.reason
    when k.held then format('the key %s is taken', k.wanted) end as reason) r
$$;
comment on function tasklens.check_rows is 'Rows that an attached view shows, as they are to be copied, each with the reason for which it is not, if any. Those are refused, but where only what they belong to has no copy. Locks nothing.';

create function tasklens.copy_rows(kind text, keys text[], given jsonb) returns void
language plpgsql volatile security invoker set search_path = ''
as $$
#variable_conflict use_variable
declare
  id_column constant text := (select k.needed[1] from tasklens.attached_kinds k where k.kind = copy_rows.kind);
  checked record; -- all rows; those that are written
begin
  if kind = 'members' then
    perform tasklens.copy_members(keys, given);
    return;
  elsif kind = 'links' then
    perform tasklens.copy_links(keys, given);
    return;
  end if;
  -- Rows may have swapped keys in one statement.
  execute format($statement$ update public.%1$s t set key = '~' || t.%2$s
    from tasklens.attached_rows m join jsonb_array_elements($2) g on g ->> %2$L = m.key
    where m.kind = $1 and t.%2$s = m.id and btrim(g ->> 'key') not in ('', t.key) $statement$, kind, id_column) using kind, given;
  select coalesce(jsonb_agg(to_jsonb(c) - 'row'), '[]') as batch, array_agg(c.id) filter (where c.reason is null) as ids, array_agg(c.parent) filter (where c.reason is null) as parents,
    array_agg(c.row) filter (where c.reason is null) as rows into checked from tasklens.check_rows(kind, given) c;
  execute format($statement$ delete from public.%1$s t using tasklens.attached_rows m
    where m.kind = $1 and m.key = any ($2) and t.%2$s = m.id
      and not exists (select from jsonb_to_recordset($3) b(key text, reason text) where b.key = m.key and b.reason is null) $statement$, kind, id_column) using kind, keys, checked.batch;
  if kind = 'tickets' then
    perform tasklens.note_rows('states', '{}', (select coalesce(jsonb_agg(a), '[]') from tasklens.add_states(checked.rows) a));
    -- A status has the category that a view gives; one that copies made is written as the view
    -- writes it.
    update public.status s set category = coalesce(n.category, s.category), name = case when s.status_id = m.id then n.status else s.name end
    from (
      select distinct on (lower(g.row ->> 'status')) g.row ->> 'status' as status, g.row ->> 'status_category' as category
      from unnest(checked.rows) g("row") order by lower(g.row ->> 'status'), g.row ->> 'status_category') n
    left join tasklens.attached_rows m on m.kind = 'states' and m.key = lower(n.status)
    where lower(s.name) = lower(n.status) and (s.category <> n.category or s.name <> n.status and s.status_id = m.id);
  end if;
  perform tasklens.write_rows(kind, checked.ids, checked.parents, checked.rows, false);
  perform tasklens.note_rows(kind, keys, checked.batch);
  insert into tasklens.changed_rows (kind, value, attempts)
  select 'links', b.key, 0 from jsonb_to_recordset(checked.batch) b(key text, shown jsonb)
  where b.shown ->> 'parent_id' is not null or b.shown ? 'parent_id' and exists (select from tasklens.attached_rows l where l.kind = 'links' and l.key = b.key)
  on conflict do nothing;
end
$$;
comment on function tasklens.copy_rows is 'Brings the copies of the rows with these keys in step with what their view shows. Locks them, and the statuses that it writes.';

insert into tasklens.migrations (version) values ('20261127001050');
