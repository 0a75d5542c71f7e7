-- Compares an installation with what it should be, for `tasklens check`. A migration after the
-- first release that creates tables, policies, triggers, indexes or functions ends with
-- record_installation().

create table private.installed_parts (
  kind text not null check (kind in ('table', 'policy', 'trigger', 'index', 'function')),
  part text not null,
  on_table text,
  definition text not null,
  privileges text not null,
  primary key (kind, part)
);
comment on table private.installed_parts is 'What the migrations created, as described by the catalogue at that time. on_table is null for functions.';
alter table private.installed_parts enable row level security;
grant select on private.installed_parts to service_role;

-- The privileges of roles other than the owner, sorted: Supabase's roles and "public".
create function private.privileges_of(acl aclitem[], owner oid) returns text
language sql stable security invoker set search_path = ''
as $$
  select coalesce(string_agg(g.grantee || ': ' || g.privileges, '; ' order by g.grantee collate "C"), '')
  from (
    select coalesce(r.rolname::text, 'public') as grantee,
      string_agg(lower(a.privilege_type), ', ' order by a.privilege_type collate "C") as privileges
    from pg_catalog.aclexplode(privileges_of.acl) a
    left join pg_catalog.pg_roles r on r.oid = a.grantee
    where a.grantee <> privileges_of.owner and coalesce(r.rolname, 'public') in ('public', 'anon', 'authenticated', 'service_role')
    group by 1
  ) g
$$;
comment on function private.privileges_of is 'The privileges of request roles, as a canonical text.';

create function private.present_parts()
returns table (kind text, part text, on_table text, definition text, privileges text, fault text, remedy text)
language sql stable security invoker set search_path = ''
as $$
  with tables as (
    select c.*, n.nspname || '.' || c.relname as name
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'private') and c.relkind in ('r', 'p')
  )
  select 'table', t.name, t.name, 'table', private.privileges_of(coalesce(t.relacl, pg_catalog.acldefault('r', t.relowner)), t.relowner),
    case when not t.relrowsecurity then 'row-level security is off: any role with a privilege on it sees every row'
      when t.relforcerowsecurity then 'row-level security is forced on its owner: the search functions, which run as the owner, find nothing' end,
    case when not t.relrowsecurity then format('alter table %s enable row level security;', t.name)
      when t.relforcerowsecurity then format('alter table %s no force row level security;', t.name) end
  from tables t
  union all
  select 'policy', p.polname || ' on ' || t.name, t.name,
    concat_ws(' ', case when p.polpermissive then 'permissive' else 'restrictive' end,
      case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
      'to ' || array_to_string(array(
        select coalesce(r.rolname::text, 'public') from unnest(p.polroles) o left join pg_catalog.pg_roles r on r.oid = o order by 1), ', '),
      'using ' || pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'with check ' || pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)),
    '', null, null
  from pg_catalog.pg_policy p join tables t on t.oid = p.polrelid
  union all
  select 'trigger', g.tgname || ' on ' || t.name, t.name, pg_catalog.pg_get_triggerdef(g.oid), '',
    case when g.tgenabled not in ('O', 'A') then 'it is disabled: writes skip what it does' end,
    format('alter table %s enable trigger %I;', t.name, g.tgname)
  from pg_catalog.pg_trigger g join tables t on t.oid = g.tgrelid
  where not g.tgisinternal
  union all
  select 'index', x.relname || ' on ' || t.name, t.name, pg_catalog.pg_get_indexdef(i.indexrelid), '',
    case when not (i.indisvalid and i.indisready) then 'it is invalid: no search uses it' end,
    format('reindex index concurrently %I.%I;', split_part(t.name, '.', 1), x.relname)
  from pg_catalog.pg_index i join pg_catalog.pg_class x on x.oid = i.indexrelid join tables t on t.oid = i.indrelid
  union all
  -- Without its body, which may be replaced, as that of projects_as.
  select 'function', p.oid::regprocedure::text, null, 'function',
    private.privileges_of(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner)), p.proowner), null, null
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname in ('public', 'private')
$$;
comment on function private.present_parts is
  'The current tables, policies, triggers, indexes and functions of public and private, with what is wrong with each and the statement that repairs it.';

create function private.record_installation() returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  -- Names in definitions depend on the search path, which is always empty here.
  delete from private.installed_parts;
  insert into private.installed_parts (kind, part, on_table, definition, privileges)
  select p.kind, p.part, p.on_table, p.definition, p.privileges from private.present_parts() p;
end
$$;
comment on function private.record_installation is
  'Records the current state as the expected one. For the owner: at the end of a migration, and after an intended change of policies or privileges.';

create function private.check_parts()
returns table (severity text, subject text, finding text, remedy text)
language sql stable security invoker set search_path = ''
as $$
  with present as materialized (
    select * from private.present_parts()
  ), compared as (
    select i.kind, i.part, i.on_table, i.definition, i.privileges, p.part is null as missing, p.fault, p.remedy,
      p.definition as present_definition, p.privileges as present_privileges
    from private.installed_parts i left join present p on p.kind = i.kind and p.part = i.part
  ), found as (
    select 1 as place, 'error' as severity, c.kind || ' ' || c.part as subject,
      case when c.missing then 'it is missing' else c.fault end as finding,
      case when not c.missing then c.remedy
        when c.kind in ('trigger', 'index') then c.definition || ';'
        else 'Run the statements of supabase/migrations that create it again.' end as remedy
    from compared c
    -- If a table is missing, everything on it is: report only the table.
    where c.fault is not null or c.missing and (c.kind = 'table'
      or not exists (select from compared t where t.kind = 'table' and t.missing and t.part = c.on_table))
    union all
    select 2, 'warning', c.kind || ' ' || c.part, 'it differs from the migrations: ' || c.present_definition,
      'Change it back to ' || c.definition || '; if the change is intended, run: select private.record_installation();'
    from compared c where not c.missing and c.present_definition <> c.definition
    union all
    select case when severe then 1 else 2 end, case when severe then 'error' else 'warning' end, c.kind || ' ' || c.part,
      format('privileges differ from the migrations: %s instead of %s',
        coalesce(nullif(c.present_privileges, ''), 'none'), coalesce(nullif(c.privileges, ''), 'none')),
      format('Grant and revoke on %s as the migrations do; if the change is intended, run: select private.record_installation();', c.part)
    from compared c
    -- The service lacks a privilege, or a role without any has one.
    cross join lateral (
      select c.privileges ~ 'service_role:' and c.present_privileges !~ 'service_role:'
        or c.privileges !~ 'anon:' and c.present_privileges ~ 'anon:'
        or c.privileges !~ 'authenticated:' and c.present_privileges ~ 'authenticated:'
        or c.privileges !~ 'public:' and c.present_privileges ~ 'public:' as severe) s
    where not c.missing and c.present_privileges <> c.privileges
    union all
    select 2, 'warning', 'policy ' || p.part, 'no migration created it, and it may show or hide rows: ' || p.definition,
      'Drop it; if it is intended, run: select private.record_installation();'
    from present p
    where p.kind = 'policy' and exists (select from private.installed_parts i where i.kind = 'table' and i.part = p.on_table)
      and not exists (select from private.installed_parts i where i.kind = 'policy' and i.part = p.part)
  )
  select f.severity, f.subject, f.finding, f.remedy from found f
  union all
  select 'ok', case k.kind when 'policy' then 'policies' when 'index' then 'indexes' else k.kind || 's' end,
    format('all %s match the migrations', k.parts), null
  from (select i.kind, count(*) as parts from private.installed_parts i group by i.kind) k
  where not exists (select from found f where split_part(f.subject, ' ', 1) = k.kind)
$$;
comment on function private.check_parts is 'check_installation, for what the migrations created.';

create function private.check_memory(index_bytes bigint, shared_buffers bigint, maintenance_work_mem bigint, prewarms boolean)
returns table (severity text, subject text, finding text, remedy text)
language sql stable security invoker set search_path = ''
as $$
  -- Below this size, an index is read and built quickly with any settings.
  with small as (select coalesce(check_memory.index_bytes, 0) < 67108864 as yes), found as (
    select 'setting shared_buffers' as subject,
      format('it is %s, and the vector indexes take %s: searches read from disk', pg_size_pretty(shared_buffers), pg_size_pretty(index_bytes)) as finding,
      format('Raise it above %s; a quarter of the memory is usual (on Supabase, a larger compute size).', pg_size_pretty(index_bytes)) as remedy
    where index_bytes > shared_buffers
    union all
    select 'setting maintenance_work_mem',
      format('it is %s, and the vector indexes take %s: rebuilding one takes many times as long', pg_size_pretty(maintenance_work_mem), pg_size_pretty(index_bytes)),
      format('Before a reindex: set maintenance_work_mem = ''%sMB'';', ceil(index_bytes / 1048576.0))
    where index_bytes > maintenance_work_mem
    union all
    select 'extension pg_prewarm', 'it is absent: after a restart the first searches read the vector indexes from disk',
      'create extension pg_prewarm with schema extensions; see docs/operations.md.'
    where not prewarms
  )
  select 'warning', f.subject, f.finding, f.remedy from found f, small s where not s.yes
  union all
  select 'ok', 'settings', format('they are sufficient for vector indexes of %s', pg_size_pretty(coalesce(index_bytes, 0))), null
  from small s where s.yes or not exists (select from found)
$$;
comment on function private.check_memory is 'check_installation, for settings that are too small for vector indexes of this size in bytes.';

create function private.check_vector(version text, indexes text[])
returns table (severity text, subject text, finding text, remedy text)
language sql stable security invoker set search_path = ''
as $$
  -- Everything runs on 0.8.0, which hosted projects may have: a warning.
  with given as (
    select string_to_array(substring(check_vector.version from '^[0-9]+(?:\.[0-9]+)*'), '.')::int[] as numbers
  ), faults as (
    select string_agg(format('%s (mended in %s)', f.fault, array_to_string(f.mended, '.')), ', ' order by f.mended) as list
    from given g
    join (values ('{0,8,2}'::int[], 'a parallel index build can overflow a buffer'), ('{0,8,3}', 'vacuum can corrupt an HNSW index'),
      ('{0,8,4}', 'vacuum of an HNSW index can fail')) as f (mended, fault) on g.numbers < f.mended
    where g.numbers >= '{0,8}' -- an older one is an error of its own
  )
  select 'warning', 'extension vector', format('version %s has faults: %s', check_vector.version, f.list),
    'Install pgvector 0.8.4 or later (on Supabase, upgrade the project) and restart Postgres, then: alter extension vector update;'
      || (select coalesce(string_agg(format(' reindex index concurrently %s;', i.name), '' order by i.name), '') from unnest(check_vector.indexes) i (name))
  from faults f where f.list is not null
$$;
comment on function private.check_vector is
  'check_installation, for faults of this version of pgvector that later releases mend. indexes: HNSW indexes to rebuild afterwards, as in SQL.';

create function private.check_platform()
returns table (severity text, subject text, finding text, remedy text)
language sql stable security invoker set search_path = ''
as $$
  with found as (
    select 'roles' as area, 'error' as severity, 'role ' || w.name as subject,
      case when r.oid is null then 'it is missing'
        when w.bypasses then 'row-level security applies to it: the service sees nothing'
        else 'row-level security does not apply to it: every request sees every row' end as finding,
      case when r.oid is null then 'Use a Supabase project, or run scripts/platform.sql.'
        else format('alter role %I %s;', w.name, case when w.bypasses then 'bypassrls' else 'nosuperuser nobypassrls' end) end as remedy
    from (values ('anon', false), ('authenticated', false), ('service_role', true)) as w (name, bypasses)
    left join pg_catalog.pg_roles r on r.rolname = w.name
    where r.oid is null or (r.rolbypassrls or r.rolsuper) <> w.bypasses
    union all
    -- Through PostgREST, which sets request.method. It runs a query on when its client has left.
    select 'roles', 'warning', 'setting statement_timeout', 'statements of the service have no time limit: those of a request that timed out run on',
      'alter role authenticator set statement_timeout = ''8s''; then restart PostgREST.'
    where current_setting('request.method', true) <> '' and current_setting('statement_timeout') = '0'
    union all
    select 'extensions', 'error', 'extension ' || w.name,
      case when e.oid is null then 'it is missing' else format('version %s is older than %s', e.extversion, w.least) end,
      case when e.oid is null then format('create extension %I with schema extensions; then apply the migrations again in a new database.', w.name)
        else format('Install %s %s or later, then: alter extension %I update;', w.name, w.least, w.name) end
    from (values ('vector', '0.8'), ('unaccent', '1.0'), ('pg_trgm', '1.0')) as w (name, least)
    left join pg_catalog.pg_extension e on e.extname = w.name
    where e.oid is null or string_to_array(substring(e.extversion from '^[0-9]+(?:\.[0-9]+)*'), '.')::int[] < string_to_array(w.least, '.')::int[]
    union all
    select 'extensions', v.*
    from pg_catalog.pg_extension e
    cross join lateral private.check_vector(e.extversion, array(
      select format('%I.%I', n.nspname, x.relname)
      from pg_catalog.pg_class x
      join pg_catalog.pg_am a on a.oid = x.relam and a.amname = 'hnsw'
      join pg_catalog.pg_namespace n on n.oid = x.relnamespace
      where x.relkind = 'i')) v
    where e.extname = 'vector'
  )
  select f.severity, f.subject, f.finding, f.remedy from found f
  union all
  select 'ok', a.area, a.finding, null
  from (values ('roles', 'anon, authenticated and service_role are as on Supabase'),
    ('extensions', (select string_agg(e.extname || ' ' || e.extversion, ', ' order by e.extname) from pg_catalog.pg_extension e
      where e.extname in ('vector', 'unaccent', 'pg_trgm', 'pg_prewarm')))) as a (area, finding)
  where not exists (select from found f where f.area = a.area)
$$;
comment on function private.check_platform is 'check_installation, for roles and extensions.';

create function private.check_statistics()
returns table (severity text, subject text, finding text, remedy text)
language sql stable security invoker set search_path = ''
as $$
  with tables as (
    select i.part, c.reltuples, pg_catalog.pg_relation_size(c.oid) as bytes,
      coalesce(pg_catalog.pg_stat_get_mod_since_analyze(c.oid), 0) as changed,
      'autovacuum_enabled=false' = any (c.reloptions) or current_setting('autovacuum') = 'off' as unattended
    from private.installed_parts i join pg_catalog.pg_class c on c.oid = to_regclass(i.part)
    where i.kind = 'table'
  ), found as (
    select t.part,
      case when t.unattended then 'autovacuum is off: statistics become stale and dead rows are kept'
        when t.reltuples < 0 then format('it has %s and was never analyzed: plans are guesses', pg_size_pretty(t.bytes))
        else format('%s rows changed since the last analyze of %s', t.changed, t.reltuples::bigint) end as finding,
      case when t.unattended then format('alter table %s reset (autovacuum_enabled); and set autovacuum = on.', t.part)
        else format('analyze %s;', t.part) end as remedy
    from tables t
    -- Autovacuum starts at a tenth, and may be a little late.
    where t.unattended or t.reltuples < 0 and t.bytes >= 1048576 or t.reltuples >= 0 and t.changed > 5000 + t.reltuples * 0.5
  )
  select 'warning', 'table ' || f.part, f.finding, f.remedy from found f
  union all
  select 'ok', 'statistics', 'they are recent', null where not exists (select from found)
$$;
comment on function private.check_statistics is 'check_installation, for the planner''s statistics.';

create function private.check_queue(embedding_model text)
returns table (severity text, subject text, finding text, remedy text)
language sql volatile security invoker set search_path = ''
as $$
  with status as materialized (
    select * from public.embedding_status(check_queue.embedding_model)
  ), found as (
    select 'error' as severity, 'queue' as subject, format('%s sources are dead: vector search lacks their current texts', s.dead) as finding,
      'select * from list_dead_embedding_jobs(); shows the errors. Then: select replay_embedding_jobs();' as remedy
    from status s where s.dead > 0
    union all
    select 'warning', 'queue', format('the oldest of %s waiting sources has waited %s minutes', s.pending + s.failed, floor(s.oldest_pending_seconds / 60)),
      'Check that a worker runs (WORKER=on, or tasklens worker) and that the model responds.'
    from status s where s.oldest_pending_seconds > 600
    union all
    select 'warning', 'chunks', format('%s sources have a text and no chunk: only keyword search finds them; %s wait in the queue', s.sources_without_chunks, s.pending + s.running + s.failed),
      case when s.pending + s.running + s.failed + s.dead < s.sources_without_chunks then 'tasklens backfill'
        else 'None, while a worker runs.' end
    from status s where s.sources_without_chunks > 0
  )
  select f.severity, f.subject, f.finding, f.remedy from found f
  union all
  select 'ok', a.area, a.finding, null
  from status s
  cross join lateral (values ('queue', format('%s sources wait', s.pending + s.running + s.failed)),
    ('chunks', format('every source with a text has chunks, %s in total', s.chunks))) as a (area, finding)
  where not exists (select from found f where f.subject = a.area)
$$;
comment on function private.check_queue is 'check_installation, for embedded and queued sources.';

create function public.check_installation(embedding_model text default null)
returns table (severity text, subject text, finding text, remedy text)
language sql volatile rows 100 security invoker set search_path = ''
as $$
  select f.severity, f.subject, f.finding, f.remedy
  from (
    select * from private.check_platform()
    union all
    select * from private.check_parts()
    union all
    select q.* from (select coalesce(check_installation.embedding_model, (select s.model from private.embedding_sets s)) as model) m
    cross join lateral private.check_queue(m.model) q where m.model is not null
    union all
    select * from private.check_statistics()
    union all
    select * from private.check_memory(
      (select sum(pg_catalog.pg_relation_size(x.oid))::bigint
        from pg_catalog.pg_class x
        join pg_catalog.pg_am a on a.oid = x.relam and a.amname = 'hnsw'
        join pg_catalog.pg_namespace n on n.oid = x.relnamespace and n.nspname = 'public'),
      pg_size_bytes(current_setting('shared_buffers')), pg_size_bytes(current_setting('maintenance_work_mem')),
      exists (select from pg_catalog.pg_extension e where e.extname = 'pg_prewarm'))
  ) f
  order by array_position(array['error', 'warning', 'ok'], f.severity), f.subject, f.finding
$$;
comment on function public.check_installation is
  'What is missing or doubtful in this database, errors first: severity (error, warning, ok), subject, finding, and the remedy, if possible a statement. embedding_model: the model whose chunks are checked; by default the serving one. If that is undecided, chunks are not checked.';

insert into private.migrations (version) values ('20260101009000');
