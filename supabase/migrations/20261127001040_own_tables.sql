-- Tickets that an application keeps in tables of its own. Views over them are attached; triggers
-- on the tables only queue what changed, and copy_changes brings the copies in step.

create view tasklens.attached_kinds (place, kind, target, needed, parent_kind) with (security_invoker = on) as
  values (1, 'projects', 'public.projects', '{project_id}'::text[], null),
    (2, 'members', 'public.project_members', '{project_id,user_id}', 'projects'),
    (3, 'tickets', 'public.tickets', '{ticket_id,project_id}', 'projects'),
    (4, 'comments', 'public.comments', '{comment_id,ticket_id}', 'tickets'),
    (5, 'links', 'public.ticket_links', '{ticket_id,kind,other_ticket_id}', 'tickets');
comment on view tasklens.attached_kinds is
  'The kinds of rows that are copied, parents first: where to, and which columns a view needs. The first of these is their key; members have that of their project, links that of their first ticket.';

create table tasklens.attached_views (
  kind text primary key,
  view text,
  columns jsonb not null,
  tables text[] not null default '{}'
);
comment on table tasklens.attached_views is 'The views whose rows are copied. Links have none if only the view of tickets shows some, as parents.';
comment on column tasklens.attached_views.columns is 'The columns by which rows are found when a table changes, with their types: {"ticket_id": "uuid"}.';

create table tasklens.attached_rows (
  kind text not null,
  key text not null,
  id bigint,
  found_by text[] not null default '{}',
  reason text,
  blocked_by text,
  cut text,
  rows bigint not null default 1,
  refused_at timestamptz,
  primary key (kind, key)
);
comment on table tasklens.attached_rows is
  'The rows of attached views by their own key, with the id of the copy; of kind states, the statuses that copies made. What has no copy has a reason; key * is a whole view that could not be read, *null those of its rows that have no key.';
comment on column tasklens.attached_rows.found_by is 'The values by which the row is found once its view no longer shows it: {project_id=7}.';
comment on column tasklens.attached_rows.refused_at is 'Null if the row only has no copy because what it belongs to has none.';
comment on column tasklens.attached_rows.blocked_by is 'The key of a project or ticket that another one holds. When it is free, the row is tried again.';
create unique index attached_rows_id_idx on tasklens.attached_rows (id, kind);
create index attached_rows_found_by_idx on tasklens.attached_rows using gin (found_by);
create index attached_rows_refused_idx on tasklens.attached_rows (refused_at) where refused_at is not null;
create index attached_rows_blocked_idx on tasklens.attached_rows (blocked_by) where blocked_by is not null;

create table tasklens.changed_rows (
  change_id bigint generated always as identity primary key,
  kind text not null,
  by_column text,
  value text,
  progress jsonb not null default '{}',
  attempts smallint not null default -1,
  queued_at timestamptz not null default now()
)
-- Rows are short-lived.
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
comment on table tasklens.changed_rows is
  'The queue of what may have changed in attached views: the row with this key, those with this value in this column, or (*) all. Writers only insert.';
comment on column tasklens.changed_rows.progress is 'The last keys that were queued of such a column, or of all: of the rows known, then of those shown.';
comment on column tasklens.changed_rows.attempts is '-1 until what hides a row has been found among the new ones; then how often it failed, each time among fewer: at 2 alone.';
create index changed_rows_next_idx on tasklens.changed_rows (kind, attempts, (by_column is not null), change_id);
-- An entry a row. Writers never wait for it: only copy_changes, of which one runs, writes there.
create unique index changed_rows_once_idx on tasklens.changed_rows (kind, md5(value), attempts) where by_column is null and attempts >= 0;

-- All that a read of a relation runs has its caller's rights: functions, also those of operators
-- and casts, and of the checks, statistics and indexes whose constants are computed to plan the
-- read.
create function tasklens.check_rights(relation text) returns void
language plpgsql volatile strict security definer set search_path = ''
as $$
declare
  strangers text;
begin
  -- Nobody can replace it from here to the end of the transaction.
  execute format('prepare tasklens_lock as select from %s; deallocate tasklens_lock', relation);
  with recursive beneath(class, oid) as (
    select 'pg_catalog.pg_class'::regclass::oid, check_rights.relation::regclass::oid
    union
    select p.class, p.oid
    from beneath b cross join lateral (
      select d.refclassid, d.refobjid from pg_catalog.pg_depend d where (d.classid, d.objid) = (b.class, b.oid)
      union all select 'pg_catalog.pg_rewrite'::regclass, r.oid from pg_catalog.pg_rewrite r where r.ev_class = b.oid
      union all select 'pg_catalog.pg_class'::regclass, i.indexrelid from pg_catalog.pg_index i where i.indrelid = b.oid
      union all select 'pg_catalog.pg_class'::regclass, i.inhrelid from pg_catalog.pg_inherits i where i.inhparent = b.oid
      union all select 'pg_catalog.pg_constraint'::regclass, c.oid from pg_catalog.pg_constraint c where c.contype = 'c' and b.oid in (c.conrelid, c.contypid)
      union all select 'pg_catalog.pg_statistic_ext'::regclass, e.oid from pg_catalog.pg_statistic_ext e where e.stxrelid = b.oid
      union all select 'pg_catalog.pg_cast'::regclass, c.oid from pg_catalog.pg_cast c where c.castsource = b.oid) p(class, oid)
  )
  select string_agg(c.name || ' of ' || o.rolname, ', ' order by c.name) into strangers
  from (
    select f.oid::regprocedure::text, f.proowner from beneath b join pg_catalog.pg_proc f using (oid) where b.class = 'pg_catalog.pg_proc'::regclass
    union all select v.oid::regclass::text, v.relowner from beneath b join pg_catalog.pg_class v using (oid) where b.class = 'pg_catalog.pg_class'::regclass and v.relkind = 'v'
    union all select t.oid::regtype::text, t.typowner from beneath b join pg_catalog.pg_type t using (oid) where b.class = 'pg_catalog.pg_type'::regclass and t.typtype = 'd'
  ) c(name, owner) join pg_catalog.pg_roles o on o.oid = c.owner
  where not pg_has_role(o.oid, current_user, 'usage');
  if strangers is not null then
    raise exception using errcode = 'insufficient_privilege', message = format('the view %s calls %s', relation, strangers),
      hint = format('They would run with the rights of %s. Use a view and functions of your own.', current_user);
  end if;
end
$$;
comment on function tasklens.check_rights is
  'Fails if a read of this relation runs what belongs to a role without the rights of the owner of these functions. Being a member of that role is not enough: it is that role whose code runs.';

-- The first argument is the insert into the queue, written by attach_tables; the second names the
-- kinds of rows that the table concerns. Only the owner can make such a trigger.
create function tasklens.follow_tables() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  begin
    if tg_op <> 'TRUNCATE' then
      -- A value becomes text by a cast that its type's owner has made.
      if exists (select from pg_catalog.pg_cast c join pg_catalog.pg_proc f on f.oid = c.castfunc where c.oid >= 16384 and not pg_has_role(f.proowner, current_user, 'usage')) then
        perform tasklens.check_rights(tg_relid::regclass::text);
      end if;
      execute tg_argv[0];
      return null;
    end if;
  exception when others then
    null; -- such as a column that was renamed: the application's write goes on
  end;
  insert into tasklens.changed_rows (kind, by_column) select unnest(tg_argv[1]::text[]), '*';
  return null;
end
$$;
comment on function tasklens.follow_tables is 'Trigger on an application''s table: queues what changed. It never fails or waits.';

create function tasklens.mapped_columns(tables jsonb) returns table (on_table regclass, expression text, name text)
language sql stable security invoker set search_path = ''
as $$
  select t.key::regclass, e.key, c.name
  from jsonb_each(mapped_columns.tables) t cross join jsonb_each(t.value) e
  cross join jsonb_array_elements_text(case jsonb_typeof(e.value) when 'array' then e.value else jsonb_build_array(e.value) end) c(name)
$$;
comment on function tasklens.mapped_columns is 'Which columns, or expressions, of the tables beneath a view are which of its columns, from what attach_tables is given.';

insert into tasklens.migrations (version) values ('20261127001040');
