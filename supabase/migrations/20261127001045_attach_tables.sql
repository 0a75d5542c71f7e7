-- Attaches views, and detaches them.

create function tasklens.check_view(kind text, view regclass, tables jsonb) returns jsonb
language plpgsql stable security invoker set search_path = ''
as $$
declare
  required constant text[] := (select k.needed from tasklens.attached_kinds k where k.kind = check_view.kind);
  known constant text[] := required || case check_view.kind when 'members' then '{role}'::text[] when 'links' then '{}' else array(
      select a.attname::text from tasklens.attached_kinds k join pg_catalog.pg_attribute a on a.attrelid = k.target::regclass
      where k.kind = check_view.kind and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attname <> all (required || '{status_id}'::text[])
      order by a.attnum)
    || case check_view.kind when 'tickets' then '{status,status_category,parent_id}'::text[] else '{}' end end;
  found record;
begin
  with recursive shown as (
    select a.attname::text as name, a.attnum as place, format_type(a.atttypid, null) as type, t.typcategory = 'A' or t.typname in ('json', 'jsonb') as is_list
    from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid where a.attrelid = check_view.view and a.attnum > 0 and not a.attisdropped
  ), sought as (
    select w.name, s.type from (select unnest(required) as name union select m.name from tasklens.mapped_columns(check_view.tables) m) w left join shown s using (name)
  ), beneath(oid) as (
    select check_view.view::oid union select d.refobjid from beneath b
    join pg_catalog.pg_rewrite r on r.ev_class = b.oid
    join pg_catalog.pg_depend d on d.objid = r.oid and d.classid = 'pg_catalog.pg_rewrite'::regclass and d.refclassid = 'pg_catalog.pg_class'::regclass
  ), faults(place, code, message, hint) as (
    select 1, 'undefined_column', 'lacks ' || string_agg(w.name, ', '), format('A view of %s shows %s, and the columns that tables names.', check_view.kind, array_to_string(required, ', ')) from sought w where w.type is null
    union all
    select 2, 'undefined_column', 'has columns that no copy has: ' || string_agg(concat(s.name, ' (' || n.name || '?)'), ', ' order by s.place),
      format('The columns of %s are %s. Rename or omit others, unless tables names them.', check_view.kind, array_to_string(known, ', '))
    from shown s
    left join lateral (select k as name from unnest(known) k where extensions.similarity(k, s.name) >= 0.3 order by extensions.similarity(k, s.name) desc limit 1) n on true
    where s.name <> all (known) and s.name not in (select w.name from sought w)
    union all
    select 3, 'datatype_mismatch', 'shows labels of type ' || min(s.type), 'Show text[] or a JSON array: string_to_array(tags, '','').' from shown s where s.name = 'labels' and not s.is_list
    union all
    select 4, 'datatype_mismatch', format('shows %s of type %s, no longer %s', w.name, w.type, f.columns ->> w.name), 'Detach first: the copies are made again.'
    from sought w cross join tasklens.attached_views f join pg_catalog.pg_type t on t.oid = (f.columns ->> w.name)::regtype join pg_catalog.pg_type n on n.oid = w.type::regtype
    where w.name = required[1] and f.kind = check_view.kind and n.typcategory not in (t.typcategory, 'S')
    union all
    select 5, 'invalid_parameter_value', 'also reads ' || string_agg(c.oid::regclass::text, ', ' order by c.oid::regclass::text), 'Name its key, or {} if its changes need not be followed.'
    from beneath join pg_catalog.pg_class c using (oid) where c.relkind in ('r', 'p', 'f', 'm') and c.oid::regclass not in (select t::regclass from jsonb_object_keys(check_view.tables) t)
  )
  select c.columns, f.code, format('the view %s %s', check_view.view, f.message) as message, f.hint into found
  from (
    select jsonb_object_agg(w.name, w.type) || case when check_view.kind = 'tickets' and exists (select from shown s where s.name = 'parent_id')
      then jsonb_build_object('parent_id', max(w.type) filter (where w.name = 'ticket_id')) else '{}' end as columns
    from sought w) c
  left join (select * from faults where faults.message is not null order by faults.place limit 1) f on true;
  if found.code is not null then
    raise exception using errcode = found.code, message = found.message, hint = found.hint;
  end if;
  return found.columns;
end
$$;
comment on function tasklens.check_view is 'Fails, with the first fault, if rows of this kind cannot be copied from a view; else the columns by which its rows are found, with their types.';

-- A trigger compares what the view reads of a row. It cannot know that of a view that was replaced,
-- reads whole rows or calls what may read tables: then the whole row is compared.
create function tasklens.compared_columns(view regclass, on_table regclass) returns text
language sql stable security invoker set search_path = ''
as $$
  with recursive rules(oid) as (
    select r.oid from pg_catalog.pg_rewrite r where r.ev_class = compared_columns.view
    union
    select r.oid from rules u join pg_catalog.pg_depend d on d.objid = u.oid and d.classid = 'pg_catalog.pg_rewrite'::regclass and d.refclassid = 'pg_catalog.pg_class'::regclass
    join pg_catalog.pg_rewrite r on r.ev_class = d.refobjid
  )
  select case when bool_or(r.ev_action::text like '%:varattno 0 %') or bool_or(f.provolatile <> 'i') or count(a.attname) = 0 then 'tasklens_row::text'
    else format('case (select array_agg(w.xmin order by w.oid) from pg_catalog.pg_rewrite w where w.oid = any (%L))::text when %L then row(%s)::text else tasklens_row::text end',
      array_agg(distinct r.oid), (select array_agg(w.xmin order by w.oid) from rules join pg_catalog.pg_rewrite w using (oid)),
      string_agg(distinct 'tasklens_row.' || quote_ident(a.attname), ', ')) end
  from rules join pg_catalog.pg_rewrite r using (oid)
  join pg_catalog.pg_depend d on d.objid = r.oid and d.classid = 'pg_catalog.pg_rewrite'::regclass
  left join pg_catalog.pg_proc f on d.refclassid = 'pg_catalog.pg_proc'::regclass and f.oid = d.refobjid
  left join pg_catalog.pg_attribute a on d.refclassid = 'pg_catalog.pg_class'::regclass and (a.attrelid, a.attnum) = (compared_columns.on_table, d.refobjsubid) and d.refobjid = a.attrelid and a.attnum > 0
$$;
comment on function tasklens.compared_columns is 'An expression that differs when what a view reads of a row of this table has changed.';

-- Security definer: the service may not enter the schema of a view.
create function public.unreadable_views() returns table (kind text, finding text, reason text)
language sql stable rows 5 security definer set search_path = ''
as $$
  select a.kind, format('the view of %s cannot be read', a.kind), r.reason
  from tasklens.attached_views a cross join lateral (select coalesce(
    (select m.reason from tasklens.attached_rows m where (m.kind, m.key) = (a.kind, '*') and m.refused_at is not null),
    case when to_regclass(a.view) is null then format('relation "%s" does not exist', a.view) end,
    (select format('the view %s lacks %s', a.view, string_agg(c.name, ', ' order by c.name)) from jsonb_object_keys(a.columns) c(name)
      where not exists (select from pg_catalog.pg_attribute t where t.attrelid = to_regclass(a.view) and t.attname = c.name and not t.attisdropped)
      having count(*) > 0)) as reason) r
  where a.view is not null and r.reason is not null
  order by 1
$$;
comment on function public.unreadable_views is 'The attached views that could not be read, are not there, or lack a column by which rows are found.';

-- Only who has the rights of its owner can drop a trigger again.
create function tasklens.check_owners(watched regclass[]) returns void
language plpgsql stable security invoker set search_path = ''
as $$
declare
  other record;
begin
  select c.oid::regclass as relation, c.relowner::regrole as owner into other
  from pg_catalog.pg_class c
  where not pg_has_role(c.relowner, 'usage') and (c.oid = any (check_owners.watched) and not has_table_privilege(c.oid, 'trigger')
    or exists (select from pg_catalog.pg_trigger g where g.tgrelid = c.oid and g.tgfoid = 'tasklens.follow_tables'::regproc))
  order by 1 limit 1;
  if found then
    raise exception using errcode = 'insufficient_privilege',
      message = format('the table %s belongs to %s, whose rights %I lacks', other.relation, other.owner, current_user),
      hint = format('A superuser, or who administers that role, runs "grant %s to %I;". Then repeat this.', other.owner, current_user);
  end if;
end
$$;
comment on function tasklens.check_owners is 'Fails if a table that is, or is to be, followed belongs to a role without whose rights its triggers cannot be changed.';

-- Checks everything before it waits for a lock. It does not copy, because its locks stop writers.
create function public.attach_tables(views jsonb)
returns table (kind text, view text, tables text, rows bigint)
language plpgsql volatile security invoker set search_path = '' set row_security = off set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  attached jsonb := '{}'::jsonb;
  columns jsonb;
  part record;
  watched record;
  problem text;
  nulls bigint;
begin
  select string_agg(k.key, ', ') into problem from jsonb_object_keys(views) k(key) where k.key not in (select a.kind from tasklens.attached_kinds a);
  if problem is not null or not views ?& '{projects,tickets}' then
    raise exception using errcode = 'invalid_parameter_value', message = coalesce('unknown kind of rows: ' || problem, 'projects and tickets are missing'),
      hint = 'Attach projects and tickets, and members, comments and links if there are any.';
  end if;
  select string_agg(distinct n.name, ', ') into problem
  from jsonb_each(views) v cross join lateral (select v.value ->> 'view' as name union select jsonb_object_keys(v.value -> 'tables')) n where to_regclass(n.name) is null;
  if problem is not null then
    raise exception using errcode = 'undefined_table', message = 'there is no table or view ' || problem, hint = 'Write each name with its schema, such as public.issues.';
  end if;
  perform tasklens.check_owners(array(select m.on_table from jsonb_each(views) v cross join tasklens.mapped_columns(v.value -> 'tables') m));
  for part in select a.*, (v.value ->> 'view')::regclass as view, v.value -> 'tables' as tables from tasklens.attached_kinds a join jsonb_each(views) v on v.key = a.kind order by a.place loop
    kind := part.kind;
    view := part.view;
    columns := tasklens.check_view(part.kind, part.view, part.tables);
    perform tasklens.check_rights(part.view::text);
    execute format('select count(*), count(*) - count(v.%I), %s from %s v', part.needed[1], coalesce((
        select $query$string_agg(distinct left(v.status_category::text, 40), ', ') filter (where btrim(v.status_category::text) not in ('', 'to_do', 'in_progress', 'done'))$query$
        from pg_catalog.pg_attribute a where part.kind = 'tickets' and a.attrelid = part.view and a.attname = 'status_category' and not a.attisdropped), 'null'), view)
      into rows, nulls, problem;
    if nulls > 0 then
      raise exception using errcode = 'not_null_violation', message = format('the view %s shows %s rows without %s', view, nulls, part.needed[1]);
    elsif problem is not null then
      raise exception using errcode = 'check_violation', message = format('the view %s shows as status_category: %s', view, problem),
        hint = 'Show to_do, in_progress or done; or null, to have it guessed from the status.';
    end if;
    attached := attached || jsonb_build_object(kind, jsonb_build_object('kind', kind, 'view', view, 'columns', columns, 'tables',
      array(select distinct m.on_table::text from tasklens.mapped_columns(part.tables) m)));
    tables := (select string_agg(t.key, ', ' order by t.key) from jsonb_each(part.tables) t where t.value <> '{}');
    return next;
  end loop;
  if attached #> '{tickets,columns}' ? 'parent_id' then
    -- A parent is a link of its child.
    attached := jsonb_build_object('links', jsonb_build_object('kind', 'links', 'columns', jsonb_build_object('ticket_id', attached #> '{tickets,columns,ticket_id}'), 'tables', '[]'::jsonb)) || attached;
  end if;

  perform pg_advisory_xact_lock(hashtext('tasklens.copy_changes'));
  execute coalesce((select string_agg(format('drop trigger %I on %s', g.tgname, g.tgrelid::regclass), '; ') from pg_catalog.pg_trigger g where g.tgfoid = 'tasklens.follow_tables'::regproc), '');
  for watched in
    select m.on_table, array_agg(distinct k.kind) as kinds,
      'select c.* from @rows tasklens_row cross join lateral (values ' || string_agg(format('(%L, %L, to_jsonb(%s) #>> ''{}'', %s)', k.kind, nullif(m.name, k.needed[1]), m.expression,
        tasklens.compared_columns((views #>> array[k.kind, 'view'])::regclass, m.on_table)), ', ') || ') c(kind, by_column, value, compared)' as found
    from tasklens.attached_kinds k cross join tasklens.mapped_columns(views #> array[k.kind, 'tables']) m
    group by 1
  loop
    execute replace(watched.found, '@rows', '(select * from ' || watched.on_table || ' limit 0)');
    execute (
      -- A write to a partition does not fire the triggers of the whole.
      with recursive parts(oid) as (select watched.on_table::oid union select i.inhrelid from parts p join pg_catalog.pg_inherits i on i.inhparent = p.oid)
      select string_agg(format('create trigger %I after %s on %s %s for each statement execute function tasklens.follow_tables(%L, %L)', 'tasklens_' || e.name, e.name, p.oid::regclass, e.transition,
        'insert into tasklens.changed_rows (kind, by_column, value) select distinct d.kind, d.by_column, d.value from ('
          || format(e.changed, replace(watched.found, '@rows', 'new_rows'), replace(watched.found, '@rows', 'old_rows')) || ') d where d.value is not null or d.by_column is null', watched.kinds), '; ')
      from (values
        ('insert', 'referencing new table as new_rows', '%1$s'),
        ('update', 'referencing old table as old_rows new table as new_rows', '(%1$s except all %2$s) union all (%2$s except all %1$s)'),
        ('delete', 'referencing old table as old_rows', '%2$s'),
        ('truncate', '', '')) e(name, transition, changed)
      cross join parts p join pg_catalog.pg_class c on c.oid = p.oid and (c.relkind <> 'f' or c.oid = watched.on_table));
  end loop;
  -- Without a view of links, copying leaves links other than to parents alone.
  delete from public.ticket_links l using tasklens.attached_rows m
  where not views ? 'links' and m.kind = 'tickets' and m.id = l.ticket_id and exists (select from tasklens.attached_views a where a.kind = 'links' and a.view is not null);
  delete from tasklens.changed_rows;
  delete from tasklens.attached_views;
  delete from tasklens.attached_rows m where m.key = '*';
  insert into tasklens.attached_views select a.* from jsonb_each(attached) v cross join jsonb_populate_record(null::tasklens.attached_views, v.value) a;
  insert into tasklens.changed_rows (kind, by_column) select k.kind, '*' from tasklens.attached_kinds k order by k.place;
end
$$;
comment on function public.attach_tables is
  'Keeps copies of an application''s projects, members, tickets, comments and links: {"tickets": {"view": "app.tickets", "tables": {"app.issues": {"id": "ticket_id"}}}}, by kind the view and, for each table beneath it, which of its columns (or expressions) are which column of the view (or an array of them). Queues all rows for copy_changes; called again, it replaces what was attached. Returns what is followed.';

create function tasklens.drop_unused_states() returns void
language sql volatile security invoker set search_path = ''
as $$
  delete from public.status s
  where s.status_id in (select m.id from tasklens.attached_rows m where m.kind = 'states')
    and not exists (select from public.tickets t where t.status_id = s.status_id) and not exists (select from public.status_changes c where c.status_id = s.status_id)
$$;
comment on function tasklens.drop_unused_states is 'Deletes the statuses that copies made and nothing has any more.';

create function public.detach_tables(keep_rows boolean default false)
returns table (what text, rows bigint)
language plpgsql volatile security invoker set search_path = '' set lock_timeout = '5s'
as $$
declare
  drops text;
begin
  perform tasklens.check_owners('{}');
  perform pg_advisory_xact_lock(hashtext('tasklens.copy_changes'));
  what := 'triggers';
  select coalesce(string_agg(format('drop trigger %I on %s', g.tgname, g.tgrelid::regclass), '; '), ''), count(*) into drops, rows
    from pg_catalog.pg_trigger g where g.tgfoid = 'tasklens.follow_tables'::regproc;
  execute drops;
  return next;
  if not detach_tables.keep_rows then
    -- With a project go its tickets, comments and members.
    delete from public.projects p using tasklens.attached_rows m where m.kind = 'projects' and m.id = p.project_id;
    what := 'projects';
    get diagnostics rows = row_count;
    return next;
    perform tasklens.drop_unused_states();
  end if;
  delete from tasklens.attached_views;
  delete from tasklens.attached_rows;
  delete from tasklens.changed_rows;
end
$$;
comment on function public.detach_tables is 'Takes away what attach_tables made: triggers, queue and, unless they are kept, the copied rows.';

insert into tasklens.migrations (version) values ('20261127001045');
