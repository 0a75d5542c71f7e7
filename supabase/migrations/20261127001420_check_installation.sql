-- Compares an installation with what it should be, for `tasklens check`; then the end of the
-- installation: limits of times, the record of its parts, all grants.

-- Security definer: it also finds what the service may no longer read.
create function public.check_installation(embedding_model text default null)
returns table (severity text, subject text, finding text, remedy text)
language sql volatile rows 100 security definer set search_path = '' set jit = off
as $$
  with compared as materialized (
    select i.kind, i.part, i.on_table, i.definition, p.part is null as missing, p.fault, p.remedy
    from tasklens.installed_parts i left join tasklens.present_parts() p using (kind, part)
  ), grants as materialized (select * from tasklens.compare_grants()
  ), status as materialized (
    select s.*, s.pending + s.failed + s.running as waiting
    from coalesce(check_installation.embedding_model, (select e.model from tasklens.embedding_sets e)) as m(model)
    cross join lateral public.embedding_status(m.model) s
    where m.model is not null
  ), found(area, severity, subject, finding, remedy) as materialized (
    select 'roles', 'error', 'role ' || w.name,
      case when r.oid is null then 'it is missing'
        when w.bypasses then 'row-level security applies to it: the service sees nothing'
        else 'row-level security does not apply to it: every request sees every row' end,
      case when r.oid is null then 'Use a Supabase project, or run scripts/platform.sql.'
        else format('alter role %I %s;', w.name, case when w.bypasses then 'bypassrls' else 'nosuperuser nobypassrls' end) end
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
      case when n.nspname is null then 'it is missing' else format('it is in the schema %s: what the functions call is not found', n.nspname) end,
      case when n.nspname is null then format('create extension %I with schema extensions; then apply the migrations again in a new database.', w.name)
        else format('alter extension %I set schema extensions;', w.name) end
    from unnest('{vector,unaccent,pg_trgm}'::text[]) as w(name)
    left join pg_catalog.pg_extension e on e.extname = w.name
    left join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where n.nspname is distinct from 'extensions'
    union all
    -- Everything runs on 0.8.0, which hosted projects may have.
    select 'extensions', case when v.numbers < '{0,8}' then 'error' else 'warning' end, 'extension vector',
      format(case when v.numbers < '{0,8}' then 'version %s is older than 0.8'
        else 'version %s has faults: a parallel index build can overflow a buffer (mended in 0.8.2), vacuum of an HNSW index can corrupt it (mended in 0.8.3) or fail (mended in 0.8.4)' end,
        e.extversion),
      'Install pgvector 0.8.4 or later (on Supabase, upgrade the project) and restart Postgres, then: alter extension vector update;' || (
        select string_agg(format(' reindex index concurrently %s;', x.oid::regclass), '' order by x.relname)
        from pg_catalog.pg_class x join pg_catalog.pg_am a on a.oid = x.relam
        where a.amname = 'hnsw' and x.relkind = 'i')
    from pg_catalog.pg_extension e
    cross join lateral (select string_to_array(substring(e.extversion from '^[0-9]+(?:\.[0-9]+)*'), '.')::int[] as numbers) v
    where e.extname = 'vector' and v.numbers < '{0,8,4}'
    union all
    select 'roles', 'ok', 'roles', 'anon, authenticated and service_role are as on Supabase', null
    union all
    select 'extensions', 'ok', 'extensions', string_agg(e.extname || ' ' || e.extversion, ', ' order by e.extname), null
    from pg_catalog.pg_extension e where e.extname in ('vector', 'unaccent', 'pg_trgm')
    union all
    select c.kind, 'error', c.kind || ' ' || c.part, coalesce(c.fault, 'it is missing'),
      case when c.missing then coalesce(c.definition, 'Run the statements of supabase/migrations that create it again.') else c.remedy end
        || case when c.kind = 'trigger' and c.part like 'follow%' then ' -- then index what was written meanwhile (docs/operations.md)' else '' end
    from compared c
    -- If a table is missing, everything on it is: report only the table.
    where c.fault is not null or c.missing and (c.kind = 'table'
      or not exists (select from compared t where t.kind = 'table' and t.missing and t.part = c.on_table))
    union all
    select c.kind, 'ok', case c.kind when 'policy' then 'policies' when 'index' then 'indexes' else c.kind || 's' end,
      format('all %s of the migrations are in place', count(*)), null
    from compared c group by c.kind
    union all
    select 'grants', 'error', 'grants on ' || g.object,
      string_agg(concat(g.grantee, case when g.missing then ' lacks ' else ' should not have ' end, g.privilege, g.columns), ', ' order by g), 'select tasklens.set_grants();'
    from grants g where not g.theirs group by g.object
    union all
    select 'grants', 'ok', 'grants', 'all are as they should be', null
    union all
    select 'own grants', 'ok', 'grants to ' || g.grantee, 'yours, and left as they are: ' || string_agg(concat(g.privilege, g.columns, ' on ', g.object), ', ' order by g), null
    from grants g where g.theirs group by g.grantee
    union all
    select 'default privileges', 'ok', 'default privileges', string_agg(distinct format('new %s in %s are granted to %s',
        case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' else 'functions' end, coalesce(n.nspname, 'all schemas'),
        case a.grantee when 0 then 'PUBLIC' else pg_get_userbyid(a.grantee) end), ', '),
      'They are yours, and stay. After restoring a dump: select tasklens.set_grants();'
    from pg_catalog.pg_default_acl d cross join aclexplode(d.defaclacl) a left join pg_catalog.pg_namespace n on n.oid = d.defaclnamespace
    where d.defaclobjtype in ('r', 'S', 'f') and a.grantee <> d.defaclrole and coalesce(n.nspname, 'public') in ('public', 'tasklens') having count(*) > 0
    union all
    -- A search of a graph reads places all over it.
    select 'memory', 'warning', 'index ' || x.relname, format('its whole vectors take %s, more than shared_buffers (%s): searches wait for the disk', pg_size_pretty(x.relpages * 8192::bigint), current_setting('shared_buffers')),
      'Put a smaller index in its place (docs/scale.md), or take a larger compute size.'
    from pg_catalog.pg_class x
    where x.oid in (to_regclass('public.chunks_embedding_idx'), to_regclass('public.chunks_embedding_2_idx'))
      and pg_catalog.pg_get_indexdef(x.oid, 1, false) = 'embedding' and x.relpages * 8192::bigint > pg_size_bytes(current_setting('shared_buffers'))
    union all
    select 'queue', 'error', 'queue', format('%s sources are dead: vector search lacks their current texts', s.dead),
      'select * from list_dead_embedding_jobs(); shows the errors. Then: select replay_embedding_jobs();'
    from status s where s.dead > 0
    union all
    select 'queue', 'warning', 'queue', format('the oldest of %s waiting sources%s has waited %s minutes', s.pending + s.failed, ' and ' || nullif(s.waiting_copies, 0) || ' changes of own tables', floor(s.oldest_pending_seconds / 60)),
      'Check that a worker runs (WORKER=on, or tasklens worker) and that the model responds.'
    from status s where s.oldest_pending_seconds > 600
    union all
    select 'queue', 'ok', 'queue', format('%s sources wait', s.waiting), null from status s
    union all
    select 'chunks', 'warning', 'chunks', format('%s sources have a text and no chunk: only keyword search finds them; %s wait in the queue', s.sources_without_chunks, s.waiting),
      case when s.waiting + s.dead < s.sources_without_chunks then 'tasklens backfill' else 'None, while a worker runs.' end
    from status s where s.sources_without_chunks > 0
    union all
    select 'chunks', 'ok', 'chunks', format('every source with a text has chunks, %s in total', s.chunks), null from status s
    union all
    select 'rows', 'error', 'own tables', u.finding || ': ' || u.reason, 'Restore it, or attach again. Until then its changes wait, and its copies stay as they are.'
    from public.unreadable_views() u
    union all
    select 'rows', 'warning', 'own tables', format('%s cannot be copied as they are', case s.refused_rows - r.views when 1 then '1 row' else s.refused_rows - r.views || ' rows' end),
      'select kind, key, reason from tasklens.attached_rows where refused_at is not null; shows why, what belongs to these counts too. Correct them, or their view.'
    from status s cross join (select count(*) as views from public.unreadable_views()) r where s.refused_rows > r.views
    union all
    select 'rows', 'warning', 'own tables', format('of %s rows, names are cut to 1,000 characters', count(*)), 'select kind, key, cut from tasklens.attached_rows where cut is not null; shows which.'
    from tasklens.attached_rows r where r.cut is not null having count(*) > 0
    union all
    (with recursive parts(name, oid) as (
      select t.name, to_regclass(t.name)::oid from tasklens.attached_views a cross join unnest(a.tables) as t(name)
      union select i.inhrelid::regclass::text, i.inhrelid from parts p join pg_catalog.pg_inherits i on i.inhparent = p.oid
    )
    select 'rows', 'error', 'own tables', p.name || ' lacks triggers: what is written there is not copied', 'Attach again.'
    from parts p left join pg_catalog.pg_class c on c.oid = p.oid
    where c.relkind is distinct from 'f' and (
      select count(*) from pg_catalog.pg_trigger g where g.tgrelid = p.oid and g.tgfoid = 'tasklens.follow_tables'::regproc and g.tgenabled in ('O', 'A')) < 4)
    union all
    select 'texts', 'ok', 'texts', format('%s sources are too long to be indexed whole: search lacks the end of their texts', s.truncated), null
    from status s where s.truncated > 0
  )
  select f.severity, f.subject, f.finding, f.remedy
  from found f
  where f.severity <> 'ok' or not exists (select from found o where o.area = f.area and o.severity <> 'ok')
  order by array_position(array['error', 'warning', 'ok'], f.severity), f.subject, f.finding
$$;
comment on function public.check_installation is
  'What is missing or doubtful in this database, errors first, with the remedy, if possible a statement. embedding_model: the model whose chunks are checked, by default the serving one.';

-- Functions that store or queue much have a timeout of their own, 60 s; not imports, which lock
-- tickets. From PostgREST 12.2 on it applies instead of the role's (8 s on Supabase). Only a call
-- tells: within a function, current_setting returns its timeout either way.
create function public.probe_statement_timeout() returns void
language plpgsql volatile security invoker set search_path = '' set statement_timeout = '100ms'
as $$
begin
  perform pg_sleep(0.4);
end
$$;
comment on function public.probe_statement_timeout is 'Fails with query_canceled after 100 ms if PostgREST applies the statement timeouts of functions; else takes 400 ms.';

do $$
begin
  -- Without policies only their owner, and the service within its grants, reads internal tables.
  execute (
    select string_agg(format('alter table %s enable row level security', p.part), '; ')
    from tasklens.present_parts() p where p.kind = 'table' and p.part like 'tasklens.%');
  -- Times are those that JSON and its readers can hold.
  execute (
    select string_agg(format('alter table %s add constraint %I check (%I >= ''0001-01-01 00:00Z'' and %3$I < ''10000-01-01 00:00Z'')',
      p.part, concat_ws('_', split_part(p.part, '.', 2), a.attname, 'in_years_1_to_9999'), a.attname), '; ')
    from tasklens.present_parts() p join pg_catalog.pg_attribute a on a.attrelid = p.id
    where p.kind = 'table' and p.part like 'public.%' and a.attnum > 0 and not a.attisdropped
      and a.atttypid in ('date'::regtype, 'timestamptz'::regtype));
end
$$;

-- What check_installation compares with. A later migration adds its own parts in the same way.
insert into tasklens.installed_parts select p.kind, p.part, p.on_table, p.definition from tasklens.present_parts() p;
do 'begin perform tasklens.set_grants(); end';

insert into tasklens.migrations (version) values ('20261127001420');
