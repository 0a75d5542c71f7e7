-- The keyword entries of tickets and projects are updated in the writer's transaction, and never
-- make a write fail.

begin;
select plan(47);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name, description) values (1, 'AA', 'Apples', 'about orchards'), (2, 'BB', 'Bananas', null);

-- The entry of a ticket (or of a project, ticket null), by weight: 'appl:A orchard:B'.
create function pg_temp.words(project bigint, ticket bigint default null) returns text
language sql as $$
  select string_agg(w.lexeme || ':' || array_to_string(w.weights, ''), ' ' order by w.weights, w.positions)
  from public.keyword_entries e, unnest(e.words) w
  where e.project_id = project and e.ticket_id is not distinct from ticket
$$;

-- Updates -----------------------------------------------------------------------------------------

select is(pg_temp.words(1), 'appl:A orchard:B', 'a new project has its words: name A, description B');
update public.projects set name = 'Pears' where project_id = 1;
select is(pg_temp.words(1), 'pear:A orchard:B', 'a project''s new name replaces the old one');

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values (11, 1, 1, 'Login fails', 'with umlauts'), (12, 1, 1, 'Broken export', null), (13, 2, 1, '', '');
select is(pg_temp.words(1, 11), 'login:A fail:A umlaut:B', 'a new ticket has its words');
select is(pg_temp.words(1, 12), 'broken:A export:A', 'the second ticket of the same statement has its words too');
select ok(exists (select from public.keyword_entries where ticket_id = 13 and words = ''), 'a ticket without words has an empty entry');

update public.tickets set name = name || ' today' where project_id = 1;
select is(pg_temp.words(1, 11), 'login:A fail:A today:A umlaut:B', 'an update of several rows changes the first entry');
select is(pg_temp.words(1, 12), 'broken:A export:A today:A', 'an update of several rows changes the last entry');
update public.tickets set description = null where ticket_id = 11;
select is(pg_temp.words(1, 11), 'login:A fail:A today:A', 'a removed description''s words are removed');

insert into public.status_changes (ticket_id, note)
values (11, 'reproduced'), (11, null), (11, 'fixed'), (12, 'waiting');
select is(pg_temp.words(1, 11), 'login:A fail:A today:A reproduc:C fix:C', 'all notes count with weight C');
select is(pg_temp.words(1, 12), 'broken:A export:A today:A wait:C', 'notes of one statement go to their tickets');
update public.status_changes set note = 'postponed' where note = 'fixed';
select is(pg_temp.words(1, 11), 'login:A fail:A today:A reproduc:C postpon:C', 'a changed note replaces its words');
update public.status_changes set note = null where note = 'reproduced';
select is(pg_temp.words(1, 11), 'login:A fail:A today:A postpon:C', 'an emptied note''s words are removed');
update public.status_changes set ticket_id = 12 where note = 'postponed';
select is(pg_temp.words(1, 11), 'login:A fail:A today:A', 'a moved note''s words leave the old ticket');
select is(pg_temp.words(1, 12), 'broken:A export:A today:A postpon:C wait:C', 'a moved note''s words join the new ticket, in the order of notes');
delete from public.status_changes where ticket_id = 12;
select is(pg_temp.words(1, 12), 'broken:A export:A today:A', 'deleted notes'' words are removed');

-- Moving and deleting -----------------------------------------------------------------------------

update public.tickets set project_id = 2 where ticket_id = 11;
select is(pg_temp.words(2, 11), 'login:A fail:A today:A', 'a ticket that moves to another project keeps its entry');
update public.tickets set project_id = 1, name = 'Logout fails' where ticket_id = 11;
select is(pg_temp.words(1, 11), 'logout:A fail:A', 'a move and an edit in one statement update the entry');
select is((select count(*)::integer from public.keyword_entries where ticket_id = 11), 1, 'a moved ticket has one entry');

insert into public.status_changes (ticket_id, note) values (12, 'doomed');
delete from public.tickets where ticket_id = 12;
select is(pg_temp.words(1, 12), null, 'deleting a ticket with notes deletes its entry');
insert into public.status_changes (ticket_id, note) values (11, 'doomed');
delete from public.projects where project_id = 1;
select is_empty($$ select from public.keyword_entries where project_id = 1 $$, 'deleting a project deletes its tickets'' entries');

insert into public.projects (project_id, key, name) values (3, 'CC', 'Once') on conflict do nothing;
insert into public.projects (project_id, key, name) values (3, 'CC', 'Twice') on conflict (project_id) do update set name = excluded.name;
select is(pg_temp.words(3), 'twice:A', 'an upsert updates the entry');

-- Cost --------------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name) values (21, 3, 1, 'Quiet'), (22, 3, 1, 'Loud');
insert into public.status_changes (ticket_id, note) values (21, 'calm');
insert into public.status (status_id, name) values (2, 'Done');
-- A rewritten entry gets another place in the table, even if its content is the same.
create temporary table before as select keyword_entry_id, ctid::text as place from public.keyword_entries;
update public.tickets set status_id = 2, created_at = created_at - interval '1 day', name = name where project_id = 3;
update public.status_changes set status_id = 2, note = note where ticket_id = 21;
insert into public.status_changes (ticket_id, status_id) values (21, 1);
update public.projects set name = name, description = description where project_id = 3;
update public.tickets set name = 'LOUD' where ticket_id = 22;
select is_empty(
  $$ select keyword_entry_id, ctid::text from public.keyword_entries except select * from before $$,
  'an update of unsearched columns writes no entry');

-- How often a statement fires the triggers that update entries: 'index_inserted_tickets 1'.
create function pg_temp.trigger_calls(statement text) returns setof text
language plpgsql as $$
declare
  plan json;
begin
  execute 'explain (analyze, format json) ' || statement into plan;
  return query
    select t ->> 'Trigger Name' || ' ' || (t ->> 'Calls') from json_array_elements(plan -> 0 -> 'Triggers') t
    where t ->> 'Trigger Name' like 'index%';
end
$$;
select results_eq(
  $$ select pg_temp.trigger_calls('insert into public.tickets (ticket_id, project_id, status_id, name) select i, 3, 1, ''many'' from generate_series(41, 45) i') $$,
  array['index_inserted_tickets 1'], 'inserting many tickets fires the triggers once');
select results_eq(
  $$ select pg_temp.trigger_calls('update public.tickets set name = ''more'' where name = ''many''') $$,
  array['index_updated_tickets 1'], 'updating many tickets fires the triggers once');
select results_eq(
  $$ select pg_temp.trigger_calls('insert into public.status_changes (ticket_id, note) select ticket_id, ''n'' from public.tickets') $$,
  array['index_inserted_notes 1'], 'writing many notes fires the triggers once');

-- A writer without rights on search ---------------------------------------------------------------

create role ticket_writer;
grant ticket_writer to current_user;
grant usage on schema public to ticket_writer;
grant select, insert, update, delete on public.tickets, public.status_changes to ticket_writer;
create policy writes on public.tickets to ticket_writer using (true) with check (true);
create policy writes on public.status_changes to ticket_writer using (true) with check (true);
set local role ticket_writer;
select lives_ok($$ insert into public.tickets (ticket_id, project_id, status_id, name) values (31, 3, 1, 'Written'), (32, 3, 1, 'Gone') $$,
  'a role without rights on the entries may insert tickets');
select lives_ok($$ update public.tickets set name = 'Rewritten' where ticket_id = 31 $$, 'a role without rights on the entries may update tickets');
select lives_ok($$ insert into public.status_changes (ticket_id, note) values (31, 'noted') $$, 'a role without rights on the entries may write notes');
select lives_ok($$ delete from public.tickets where ticket_id = 32 $$, 'a role without rights on the entries may delete tickets');
select throws_ok($$ select from public.keyword_entries $$, '42501', null, 'that role cannot read the entries');
select throws_ok($$ select private.refresh_ticket_entries(array[31]) $$, '42501', null, 'that role cannot call the functions that write them');
reset role;
select is(pg_temp.words(3, 31), 'rewritten:A note:C', 'the tickets it wrote are found');
select is(pg_temp.words(3, 32), null, 'the tickets it deleted are not found');
select ok((select key from public.tickets where ticket_id = 31) = 'CC-8', 'the tickets it wrote have keys');

-- Hostile texts -----------------------------------------------------------------------------------

create temporary table hostile (ticket_id bigint generated always as identity (start with 1000), what text, body text);
insert into hostile (what, body) values
  ('2 MB of random words', (select string_agg(md5(i::text), ' ') from generate_series(1, 62000) i)),
  ('2 MB of one letter', repeat('a', 2000000)),
  ('1.5 MB of different short words', (select string_agg(to_hex(i), ' ') from generate_series(1, 230000) i)),
  ('a word over 2 kB', repeat('wordy', 500) || ' end'),
  ('marks without end', repeat('-', 300000) || repeat('<', 300000) || repeat('&#', 100000)),
  ('words that are chained', repeat('a-b_c.d@e/', 100000)),
  ('the edges of Unicode', U&'\FFFF \FFFE \FEFF \E000 \200B \0301 \+10FFFF \+01F600 \0001 \007F'),
  ('an empty text', ''),
  ('only marks', '!?.,;:()[]{}''"`\|&<>*'),
  ('Chinese without spaces', repeat('数据平台', 100000));

grant select on hostile to service_role;
select lives_ok(
  $$ insert into public.tickets (ticket_id, project_id, status_id, name, description)
     select ticket_id, 3, 1, 'hostile', 'platypus ' || body from hostile $$,
  'no description makes a write fail');
set local role service_role;
select is_empty(
  $$ select what from pg_temp.hostile
     except
     select h.what from public.search_by_keyword('platypus', 1000) k join pg_temp.hostile h using (ticket_id) $$,
  'each ticket with a hostile description is found by its first word');
reset role;

update public.tickets set description = null where name = 'hostile';
select lives_ok(
  $$ insert into public.status_changes (ticket_id, note) select ticket_id, 'wombat ' || body from hostile $$,
  'no note makes a write fail');
select is(
  (select count(*) from public.search_by_keyword('wombat', 1000)), (select count(*) from hostile),
  'each ticket with a hostile note is found by the note''s first word');
select lives_ok(
  $$ insert into public.status_changes (ticket_id, note)
     select 31, string_agg(md5((i * n)::text), ' ') from generate_series(1, 3000) i, generate_series(1001, 1020) n group by n $$,
  'twenty notes of 100 kB do not make a write fail');
select is(
  (select k.ticket_id from public.search_by_keyword('rewritten') k), 31::bigint,
  'a ticket with huge notes is found by its name');

select lives_ok(
  $$ insert into public.tickets (ticket_id, project_id, status_id, name)
     select 50, 3, 1, 'kiwi ' || string_agg(md5(i::text), ' ') from generate_series(1, 3000) i $$,
  'a ticket''s name of 100 kB does not make a write fail');
select lives_ok(
  $$ insert into public.projects (project_id, name, description)
     select 4, 'kiwi ' || string_agg(md5(i::text), ' '), repeat('kiwi ', 400000) from generate_series(1, 3000) i $$,
  'a project''s name of 100 kB does not make a write fail');
select is((select count(*)::integer from public.search_by_keyword('kiwi')), 2, 'ticket and project with huge names are found');

-- A tsvector holds 1 MB. An address counts as a whole and in parts, so the first 200,000 characters
-- of three such texts exceed it.
create function pg_temp.different_addresses(first integer) returns text
language sql as $$
  select string_agg(to_hex(first + i) || '.de/' || to_hex(first + i), ' ') from generate_series(1, 14000) i
$$;
select lives_ok(
  $$ insert into public.tickets (ticket_id, project_id, status_id, name, description)
     select 51, 3, 1, 'emu ' || pg_temp.different_addresses(100000), 'rhea ' || pg_temp.different_addresses(200000);
     insert into public.status_changes (ticket_id, note) select 51, 'moa ' || pg_temp.different_addresses(300000) $$,
  'name, description and note that together exceed a tsvector do not make a write fail');
select is(
  array(select k.ticket_id from unnest(array['emu', 'rhea', 'moa']) q, public.search_by_keyword(q) k), array[51, 51, 51]::bigint[],
  'each such ticket is found by its first word');

-- In a script without spaces each character starts a word.
create function pg_temp.han(characters integer) returns text
language sql as $$ select string_agg(chr(19968 + (i::bigint * i % 4999)::integer), '') from generate_series(1, characters) i $$;
select lives_ok(
  $$ insert into public.tickets (ticket_id, project_id, status_id, name, description) values
     (52, 3, 1, 'Chinese', pg_temp.han(45000) || ' quokka ' || pg_temp.han(15000) || ' numbat ' || pg_temp.han(940000)),
     (53, 3, 1, 'English', 'numbat 数据 ' || repeat('bilby ', 33000) || ' quokka') $$,
  'a million Chinese characters do not make a write fail');
select is(
  array(select k.ticket_id from unnest(array['quokka', 'numbat']) q, public.search_by_keyword(q) k order by q, k.ticket_id), array[53, 52, 53]::bigint[],
  'they are indexed up to the 50,000th, other scripts up to the 200,000th character');

select * from finish();
rollback;
