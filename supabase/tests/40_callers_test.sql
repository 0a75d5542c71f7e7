-- What each caller can read, by table and by function.

begin;
select plan(16);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Pumps'), (2, 'BB', 'Wheels');
insert into public.tickets (ticket_id, key, project_id, status_id, name) values
  (11, 'AA-11', 1, 1, 'Pump leaks'), (12, 'AA-12', 1, 2, 'Pump hums'), (21, 'BB-21', 2, 1, 'Wheel squeaks like a pump'),
  (22, 'BB-22', 2, 1, 'secretword pump'), (23, 'BB-23', 2, 1, 'A wheel pump');
insert into public.status_changes (status_change_id, ticket_id, status_id, note) values (111, 11, 2, 'Sealed'), (211, 21, 2, 'Oiled');
insert into public.comments (ticket_id, author, body) values (11, 'Ada', 'It drips'), (21, 'Bo', 'It squeals');
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (11, 'relates_to', 12), (22, 'duplicates', 21), (12, 'blocks', 21);

create function pg_temp.unit(place integer, dimensions integer) returns extensions.vector
language sql as $$
  select ('[' || string_agg(case when i = place then '1' else '0' end, ',' order by i) || ']')::extensions.vector from generate_series(1, dimensions) i
$$;
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select t.project_id, t.ticket_id, 'ticket', 0, t.name, 1, 'h', 'm', pg_temp.unit(1, 1536) from public.tickets t
union all
select p.project_id, null, 'project', 0, p.name, 1, 'h', 'm', pg_temp.unit(1, 1536) from public.projects p;
insert into public.documents (id, title, keywords, named_entities, embedding_status, retrieval_queries)
select ('00000000-0000-4000-8000-00000000000' || i)::uuid, 'Document ' || i, '{pump}', '[{"name": "Ada"}]', 'complete', '{who}' from generate_series(1, 2) i;
insert into public.document_chunks (chunk_id, document_id, position, text, tokens, input_hash) select id, id, 0, title, 1, 'h' from public.documents;
insert into public.embeddings (document_id, chunk_id, model, embedding)
select d.id, c.chunk_id, 'm', pg_temp.unit(1, 768) from public.documents d cross join lateral (values (d.id), (null)) as c(chunk_id);

\ir kit/actors.sql
insert into public.document_votes (document_id, user_id, helpful)
select '00000000-0000-4000-8000-000000000001', a.user_id, true from actors a where a.name in ('viewer', 'service');

-- Reading                                                           anon stranger outsider viewer member admin service
select bag_eq($$ select t.name, pg_temp.outcomes('select 1 from ' || t.name) from (
    select c.oid::regclass::text collate "default" as name from pg_catalog.pg_class c
    where c.relnamespace in ('public'::regnamespace, 'tasklens'::regnamespace) and c.relkind = 'r') t $$,
  $$ values
    ('chunks',                       '- 0 4 3 3 3 7'),
    ('comment_entries',              '- 0 1 1 1 1 2'),
    ('comments',                     '- 0 1 1 1 1 2'),
    ('document_chunks',              '- 0 2 2 2 2 2'),
    ('document_votes',               '- 0 0 1 0 0 2'),
    ('documents',                    '- 0 2 2 2 2 2'),
    ('embeddings',                   '- 0 4 4 4 4 4'),
    ('keyword_entries',              '- 0 4 3 3 3 7'),
    ('tasklens.attached_rows',        '- - - - - - 0'),
    ('tasklens.attached_views',       '- - - - - - 0'),
    ('tasklens.changed_rows',         '- - - - - - 0'),
    ('tasklens.data_version_changes', '- - - - - - -'),
    ('tasklens.data_versions',        '- - - - - - -'),
    ('tasklens.embedding_jobs',       '- - - - - - 11'),
    ('tasklens.embedding_sets',       '- - - - - - 1'),
    ('tasklens.former_languages',     '- - - - - - 0'),
    ('tasklens.former_keys',          '- - - - - - 0'),
    ('tasklens.imported_links',       '- - - - - - 0'),
    ('tasklens.imported_projects',    '- - - - - - 0'),
    ('tasklens.imported_tickets',     '- - - - - - 0'),
    ('tasklens.imports',              '- - - - - - 0'),
    ('tasklens.installation',         '- - - - - - 1'),
    ('tasklens.installed_parts',      '- - - - - - ' || (select count(*) from tasklens.installed_parts)),
    ('tasklens.match_thresholds',     '- - - - - - 0'),
    ('tasklens.migrations',           '- - - - - - -'),
    ('tasklens.query_log',            '- - - - - - 0'),
    ('tasklens.sources',              '- - - - - - ' || (select count(*) from tasklens.sources)),
    ('tasklens.ticket_counters',      '- - - - - - -'),
    ('tasklens.word_count_changes',   '- - - - - - ' || (select count(*) from tasklens.word_count_changes)),
    ('tasklens.word_counts',          '- - - - - - ' || (select count(*) from tasklens.word_counts)),
    ('project_members',              '- 0 1 3 3 3 4'),
    ('projects',                     '- 0 1 1 1 1 2'),
    ('search_config',                '- 1 1 1 1 1 1'),
    ('status',                       '- 2 2 2 2 2 2'),
    ('status_changes',               '- 0 1 1 1 1 2'),
    ('ticket_links',                 '- 0 1 1 1 1 3'),
    ('tickets',                      '- 0 3 2 2 2 5') $$,
  'each role reads the rows of its projects, in every table');
-- PostgREST exposes any relation named in a path, and Supabase grants all roles access to new ones.
select is_empty($$ select c.oid::regclass from pg_catalog.pg_class c
    where c.relnamespace in ('public'::regnamespace, 'tasklens'::regnamespace) and c.relkind = 'S'
      and pg_temp.outcomes('select 1 from ' || c.oid::regclass) not like '- - - - - - _' $$,
  'users cannot read sequences, which reveal numbers of rows');
select is(pg_temp.outcomes('select retrieval_queries from documents'), '- - - - - - 2', 'users cannot read the recorded queries of documents');
select is(pg_temp.outcomes($$ select unnest(retrieval_queries) from get_document('00000000-0000-4000-8000-000000000001') $$), '- 0 0 0 0 0 1',
  'users cannot read the recorded queries of a document through get_document');

-- Arguments of the functions that users may call. A new function needs a line here.
create temporary table calls (name text, arguments text, outcome text);
insert into calls values -- anon stranger outsider viewer member admin service
  ('caller_role',                 '()',                                                      '- 1 1 1 1 1 1'),
  ('count_tickets',               '()',                                                      '- 1 1 1 1 1 1'),
  ('data_version',                '()',                                                      '- 1 1 1 1 1 1'),
  ('explain_query',               '(''a -b'')',                                              '- 1 1 1 1 1 1'),
  ('find_documents_by_entity',    '(''ada'')',                                               '- 0 2 2 2 2 2'),
  ('find_similar_documents',      '(''00000000-0000-4000-8000-000000000001'')',              '- 0 1 1 1 1 1'),
  ('find_similar_tickets',        '(11, ''m'')',                                             '- 0 0 1 1 1 1'),
  ('find_filter_values',          '(''{"projects": ["AA", "BB"], "types": "none such"}'')',   '- 3 3 3 3 3 3'),
  ('get_document',                '(''00000000-0000-4000-8000-000000000001'')',              '- 0 1 1 1 1 1'),
  ('get_ticket',                  '(11)',                                                    '- 0 0 1 1 1 1'),
  ('list_projects',               '()',                                                      '- 0 1 1 1 1 2'),
  ('list_statuses',               '()',                                                      '- 2 2 2 2 2 2'),
  ('list_tickets',                '()',                                                      '- 0 3 2 2 2 5'),
  ('may_write_project',           '(1)',                                                     '- 1 1 1 1 1 1'),
  ('nearest_chunks',              '(pg_temp.unit(1, 1536))',                                 '- 0 4 3 3 3 7'),
  ('rate_document',               '(''00000000-0000-4000-8000-000000000001'', true)',        '- 1 1 1 1 1 1'),
  ('read_query',                  '(''a is:open'')',                                         '- 1 1 1 1 1 1'),
  ('retrieve_chunks',             '(pg_temp.unit(1, 1536), ''m'')',                          '- 0 4 3 3 3 7'),
  ('search_by_keyword',           '(''pump'')',                                              '- 0 3 3 3 3 6'),
  ('search_by_vector',            '(pg_temp.unit(1, 1536), ''m'')',                          '- 0 4 3 3 3 7'),
  ('search_documents',            '(pg_temp.unit(1, 768))',                                  '- 0 2 2 2 2 2'),
  ('search_documents_hybrid',     '(pg_temp.unit(1, 768), ''{pump}'')',                      '- 0 2 2 2 2 2'),
  ('search_facets',               '(''pump'', pg_temp.unit(1, 1536), ''m'')',                '- 0 3 5 5 5 6'),
  ('search_hybrid',               '(''pump'', pg_temp.unit(1, 1536), ''m'')',                '- 0 4 3 3 3 7'),
  ('set_project_language',        '(1, ''german'')',                                            '- - - - - 1 1'),
  ('similar_tickets',             '(pg_temp.unit(1, 1536), ''m'')',                          '- 0 3 2 2 2 5'),
  ('user_id_of',                  '(''auth0|1'')',                                             '- 1 1 1 1 1 1'),
  ('visible_texts',               '(''{pump}'')',                                            '- 1 1 1 1 1 1');
select bag_eq($$ select name from calls $$,
  $$ select p.proname::text from pg_catalog.pg_proc p where p.pronamespace = 'public'::regnamespace and has_function_privilege('authenticated', p.oid, 'execute') $$,
  'users can call exactly these functions');
select results_eq($$ select name, pg_temp.outcomes(format('select * from public.%s%s', name, arguments)) from calls order by name $$,
  $$ select name, outcome from calls order by name $$, 'each function returns all rows of the caller''s projects');
-- Filters, names, IDs, words and phrases must not reveal invisible rows either.
select results_eq($$ select s.statement, pg_temp.outcomes(s.statement) from (values
    (1, 'select from search_by_keyword(''BB-22'')'), (2, 'select from search_by_keyword(''secretword'')'), (3, 'select from search_by_keyword(''pump'', 10, 2)'),
    (4, 'select from search_by_keyword(''pump'', 10, null, ''to do'')'), (5, 'select from search_by_keyword(''"secretword pump"'')'),
    (6, 'select from search_by_vector(pg_temp.unit(1, 1536), ''m'', 0.7, 10, 2)'), (7, 'select from search_hybrid(''BB-22'', project_filter => 2)'),
    (8, 'select from search_facets(''pump'', project_filter => 2)'), (9, 'select from find_similar_tickets(22, ''m'')'),
    (10, 'select from retrieve_chunks(pg_temp.unit(1, 1536), ''m'', filters => ''{"projects": [2]}'')'), (11, 'select from search_by_keyword(''pump -secretword'')'),
    (12, 'select from retrieve_chunks(pg_temp.unit(1, 1536), ''m'', 1, 20, null, ''What of BB-22?'') where named'),
    (13, 'select from retrieve_chunks(pg_temp.unit(1, 1536), ''m'', question => ''the goal of Wheels?'') where named'),
    (14, 'select from retrieve_chunks(pg_temp.unit(1, 1536), ''m'', 1, 20, null, ''What is to do in Wheels?'', corpus => ''all'') where named'),
    (15, 'select from list_tickets(filters => ''{"projects": [2], "statuses": "to do"}'')'),
    (16, 'select from search_facets(null, filters => ''{"projects": [2]}'') where facet = ''status'''), (17, 'select from get_ticket(ticket_key => ''bb-22'')')
  ) s(place, statement) order by s.place $$,
  $$ values
    ('select from search_by_keyword(''BB-22'')', '- 0 1 0 0 0 1'),
    ('select from search_by_keyword(''secretword'')', '- 0 1 0 0 0 1'),
    ('select from search_by_keyword(''pump'', 10, 2)', '- 0 3 0 0 0 3'),
    ('select from search_by_keyword(''pump'', 10, null, ''to do'')', '- 0 3 1 1 1 4'),
    -- Treated as words, as if no visible text contained the phrase.
    ('select from search_by_keyword(''"secretword pump"'')', '- 0 1 3 3 3 1'),
    ('select from search_by_vector(pg_temp.unit(1, 1536), ''m'', 0.7, 10, 2)', '- 0 4 0 0 0 4'),
    ('select from search_hybrid(''BB-22'', project_filter => 2)', '- 0 1 0 0 0 1'),
    ('select from search_facets(''pump'', project_filter => 2)', '- 0 3 1 1 1 4'),
    ('select from find_similar_tickets(22, ''m'')', '- 0 1 0 0 0 1'),
    ('select from retrieve_chunks(pg_temp.unit(1, 1536), ''m'', filters => ''{"projects": [2]}'')', '- 0 4 0 0 0 4'),
    ('select from search_by_keyword(''pump -secretword'')', '- 0 2 3 3 3 5'),
    ('select from retrieve_chunks(pg_temp.unit(1, 1536), ''m'', 1, 20, null, ''What of BB-22?'') where named', '- 0 1 0 0 0 1'),
    ('select from retrieve_chunks(pg_temp.unit(1, 1536), ''m'', question => ''the goal of Wheels?'') where named', '- 0 1 0 0 0 1'),
    ('select from retrieve_chunks(pg_temp.unit(1, 1536), ''m'', 1, 20, null, ''What is to do in Wheels?'', corpus => ''all'') where named', '- 0 1 0 0 0 1'),
    ('select from list_tickets(filters => ''{"projects": [2], "statuses": "to do"}'')', '- 0 3 0 0 0 3'),
    ('select from search_facets(null, filters => ''{"projects": [2]}'') where facet = ''status''', '- 0 1 0 0 0 1'),
    ('select from get_ticket(ticket_key => ''bb-22'')', '- 0 1 0 0 0 1') $$,
  'queries that name invisible tickets or projects return only visible rows');

select pg_temp.act('viewer');
select from public.search_documents_hybrid(pg_temp.unit(1, 768), '{pump}', track_retrievals => true);
reset role;
select is((select sum(retrieval_count) from public.documents), 0::numeric, 'a user''s search counts no retrievals');
select pg_temp.act('service');
select from public.search_documents_hybrid(pg_temp.unit(1, 768), '{pump}', track_retrievals => true);
reset role;
select is((select sum(retrieval_count) from public.documents), 2::numeric, 'the service''s search counts them');

-- Only the service may import, including the internal functions that imports use.
select results_eq($$ select s.statement, pg_temp.outcomes('select from ' || s.statement) from (values
    (1, 'upsert_projects(''[{"key": "AA", "name": "Pumps"}]'')'), (2, 'upsert_tickets(''[{"key": "AA-11", "project_key": "AA", "status": "Done", "name": "Pump"}]'')'),
    (3, 'begin_import(''x'')'), (4, 'link_imported_tickets(1)'), (5, 'prune_import(1)'),
    (13, 'tasklens.unlisted_rows(1, 1)')
  ) s(place, statement) order by s.place $$,
  $$ values
    ('upsert_projects(''[{"key": "AA", "name": "Pumps"}]'')', '- - - - - - 1'),
    ('upsert_tickets(''[{"key": "AA-11", "project_key": "AA", "status": "Done", "name": "Pump"}]'')', '- - - - - - 1'),
    ('begin_import(''x'')', '- - - - - - 1'),
    ('link_imported_tickets(1)', '- - - - - - 1'),
    ('prune_import(1)', '- - - - - - 1'),
    ('tasklens.unlisted_rows(1, 1)', '- - - - - - 0') $$,
  'only the service can import and prune');

-- Roles and permissions of callers ----------------------------------------------------------------

create function pg_temp.answers(question text) returns text
language plpgsql as $$
declare
  actor text;
  answer text;
  all_answers text;
begin
  for actor in select a.name from actors a where a.name <> 'anon' order by a.place loop
    perform pg_temp.act(actor);
    execute 'select ' || question into answer;
    perform set_config('role', 'none', true);
    all_answers := concat_ws(' ', all_answers, coalesce(answer, 'null'));
  end loop;
  return all_answers;
end
$$;
select is(pg_temp.answers('tasklens.projects_as(''viewer'')'), '{} {2} {1} {1} {1} null', 'projects_as returns the caller''s projects, null for all');
select is(pg_temp.answers('public.caller_role()'), 'none admin viewer member admin service', 'caller_role returns the caller''s highest role');
select is(pg_temp.answers('concat(public.may_write_project(1), public.may_write_project(2), public.may_write_project(3), public.may_write_project(null))'),
  'ffff ftff ffff tfff tfff tttt', 'may_write_project is true in projects that the caller may write');

-- Reading -----------------------------------------------------------------------------------------

select set_eq($$ select p.proname::text from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace and has_function_privilege('authenticated', p.oid, 'execute') and p.provolatile = 'v' $$,
  array['rate_document', 'search_documents_hybrid', 'set_project_language'], 'what users call is stable, except what may write');
-- Third-party auth: a subject that is no UUID.
create function pg_temp.sees(subject text) returns bigint
language plpgsql as $$
begin
  perform set_config('request.jwt.claims', jsonb_build_object('sub', subject)::text, true);
  return (select count(*) from public.list_projects());
end
$$;
insert into project_members (project_id, user_id, role) values (2, user_id_of('auth0|0123456789abcdef01234567'), 'viewer');
set local role authenticated;
select results_eq($$ select s, pg_temp.sees(s) from unnest('{auth0|0123456789abcdef01234567,auth0|0123456789abcdef01234568,user_2aBc}'::text[]) s $$,
  $$ values ('auth0|0123456789abcdef01234567', 1::bigint), ('auth0|0123456789abcdef01234568', 0), ('user_2aBc', 0) $$, 'a member may have any subject');
reset role;

-- As PostgREST calls them by GET. Nothing can be written from here on.
set local transaction_read_only = on;
select results_eq($$ select name, pg_temp.outcomes(format('select * from public.%s%s', name, arguments)) from calls where name not in ('rate_document', 'set_project_language') order by name $$,
  $$ select name, outcome from calls where name not in ('rate_document', 'set_project_language') order by name $$, 'each function that reads does so in a read-only transaction');

select * from finish();
rollback;
