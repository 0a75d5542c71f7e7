-- Tickets that an application keeps in tables of its own. Views over them are attached; triggers
-- on the tables only queue what changed, and copy_changes brings the copies in step.

create table private.attached_views (
  kind text primary key check (kind in ('projects', 'members', 'tickets', 'comments')),
  view text not null,
  columns jsonb not null
);
comment on table private.attached_views is 'The views whose rows are copied.';
comment on column private.attached_views.columns is 'The columns by which rows are found when a table changes, with their types: {"ticket_id": "uuid"}.';

create table private.attached_rows (
  kind text not null,
  key text not null,
  id bigint,
  columns jsonb not null default '{}',
  reason text,
  blocked_by text,
  refused_at timestamptz,
  primary key (kind, key)
);
comment on table private.attached_rows is
  'The rows of attached views by their own key (members: by their project''s), with the id of the copy. What has no copy has a reason; key * is a whole view that could not be read.';
comment on column private.attached_rows.columns is 'The values by which the row is found once its view no longer shows it: {"project_id": ["7"]}.';
comment on column private.attached_rows.refused_at is 'Null if the row only has no copy because what it belongs to has none.';
comment on column private.attached_rows.blocked_by is 'The key of a project or ticket that another one holds. When it is free, the row is tried again.';
create unique index attached_rows_id_idx on private.attached_rows (id, kind);
create index attached_rows_columns_idx on private.attached_rows using gin (columns);
create index attached_rows_refused_idx on private.attached_rows (refused_at) where refused_at is not null;
create index attached_rows_blocked_idx on private.attached_rows (blocked_by) where blocked_by is not null;

create table private.changed_rows (
  change_id bigint generated always as identity primary key,
  kind text not null,
  by_column text not null default '*',
  value text,
  queued_at timestamptz not null default now()
)
-- Rows are short-lived.
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
comment on table private.changed_rows is
  'The queue of what may have changed in attached views: the rows with this value in this column, or (*) all. Writers only insert.';
create index changed_rows_kind_idx on private.changed_rows (kind, change_id);

alter table private.attached_views enable row level security;
alter table private.attached_rows enable row level security;
alter table private.changed_rows enable row level security;
grant select on private.attached_rows, private.changed_rows to service_role;

-- The first argument is the insert into the queue, written by attach_tables; the second names the
-- kinds of rows that the table concerns. Only the owner can make such a trigger.
create function private.follow_tables() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  begin
    if tg_op <> 'TRUNCATE' then
      execute tg_argv[0];
      return null;
    end if;
  exception when others then
    null; -- such as a column that was renamed: the application's write goes on
  end;
  insert into private.changed_rows (kind) select unnest(tg_argv[1]::text[]);
  return null;
end
$$;
comment on function private.follow_tables is 'Trigger on an application''s table: queues what changed. It never fails or waits.';

-- Checks everything before it waits for a lock. It does not copy, because its locks stop writers.
create function public.attach_tables(views jsonb)
returns table (kind text, view text, tables text, rows bigint)
language plpgsql volatile security invoker set search_path = '' set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  -- The columns a view must have: its own key, then what it belongs to.
  needed constant jsonb := '{"projects": ["project_id"], "members": ["project_id", "user_id"], "tickets": ["ticket_id", "project_id"], "comments": ["comment_id", "ticket_id"]}'::jsonb;
  attached private.attached_views[] := array[]::private.attached_views[];
  watched record;
  event record;
  problem text;
begin
  select string_agg(k.key, ', ') into problem from jsonb_object_keys(views) k(key) where not needed ? k.key;
  if problem is not null or not views ?& '{projects,tickets}' or views ? 'comments' and not views ? 'tickets' then
    raise exception using errcode = 'invalid_parameter_value', message = coalesce('unknown kind of rows: ' || problem, 'projects and tickets are missing'),
      hint = 'Attach projects and tickets, and members and comments if there are any.';
  end if;
  for kind, view in select k.key, (k.value ->> 'view')::regclass::text from jsonb_each(views) k loop
    with wanted as (
      select n.name from jsonb_array_elements_text(needed -> kind) n(name) union select c.name from jsonb_each(views -> kind -> 'tables') t cross join jsonb_each(t.value) e
      cross join jsonb_array_elements_text(case jsonb_typeof(e.value) when 'array' then e.value else jsonb_build_array(e.value) end) c(name)
    )
    select array_append(attached, (kind, view, jsonb_object_agg(w.name, format_type(a.atttypid, null)))::private.attached_views),
      string_agg(w.name, ', ') filter (where a.attname is null)
    into attached, problem
    from wanted w left join pg_catalog.pg_attribute a on a.attrelid = view::regclass and a.attname = w.name;
    if problem is not null then
      raise exception using errcode = 'undefined_column', message = format('the view %s lacks %s', view, problem);
    end if;
    with recursive beneath(oid) as (
      select view::regclass::oid union select d.refobjid from beneath b
      join pg_catalog.pg_rewrite r on r.ev_class = b.oid
      join pg_catalog.pg_depend d on d.objid = r.oid and d.classid = 'pg_catalog.pg_rewrite'::regclass and d.refclassid = 'pg_catalog.pg_class'::regclass
    )
    select string_agg(c.oid::regclass::text, ', ') into problem
    from beneath b join pg_catalog.pg_class c using (oid)
    where c.relkind in ('r', 'p', 'f') and c.oid not in (select t::regclass from jsonb_object_keys(views -> kind -> 'tables') t);
    if problem is not null then
      raise exception using errcode = 'invalid_parameter_value', message = format('the view %s also reads %s', view, problem),
        hint = 'Name its key, or {} if its changes need not be followed.';
    end if;
    execute format('select count(*) from %s', view) into rows;
    tables := (select string_agg(t.key, ', ' order by t.key) from jsonb_each(views -> kind -> 'tables') t where t.value <> '{}');
    return next;
  end loop;

  perform pg_advisory_xact_lock(hashtext('private.copy_changes'));
  for event in select g.tgname, g.tgrelid::regclass as on_table from pg_catalog.pg_trigger g where g.tgfoid = 'private.follow_tables'::regproc loop
    execute format('drop trigger %I on %s', event.tgname, event.on_table);
  end loop;
  for watched in
    select t.key::regclass as on_table, array_agg(distinct k.key) as kinds,
      'insert into private.changed_rows (kind, by_column, value) select c.* from (' || string_agg(
        format('(select %L, %L, to_jsonb(%s) #>> ''{}'' from @rows)', k.key, c.name, e.key), ' union ') || ') c(kind, by_column, value) where c.value is not null' as change
    from jsonb_each(views) k cross join jsonb_each(k.value -> 'tables') t cross join jsonb_each(t.value) e
    cross join jsonb_array_elements_text(case jsonb_typeof(e.value) when 'array' then e.value else jsonb_build_array(e.value) end) c(name)
    group by 1
  loop
    execute replace(watched.change, '@rows', watched.on_table || ' limit 0');
    for event in
      select * from (values
        ('insert', 'referencing new table as new_rows', '{new_rows}'::text[]),
        ('update', 'referencing old table as old_rows new table as new_rows', '{new_rows,old_rows}'),
        ('delete', 'referencing old table as old_rows', '{old_rows}'),
        ('truncate', '', '{}')) e(name, transition, sets)
    loop
      execute format('create trigger %I after %s on %s %s for each statement execute function private.follow_tables(%L, %L)',
        'tasklens_' || event.name, event.name, watched.on_table, event.transition,
        (select string_agg(replace(watched.change, '@rows', r), '; ') from unnest(event.sets) r), watched.kinds);
    end loop;
  end loop;
  delete from private.changed_rows;
  delete from private.attached_views;
  insert into private.attached_views select a.* from unnest(attached) a;
  insert into private.changed_rows (kind) select k from jsonb_object_keys(needed) k;
end
$$;
comment on function public.attach_tables is
  'Keeps copies of an application''s projects, members, tickets and comments: {"tickets": {"view": "app.tickets", "tables": {"app.issues": {"id": "ticket_id"}}}}, by kind the view and, for each table beneath it, which of its columns (or expressions) are which column of the view (or an array of them). Queues all rows for copy_changes; called again, it replaces what was attached. Returns what is followed.';

create function public.detach_tables(keep_rows boolean default false)
returns table (what text, rows bigint)
language plpgsql volatile security invoker set search_path = '' set lock_timeout = '5s'
as $$
declare
  event record;
begin
  perform pg_advisory_xact_lock(hashtext('private.copy_changes'));
  what := 'triggers';
  rows := 0;
  for event in select g.tgname, g.tgrelid::regclass as on_table from pg_catalog.pg_trigger g where g.tgfoid = 'private.follow_tables'::regproc loop
    execute format('drop trigger %I on %s', event.tgname, event.on_table);
    rows := rows + 1;
  end loop;
  return next;
  if not detach_tables.keep_rows then
    -- With a project go its tickets, comments and members.
    delete from public.projects p using private.attached_rows m where m.kind = 'projects' and m.id = p.project_id;
    what := 'projects';
    get diagnostics rows = row_count;
    return next;
  end if;
  delete from private.attached_views;
  delete from private.attached_rows;
  delete from private.changed_rows;
end
$$;
comment on function public.detach_tables is 'Takes away what attach_tables made: triggers, queue and, unless they are kept, the copied rows.';

insert into private.migrations (version) values ('20261127001040');
