-- Copies what changed in attached views. What is refused has no copy, so that nobody finds what the
-- application no longer shows them.

create function tasklens.found_by(kind text, shown jsonb) returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce(jsonb_object_agg(c.name, array(
    select distinct e #>> '{}' from jsonb_array_elements(found_by.shown) r
    cross join jsonb_array_elements(case jsonb_typeof(r -> c.name) when 'array' then r -> c.name else jsonb_build_array(r -> c.name) end) e
    where e <> 'null')), '{}')
  from tasklens.attached_views a cross join jsonb_object_keys(a.columns) c(name)
  where a.kind = found_by.kind
$$;
comment on function tasklens.found_by is 'The values by which these rows of an attached view are found, as in attached_rows.columns.';

create function tasklens.note_rows(kind text, keys text[], noted jsonb) returns void
language sql volatile security invoker set search_path = ''
as $$
  delete from tasklens.attached_rows m
  where m.kind = note_rows.kind and m.key = any (note_rows.keys) and not exists (select from jsonb_to_recordset(note_rows.noted) n(key text) where n.key = m.key);
  insert into tasklens.attached_rows as m (kind, key, id, columns, reason, blocked_by, cut, refused_at)
  select note_rows.kind, n.key, n.id, coalesce(n.columns, '{}'), n.reason, n.blocked_by, n.cut, case when n.refused then now() end
  from jsonb_to_recordset(note_rows.noted) n(key text, id bigint, columns jsonb, reason text, blocked_by text, cut text, refused boolean)
  on conflict (kind, key) do update
    set id = coalesce(excluded.id, m.id), columns = excluded.columns, reason = excluded.reason, blocked_by = excluded.blocked_by, cut = excluded.cut,
      refused_at = case when excluded.refused_at is not null then coalesce(m.refused_at, excluded.refused_at) end
    where (m.id, m.columns, m.reason, m.blocked_by, m.cut) is distinct from (excluded.id, excluded.columns, excluded.reason, excluded.blocked_by, excluded.cut);
$$;
comment on function tasklens.note_rows is 'Records what became of the rows with these keys, in attached_rows. Those that are not among noted are forgotten.';

create function tasklens.copy_members(keys text[], given jsonb) returns void
language sql volatile security invoker set search_path = ''
as $$
  with shown as materialized (
    select g.row ->> 'project_id' as key, p.id as project_id, g.row, g.row ->> 'user_id' as user_id, coalesce(g.row ->> 'role', 'viewer') as role,
      g.row ->> 'user_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' and coalesce(g.row ->> 'role', 'viewer') in ('viewer', 'member', 'admin') as valid
    from jsonb_array_elements(copy_members.given) g(row)
    left join tasklens.attached_rows p on p.kind = 'projects' and p.key = g.row ->> 'project_id' and p.reason is null
    where g.row ->> 'user_id' is not null -- people without an account see nothing
  ), wanted as materialized (
    select s.project_id, (case when s.valid then s.user_id end)::uuid as user_id, max((case when s.valid then s.role end)::public.project_role) as role
    from shown s where s.project_id is not null and s.valid
    group by 1, 2
  ), gone as (
    delete from public.project_members m using tasklens.attached_rows p
    where p.kind = 'projects' and p.key = any (copy_members.keys) and m.project_id = p.id
      and not exists (select from wanted w where (w.project_id, w.user_id) = (m.project_id, m.user_id))
  ), written as (
    insert into public.project_members as m (project_id, user_id, role) select w.project_id, w.user_id, w.role from wanted w
    on conflict (user_id, project_id) do update set role = excluded.role where m.role <> excluded.role
  )
  select tasklens.note_rows('members', copy_members.keys, (
    select coalesce(jsonb_agg(k), '[]') from (
      select s.key, tasklens.found_by('members', jsonb_agg(s.row)) as columns,
        min(case when s.project_id is null then 'there is no copy of its project' when not s.valid then format('no user %s with the role %s can be a member', s.user_id, s.role) end) as reason,
        bool_or(s.project_id is not null and not s.valid) as refused
      from shown s group by 1) k))
$$;
comment on function tasklens.copy_members is 'Copies the members of the projects with these keys. Those who cannot be members are left out, and the reason is kept.';

-- If only parents are shown, other links are not its own.
create function tasklens.copy_links(keys text[], given jsonb) returns void
language sql volatile security invoker set search_path = ''
as $$
  with shown as materialized (
    select g.row || jsonb_build_object('ticket_id', jsonb_build_array(g.row -> 'ticket_id', g.row -> 'other_ticket_id')) as row, g.row ->> 'ticket_id' as key, t.id as ticket_id, g.row ->> 'kind' as kind, o.id as other_ticket_id,
      case when coalesce(g.row ->> 'kind', '') not in ('duplicates', 'blocks', 'relates_to', 'child_of') then format('the kind of a link is %s: use duplicates, blocks, relates_to or child_of', g.row ->> 'kind')
        when g.row ->> 'ticket_id' = g.row ->> 'other_ticket_id' then 'it is linked to itself' end as fault
    from jsonb_array_elements(copy_links.given) g(row)
    left join tasklens.attached_rows t on t.kind = 'tickets' and t.key = g.row ->> 'ticket_id' and t.reason is null
    left join tasklens.attached_rows o on o.kind = 'tickets' and o.key = g.row ->> 'other_ticket_id' and o.reason is null
    where g.row ->> 'other_ticket_id' is not null
  ), wanted as materialized (
    select distinct s.ticket_id, s.kind, s.other_ticket_id from shown s where s.fault is null and s.ticket_id is not null and s.other_ticket_id is not null
  ), gone as (
    delete from public.ticket_links l using tasklens.attached_rows t, tasklens.attached_views a
    where t.kind = 'tickets' and t.key = any (copy_links.keys) and l.ticket_id = t.id and a.kind = 'links' and (a.columns ? 'kind' or l.kind = 'child_of')
      and not exists (select from wanted w where (w.ticket_id, w.kind, w.other_ticket_id) = (l.ticket_id, l.kind, l.other_ticket_id))
  ), written as (
    insert into public.ticket_links (ticket_id, kind, other_ticket_id) select w.* from wanted w order by 1, 2, 3 on conflict do nothing
  )
  select tasklens.note_rows('links', copy_links.keys, (
    select coalesce(jsonb_agg(k), '[]') from (
      select s.key, tasklens.found_by('links', jsonb_agg(s.row)) as columns,
        coalesce(min(s.fault), min(case when s.ticket_id is null or s.other_ticket_id is null then 'there is no copy of its ticket' end)) as reason, bool_or(s.fault is not null) as refused
      from shown s group by 1) k))
$$;
comment on function tasklens.copy_links is 'Copies the links that start at the tickets with these keys. The reason for those that cannot be copied is kept; they are looked at again when a ticket at either end appears.';

-- What is refused has a reason. Values that a copy cannot be without are filled.
create function tasklens.check_rows(kind text, given jsonb)
returns table (key text, id bigint, "row" jsonb, columns jsonb, cut text, blocked_by text, status text, category text, reason text, refused boolean)
language sql volatile security invoker set search_path = ''
as $$
  with shown as (
    select g.row ->> k.needed[1] as key, min(g.place) as place, count(*) as times, (array_agg(g.row))[1] as row, k.kind, k.parent_kind, k.needed[1] as id_column, k.needed[2] as parent_column
    from jsonb_array_elements(check_rows.given) with ordinality g(row, place) cross join tasklens.attached_kinds() k
    where k.kind = check_rows.kind
    group by 1, 5, 6, 7, 8
  ), known as materialized (
    select s.*, p.id as parent, nullif(btrim(s.row ->> 'key'), '') as wanted,
      coalesce(m.id, nextval(pg_get_serial_sequence('public.' || s.kind, s.id_column))) as id,
      case when s.kind = 'tickets' then btrim(coalesce(s.row ->> 'status', 'To Do')) end as status, nullif(btrim(s.row ->> 'status_category'), '') as category
    from shown s
    left join tasklens.attached_rows m on m.kind = s.kind and m.key = s.key
    left join tasklens.attached_rows p on p.kind = s.parent_kind and p.key = s.row ->> s.parent_column and p.reason is null
    order by s.place
  ), held as (
    select k.*, k.kind <> 'comments' and k.wanted is not null and (row_number() over (partition by upper(k.wanted) order by k.id) > 1 or case k.kind
      when 'projects' then exists (select from public.projects p where p.key = k.wanted and p.project_id <> k.id)
      else exists (select from public.tickets t where upper(t.key) = upper(k.wanted) and t.ticket_id <> k.id) end) as held
    from known k
  ), judged as (
    select h.*, f.fields, f.cut, h.parent_kind is not null and h.parent is null as orphan, case
      when h.parent_kind is not null and h.parent is null then format('there is no copy of its %s', rtrim(h.parent_kind, 's'))
      when h.times > 1 then format('the view shows it %s times', h.times)
      when length(h.wanted) > 255 then format('its key has %s characters, more than 255', length(h.wanted))
      when h.status = '' then 'its status is empty'
      when length(h.status) > 100 then format('its status has %s characters, more than 100', length(h.status))
      when h.category not in ('to_do', 'in_progress', 'done') then format('its status_category is %s: use to_do, in_progress or done', left(h.category, 100))
      when f.no_time is not null then f.no_time
      when h.held then format('the key %s is taken', h.wanted) end as reason
    from held h cross join lateral (
      select jsonb_object_agg(e.key, v.value) as fields,
        string_agg(e.key, ', ' order by e.key) filter (where e.key in ('name', 'assignee', 'reporter', 'author', 'ticket_type', 'priority') and v.value <> e.value and e.value <> 'null'
          or e.key = 'labels' and exists (select from jsonb_path_query(e.value, '$[*]') l where length(l #>> '{}') > 1000)) as cut,
        min(format('its %s is %s, not a time of the years 1 to 9999', e.key, e.value #>> '{}')) filter (
          where e.key in ('created_at', 'updated_at', 'resolved_at', 'due_date') and e.value #>> '{}' ~* '^[-+]?infinity|^\d{5,}-|BC$') as no_time
      from jsonb_each(h.row) e cross join lateral (select case
        when e.value = 'null' then case when e.key in ('name', 'body') then '""' when e.key = 'labels' then '[]' else 'null' end::jsonb
        when e.key = 'labels' and jsonb_typeof(e.value) = 'array' then (select coalesce(jsonb_agg(left(l #>> '{}', 1000)), '[]') from jsonb_array_elements(e.value) l where l <> 'null')
        when e.key in ('name', 'assignee', 'reporter', 'author', 'ticket_type', 'priority') then to_jsonb(left(e.value #>> '{}', 1000))
        else e.value end as value) v
      where e.key <> 'key' and not (e.key in ('created_at', 'updated_at') and e.value = 'null')
    ) f
  )
  select j.key, j.id, j.fields || jsonb_strip_nulls(jsonb_build_object('key', j.wanted)) || jsonb_build_object(j.id_column, j.id)
      || case when j.parent_column is null then '{}' else jsonb_build_object(j.parent_column, j.parent) end,
    tasklens.found_by(j.kind, jsonb_build_array(j.row)), j.cut, case when j.held then j.wanted end, j.status, j.category,
    j.reason, j.reason is not null and not j.orphan
  from judged j
$$;
comment on function tasklens.check_rows is 'Rows that an attached view shows, as they are to be copied, each with the reason for which it is not, if any. Those are refused, but where only what they belong to has no copy.';

-- A plan cached while the tables were empty would scan all of them.
create function tasklens.copy_rows(kind text, keys text[], given jsonb) returns void
language plpgsql volatile security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_variable
declare
  id_column constant text := (select k.needed[1] from tasklens.attached_kinds() k where k.kind = copy_rows.kind);
  former constant text[] := array(select m.key from tasklens.attached_rows m where m.kind = copy_rows.kind and m.key = any (keys) and m.reason is null);
  fields record;
  batch jsonb;
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
  select coalesce(jsonb_agg(c), '[]') into batch from tasklens.check_rows(kind, given) c;
  execute format($statement$ delete from public.%1$s t using tasklens.attached_rows m
    where m.kind = $1 and m.key = any ($2) and t.%2$s = m.id
      and not exists (select from jsonb_to_recordset($3) b(key text, reason text) where b.key = m.key and b.reason is null) $statement$, kind, id_column) using kind, keys, batch;
  with named as materialized (
    select distinct on (lower(b.status)) b.status, b.category from jsonb_to_recordset(batch) b(status text, category text, reason text)
    where b.status is not null and b.reason is null order by lower(b.status), b.category
  ), changed as (
    -- A status that copies made is written as the view writes it.
    update public.status s set category = coalesce(n.category, s.category), name = case when m.id is null then s.name else n.status end
    from named n left join tasklens.attached_rows m on m.kind = 'states' and m.key = lower(n.status)
    where lower(s.name) = lower(n.status) and (s.category <> n.category or s.name <> n.status and m.id is not null)
  ), added as (
    insert into public.status (name, category) select n.status, n.category from named n
    where not exists (select from public.status s where lower(s.name) = lower(n.status)) on conflict do nothing
    returning lower(name) as key, status_id as id
  )
  select coalesce(jsonb_agg(a), '[]') into given from added a;
  perform tasklens.note_rows('states', '{}', given);
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
  -- Where the row changed and the view's time did not, a trigger has set the present.
  execute format($statement$ update public.%1$s t set updated_at = r.updated_at
    from jsonb_to_recordset($1) b("row" jsonb, reason text) cross join lateral jsonb_populate_record(null::public.%1$s, b.row) r
    where b.reason is null and t.%2$s = r.%2$s and t.updated_at <> r.updated_at $statement$, kind, id_column) using batch;
  perform tasklens.note_rows(kind, keys, batch);
  -- What belongs to a row whose copy appeared or went is looked at again, and who has a parent.
  insert into tasklens.changed_rows (kind, value)
  select c.kind, c.key
  from (select unnest(former) as key union all select b.key from jsonb_to_recordset(batch) b(key text, reason text) where b.reason is null) k
  cross join lateral (
    select c.kind, c.key from tasklens.attached_kinds() a join tasklens.attached_rows c on c.kind = a.kind
    where a.parent_kind = kind and c.columns @> jsonb_build_object(id_column, jsonb_build_array(k.key))) c
  group by 1, 2 having count(*) = 1
  union
  select 'links', b.key from jsonb_to_recordset(batch) b(key text, "row" jsonb)
  where b.row ->> 'parent_id' is not null or b.row ? 'parent_id' and exists (select from tasklens.attached_rows l where l.kind = 'links' and l.key = b.key);
end
$$;
comment on function tasklens.copy_rows is 'Brings the copies of the rows with these keys in step with what their view shows.';

-- Rows known and rows shown, each by pages, since one statement cannot take all.
create function tasklens.expand_changes(kind text, by_column text, sought text[], progress jsonb, page integer) returns jsonb
language plpgsql volatile security invoker set search_path = '' set enable_seqscan = off set jit = off
as $$
#variable_conflict use_variable
declare
  key constant text := (select k.needed[1] from tasklens.attached_kinds() k where k.kind = expand_changes.kind);
  source constant tasklens.attached_views := (select a from tasklens.attached_views a where a.kind = expand_changes.kind);
  type constant text := source.columns ->> by_column;
  queued bigint;
  last text;
begin
  if progress -> 'known' is distinct from 'false' then
    with next as (
      select m.key from tasklens.attached_rows m
      where m.kind = kind and m.key > coalesce(progress ->> 'known', '') and m.key <> '*'
        and (by_column = '*' or m.columns @> any (array(select jsonb_build_object(by_column, jsonb_build_array(f)) from unnest(sought) f)))
      order by m.key limit page
    ), added as (
      insert into tasklens.changed_rows (kind, value) select kind, n.key from next n
    )
    select count(*), max(n.key) into queued, last from next n;
    progress := progress || jsonb_build_object('known', case when queued = page then to_jsonb(last) else 'false' end);
  end if;
  queued := 0;
  if source.view is not null then
    execute format($statement$
      with next as (select distinct v.%1$I as id from %2$s v where v.%1$I is not null%3$s%4$s order by 1 limit $1),
        added as (insert into tasklens.changed_rows (kind, value) select $2, to_jsonb(n.id) #>> '{}' from next n)
      select count(*), (array_agg(to_jsonb(n.id) #>> '{}' order by n.id desc))[1] from next n $statement$, key, source.view,
        case when by_column = '*' then '' when type like '%[]' then format(' and v.%I && $3::%s', by_column, type) else format(' and v.%I = any ($3::%s[])', by_column, type) end,
        case when progress ? 'shown' then format(' and v.%I > %L::%s', key, progress ->> 'shown', source.columns ->> key) end)
      into queued, last using page, kind, sought;
    progress := progress || jsonb_strip_nulls(jsonb_build_object('shown', last));
  end if;
  return case when queued = page or progress -> 'known' <> 'false' then progress end;
end
$$;
comment on function tasklens.expand_changes is 'Queues the keys of the next rows that have one of these values in a column (or of all: *). Returns how far it came; null at the end.';

-- One call at a time: a second one could store what it read before the first one read. What fails
-- is tried again after all else, among fewer rows, until one row alone is refused.
create function public.copy_changes(row_limit integer default 1000) returns bigint
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off set jit = off set lock_timeout = '2s'
as $$
#variable_conflict use_variable
declare
  most constant bigint := tasklens.clamp(row_limit, 1000, 1, 100000);
  budget constant interval := nullif(current_setting('statement_timeout'), '0')::interval / 4;
  handled bigint := 0;
  began timestamptz;
  part record;
  source tasklens.attached_views;
  change record; -- of a column, or of all
  ids bigint[];
  keys text[];
  given jsonb;
  later text[]; -- keys beyond a megabyte
  entries bigint;
  size integer;
  passing boolean;
begin
  if not pg_try_advisory_xact_lock(hashtext('tasklens.copy_changes')) then
    return null;
  end if;
  with freed as (
    update tasklens.attached_rows m set blocked_by = null
    where m.blocked_by is not null and case m.kind
      when 'projects' then not exists (select from public.projects p where p.key = m.blocked_by)
      else not exists (select from public.tickets t where upper(t.key) = upper(m.blocked_by)) end
    returning m.kind, m.key
  )
  insert into tasklens.changed_rows (kind, value) select f.kind, f.key from freed f;
  <<copying>>
  for part in
    -- Parents first.
    select k.kind, k.needed[1] as key, t.tries, (array[200, 14, 1])[t.tries + 1] as size, (array[20000, 1000, 100])[t.tries + 1] as page,
      case when t.tries = 2 then (select coalesce(max(q.change_id), 0) from tasklens.changed_rows q) end as last
    from generate_series(0, 2) t(tries) cross join tasklens.attached_kinds() k order by t.tries, k.place
  loop
    select a.* into source from tasklens.attached_views a where a.kind = part.kind;
    size := part.size;
    loop
      began := clock_timestamp();
      exit when handled >= most or handled > 0 and began > statement_timestamp() + budget;
      -- What changed in other columns, or as a whole, becomes keys first.
      select q.by_column, q.progress into change from tasklens.changed_rows q 
        where q.kind = part.kind and q.attempts = part.tries and q.change_id <= coalesce(part.last, q.change_id) order by q.by_column is null, q.change_id limit 1;
      exit when not found;
      select array_agg(f.change_id), array_agg(distinct f.value), count(*) into ids, keys, entries
      from (
        select q.change_id, q.value from tasklens.changed_rows q
        where q.kind = part.kind and q.attempts = part.tries and (q.by_column is null) = (change.by_column is null)
          and (q.by_column, q.progress) is not distinct from (change.by_column, change.progress) and q.change_id <= coalesce(part.last, q.change_id)
        order by q.change_id limit least(size, most - handled)) f;
      exit when ids is null;
      given := null;
      begin
        if change.by_column is not null then
          given := tasklens.expand_changes(part.kind, change.by_column, keys, change.progress, part.page);
          with taken as (delete from tasklens.changed_rows q where q.change_id = any (ids) returning q.*)
          insert into tasklens.changed_rows (kind, by_column, value, progress, attempts, queued_at)
          select t.kind, t.by_column, t.value, given, t.attempts, t.queued_at from taken t where given is not null;
        else
          later := '{}';
          given := '[]';
          if source.view is not null then
            given := null;
            execute format($statement$
              with shown as materialized (select to_jsonb(v) as row, row_number() over (order by v.%2$I) as place from %1$s v where v.%2$I = any ($1::%3$s[])),
                sized as (select s.row ->> %2$L as key, sum(sum(octet_length(s.row::text))) over (order by s.row ->> %2$L) - sum(octet_length(s.row::text)) > 1000000 as later from shown s group by 1)
              select coalesce((select jsonb_agg(s.row order by s.place) from shown s join sized z on z.key = s.row ->> %2$L where not z.later), '[]'), array(select z.key from sized z where z.later) $statement$,
              source.view, part.key, source.columns ->> part.key) into given, later using keys;
          end if;
          delete from tasklens.changed_rows q where q.change_id = any (ids) and q.value <> all (later);
          get diagnostics entries = row_count;
          keys := array(select k from unnest(keys) k where k <> all (later));
          perform tasklens.copy_rows(part.kind, keys, given);
          size := least(part.size, 2 * cardinality(keys));
        end if;
        delete from tasklens.attached_rows m where m.kind = part.kind and m.key = '*'
          and not exists (select from tasklens.changed_rows q where q.kind = part.kind and q.attempts > 0 and (q.by_column is null) = false);
        handled := handled + entries;
      exception when others or query_canceled then
        -- What says nothing of these rows: locks, disks. Of a cancelled statement, the little time it had.
        passing := sqlstate ~ '^(40|53|55|57|58|XX00[12])' and (sqlstate = '57014' and clock_timestamp() > began + 2 * budget) is not true;
        if passing then
          raise warning 'copy_changes: % (%)', sqlerrm, sqlstate;
        elsif change.by_column is not null or given is null and sqlstate ~ '^42' then
          insert into tasklens.attached_rows as m (kind, key, reason, refused_at) values (part.kind, '*', sqlerrm, now())
          on conflict on constraint attached_rows_pkey do update set reason = excluded.reason where m.reason <> excluded.reason;
          exit when change.by_column is null; -- the view is not there, and all rows wait for it
        else
          handled := handled + entries;
        end if;
        if part.tries = 2 and change.by_column is null and not passing then
          begin
            perform tasklens.copy_rows(part.kind, keys, '[]');
          exception when others then
            null; -- the copy cannot go, such as for a foreign key
          end;
          perform tasklens.note_rows(part.kind, keys, jsonb_build_array(jsonb_build_object('key', keys[1], 'reason', sqlerrm, 'refused', true)));
        end if;
        with taken as (delete from tasklens.changed_rows q where q.change_id = any (ids) returning q.*)
        insert into tasklens.changed_rows (kind, by_column, value, progress, attempts, queued_at)
        select t.kind, t.by_column, t.value, t.progress, least(2, t.attempts + 1), t.queued_at from taken t
        where part.tries < 2 or t.by_column is not null or passing;
        exit copying when passing or sqlstate = '57014';
      end;
    end loop;
  end loop;
  if handled > 0 then
    perform tasklens.drop_unused_states();
  end if;
  return handled;
end
$$;
comment on function public.copy_changes is
  'Copies what changed in attached views, at most row_limit entries of the queue, for at most a quarter of the statement timeout, and returns how many that were: call it until it returns 0; null while another call is copying. Workers call it before they claim jobs.';

insert into tasklens.migrations (version) values ('20261127001050');
