-- What each caller may write. The consequences of a write do not depend on the writer.

begin;
select plan(12);

\ir kit/jobs.sql

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Pumps'), (2, 'BB', 'Wheels'), (3, 'CC', 'Locks');
insert into public.tickets (ticket_id, key, project_id, status_id, name) values (11, 'AA-11', 1, 1, 'Pump'), (21, 'BB-21', 2, 1, 'Wheel'), (31, 'CC-31', 3, 1, 'Lock');
insert into public.status_changes (status_change_id, ticket_id, status_id, note) values (111, 11, 2, 'Sealed'), (211, 21, 2, 'Oiled'), (311, 31, 2, 'Shut');
insert into public.documents (id, title) values ('00000000-0000-4000-8000-000000000001', 'Document');

\ir kit/actors.sql
-- For moves between two projects that the user may write.
insert into public.project_members (project_id, user_id, role) select 2, a.user_id, 'member' from actors a where a.name = 'member';
-- Actors cannot read the table of actors.
select set_config('test.member', a.user_id::text, true) from actors a where a.name = 'member';
create function pg_temp.member() returns uuid language sql as $$ select current_setting('test.member')::uuid $$;

select results_eq($$ select a.attname from pg_attribute a where a.attrelid = 'public.tickets'::regclass and a.attnum > 0 and a.attgenerated = ''
    and not (has_column_privilege('authenticated', a.attrelid, a.attnum, 'insert') and has_column_privilege('authenticated', a.attrelid, a.attnum, 'update')) order by 1 $$,
  array['created_at', 'key', 'resolved_at', 'source_id', 'ticket_id', 'updated_at', 'url']::name[], 'users write every column of tickets but its id, its key, its times and what names it in its tracker');

create temporary table attempts (place integer generated always as identity, statement text, outcome text);
insert into attempts (statement, outcome) values --                                                                anon stranger outsider viewer member admin service
  ($$ insert into projects (project_id, name) values (4, 'New') $$,                                                   '- - - - - - 1'),
  ($$ update projects set name = 'New' $$,                                                                            '- 0 1 0 0 1 3'),
  ($$ update projects set project_id = 9 $$,                                                                          '- - - - - - 23505'),
  ($$ delete from projects $$,                                                                                        '- 0 1 0 0 1 3'),
  ($$ insert into tickets (project_id, status_id, name) values (1, 1, 'New') $$,                                      '- - - - 1 1 1'),
  ($$ insert into tickets (project_id, status_id, name) values (1, 1, 'New'), (3, 1, 'New') $$,                       '- - - - - - 2'),
  ($$ update tickets set name = 'New' $$,                                                                             '- 0 1 0 2 1 3'),
  ($$ update tickets set project_id = 2 where ticket_id = 11 $$,                                                      '- 0 0 0 1 - 1'),
  ($$ update tickets set project_id = 3 where ticket_id = 11 $$,                                                      '- 0 0 0 - - 1'),
  ($$ update tickets set project_id = 1 where ticket_id = 21 $$,                                                      '- 0 - 0 1 0 1'),
  ($$ delete from tickets $$,                                                                                         '- 0 1 0 2 1 3'),
  ($$ insert into tickets (key, project_id, status_id, name) values ('CC-31', 1, 1, 'New') on conflict (key) do update set name = 'New' $$,
                                                                                                                      '- - - - - - 1'),
  ($$ insert into tickets (ticket_id, project_id, status_id, name) values (99, 1, 1, 'New') $$,                       '- - - - - - 1'),
  ($$ insert into tickets (key, project_id, status_id, name) values ('CC-32', 1, 1, 'New') $$,                        '- - - - - - 1'),
  ($$ update tickets set key = 'CC-32' where ticket_id = 11 $$,                                                       '- - - - - - 1'),
  ($$ update projects set key = 'cc' where project_id = 1 $$,                                                         '- - - - - - 1'),
  ($$ insert into tickets (project_id, status_id, name) values (999, 1, 'New') $$,                                    '- - - - - - 23503'),
  ($$ update tickets set created_at = now() $$,                                                                       '- - - - - - 3'),
  ($$ insert into status_changes (ticket_id, status_id, note) values (11, 1, 'New') $$,                               '- - - - 1 1 1'),
  ($$ insert into status_changes (ticket_id, status_id, note) values (31, 1, 'New') $$,                               '- - - - - - 1'),
  ($$ update status_changes set note = 'New' $$,                                                                      '- 0 1 0 2 1 3'),
  ($$ update status_changes set ticket_id = 21 where status_change_id = 111 $$,                                       '- 0 0 0 1 - 1'),
  ($$ update status_changes set ticket_id = 11 where status_change_id = 211 $$,                                       '- 0 - 0 1 0 1'),
  ($$ delete from status_changes $$,                                                                                  '- 0 1 0 2 1 3'),
  ($$ insert into project_members (project_id, user_id) values (1, gen_random_uuid()) $$,                             '- - - - - 1 1'),
  ($$ insert into project_members (project_id, user_id) values (3, gen_random_uuid()) $$,                             '- - - - - - 1'),
  ($$ insert into project_members (project_id, user_id, role) values (3, auth.uid(), 'admin') $$,                     '- - - - - - 23502'),
  ($$ update project_members set role = 'admin' $$,                                                                   '- 0 2 0 0 3 5'),
  ($$ update project_members set project_id = 3 $$,                                                                   '- 0 - 0 0 - 23505'),
  ($$ update project_members set user_id = gen_random_uuid() $$,                                                      '- 0 - 0 0 - 5'),
  -- The statement that PostgREST makes of an upsert: it sets every column of the payload.
  ($$ insert into project_members (project_id, role, user_id) values (1, 'admin', pg_temp.member())
      on conflict (user_id, project_id) do update set project_id = excluded.project_id, role = excluded.role, user_id = excluded.user_id returning role $$,
                                                                                                                      '- - - - - 1 1'),
  ($$ insert into project_members (project_id, role, user_id) values (2, 'admin', pg_temp.member())
      on conflict (user_id, project_id) do update set project_id = excluded.project_id, role = excluded.role, user_id = excluded.user_id returning role $$,
                                                                                                                      '- - 1 - - - 1'),
  ($$ insert into project_members (project_id, role, user_id) values (1, 'admin', pg_temp.member())
      on conflict (user_id, project_id) do update set project_id = 2 $$,                                              '- - - - - - 23505'),
  ($$ insert into project_members (project_id, role, user_id) values (1, 'admin', pg_temp.member())
      on conflict (user_id, project_id) do update set user_id = auth.uid() $$,                                        '- - - - - - 23502'),
  ($$ delete from project_members $$,                                                                                 '- 0 2 0 0 3 5'),
  ($$ insert into status (status_id, name) values (3, 'New') $$,                                                         '- - - - - - 1'),
  ($$ update documents set title = 'New' $$,                                                                          '- - - - - - 1'),
  ($$ delete from chunks $$,                                                                                          '- - - - - - 0'),
  ($$ update keyword_entries set title_length = 0 $$,                                                                 '- - - - - - -'),
  ($$ update search_config set dated_weight = 0 $$,                                                                   '- - - - - - 1'),
  ($$ select tasklens.change_data_version('{1}') $$,                                                                   '- - - - - - -');
select results_eq(
  $$ select a.statement, pg_temp.outcomes(a.statement) from attempts a order by a.place $$,
  $$ select statement, outcome from attempts order by place $$,
  'members write tickets and notes, admins also their project and its members, others nothing');

-- Consequences of a user's write ------------------------------------------------------------------

truncate tasklens.embedding_jobs, tasklens.data_version_changes;
select pg_temp.act('member');
insert into public.tickets (project_id, status_id, name) values (1, 1, 'Gasket');
insert into public.status_changes (ticket_id, status_id, note) select t.ticket_id, 2, 'Greased' from public.tickets t where t.name = 'Gasket';
select is((select key from public.tickets where name = 'Gasket'), 'AA-12', 'a user''s new ticket gets the next key of its project');
create function pg_temp.found(query text, project bigint) returns text[]
language sql as $$ select array_agg(t.name) from public.search_by_keyword(query, project_filter => project) join public.tickets t using (ticket_id) $$;
select is(pg_temp.found('gasket greased', null), '{Gasket}', 'a user''s new ticket is found by its name and notes at once');
select is(pg_temp.found('gasket', 2), null, 'a search in another project does not find a user''s new ticket');
update public.tickets set project_id = 2 where name = 'Gasket';
select is(pg_temp.found('gasket', 2), '{Gasket}', 'a ticket moved by a user is found in its new project');
reset role;
select is((select array_agg(distinct t.name) from job j join public.tickets t using (ticket_id)), '{Gasket}', 'a user''s new ticket is queued for embedding');
select is((select array_agg(project_id order by project_id) from tasklens.data_version_changes), '{1,2}', 'a user''s write moves the version of both projects');

-- Two users with different projects share a connection: cached plans must not leak rows.
select pg_temp.act('admin');
select is((select array_agg(project_id) from public.list_projects()), '{1}', 'list_projects returns the first user''s project');
select pg_temp.act('outsider');
select is((select array_agg(project_id) from public.list_projects()), '{2}', 'list_projects returns the second user''s project on the same connection');
select pg_temp.act('service');
select is((select array_agg(project_id order by project_id) from public.list_projects()), '{1,2,3}', 'list_projects returns all projects to the service on the same connection');
select pg_temp.act('stranger');
select is((select array_agg(project_id) from public.list_projects()), null, 'list_projects returns nothing to a stranger on the same connection');

select * from finish();
rollback;
