-- Identifiers: texts that hold one whole come first; keys and numbers of tickets.

begin;
select plan(44);

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name, description) values (1, 'TX', 'Identity and Access', null), (2, 'OP', 'Orchard', 'builds 8.1.1 of the press');
insert into public.tickets (ticket_id, project_id, status_id, key, name, description) values
  (11, 1, 1, 'TX-400', 'Crash', 'EXC_BAD_ACCESS (code=1) on start'),
  (12, 1, 2, 'TX-401', 'Bad access bad access', 'bad access to the exc, access is bad'),
  (13, 1, 1, 'TX-402', 'Release 8.1.1', null),
  (14, 1, 1, 'TX-403', 'Release 18.1.1 and 8.1.10 and 8, 1.1', '8 1 1 8 1 1'),
  (15, 2, 1, 'OP-7', 'Build fails', 'run with --build-only, please'),
  (16, 2, 1, 'OP-8', 'Build only the press', 'build only, build only'),
  (17, 2, 1, 'OP-9', 'Press', 'see https://www.example.org/press/pull/12/files for this'),
  (18, 2, 1, 'OP-10', 'Pull press example', 'example org press pull 12 files'),
  (19, 2, 1, 'OP-400', 'TableView scrolls', 'table view table view'),
  (20, 2, 1, 'OP-11', 'Table view', 'view table'),
  (21, 2, 1, 'OP-12', 'java.lang.ClassCastException', null),
  (22, 2, 1, 'OP-13', 'No crate [E0463]', 'undefined reference to _mktime32');
insert into public.status_changes (ticket_id, note) values (20, 'caused by com.example.Foo$Bar');
insert into public.comments (comment_id, ticket_id, author, body) values (1, 16, 'Ada', 'the java.lang.classcastexception again; like TX-400');
set local role service_role;

create function pg_temp.exact(query text, filters jsonb default null) returns bigint[]
language sql as $$
  select array_agg(coalesce(k.ticket_id, -k.project_id) order by coalesce(k.ticket_id, -k.project_id))
  from public.search_by_keyword(query, 100, filters => exact.filters) k where k.exact
$$;
create function pg_temp.is_first(query text) returns boolean
language sql as $$ select not exists (select from (select k.exact, lag(k.exact) over (order by k.rank) as was from public.search_by_keyword(query, 100) k) x where x.exact and not x.was) $$;

select is(pg_temp.exact(q), t::bigint[], 'texts that hold it whole are exact: ' || q) from (values
  ('EXC_BAD_ACCESS', '{11}'), ('exc_bad_access', '{11}'), ('"EXC_BAD_ACCESS"', '{11}'), ('(EXC_BAD_ACCESS),', '{11}'), ('8.1.1', '{-2,13}'),
  ('--build-only', '{15}'), ('"--build-only"', '{15}'), ('https://www.example.org/press/pull/12', '{17}'), ('http://example.org/press/pull/12/files', '{17}'),
  ('TableView', '{19}'), ('java.lang.ClassCastException', '{16,21}'), ('com.example.Foo', '{20}'), ('ClassCastException', '{16,21}'),
  ('crash of EXC_BAD_ACCESS at start', '{11}'), ('8.1.1 TableView', '{-2,13,19}'), ('error[E0463]: no build', '{22}'), ('undefined reference to _mktime32', '{22}'), ('4f33e43cb', null), ('bad access', null), ('8.1', null), ('8.1.', null), ('to-do', null), ('...', null)) q(q, t);
select is(pg_temp.is_first(q), true, 'they come before texts with its parts: ' || q)
from unnest(array['EXC_BAD_ACCESS', '8.1.1', '--build-only', 'https://www.example.org/press/pull/12', 'TableView']) q;
select is((select array_agg(k.ticket_id order by k.rank) from public.search_by_keyword('bad access of EXC_BAD_ACCESS') k where k.ticket_id is not null), '{12,11}', 'beside other words an identifier does not decide the order');
select is((select array_agg(s.exact order by s.ticket_id) from public.search_hybrid('bad access of EXC_BAD_ACCESS', sort => 'newest') s where s.ticket_id is not null), '{t,f}', 'but the text that holds it is exact in every order');
select cmp_ok(array_length((select array_agg(k.rank) from public.search_by_keyword('EXC_BAD_ACCESS', 100) k), 1), '>', 1, 'texts with its parts follow');
select is(pg_temp.exact('8.1.1', '{"projects": ["TX"]}'), '{13}', 'filters apply');
select is(pg_temp.exact('8.1.1', '{"statuses": ["To Do"]}'), '{13}', 'filters on tickets apply');
select is(pg_temp.exact('8.1.1 -release'), '{-2}', 'an excluded word applies');
select is(pg_temp.exact('java.lang.ClassCastException -TX-400'), '{16,21}', 'an excluded key excludes its ticket only');
select results_eq($$ select s.ticket_id from public.search_hybrid('EXC_BAD_ACCESS', match_count => 1) s $$, '{11}'::bigint[], 'hybrid search has them first, too');

-- Typed halfway.
select results_eq($$ select k.ticket_id, k.exact from public.search_by_keyword('E046') k $$, $$ values (22::bigint, false) $$, 'the beginning of a code finds it');
select is_empty($$ select from public.search_by_keyword('E0473') $$, 'a similar code does not');

-- Keys and numbers.
select results_eq($$ select k.ticket_id, k.exact from public.search_by_keyword('TX-400') k $$, $$ values (11::bigint, true), (16, true) $$,
  'a key alone lists its ticket, then texts that hold the key, and none that only holds its letters');
select results_eq($$ select k.ticket_id from public.search_by_keyword('TX-400 crash') k limit 2 $$, '{11,16}'::bigint[], 'among other words the same tickets come first');
select is(pg_temp.exact('402'), '{13}', 'a number alone finds the ticket with it');
select is(pg_temp.exact('#402'), '{13}', 'a number sign is ignored');
select is(pg_temp.exact('400'), '{11,19}', 'each project may have one');
select is(pg_temp.exact('4'), null, 'a part of a number is none');
rollback;
