-- Copies what changed in attached views. What is refused has no copy, so that nobody finds what the
-- application no longer shows them.

create function private.copy_members(keys text[], failure text) returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  source constant private.attached_views := (select a from private.attached_views a where a.kind = 'members');
  given jsonb := '[]'::jsonb;
begin
  if copy_members.failure is null and source.view is not null then
    execute format('select coalesce(jsonb_agg(to_jsonb(v)), ''[]'') from %s v where v.project_id = any ($1::%s[])', source.view, source.columns ->> 'project_id')
      into given using copy_members.keys;
  end if;
  with shown as materialized (
    select g.row ->> 'project_id' as key, p.id as project_id, g.row, g.row ->> 'user_id' as user_id, coalesce(g.row ->> 'role', 'viewer') as role,
      g.row ->> 'user_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' and coalesce(g.row ->> 'role', 'viewer') in ('viewer', 'member', 'admin') as valid
    from jsonb_array_elements(given) g(row)
    left join private.attached_rows p on p.kind = 'projects' and p.key = g.row ->> 'project_id' and p.reason is null
    where g.row ->> 'user_id' is not null -- people without an account see nothing
  ), wanted as materialized (
    select s.project_id, (case when s.valid then s.user_id end)::uuid as user_id, max((case when s.valid then s.role end)::public.project_role) as role
    from shown s where s.project_id is not null and s.valid
    group by 1, 2
  ), gone as (
    delete from public.project_members m using private.attached_rows p
    where p.kind = 'projects' and p.key = any (copy_members.keys) and m.project_id = p.id
      and not exists (select from wanted w where (w.project_id, w.user_id) = (m.project_id, m.user_id))
  ), written as (
    insert into public.project_members as m (project_id, user_id, role) select w.project_id, w.user_id, w.role from wanted w
    on conflict (user_id, project_id) do update set role = excluded.role where m.role <> excluded.role
  ), forgotten as (
    delete from private.attached_rows m
    where m.kind = 'members' and m.key = any (copy_members.keys) and copy_members.failure is null and not exists (select from shown s where s.key = m.key)
  )
  insert into private.attached_rows as m (kind, key, columns, reason, refused_at)
  select 'members', k.key, coalesce(c.columns, '{}'), k.reason, case when k.refused then now() end
  from (
    select s.key, min(case when s.project_id is null then 'there is no copy of its project'
        when not s.valid then format('no user %s with the role %s can be a member', s.user_id, s.role) end) as reason,
      bool_or(s.project_id is not null and not s.valid) as refused
    from shown s group by 1
    union all
    select f, copy_members.failure, true from unnest(copy_members.keys) f where copy_members.failure is not null
  ) k
  left join lateral (
    select jsonb_object_agg(v.name, v.found) as columns from (
      select c.name, jsonb_agg(distinct s.row ->> c.name) as found
      from shown s cross join jsonb_object_keys(source.columns) c(name)
      where s.key = k.key group by 1) v
  ) c on true
  on conflict (kind, key) do update
    set columns = excluded.columns, reason = excluded.reason, refused_at = case when excluded.refused_at is not null then coalesce(m.refused_at, excluded.refused_at) end
    where (m.columns, m.reason) is distinct from (excluded.columns, excluded.reason);
end
$$;
comment on function private.copy_members is 'Copies the members of the projects with these keys. Those who cannot be members are left out, and the reason is kept.';

-- What is refused has a reason. Values that a copy cannot be without are filled.
create function private.check_rows(kind text, given jsonb, failure text)
returns table (key text, id bigint, "row" jsonb, columns jsonb, wanted text, status text, category text, held boolean, reason text, orphan boolean)
language sql volatile security invoker set search_path = ''
as $$
  with shown as (
    select g.row ->> i.id_column as key, count(*) as times, (array_agg(g.row))[1] as row, i.*
    from jsonb_array_elements(check_rows.given) g(row)
    cross join (values
      ('projects', 'project_id', null, null), ('tickets', 'ticket_id', 'projects', 'project_id'), ('comments', 'comment_id', 'tickets', 'ticket_id')
    ) as i(kind, id_column, parent_kind, parent_column)
    where i.kind = check_rows.kind
    group by 1, i.kind, i.id_column, i.parent_kind, i.parent_column
  ), known as materialized (
    select s.*, p.id as parent, nullif(btrim(s.row ->> 'key'), '') as wanted,
      coalesce(m.id, nextval(pg_get_serial_sequence('public.' || s.kind, s.id_column))) as id,
      case when s.kind = 'tickets' then btrim(coalesce(s.row ->> 'status', 'To Do')) end as status
    from shown s
    left join private.attached_rows m on m.kind = s.kind and m.key = s.key
    left join private.attached_rows p on p.kind = s.parent_kind and p.key = s.row ->> s.parent_column and p.reason is null
  ), held as (
    select k.*, k.kind <> 'comments' and k.wanted is not null and (row_number() over (partition by upper(k.wanted) order by k.id) > 1 or case k.kind
      when 'projects' then exists (select from public.projects p where p.key = k.wanted and p.project_id <> k.id)
      else exists (select from public.tickets t where upper(t.key) = upper(k.wanted) and t.ticket_id <> k.id) end) as held
    from known k
  )
  select h.key, h.id,
    (select coalesce(jsonb_object_agg(e.key, case when e.value <> 'null' then e.value when e.key in ('name', 'body') then '""' when e.key = 'labels' then '[]' else 'null' end), '{}')
      from jsonb_each(h.row) e where e.key <> 'key' and not (e.key in ('created_at', 'updated_at') and e.value = 'null'))
      || jsonb_strip_nulls(jsonb_build_object('key', h.wanted)) || jsonb_build_object(h.id_column, h.id)
      || case when h.parent_column is null then '{}' else jsonb_build_object(h.parent_column, h.parent) end,
    coalesce((select jsonb_object_agg(c, jsonb_build_array(h.row ->> c)) from private.attached_views a cross join jsonb_object_keys(a.columns) c where a.kind = h.kind), '{}'),
    h.wanted, h.status, case when h.row ->> 'status_category' in ('to_do', 'in_progress', 'done') then h.row ->> 'status_category' end, h.held,
    coalesce(check_rows.failure, case
      when h.parent_kind is not null and h.parent is null then format('there is no copy of its %s', rtrim(h.parent_kind, 's'))
      when h.times > 1 then format('the view shows it %s times', h.times)
      when length(h.wanted) > 255 then format('its key has %s characters, more than 255', length(h.wanted))
      when h.status = '' then 'its status is empty'
      when length(h.status) > 100 then format('its status has %s characters, more than 100', length(h.status))
      when h.held then format('the key %s is taken', h.wanted) end),
    h.parent_kind is not null and h.parent is null and check_rows.failure is null
  from held h
$$;
comment on function private.check_rows is 'Rows that an attached view shows, as they are to be copied, each with the reason for which it is not, if any; orphan: because what it belongs to has no copy.';

-- Called again with failure, it refuses the one row that made it fail. A plan cached while the
-- tables were empty would scan all of them.
create function private.copy_rows(kind text, keys text[], failure text default null) returns void
language plpgsql volatile security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_variable
declare
  id_column constant text := case kind when 'tickets' then 'ticket_id' when 'comments' then 'comment_id' else 'project_id' end;
  former constant text[] := array(select m.key from private.attached_rows m where m.kind = copy_rows.kind and m.key = any (keys) and m.reason is null);
  source constant private.attached_views := (select a from private.attached_views a where a.kind = copy_rows.kind);
  fields record;
  given jsonb := '[]'::jsonb;
  batch jsonb;
begin
  if kind = 'members' then
    perform private.copy_members(keys, failure);
    return;
  end if;
  if failure is not null then
    given := jsonb_build_array(jsonb_build_object(id_column, keys[1]));
  elsif source.view is not null then
    execute format('select coalesce(jsonb_agg(to_jsonb(v)), ''[]'') from %s v where v.%I = any ($1::%s[])', source.view, id_column, source.columns ->> id_column)
      into given using keys;
  end if;
  -- Rows may have swapped keys in one statement.
  execute format($statement$ update public.%1$s t set key = '~' || t.%2$s
    from private.attached_rows m join jsonb_array_elements($2) g on g ->> %2$L = m.key
    where m.kind = $1 and t.%2$s = m.id and btrim(g ->> 'key') not in ('', t.key) $statement$, kind, id_column) using kind, given;
  select coalesce(jsonb_agg(c), '[]') into batch from private.check_rows(kind, given, failure) c;
  execute format($statement$ delete from public.%1$s t using private.attached_rows m
    where m.kind = $1 and m.key = any ($2) and t.%2$s = m.id
      and not exists (select from jsonb_to_recordset($3) b(key text, reason text) where b.key = m.key and b.reason is null) $statement$, kind, id_column) using kind, keys, batch;
  insert into public.status (name, category)
  select distinct on (lower(b.status)) b.status, b.category from jsonb_to_recordset(batch) b(status text, category text, reason text)
  where b.status is not null and b.reason is null and not exists (select from public.status s where lower(s.name) = lower(b.status))
  order by lower(b.status), b.category
  on conflict do nothing;
  select string_agg(format('%I', a.attname), ', ') as names, string_agg(format('r.%I', a.attname), ', ') as given, string_agg(format('o.%I', a.attname), ', ') as stored
  into fields from pg_catalog.pg_attribute a
  where a.attrelid = ('public.' || kind)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attname <> id_column;
  execute format($statement$
    with given as materialized (
      select (b.row ->> %2$L)::bigint as id, b.row || jsonb_build_object('status_id', s.status_id) as row
      from jsonb_to_recordset($1) b("row" jsonb, status text, reason text) left join public.status s on lower(s.name) = lower(b.status)
      where b.reason is null
    ), changed as (
      update public.%1$s t set (%3$s) = row(%4$s)
      from given g join public.%1$s o on o.%2$s = g.id cross join lateral jsonb_populate_record(o, g.row) r
      where t.%2$s = g.id and (%5$s) is distinct from (%4$s)
    )
    insert into public.%1$s (%2$s, %3$s)
    select g.id, %4$s from given g
    cross join lateral jsonb_populate_record(null::public.%1$s, jsonb_build_object('name', '', 'body', '', 'labels', '{}'::text[], 'created_at', now(), 'updated_at', now()) || g.row) r
    where not exists (select from public.%1$s t where t.%2$s = g.id)
    order by g.id $statement$, kind, id_column, fields.names, fields.given, fields.stored) using batch;
  delete from private.attached_rows m where m.kind = copy_rows.kind and m.key = any (keys) and not exists (select from jsonb_to_recordset(batch) b(key text) where b.key = m.key);
  insert into private.attached_rows as m (kind, key, id, columns, reason, blocked_by, refused_at)
  select kind, b.key, b.id, b.columns, b.reason, case when b.held and failure is null then b.wanted end, case when b.reason is not null and not b.orphan then now() end
  from jsonb_to_recordset(batch) b(key text, id bigint, columns jsonb, wanted text, held boolean, reason text, orphan boolean)
  on conflict on constraint attached_rows_pkey do update
    set id = excluded.id, columns = excluded.columns, reason = excluded.reason, blocked_by = excluded.blocked_by,
      refused_at = case when excluded.refused_at is not null then coalesce(m.refused_at, excluded.refused_at) end
    where (m.id, m.columns, m.reason, m.blocked_by) is distinct from (excluded.id, excluded.columns, excluded.reason, excluded.blocked_by);
  -- What belongs to a row whose copy appeared or went is looked at again.
  insert into private.changed_rows (kind, by_column, value)
  select c.kind, case c.kind when 'members' then 'project_id' when 'tickets' then 'ticket_id' else 'comment_id' end, c.key
  from (select unnest(former) as key union all select b.key from jsonb_to_recordset(batch) b(key text, reason text) where b.reason is null) k
  cross join lateral (
    select c.kind, c.key from private.attached_rows c
    where c.kind = any (case kind when 'projects' then '{members,tickets}'::text[] when 'tickets' then '{comments}' end) and c.columns @> jsonb_build_object(id_column, jsonb_build_array(k.key))) c
  group by 1, 2, 3 having count(*) = 1;
exception when others then
  if failure is not null or sqlstate ~ '^(40|53|55|57|58|XX)' then -- not for want of a good row
    raise;
  elsif cardinality(keys) = 1 then
    perform private.copy_rows(kind, keys, sqlerrm);
  else
    perform private.copy_rows(kind, keys[:cardinality(keys) / 2]);
    perform private.copy_rows(kind, keys[cardinality(keys) / 2 + 1:]);
  end if;
end
$$;
comment on function private.copy_rows is 'Brings the copies of the rows with these keys in step with what their view shows. If some cannot be stored, it refuses those alone.';

-- One call at a time: a second one could store what it read before the first one read.
create function public.copy_changes(row_limit integer default 1000) returns bigint
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_variable
declare
  most constant bigint := private.clamp(row_limit, 1000, 1, 100000);
  handled bigint := 0;
  kind text;
  id_column text;
  change record;
  keys text[];
  entries bigint;
  source private.attached_views;
begin
  if not pg_try_advisory_xact_lock(hashtext('private.copy_changes')) then
    return null;
  end if;
  with freed as (
    update private.attached_rows m set blocked_by = null
    where m.blocked_by is not null and case m.kind
      when 'projects' then not exists (select from public.projects p where p.key = m.blocked_by)
      else not exists (select from public.tickets t where upper(t.key) = upper(m.blocked_by)) end
    returning m.kind, m.key
  )
  insert into private.changed_rows (kind, by_column, value)
  select f.kind, case f.kind when 'projects' then 'project_id' else 'ticket_id' end, f.key from freed f;
  -- Parents first. What changed in other columns, or as a whole, becomes keys.
  foreach kind in array '{projects,members,tickets,comments}'::text[] loop
    id_column := case kind when 'tickets' then 'ticket_id' when 'comments' then 'comment_id' else 'project_id' end;
    select a.* into source from private.attached_views a where a.kind = kind;
    for change in
      with taken as (delete from private.changed_rows q where q.kind = kind and q.by_column <> id_column returning q.by_column, q.value)
      select t.by_column, array_agg(distinct t.value) as found, count(*) as entries from taken t group by 1
    loop
      handled := handled + change.entries;
      begin
        insert into private.changed_rows (kind, by_column, value)
        select kind, id_column, m.key from private.attached_rows m where m.kind = kind and change.by_column = '*' and m.key <> '*'
        union
        select kind, id_column, m.key from unnest(change.found) f
        cross join lateral (select m.key from private.attached_rows m where m.kind = kind and m.columns @> jsonb_build_object(change.by_column, jsonb_build_array(f))) m;
        if source.view is not null then
          execute format('insert into private.changed_rows (kind, by_column, value) select distinct $1, $2, to_jsonb(v.%I) #>> ''{}'' from %s v %s', id_column, source.view,
            case when change.by_column <> '*' then format('where v.%I = any ($3::%s[])', change.by_column, source.columns ->> change.by_column) end) using kind, id_column, change.found;
        end if;
        delete from private.attached_rows m where m.kind = kind and m.key = '*';
      exception when others then
        if sqlstate ~ '^(40|53|55|57|58|XX)' then
          raise;
        end if;
        insert into private.attached_rows (kind, key, reason, refused_at) values (kind, '*', sqlerrm, now()) on conflict do nothing;
      end;
    end loop;
    -- What writers have queued by another column meanwhile is for the next call.
    while handled < most loop
      with taken as (
        delete from private.changed_rows q
        where q.change_id = any (array(
            select f.change_id from private.changed_rows f where f.kind = kind and f.by_column = id_column order by f.change_id limit least(200, most - handled)))
        returning q.value
      )
      select array_agg(distinct t.value), count(*) into keys, entries from taken t;
      exit when keys is null;
      perform private.copy_rows(kind, keys);
      handled := handled + entries;
    end loop;
    exit when handled >= most;
  end loop;
  return handled;
end
$$;
comment on function public.copy_changes is
  'Copies what changed in attached views, at most row_limit entries of the queue, and returns how many that were: call it until it returns 0; null while another call is copying. Workers call it before they claim jobs.';

insert into private.migrations (version) values ('20261127001050');
