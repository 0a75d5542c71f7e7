-- The data version of each caller: it changes with the visible data, and with the set of visible
-- projects.

begin;
select plan(9);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Pumps'), (2, 'BB', 'Wheels');
\ir kit/actors.sql

-- The test is one transaction, in which a project changes only once: simulate a transaction per
-- change.
create sequence pg_temp.changes;
create function pg_temp.note(project bigint) returns void
language sql as $$ insert into tasklens.data_version_changes (project_id, transaction_id) values (project, nextval('pg_temp.changes')::text::xid8) $$;

create temporary table seen (name text, filter bigint, version text);
create function pg_temp.versions() returns setof seen
language plpgsql as $$
declare
  one record;
begin
  for one in select a.name, f.filter from actors a, (values (null::bigint), (1), (2), (-1)) as f(filter) where a.name <> 'anon' loop
    perform pg_temp.act(one.name);
    return next row(one.name, one.filter, (public.data_version(one.filter)).version);
    perform set_config('role', 'none', true);
  end loop;
end
$$;
-- The callers and project filters whose version a statement changes.
create function pg_temp.moved(statement text) returns text
language plpgsql as $$
begin
  truncate seen;
  insert into seen select * from pg_temp.versions();
  execute statement;
  return (
    select string_agg(concat_ws(' ', m.name, m.filters), ', ' order by m.place)
    from (
      select a.place, a.name, string_agg(coalesce(v.filter::text, 'all'), ' ' order by v.filter nulls first) as filters
      from pg_temp.versions() v join seen s on s.name = v.name and s.filter is not distinct from v.filter join actors a on a.name = v.name
      where v.version <> s.version
      group by a.place, a.name) m);
end
$$;

select is(pg_temp.moved('select 1'), null, 'without a change every version stays the same');
select is(pg_temp.moved('select pg_temp.note(1)'), 'viewer all 1, member all 1, admin all 1, service all 1', 'a change moves the version of callers who see the project');
select is(pg_temp.moved('select pg_temp.note(2)'), 'outsider all 2, service all 2', 'a change does not move the version of callers who do not see the project');
select is(pg_temp.moved('select pg_temp.note(-1)'), 'outsider all -1, viewer all -1, member all -1, admin all -1, service all -1',
  'a change of a document moves the version of members of any project');
select is(pg_temp.moved($$ insert into public.project_members (project_id, user_id) select 2, a.user_id from actors a where a.name = 'member' $$), 'member all -1 1 2',
  'a new membership moves the version of its user');
select is(pg_temp.moved($$ update public.project_members set role = 'admin' $$), null, 'a changed role moves no version, since the visible rows are the same');
-- A result computed during a membership must not be served after it ends. Memberships, too, change
-- only once in this transaction.
delete from tasklens.data_version_changes where project_id < -1;
select is(pg_temp.moved($$ do $do$ begin
    insert into public.project_members (project_id, user_id) select 2, a.user_id from actors a where a.name = 'viewer';
    delete from public.project_members m using actors a where m.project_id = 2 and m.user_id = a.user_id and a.name = 'viewer';
  end $do$ $$), 'viewer all -1 1 2', 'a membership that is added and removed moves the version of its user');
delete from tasklens.data_version_changes where project_id < -1;
select is(pg_temp.moved($$ update public.project_members m set user_id = gen_random_uuid() from actors a where m.user_id = a.user_id and a.name = 'viewer' $$),
  'viewer all -1 1 2', 'a membership reassigned to another user moves the version of its former user');
select is(pg_temp.moved('delete from public.project_members where project_id = 2'), 'outsider all -1 1 2, member all -1 1 2', 'deleted memberships move the version of their users');

select * from finish();
rollback;
