-- Keyword entries of tickets and projects are updated in the transaction of the write, which they
-- never make fail.

begin;
select plan(47);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name, description) values (1, 'AA', 'Apples', 'about orchards'), (2, 'BB', 'Bananas', null);

-- The words of a ticket's entry (or of a project's, if ticket is null): 'appl:A aboutᴤz:B
-- orchard:B'.
create function pg_temp.words(project bigint, ticket bigint default null) returns text
language sql as $$
  select string_agg(w.lexeme || ':' || array_to_string(w.weights, ''), ' ' order by w.weights, w.positions)
  from public.keyword_entries e, unnest(e.words) w
  where e.project_id = project and e.ticket_id is not distinct from ticket
$$;

-- Updates -----------------------------------------------------------------------------------------

select is(pg_temp.words(1), 'appl:A aboutᴤz:B orchard:B', 'a new project is indexed: name with weight A, description with weight B');
update public.projects set name = 'Pears' where project_id = 1;
select is(pg_temp.words(1), 'pear:A aboutᴤz:B orchard:B', 'a project''s new name replaces the old one');

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values (11, 1, 1, 'Login fails', 'with umlauts'), (12, 1, 1, 'Broken export', null), (13, 2, 1, '', '');
select is(pg_temp.words(1, 11), 'login:A fail:A withᴤz:B umlaut:B', 'a new ticket is indexed');
select is(pg_temp.words(1, 12), 'broken:A export:A', 'a second ticket inserted by the same statement is indexed');
select ok(exists (select from public.keyword_entries where ticket_id = 13 and words = ''), 'a ticket without words has an empty entry');

update public.tickets set name = name || ' today' where project_id = 1;
select is(pg_temp.words(1, 11), 'login:A fail:A today:A withᴤz:B umlaut:B', 'an update of several rows updates the entry of the first');
select is(pg_temp.words(1, 12), 'broken:A export:A today:A', 'an update of several rows updates the entry of the last');
update public.tickets set description = null where ticket_id = 11;
select is(pg_temp.words(1, 11), 'login:A fail:A today:A', 'removing a description removes its words');

insert into public.status_changes (ticket_id, note)
values (11, 'reproduced'), (11, null), (11, 'fixed'), (12, 'waiting');
select is(pg_temp.words(1, 11), 'login:A fail:A today:A reproduc:C fix:C', 'all notes of a ticket are indexed with weight C');
select is(pg_temp.words(1, 12), 'broken:A export:A today:A wait:C', 'notes inserted by one statement are indexed with their own tickets');
update public.status_changes set note = 'postponed' where note = 'fixed';
select is(pg_temp.words(1, 11), 'login:A fail:A today:A reproduc:C postpon:C', 'a changed note replaces its words');
update public.status_changes set note = null where note = 'reproduced';
select is(pg_temp.words(1, 11), 'login:A fail:A today:A postpon:C', 'setting a note to null removes its words');
update public.status_changes set ticket_id = 12 where note = 'postponed';
select is(pg_temp.words(1, 11), 'login:A fail:A today:A', 'moving a note removes its words from the old ticket');
select is(pg_temp.words(1, 12), 'broken:A export:A today:A postpon:C wait:C', 'moving a note adds its words to the new ticket, in the order of notes');
delete from public.status_changes where ticket_id = 12;
select is(pg_temp.words(1, 12), 'broken:A export:A today:A', 'deleting notes removes their words');

-- Moving and deleting -----------------------------------------------------------------------------

update public.tickets set project_id = 2 where ticket_id = 11;
select is(pg_temp.words(2, 11), 'login:A fail:A today:A', 'moving a ticket to another project moves its entry');
update public.tickets set project_id = 1, name = 'Logout fails' where ticket_id = 11;
select is(pg_temp.words(1, 11), 'logout:A fail:A', 'moving a ticket and changing its name in one statement updates the entry');
select is((select count(*)::integer from public.keyword_entries where ticket_id = 11), 1, 'a moved ticket still has only one entry');

insert into public.status_changes (ticket_id, note) values (12, 'doomed');
delete from public.tickets where ticket_id = 12;
select is(pg_temp.words(1, 12), null, 'deleting a ticket with notes deletes its entry');
insert into public.status_changes (ticket_id, note) values (11, 'doomed');
delete from public.projects where project_id = 1;
select is_empty($$ select from public.keyword_entries where project_id = 1 $$, 'deleting a project deletes the entries of its tickets');

insert into public.projects (project_id, key, name) values (3, 'CC', 'Once') on conflict do nothing;
insert into public.projects (project_id, key, name) values (3, 'CC', 'Twice') on conflict (project_id) do update set name = excluded.name;
select is(pg_temp.words(3), 'twice:A', 'an upsert of an existing project updates its entry');

-- Cost --------------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name) values (21, 3, 1, 'Quiet'), (22, 3, 1, 'Loud');
insert into public.status_changes (ticket_id, note) values (21, 'calm');
insert into public.status (status_id, name) values (2, 'Done');
-- Rewriting a row changes its ctid even if the content stays the same.
create temporary table before as select keyword_entry_id, ctid::text as place from public.keyword_entries;
update public.tickets set status_id = 2, created_at = created_at - interval '1 day', name = name where project_id = 3;
update public.status_changes set status_id = 2, note = note where ticket_id = 21;
insert into public.status_changes (ticket_id, status_id) values (21, 1);
update public.projects set name = name, description = description where project_id = 3;
update public.tickets set name = 'LOUD' where ticket_id = 22;
select is_empty(
  $$ select keyword_entry_id, ctid::text from public.keyword_entries except select * from before $$,
  'updates that change no indexed word rewrite no entry');

-- How often a statement fires each trigger: 'follow_insert 1'.
create function pg_temp.trigger_calls(statement text) returns setof text
language plpgsql as $$
declare
  plan json;
begin
  execute 'explain (analyze, format json) ' || statement into plan;
  return query
    select t ->> 'Trigger Name' || ' ' || (t ->> 'Calls') from json_array_elements(plan -> 0 -> 'Triggers') t
    where t ->> 'Trigger Name' like 'follow%' and t ->> 'Relation' in ('tickets', 'status_changes');
end
$$;
select results_eq(
  $$ select pg_temp.trigger_calls('insert into public.tickets (ticket_id, project_id, status_id, name) select i, 3, 1, ''many'' from generate_series(41, 45) i') $$,
  array['follow_insert 1'], 'inserting many tickets in one statement fires the trigger once');
select results_eq(
  $$ select pg_temp.trigger_calls('update public.tickets set name = ''more'' where name = ''many''') $$,
  array['follow_update 1'], 'updating many tickets in one statement fires the trigger once');
select results_eq(
  $$ select pg_temp.trigger_calls('insert into public.status_changes (ticket_id, note) select ticket_id, ''n'' from public.tickets') $$,
  array['follow_insert 1'], 'inserting many notes in one statement fires the trigger once');

-- A writer without rights on search ---------------------------------------------------------------

create role ticket_writer;
grant ticket_writer to current_user;
grant usage on schema public to ticket_writer;
grant select, insert, update, delete on public.tickets, public.status_changes to ticket_writer;
create policy writes on public.tickets to ticket_writer using (true) with check (true);
create policy writes on public.status_changes to ticket_writer using (true) with check (true);
set local role ticket_writer;
select lives_ok($$ insert into public.tickets (ticket_id, project_id, status_id, name) values (31, 3, 1, 'Written'), (32, 3, 1, 'Gone') $$,
  'a role without privileges on the entries can insert tickets');
select lives_ok($$ update public.tickets set name = 'Rewritten' where ticket_id = 31 $$, 'a role without privileges on the entries can update tickets');
select lives_ok($$ insert into public.status_changes (ticket_id, note) values (31, 'noted') $$, 'a role without privileges on the entries can insert notes');
select lives_ok($$ delete from public.tickets where ticket_id = 32 $$, 'a role without privileges on the entries can delete tickets');
select throws_ok($$ select from public.keyword_entries $$, '42501', null, 'a role without privileges on the entries cannot read them');
select throws_ok($$ select tasklens.refresh_entries(array[31]) $$, '42501', null, 'a role without privileges cannot call tasklens.refresh_entries');
reset role;
select is(pg_temp.words(3, 31), 'rewritten:A note:C', 'writes of a role without privileges on the entries are indexed');
select is(pg_temp.words(3, 32), null, 'deletes by a role without privileges on the entries delete the entry');
select ok((select key from public.tickets where ticket_id = 31) = 'CC-8', 'a ticket inserted by a role without privileges on the counters gets a key');

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
  'inserts with hostile descriptions succeed');
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
  'inserts of hostile notes succeed');
select is(
  (select count(*) from public.search_by_keyword('wombat', 1000)), (select count(*) from hostile),
  'each ticket with a hostile note is found by the first word of the note');
select lives_ok(
  $$ insert into public.status_changes (ticket_id, note)
     select 31, string_agg(md5((i * n)::text), ' ') from generate_series(1, 3000) i, generate_series(1001, 1020) n group by n $$,
  'an insert of twenty notes of 100 kB each succeeds');
select is(
  (select k.ticket_id from public.search_by_keyword('rewritten') k), 31::bigint,
  'a ticket with twenty notes of 100 kB each is found by its name');

select lives_ok(
  $$ insert into public.tickets (ticket_id, project_id, status_id, name)
     select 50, 3, 1, 'kiwi ' || string_agg(md5(i::text), ' ') from generate_series(1, 30) i $$,
  'an insert of a ticket with a name of 995 characters succeeds');
select lives_ok(
  $$ insert into public.projects (project_id, name, description)
     select 4, 'kiwi ' || string_agg(md5(i::text), ' '), repeat('kiwi ', 400000) from generate_series(1, 30) i $$,
  'an insert of a project with a name of 995 characters and a description of 2 MB succeeds');
select is((select count(*)::integer from public.search_by_keyword('kiwi')), 2, 'a ticket and a project with long names are found');

-- A tsvector is limited to 1 MB. A URL is indexed whole and in parts, so the first 200,000
-- characters of some such texts exceed the limit.
create function pg_temp.different_addresses(first integer) returns text
language sql as $$
  select string_agg(to_hex(first + i) || '.de/' || to_hex(first + i), ' ') from generate_series(1, 14000) i
$$;
select lives_ok(
  $$ insert into public.tickets (ticket_id, project_id, status_id, name, description)
     select 51, 3, 1, 'emu ', 'rhea ' || pg_temp.different_addresses(200000);
     insert into public.status_changes (ticket_id, note) select 51, 'moa ' || pg_temp.different_addresses(100000 * n) from generate_series(3, 4) n $$,
  'inserts of a description and notes that together exceed the limit of a tsvector succeed');
select is(
  array(select k.ticket_id from unnest(array['emu', 'rhea', 'moa']) q, public.search_by_keyword(q) k), array[51, 51, 51]::bigint[],
  'a name, a description and notes that together exceed the limit are each found by their first word');

-- In a script without spaces each character starts a word.
create function pg_temp.han(characters integer) returns text
language sql as $$ select string_agg(chr(19968 + (i::bigint * i % 4999)::integer), '') from generate_series(1, characters) i $$;
select lives_ok(
  $$ insert into public.tickets (ticket_id, project_id, status_id, name, description) values
     (52, 3, 1, 'Chinese', pg_temp.han(45000) || ' quokka ' || pg_temp.han(15000) || ' numbat ' || pg_temp.han(940000)),
     (53, 3, 1, 'English', 'numbat 数据 ' || repeat('bilby ', 33000) || ' quokka') $$,
  'an insert of a million Chinese characters succeeds');
select is(
  array(select k.ticket_id from unnest(array['quokka', 'numbat']) q, public.search_by_keyword(q) k order by q, k.ticket_id), array[53, 52, 53]::bigint[],
  'Chinese text is indexed up to its 50,000th character, other scripts up to the 200,000th');

select * from finish();
rollback;
