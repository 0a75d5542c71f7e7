-- Attaches views, and detaches them.

-- Copies are made with the owner's rights, and so is all that a view calls. The first fault counts.
create function tasklens.check_view(kind text, view regclass, tables jsonb) returns jsonb
language plpgsql stable security invoker set search_path = ''
as $$
declare
  required constant text[] := (select k.needed from tasklens.attached_kinds() k where k.kind = check_view.kind);
  known constant text[] := required || case check_view.kind when 'members' then '{role}'::text[] when 'links' then '{}' else array(
      select a.attname::text from tasklens.attached_kinds() k join pg_catalog.pg_attribute a on a.attrelid = k.target::regclass
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
  ), parts as (
    select c.oid::regclass::text as name, c.relkind in ('r', 'p', 'f', 'm') and c.oid::regclass not in (select t::regclass from jsonb_object_keys(check_view.tables) t) as is_unnamed,
      case c.relkind when 'v' then c.relowner end as run_as
    from beneath b join pg_catalog.pg_class c using (oid)
    union select f.oid::regprocedure::text, false, f.proowner
    from beneath b join pg_catalog.pg_rewrite r on r.ev_class = b.oid
    join pg_catalog.pg_depend d on d.objid = r.oid and d.classid = 'pg_catalog.pg_rewrite'::regclass and d.refclassid = 'pg_catalog.pg_proc'::regclass
    join pg_catalog.pg_proc f on f.oid = d.refobjid
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
    select 5, 'invalid_parameter_value', 'also reads ' || string_agg(p.name, ', ' order by p.name), 'Name its key, or {} if its changes need not be followed.' from parts p where p.is_unnamed
    union all
    select 6, 'insufficient_privilege', 'calls ' || string_agg(p.name || ' of ' || o.rolname, ', ' order by p.name),
      format('They would run with the rights of %s. Use a view and functions of your own.', current_user)
    from parts p join pg_catalog.pg_roles o on o.oid = p.run_as where not o.rolsuper and not pg_has_role(current_user, o.oid, 'usage')
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
comment on function tasklens.check_view is 'Fails if rows of this kind cannot be copied from a view; else the columns by which its rows are found, with their types.';

-- Checks everything before it waits for a lock. It does not copy, because its locks stop writers.
create function public.attach_tables(views jsonb)
returns table (kind text, view text, tables text, rows bigint)
language plpgsql volatile security invoker set search_path = '' set lock_timeout = '5s'
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
  select string_agg(k.key, ', ') into problem from jsonb_object_keys(views) k(key) where k.key not in (select a.kind from tasklens.attached_kinds() a);
  if problem is not null or not views ?& '{projects,tickets}' then
    raise exception using errcode = 'invalid_parameter_value', message = coalesce('unknown kind of rows: ' || problem, 'projects and tickets are missing'),
      hint = 'Attach projects and tickets, and members, comments and links if there are any.';
  end if;
  select string_agg(distinct n.name, ', ') into problem
  from jsonb_each(views) v cross join lateral (select v.value ->> 'view' as name union select jsonb_object_keys(v.value -> 'tables')) n where to_regclass(n.name) is null;
  if problem is not null then
    raise exception using errcode = 'undefined_table', message = 'there is no table or view ' || problem, hint = 'Write each name with its schema, such as public.issues.';
  end if;
  for part in select a.*, (v.value ->> 'view')::regclass as view, v.value -> 'tables' as tables from tasklens.attached_kinds() a join jsonb_each(views) v on v.key = a.kind order by a.place loop
    kind := part.kind;
    view := part.view;
    columns := tasklens.check_view(part.kind, part.view, part.tables);
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
      'insert into tasklens.changed_rows (kind, by_column, value) select c.* from (' || string_agg(
        format('(select %L, %L, to_jsonb(%s) #>> ''{}'' from @rows)', k.kind, nullif(m.name, k.needed[1]), m.expression), ' union ') || ') c(kind, by_column, value) where c.value is not null' as change
    from tasklens.attached_kinds() k cross join tasklens.mapped_columns(views #> array[k.kind, 'tables']) m
    group by 1
  loop
    execute replace(watched.change, '@rows', watched.on_table || ' limit 0');
    execute (
      -- A write to a partition does not fire the triggers of the whole.
      with recursive parts(oid) as (select watched.on_table::oid union select i.inhrelid from parts p join pg_catalog.pg_inherits i on i.inhparent = p.oid)
      select string_agg(format('create trigger %I after %s on %s %s for each statement execute function tasklens.follow_tables(%L, %L)', 'tasklens_' || e.name, e.name, p.oid::regclass, e.transition,
        (select string_agg(replace(watched.change, '@rows', r), '; ') from unnest(e.sets) r), watched.kinds), '; ')
      from (values
        ('insert', 'referencing new table as new_rows', '{new_rows}'::text[]),
        ('update', 'referencing old table as old_rows new table as new_rows', '{new_rows,old_rows}'),
        ('delete', 'referencing old table as old_rows', '{old_rows}'),
        ('truncate', '', '{}')) e(name, transition, sets)
      cross join parts p join pg_catalog.pg_class c on c.oid = p.oid and (c.relkind <> 'f' or c.oid = watched.on_table));
  end loop;
  -- Without a view of links, copying leaves links other than to parents alone.
  delete from public.ticket_links l using tasklens.attached_rows m
  where not views ? 'links' and m.kind = 'tickets' and m.id = l.ticket_id and exists (select from tasklens.attached_views a where a.kind = 'links' and a.view is not null);
  delete from tasklens.changed_rows;
  delete from tasklens.attached_views;
  delete from tasklens.attached_rows m where m.key = '*';
  insert into tasklens.attached_views select a.* from jsonb_each(attached) v cross join jsonb_populate_record(null::tasklens.attached_views, v.value) a;
  insert into tasklens.changed_rows (kind, by_column) select k.kind, '*' from tasklens.attached_kinds() k order by k.place;
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
