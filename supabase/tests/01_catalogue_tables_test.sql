-- All tables and their privileges. A new table or grant fails here until it is listed.

begin;
select plan(19);

select tables_are('public', array['chunks', 'comment_entries', 'comments', 'document_chunks', 'document_votes', 'documents', 'embeddings', 'keyword_entries', 'project_members',
    'projects', 'search_config', 'status', 'status_changes', 'ticket_links', 'tickets'],
  'the schema public has exactly these tables');
select tables_are('tasklens', array['attached_rows', 'attached_views', 'changed_rows', 'data_version_changes', 'data_versions', 'embedding_jobs', 'embedding_sets', 'former_keys', 'former_languages', 'imported_links', 'imported_projects', 'imported_tickets', 'imports', 'installation', 'installed_parts', 'match_thresholds', 'migrations', 'query_log',
    'sources', 'ticket_counters', 'word_count_changes', 'word_counts'], 'the schema tasklens has exactly these tables');

-- What is not listed there would neither be checked before an installation nor be removed.
select is((select (i.tables || i.types || i.functions)::text from tasklens.installation i), array(
  (select c.relname::text from pg_catalog.pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind not in ('i', 'S') order by c.relname)
  union all (select t.typname::text from pg_catalog.pg_type t where t.typnamespace = 'public'::regnamespace and t.typtype not in ('b', 'c') order by t.typname)
  union all (select distinct p.proname::text collate "C" from pg_catalog.pg_proc p where p.pronamespace = 'public'::regnamespace order by 1))::text,
  'the installation lists what it has in the schema of its callers');

create temporary view our_tables as
select c.oid, c.oid::regclass::text as name, c.relrowsecurity or coalesce(c.reloptions @> array['security_invoker=on'], false) as guarded
from pg_catalog.pg_class c
where c.relnamespace in ('public'::regnamespace, 'tasklens'::regnamespace) and c.relkind in ('r', 'p', 'v', 'm', 'f');

select is_empty($$ select name from our_tables where not guarded $$, 'every table has row-level security, and every view the rights of its caller');
select is_empty($$ select name from our_tables where obj_description(oid, 'pg_class') is null $$, 'every table has a comment');
select results_eq(
  $$ select c.oid::regclass::text, o.option_value::numeric from pg_catalog.pg_class c, pg_catalog.pg_options_to_table(c.reloptions) o
    where o.option_name = 'autovacuum_vacuum_cost_delay' $$,
  $$ values ('chunks', 5::numeric) $$, 'a vacuum of the vector index takes a sixth of a processor');

create temporary view table_rights as
select r.role, t.oid, t.name, v.privilege, v.place
from our_tables t, unnest(array['anon', 'authenticated']) as r(role),
  unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) with ordinality as v(privilege, place)
where has_table_privilege(r.role, t.oid, v.privilege) or (v.privilege in ('select', 'insert', 'update', 'references')
  and has_any_column_privilege(r.role, t.oid, v.privilege));

select results_eq(
  $$ select role, name, string_agg(privilege, ' ' order by place) from table_rights group by role, name order by role, name $$,
  $$ values
    ('authenticated', 'chunks', 'select'),
    ('authenticated', 'comment_entries', 'select'),
    ('authenticated', 'comments', 'select insert update delete'),
    ('authenticated', 'document_chunks', 'select'),
    ('authenticated', 'document_votes', 'select insert update delete'),
    ('authenticated', 'documents', 'select'),
    ('authenticated', 'embeddings', 'select'),
    ('authenticated', 'keyword_entries', 'select'),
    ('authenticated', 'project_members', 'select insert update delete'),
    ('authenticated', 'projects', 'select update delete'),
    ('authenticated', 'search_config', 'select'),
    ('authenticated', 'status', 'select'),
    ('authenticated', 'status_changes', 'select insert update delete'),
    ('authenticated', 'tasklens.ticket_members', 'select'),
    ('authenticated', 'ticket_links', 'select insert delete'),
    ('authenticated', 'tickets', 'select insert update delete') $$,
  'authenticated has exactly these table privileges, and anon has none');
-- A second policy for the same privilege would be evaluated too. A policy for another role or
-- command would grant access that this test does not check.
select bag_eq(
  $$ select polrelid, case polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else polcmd::text end,
       polpermissive, polroles::regrole[] from pg_catalog.pg_policy where polrelid in (select oid from our_tables) $$,
  $$ select oid, privilege, true, array['authenticated'::regrole] from table_rights where oid in (select c.oid from pg_catalog.pg_class c where c.relkind <> 'v') $$,
  'every table privilege of authenticated has exactly one policy, and there are no others');
select is_empty(
  $$ select t.name, v.privilege
     from our_tables t, unnest(array['select', 'insert', 'update', 'delete']) as v(privilege)
     where t.name in ('chunks', 'comments', 'document_chunks', 'document_votes', 'documents', 'embeddings', 'project_members', 'projects', 'status', 'status_changes', 'ticket_links', 'tickets')
       and not has_table_privilege('service_role', t.oid, v.privilege) $$,
  'service_role can read and write the tracker, its members, the documents, their votes and all chunks');
select ok(has_table_privilege('service_role', 'public.keyword_entries', 'select')
  and has_table_privilege('service_role', 'public.comment_entries', 'select'), 'service_role can read the keyword entries of tickets and comments');
select results_eq(
  $$ select t.name, v.privilege
     from our_tables t, unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as v(privilege)
     where t.name like 'tasklens.word%' and has_table_privilege('service_role', t.oid, v.privilege) order by t.name $$,
  $$ values ('tasklens.word_count_changes', 'select'), ('tasklens.word_counts', 'select') $$,
  'service_role can read the word counts and not write them');
select ok(has_table_privilege('service_role', 'tasklens.query_log', p), 'service_role has this privilege on the query log: ' || p)
from unnest(array['select', 'insert', 'delete']) p;

select is_empty(
  $$ select c.oid::regclass, a.grantee::regrole from pg_catalog.pg_class c cross join aclexplode(c.relacl) a
     where c.relnamespace in ('public'::regnamespace, 'tasklens'::regnamespace) and c.relkind = 'S' and a.grantee <> c.relowner $$,
  'sequences, which tell how many rows there were, are their owner''s alone');
select is_empty($$ select kind, name from tasklens.listed_grants except select kind, split_part(part, '(', 1) from tasklens.installed_parts $$,
  'every listed grant is on a part that is there');

-- The first columns of the index are those of the foreign key, in any order. A partial index may
-- omit null keys.
select is_empty(
  $$ select k.conrelid::regclass, k.conname
     from pg_catalog.pg_constraint k
     where k.contype = 'f' and k.conrelid in (select oid from our_tables)
       and not exists (
         select 1 from pg_catalog.pg_index i
         where i.indrelid = k.conrelid and i.indisvalid and (i.indpred is null
            or pg_get_expr(i.indpred, i.indrelid) = format('(%s IS NOT NULL)', pg_get_indexdef(i.indexrelid, 1, true)))
           and (i.indkey::smallint[])[0:cardinality(k.conkey) - 1] @> k.conkey) $$,
  'every foreign key has an index');

-- Schemas

select results_eq(
  $$ select r.role, has_schema_privilege(r.role, 'tasklens', 'usage'), has_schema_privilege(r.role, 'tasklens', 'create')
     from unnest(array['anon', 'authenticated', 'service_role']) as r(role) $$,
  $$ values ('anon', false, false), ('authenticated', true, false), ('service_role', true, false) $$,
  'authenticated and service_role can use the schema tasklens but not create objects in it, and anon can do neither');

set local role anon;
select throws_ok($$ select * from public.list_projects() $$, '42501', null, 'anon cannot call list_projects');
reset role;

select * from finish();
rollback;
