-- Views over tables of an application are attached, and their copies follow what is written there.

begin;
select plan(76);

-- Copies until nothing is left, and lists what was refused.
create function pg_temp.settle() returns text
language plpgsql as $$
begin
  for i in 1..100 loop
    if public.copy_changes() = 0 then
      return (select string_agg(r.kind || ' ' || r.key || ': ' || r.reason, '; ' order by r.kind, r.key) from tasklens.attached_rows r where r.refused_at is not null);
    end if;
  end loop;
  return 'never ends';
end
$$;
-- What the views of a schema show, and what is copied.
create function pg_temp.shown(schema text) returns table (kind text, content jsonb)
language plpgsql as $$
begin
  return query execute format($q$
    select 'project', jsonb_build_array(p.key, p.name) from %1$I.projects p
    union all
    select 'ticket', jsonb_build_array(t.key, p.key, t.status, t.name, t.assignee) from %1$I.tickets t join %1$I.projects p using (project_id)
    union all
    select 'member', jsonb_build_array(p.key, m.user_id) from %1$I.members m join %1$I.projects p using (project_id)
    union all
    select 'comment', jsonb_build_array(t.key, c.author, c.body) from %1$I.comments c join %1$I.tickets t using (ticket_id)$q$, schema);
end
$$;
create view pg_temp.copied as
select 'project' as kind, jsonb_build_array(p.key, p.name) as content from public.projects p
union all
select 'ticket', jsonb_build_array(t.key, p.key, s.name, t.name, t.assignee) from public.tickets t join public.projects p using (project_id) join public.status s using (status_id)
union all
select 'member', jsonb_build_array(p.key, m.user_id) from public.project_members m join public.projects p using (project_id)
union all
select 'comment', jsonb_build_array(t.key, c.author, c.body) from public.comments c join public.tickets t using (ticket_id);
-- Null if the copies are what the views show.
create function pg_temp.differ(schema text) returns text
language sql as $$
  select string_agg(d.side || d.kind || ' ' || d.content, '; ' order by d.kind, d.content, d.side) from (
    (select '-' as side, x.* from pg_temp.shown(schema) x except all select '-', c.* from pg_temp.copied c)
    union all
    (select '+', c.* from pg_temp.copied c except all select '+', x.* from pg_temp.shown(schema) x)) d
$$;
-- Runs a statement as the application, copies, and says what was refused and what differs.
create function pg_temp.after(statement text, schema text) returns text
language plpgsql as $$
declare
  refused text;
begin
  execute statement;
  refused := pg_temp.settle();
  return concat_ws(' | ', refused, pg_temp.differ(schema));
end
$$;

-- Bigint keys, tenants with members, states as text, soft deletes ---------------------------------

create schema soft;
create table soft.members (tenant_id uuid, user_id text, role text);
create table soft.boards (id bigint primary key, tenant_id uuid, prefix text, title text, language text, deleted_at timestamptz);
create table soft.issues (id bigint primary key, board_id bigint, number integer, state text, title text, assigned_to text, tags text[], deleted_at timestamptz);
create table soft.remarks (id bigint generated always as identity primary key, issue_id bigint, written_by text, body text, deleted_at timestamptz);
create schema soft_search;
create view soft_search.projects as select id as project_id, prefix as key, title as name, language from soft.boards where deleted_at is null;
create view soft_search.members as
select b.id as project_id, m.user_id, m.role, m.tenant_id from soft.boards b join soft.members m using (tenant_id) where b.deleted_at is null;
create view soft_search.tickets as
select i.id as ticket_id, p.key || '-' || i.number as key, p.project_id, i.state as status, i.title as name, i.assigned_to as assignee, i.tags as labels
from soft.issues i join soft_search.projects p on p.project_id = i.board_id where i.deleted_at is null;
create view soft_search.comments as
select id as comment_id, issue_id as ticket_id, written_by as author, body from soft.remarks where deleted_at is null;
create function pg_temp.soft() returns jsonb
language sql as $$ select '{
  "projects": {"view": "soft_search.projects", "tables": {"soft.boards": {"id": "project_id"}}},
  "members": {"view": "soft_search.members", "tables": {"soft.boards": {"id": "project_id"}, "soft.members": {"tenant_id": "tenant_id"}}},
  "tickets": {"view": "soft_search.tickets", "tables": {"soft.issues": {"id": "ticket_id"}, "soft.boards": {"id": "project_id"}}},
  "comments": {"view": "soft_search.comments", "tables": {"soft.remarks": {"id": "comment_id"}}}}'::jsonb $$;
insert into soft.boards values (7, 'a0000000-0000-4000-8000-000000000001', 'PAY', 'Payments'), (8, 'a0000000-0000-4000-8000-000000000002', 'SHIP', 'Shipping');
insert into soft.issues select n, 7 + n % 2, n, 'Backlog', 'Issue ' || n, null, '{web}' from generate_series(1, 450) n;
insert into soft.remarks (issue_id, written_by, body) select n, 'Noor', 'Seen' from generate_series(1, 450, 10) n;

select results_eq('select * from public.attach_tables(pg_temp.soft())', $$ values
    ('projects', 'soft_search.projects', 'soft.boards', 2::bigint), ('members', 'soft_search.members', 'soft.boards, soft.members', 0),
    ('tickets', 'soft_search.tickets', 'soft.boards, soft.issues', 450), ('comments', 'soft_search.comments', 'soft.remarks', 45) $$,
  'attach_tables says what it follows, and how many rows there are');
select is((select count(*) from public.tickets), 0::bigint, 'it copies nothing itself');
select is(public.copy_changes(100), 100::bigint, 'copy_changes takes so many entries of the queue');
select is(pg_temp.settle(), null, 'what is there is copied');
select is(pg_temp.differ('soft_search'), null, 'all of it');
select is((select labels from public.tickets where key = 'PAY-2'), '{web}', 'with the columns that the view has');
select is(pg_temp.after($$ insert into soft.issues values (1000, 7, 1000, 'New', 'Refund') $$, 'soft_search'), '', 'a new row is copied');
select is(pg_temp.after($$ update soft.issues set title = 'Refunds', assigned_to = 'Ada', tags = null, state = null where id = 1000 $$, 'soft_search'),
  '-ticket ["PAY-1000", "PAY", null, "Refunds", "Ada"]; +ticket ["PAY-1000", "PAY", "To Do", "Refunds", "Ada"]', 'a changed one too, and no state is To Do');
select is(pg_temp.after($$ update soft.issues set state = 'Solved', board_id = 8 where id = 1000 $$, 'soft_search'), '', 'it moves to another project');
select is(pg_temp.after($$ update soft.issues set deleted_at = now() where id = 1000 $$, 'soft_search'), '', 'a soft deleted one goes');
select is(pg_temp.after($$ update soft.issues set deleted_at = null where id = 1000 $$, 'soft_search'), '', 'and comes back');
select is(pg_temp.after($$ delete from soft.issues where id = 1000 $$, 'soft_search'), '', 'a deleted one goes');
select is(pg_temp.after($$ update soft.remarks set issue_id = 2, body = 'Moved' where issue_id = 1 $$, 'soft_search'), '', 'a comment moves');
select is(pg_temp.after($$ update soft.boards set deleted_at = now() where id = 7 $$, 'soft_search'), '', 'with a board go its issues, and comments that are still shown');
select is((select string_agg(distinct p.key, ',') from public.tickets t join public.projects p using (project_id)), 'SHIP', 'the others stay');
select is(pg_temp.after($$ update soft.boards set deleted_at = null where id = 7 $$, 'soft_search'), '', 'they all come back with their board');
select is(pg_temp.after($$ delete from soft.remarks where issue_id = 2 $$, 'soft_search'), '', 'a deleted comment goes');
select is(pg_temp.after($$ truncate soft.remarks $$, 'soft_search'), '', 'a table may be truncated');
create temporary table before as select max(s.source_id) as latest from tasklens.sources s;
select is(pg_temp.after($$ update soft.boards set prefix = case id when 7 then 'SHIP' else 'PAY' end $$, 'soft_search'), '', 'two boards swap their keys in one statement');
select is((select max(s.source_id) from tasklens.sources s), (select latest from before), 'and keep their copies, which need not be embedded again');
select is(pg_temp.after($$ update soft.issues set number = case when number = 450 then 1 else number + 1 end $$, 'soft_search'), '', 'all issues are renumbered in one statement');
select is(pg_temp.after($$ insert into soft.members values ('a0000000-0000-4000-8000-000000000001', 'c0ffee00-0000-4000-8000-00000000000a', 'member'),
    ('a0000000-0000-4000-8000-000000000002', 'c0ffee00-0000-4000-8000-00000000000b', null), ('a0000000-0000-4000-8000-000000000002', null, null) $$, 'soft_search'),
  '-member ["PAY", null]', 'members are copied, except those without an account');
select is((select string_agg(p.key || ' ' || m.role, ', ' order by p.key) from public.project_members m join public.projects p using (project_id)),
  'PAY viewer, SHIP member', 'with their role');

-- What cannot be taken, and is tried again --------------------------------------------------------

delete from soft.issues where id > 10;
delete from soft.members where user_id is null;
select pg_temp.settle();
create function pg_temp.refused(statement text) returns text
language plpgsql as $$
begin
  execute statement;
  return pg_temp.settle();
end
$$;
select is(pg_temp.refused($$ update soft.issues set state = ' ' where id = 1 $$), 'tickets 1: its status is empty', 'an empty state');
select is((select count(*) from public.tickets where name = 'Issue 1'), 0::bigint, 'what is refused has no copy');
select is(pg_temp.refused($$ update soft.issues set state = repeat('x', 101) where id = 1 $$), 'tickets 1: its status has 101 characters, more than 100', 'a long state');
select is(pg_temp.refused($$ update soft.issues set state = 'SOLVED' where id = 1 $$), null, 'a state in other letters is the same state');
select is(pg_temp.refused($$ update soft.issues set state = 'Solved' where id = 1 $$), null, 'and back');
select is((select count(*) from public.status where lower(name) = 'solved'), 1::bigint, 'which is there once');
select is(pg_temp.refused($$ update soft.boards set prefix = 'PAY' where id = 7 $$),
  'projects 7: the key PAY is taken',
  'a prefix that another board has');
select is(pg_temp.refused($$ update soft.boards set prefix = 'CART' where id = 8 $$), null, 'when the other board gives it up, all is copied');
select is(pg_temp.differ('soft_search'), null, 'as it is shown');
select is(pg_temp.refused($$ update soft.boards set prefix = repeat('P', 256) where id = 7 $$), 'projects 7: its key has 256 characters, more than 255', 'a long prefix');
select is(pg_temp.refused($$ update soft.boards set prefix = 'HAND' where id = 7 $$), null, 'a good one');
select is(pg_temp.refused($$ update soft.boards set language = case id when 7 then 'klingon' else 'german' end $$),
  'projects 7: its language is klingon, which Postgres does not have', 'an unknown language');
select is((select string_agg(coalesce(language, '-'), ' ' order by key) from public.projects), 'german', 'a known one is copied');
select is(pg_temp.refused($$ update soft.boards set language = null $$), null, 'none is that of the database');
insert into public.projects (key, name) values ('OTHER', 'Not copied');
select is(pg_temp.refused($$ update soft.boards set prefix = 'OTHER' where id = 7 $$), 'projects 7: the key OTHER is taken', 'a prefix that something else has');
delete from public.projects where key = 'OTHER';
select is(pg_temp.settle(), null, 'is taken when that is gone');
select is(pg_temp.refused($$ update soft.issues set number = 2 where id in (4, 6) $$), 'tickets 6: the key OTHER-2 is taken', 'a number that occurs twice');
select is(pg_temp.refused($$ update soft.issues set number = 7000 where id = 4 $$), null, 'the other gets it when it is free');
select is(pg_temp.refused($$ insert into soft.members values ('a0000000-0000-4000-8000-000000000001', 'bob', null) $$), 'members 7: no user bob with the role viewer can be a member', 'a member who is no user');
select is((select count(*) from public.project_members m join public.projects p using (project_id) where p.key = 'OTHER'), 1::bigint, 'does not cost the others their membership');
select is(pg_temp.refused($$ delete from soft.members where user_id = 'bob' $$), null, 'and is forgotten');
-- What was not foreseen: a constraint of the adopter's own.
alter table public.tickets add constraint short_names check (length(name) < 20);
select is(pg_temp.refused($$ update soft.issues set title = title || case when id = 2 then ' has quite a long title' else '.' end $$),
  'tickets 2: new row for relation "tickets" violates check constraint "short_names"', 'any other reason is kept too, and costs only that row');
select is(pg_temp.refused($$ update soft.issues set title = 'Short' where id = 2 $$), null, 'until it changes');
alter table public.tickets drop constraint short_names;
-- The application goes its own way.
alter table soft.boards rename column id to board_id;
select lives_ok($$ update soft.boards set title = 'Still written' $$, 'the application can rename what a trigger reads');
select is(pg_temp.settle() || pg_temp.differ('soft_search'), null, 'and all is compared again');
alter table soft.boards rename column board_id to id;
alter view soft_search.comments rename to notes;
insert into soft.remarks (issue_id, body) values (3, 'New');
select is(pg_temp.settle(), 'comments *: relation "soft_search.comments" does not exist', 'a view can be gone');
alter view soft_search.notes rename to comments;
select from public.attach_tables(pg_temp.soft());
select is(pg_temp.settle(), null, 'after another call of attach_tables it is followed again');

-- Callers -----------------------------------------------------------------------------------------

select set_config('request.jwt.claims', '{"sub": "c0ffee00-0000-4000-8000-00000000000a"}', true), set_config('role', 'authenticated', true);
select is((select string_agg(distinct split_part(s.ticket_key, '-', 1), ',') from public.search_hybrid('issue') s), 'OTHER', 'a member finds the rows of their tenant');
select throws_ok($$ select public.attach_tables('{}') $$, '42501', null, 'and attaches nothing');
select throws_ok($$ select public.detach_tables() $$, '42501', null, 'nor detaches');
select set_config('request.jwt.claims', '{"sub": "c0ffee00-0000-4000-8000-00000000000c"}', true);
select is((select count(*) from public.search_hybrid('issue')), 0::bigint, 'a stranger finds nothing');
reset role;
set local role service_role;
select throws_ok($$ select public.attach_tables('{}') $$, '42501', null, 'the service attaches nothing either');
select is((select refused_rows from public.embedding_status('m')), 0::bigint, 'it counts what is refused');
reset role;
select results_eq('select * from public.detach_tables()', $$ values ('triggers', 16::bigint), ('projects', 2) $$, 'detach_tables takes all away');
select is((select count(*) from pg_temp.copied) + (select count(*) from tasklens.attached_rows) + (select count(*) from tasklens.changed_rows), 0::bigint, 'the copies too');

-- Uuid keys, states and people in tables of their own ---------------------------------------------

create schema uu;
create table uu.people (id uuid primary key default gen_random_uuid(), name text, account uuid);
create table uu.states (id uuid primary key default gen_random_uuid(), label text, finished boolean);
create table uu.projects (id uuid primary key default gen_random_uuid(), name text);
create table uu.team (project uuid references uu.projects on delete cascade, person uuid references uu.people on delete cascade);
create table uu.tickets (id uuid primary key default gen_random_uuid(), project uuid references uu.projects on delete cascade, state uuid references uu.states, title text,
  assignee uuid references uu.people on delete set null, reporter uuid references uu.people on delete set null);
create table uu.replies (id uuid primary key default gen_random_uuid(), ticket uuid references uu.tickets on delete cascade, author uuid references uu.people on delete set null, body text);
create schema uu_search;
create view uu_search.projects as select id as project_id, null::text as key, name from uu.projects;
create view uu_search.members as select t.project as project_id, p.account as user_id, p.id as person from uu.team t join uu.people p on p.id = t.person;
create view uu_search.tickets as
select t.id as ticket_id, t.project as project_id, s.label as status, case when s.finished then 'done' else 'to_do' end as status_category, t.title as name, a.name as assignee, r.name as reporter,
  t.state, t.assignee as assignee_id, t.reporter as reporter_id
from uu.tickets t join uu.states s on s.id = t.state left join uu.people a on a.id = t.assignee left join uu.people r on r.id = t.reporter;
create view uu_search.comments as
select c.id as comment_id, c.ticket as ticket_id, p.name as author, c.body, c.author as author_id from uu.replies c left join uu.people p on p.id = c.author;
insert into uu.people (name, account) values ('Ada', 'c0ffee00-0000-4000-8000-00000000000a'), ('Bo', null);
insert into uu.states (label, finished) values ('Nova', false), ('Ferdig', true);
insert into uu.projects (name) values ('Fish Farm');
insert into uu.team select p.id, h.id from uu.projects p, uu.people h;
insert into uu.tickets (project, state, title, assignee, reporter) select p.id, s.id, 'Pump', a.id, b.id from uu.projects p, uu.states s, uu.people a, uu.people b where a.name = 'Ada' and b.name = 'Bo' and not s.finished;
insert into uu.replies (ticket, author, body) select t.id, h.id, 'Seen' from uu.tickets t, uu.people h;
select count(*) from public.attach_tables('{
  "projects": {"view": "uu_search.projects", "tables": {"uu.projects": {"id": "project_id"}}},
  "members": {"view": "uu_search.members", "tables": {"uu.team": {"project": "project_id"}, "uu.people": {"id": "person"}}},
  "tickets": {"view": "uu_search.tickets", "tables": {"uu.tickets": {"id": "ticket_id"}, "uu.states": {"id": "state"}, "uu.people": {"id": ["assignee_id", "reporter_id"]}}},
  "comments": {"view": "uu_search.comments", "tables": {"uu.replies": {"id": "comment_id"}, "uu.people": {"id": "author_id"}}}}'::jsonb);
create function pg_temp.uu() returns text
language sql as $$
  select string_agg(concat_ws(' ', t.key, s.name, s.category, t.assignee, t.reporter,
      (select string_agg(coalesce(c.author, '?'), ',' order by c.author) from public.comments c where c.ticket_id = t.ticket_id), (select count(*) from public.project_members)), '; ')
  from public.tickets t join public.status s using (status_id)
$$;
select is(concat(pg_temp.settle(), ' ', pg_temp.uu()), ' FF-1 Nova to_do Ada Bo Ada,Bo 1', 'keys are generated, names come from other tables');
update uu.people set name = 'Adele' where name = 'Ada';
update uu.people set account = gen_random_uuid() where name = 'Bo';
update uu.states set label = 'Ny' where label = 'Nova';
select is(concat(pg_temp.settle(), ' ', pg_temp.uu()), ' FF-1 Ny to_do Adele Bo Adele,Bo 2', 'renamed people and states are followed');
update uu.tickets set state = (select id from uu.states where finished);
delete from uu.people where name = 'Bo';
select is(concat(pg_temp.settle(), ' ', pg_temp.uu()), ' FF-1 Ferdig done Adele Adele,? 1', 'a deleted person is gone from all');
delete from uu.projects;
select pg_temp.settle();
select is((select count(*) from pg_temp.copied), 0::bigint, 'and a project goes with all below it');
select from public.detach_tables();

-- Text keys made of several columns, teams, labels as jsonb; one project only has no key ----------

create schema txt;
create table txt.repos (org text, name text, team text, primary key (org, name));
create table txt.teams (team text, account uuid);
create table txt.issues (org text, repo text, no integer, open boolean, subject text, labels jsonb) partition by list (open);
create table txt.open_issues partition of txt.issues for values in (true);
create table txt.closed_issues partition of txt.issues for values in (false);
create table txt.thread (org text, repo text, no integer, at timestamp, who text, said text);
create schema txt_search;
create view txt_search.projects as select org || '/' || name as project_id, upper(name) as key, name from txt.repos;
create view txt_search.members as select r.org || '/' || r.name as project_id, t.account as user_id, t.team from txt.repos r join txt.teams t using (team);
create view txt_search.tickets as
select org || '/' || repo || '#' || no as ticket_id, org || '/' || repo as project_id, null::text as key, case when open then 'Open' else 'Closed' end as status, subject as name, labels, null as assignee from txt.issues;
create view txt_search.comments as
select org || '/' || repo || '#' || no || '@' || at as comment_id, org || '/' || repo || '#' || no as ticket_id, who as author, said as body, at as created_at from txt.thread;
insert into txt.repos values ('acme', 'pumps', 'blue'), ('acme', 'tubes', 'red');
insert into txt.teams values ('blue', 'c0ffee00-0000-4000-8000-00000000000a'), ('red', 'c0ffee00-0000-4000-8000-00000000000a');
insert into txt.issues select 'acme', 'pumps', n, n % 2 = 0, 'Subject ' || n, '["hot"]' from generate_series(1, 5) n;
insert into txt.thread values ('acme', 'pumps', 1, '2026-01-01', 'ann', 'Seen'), ('acme', 'pumps', 9, '2026-01-01', 'ann', 'Too early');
create function pg_temp.txt() returns text
language sql as $$
  select concat_ws(' | ', (select string_agg(t.name || ' ' || s.name || ' ' || p.key, '; ' order by t.name) from public.tickets t join public.projects p using (project_id) join public.status s using (status_id)),
    (select string_agg(c.body, ',' order by c.body) from public.comments c), (select count(*) from public.project_members))
$$;
select from public.attach_tables('{
  "projects": {"view": "txt_search.projects", "tables": {"txt.repos": {"org || ''/'' || name": "project_id"}}},
  "members": {"view": "txt_search.members", "tables": {"txt.repos": {"org || ''/'' || name": "project_id"}, "txt.teams": {"team": "team"}}},
  "tickets": {"view": "txt_search.tickets", "tables": {"txt.issues": {"org || ''/'' || repo || ''#'' || no": "ticket_id"}}},
  "comments": {"view": "txt_search.comments", "tables": {"txt.thread": {"org || ''/'' || repo || ''#'' || no || ''@'' || at": "comment_id"}}}}'::jsonb);
select is(concat_ws(' ', pg_temp.settle(), pg_temp.txt()), 'Subject 1 Closed PUMPS; Subject 2 Open PUMPS; Subject 3 Closed PUMPS; Subject 4 Open PUMPS; Subject 5 Closed PUMPS | Seen | 2', 'keys may be expressions, tables may be partitioned');
update txt.issues set open = true where no = 1;
delete from txt.issues where no in (2, 3, 4, 5);
insert into txt.open_issues values ('acme', 'pumps', 9, true, 'Subject 9', null);
delete from txt.teams where team = 'red';
select is(concat_ws(' ', pg_temp.settle(), pg_temp.txt()), 'Subject 1 Open PUMPS; Subject 9 Open PUMPS | Seen,Too early | 1', 'a row that moves to another partition stays, and one written into its partition, after its comments, gets them');
update txt.repos set name = 'motors' where name = 'pumps';
update txt.issues set repo = 'motors';
select is(concat_ws(' ', pg_temp.settle(), pg_temp.txt()), 'Subject 1 Open MOTORS; Subject 9 Open MOTORS | 1', 'keys of the application may change');
select from public.detach_tables();

-- One table, whose projects are a constant --------------------------------------------------------

create table public.todo (id smallint primary key, what text not null, done boolean not null default false);
create view public.todo_projects as select 1 as project_id, 'TODO' as key, 'All that is to do' as name;
create view public.todo_tickets as select id as ticket_id, 1 as project_id, what as name, case when done then 'Done' end as status from public.todo;
insert into public.todo values (1, 'Sweep'), (2, 'Mop');
select from public.attach_tables('{
  "projects": {"view": "public.todo_projects", "tables": {}},
  "tickets": {"view": "public.todo_tickets", "tables": {"public.todo": {"id": "ticket_id"}}}}');
select pg_temp.settle();
update public.todo set done = true where id = 1;
insert into public.todo values (3, E'Dust\n');
update public.todo set id = 4 where id = 2;
select is(pg_temp.settle(), null, 'one table is enough');
select results_eq('select t.name, s.name, p.key from public.tickets t join public.status s using (status_id) join public.projects p using (project_id) order by t.name',
  $$ values (E'Dust\n', 'To Do', 'TODO'), ('Mop', 'To Do', 'TODO'), ('Sweep', 'Done', 'TODO') $$, 'with what it has');

-- A list is renamed while its tickets are copied: the read of the view has the old name, and the
-- change is queued by another column than the tickets' own key.
create table public.todo_lists (id integer primary key, label text not null);
insert into public.todo_lists values (1, 'old');
create function public.rename_list() returns text
language plpgsql volatile as $$
begin
  update public.todo_lists set label = 'new' where label = 'old' and not exists (select from tasklens.changed_rows q where q.kind = 'tickets' and q.by_column is not null);
  return '';
end
$$;
create view public.todo_racing as
select t.ticket_id, t.project_id, l.label || ' ' || t.name || public.rename_list() as name from public.todo_tickets t join public.todo_lists l on l.id = t.project_id;
select from public.attach_tables('{
  "projects": {"view": "public.todo_projects", "tables": {}},
  "tickets": {"view": "public.todo_racing", "tables": {"public.todo": {"id": "ticket_id"}, "public.todo_lists": {"id": "project_id"}}}}');
update public.todo_lists set label = 'old'; -- attach_tables has read the view, too
select pg_temp.settle();
select is((select string_agg(t.name, ',' order by t.name) from public.tickets t), E'new Dust\n,new Mop,new Sweep', 'a change that is queued by another column while rows are copied is not lost');
select from public.attach_tables('{
  "projects": {"view": "public.todo_projects", "tables": {}},
  "tickets": {"view": "public.todo_tickets", "tables": {"public.todo": {"id": "ticket_id"}}}}');

-- What attach_tables refuses ----------------------------------------------------------------------

create function pg_temp.with(path text, value jsonb) returns jsonb
language sql as $$ select jsonb_set('{"projects": {"view": "public.todo_projects", "tables": {}}, "tickets": {"view": "public.todo_tickets", "tables": {"public.todo": {"id": "ticket_id"}}}}', path::text[], value) $$;
select throws_ok($$ select public.attach_tables(pg_temp.with('{users}', '{}')) $$, '22023', 'unknown kind of rows: users', 'an unknown kind');
select throws_ok($$ select public.attach_tables('{}') $$, '22023', 'projects and tickets are missing', 'no projects');
select throws_ok($$ select public.attach_tables(pg_temp.with('{tickets,view}', '"public.todo_projects"')) $$, '42703', 'the view public.todo_projects lacks ticket_id', 'a view without its key');
select throws_ok($$ select public.attach_tables(pg_temp.with('{tickets,tables}', '{"public.todo": {"id": "issue_id"}}')) $$, '42703', 'the view public.todo_tickets lacks issue_id', 'a column the view does not have');
select throws_ok($$ select public.attach_tables(pg_temp.with('{tickets,tables}', '{"todo": {"id": "ticket_id"}}')) $$, '42P01', 'there is no table or view todo', 'a name without its schema');
select throws_ok($$ select public.attach_tables(pg_temp.with('{tickets,tables}', '{"public.todo": {"no": "ticket_id"}}')) $$, '42703', null, 'a column the table does not have');
select throws_ok($$ select public.attach_tables(pg_temp.with('{tickets,tables}', '{}')) $$, '22023', 'the view public.todo_tickets also reads public.todo', 'a table that is not followed');
select is((select count(*) from pg_catalog.pg_trigger where tgname like 'tasklens%'), 4::bigint, 'what was attached stays attached');

select * from finish();
rollback;
