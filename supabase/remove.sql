-- Removes tasklens from a database: its tables with their rows, functions, schemas and records, all
-- or nothing. Extensions stay: nobody can see whether functions and programs of yours use them.
--
--   psql DATABASE-URL -f remove.sql     as the owner of the migrations, or paste it into the SQL editor
--
-- It refuses while own tables are attached, and while something of yours depends on what it would
-- drop, or is on its tables.
do $$
declare
  installed record;
  relations oid[];
  functions oid[];
  others text;
  part record;
begin
  perform set_config('search_path', '', true);
  if to_regclass('tasklens.installation') is null then
    raise exception using errcode = 'undefined_table', message = 'tasklens is not installed in this database';
  end if;
  perform pg_advisory_xact_lock(x'7461736b6c656e73'::bigint);
  select i.*, i.api_schema::regnamespace as namespace, array(select m.version from tasklens.migrations m) as versions into installed from tasklens.installation i;
  if not found then
    raise exception using errcode = 'no_data_found', message = 'the records of tasklens have no rows: nothing says what is of tasklens',
      hint = 'Restore the rows of the schema tasklens, then repeat this.';
  end if;
  if exists (select from tasklens.attached_views) then
    raise exception using errcode = 'object_in_use', message = 'tables of an application are attached: its triggers would fail',
      hint = 'select * from ' || installed.api_schema || '.detach_tables(); then repeat this.';
  end if;

  relations := array(select c.oid from pg_class c where c.relkind in ('r', 'p') and (
    c.relnamespace = 'tasklens'::regnamespace or c.relnamespace = installed.namespace and c.relname = any (installed.tables)));
  functions := array(select f.oid from pg_proc f where f.pronamespace = 'tasklens'::regnamespace
    union select p.id from tasklens.present_parts() p join tasklens.installed_parts i using (kind, part) where p.kind = 'function');

  with recursive parts(class, id) as (
    select 'pg_class'::regclass::oid, c.oid from pg_class c where c.oid = any (relations) or c.relnamespace = 'tasklens'::regnamespace
    union select 'pg_proc'::regclass, unnest(functions)
    union select 'pg_type'::regclass, t.oid from pg_type t where t.typnamespace = installed.namespace and t.typname = any (installed.types)
    union select 'pg_ts_config'::regclass, c.oid from pg_ts_config c where c.cfgnamespace = 'tasklens'::regnamespace
    union select 'pg_ts_dict'::regclass, d.oid from pg_ts_dict d where d.dictnamespace = 'tasklens'::regnamespace
    -- What goes with them: indexes, sequences, row types, defaults, constraints, policies, triggers.
    union select d.classid, d.objid from parts p join pg_depend d on d.refclassid = p.class and d.refobjid = p.id where d.deptype in ('i', 'a')
  )
  select string_agg(distinct o.name, ', ') into others
  from (
    select pg_describe_object(d.classid, d.objid, 0) from parts p join pg_depend d on d.refclassid = p.class and d.refobjid = p.id
    where d.deptype = 'n' and not exists (select from parts o where o.class = d.classid and o.id = d.objid)
    union select p.kind || ' ' || p.part from tasklens.present_parts() p left join tasklens.installed_parts i using (kind, part)
    where i.part is null and p.kind <> 'index' and (p.kind <> 'function' or p.part like 'tasklens.%')
  ) o(name);
  if others is not null then
    raise exception using errcode = 'dependent_objects_still_exist', message = 'something of yours depends on tasklens, or is on its tables: ' || others, hint = 'Drop it first.';
  end if;

  raise notice 'removing % projects, % tickets and % documents', (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I.projects', installed.api_schema), false, true, '')))[1],
    (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I.tickets', installed.api_schema), false, true, '')))[1],
    (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I.documents', installed.api_schema), false, true, '')))[1];
  set local client_min_messages = warning;
  execute (select 'drop table ' || string_agg(r::regclass::text, ', ') || ' cascade' from unnest(relations) r);
  for part in select f.oid::regprocedure as name from pg_proc f where f.oid = any (functions) loop
    if to_regprocedure(part.name::text) is not null then execute format('drop function %s cascade', part.name); end if;
  end loop;
  for part in select t.oid::regtype as name from pg_type t where t.typnamespace = installed.namespace and t.typname = any (installed.types) loop
    execute format('drop type %s cascade', part.name);
  end loop;
  drop schema tasklens cascade;

  if to_regclass('supabase_migrations.schema_migrations') is not null then
    delete from supabase_migrations.schema_migrations where version = any (installed.versions);
    if 'schema supabase_migrations' = any (installed.made) and not exists (select from supabase_migrations.schema_migrations) then
      drop table supabase_migrations.schema_migrations;
    end if;
  end if;
  for part in select m from unnest(installed.made) m where m like 'schema %' and m <> 'schema extensions' loop
    begin
      execute 'drop ' || part.m;
    exception when dependent_objects_still_exist then
      raise warning 'the % stays: something else is in it', part.m;
    end;
  end loop;
  others := (select string_agg('drop ' || m || ';', ' ' order by m) from unnest(installed.made) m where m like 'extension %' or m = 'schema extensions');
  if others is not null then raise warning 'the extensions that tasklens installed stay. If nothing of yours uses them: %', others; end if;
end
$$;
