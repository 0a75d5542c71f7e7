-- Functions that store or queue much have a statement timeout of their own.

begin;
select plan(3);

select results_eq(
  $$ select p.proname::text collate "default", s.setting collate "default"
    from pg_catalog.pg_proc p cross join unnest(p.proconfig) s(setting)
    where p.pronamespace in ('public'::regnamespace, 'tasklens'::regnamespace) and s.setting like 'statement_timeout=%' order by 1 $$,
  $$ values ('begin_reembed', 'statement_timeout=60s'), ('clear_retired_set', 'statement_timeout=60s'),
    ('enqueue_missing_embeddings', 'statement_timeout=60s'), ('finish_reembed', 'statement_timeout=60s'),
    ('measure_missing_embeddings', 'statement_timeout=60s'), ('probe_statement_timeout', 'statement_timeout=100ms'),
    ('store_chunks', 'statement_timeout=60s') $$,
  'these functions have a statement timeout of their own');
select is_empty(
  $$ select p.proname from pg_catalog.pg_proc p cross join unnest(p.proconfig) s(setting)
    where s.setting like 'statement_timeout=%' and has_function_privilege('authenticated', p.oid, 'execute') $$,
  'users can call none of them');

-- In SQL the timeout of the statement applies.
set local role service_role;
select lives_ok('select public.probe_statement_timeout()', 'the probe returns where the timeout of a function is not applied');

select * from finish();
rollback;
