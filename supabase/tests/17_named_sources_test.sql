-- How tickets and projects named in a question are recognised and added to retrieval.
-- (Visibility: 40_callers_test.sql.)

begin;
select plan(41);

\ir kit/vectors.sql

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done'), (3, 'Blocked'), (4, 'Won''t Do');
insert into public.projects (project_id, key, name, description) values
  (1, 'TX', 'Checkout and Payments', 'From basket to receipt'), (2, 'MOB', 'Mobile App', null), (3, 'PHX', 'Phoenix', 'Rises'),
  (4, 'SRCH', 'Search', null), (5, 'CPP', 'C++ (100%_) [a-z]* \d', null), (6, 'DP', '数据平台', null), (7, 'UBR', 'Überblick Größe', null),
  (8, 'DATA', 'Data', null), (9, 'DPL', 'Data Platform', null), (10, 'LONG', repeat('very long name ', 66), null), (11, 'A-B', '!?', null);
insert into public.tickets (ticket_id, project_id, status_id, key, name, description)
select 1000 * p.project_id + n, p.project_id, case n when 400 then 3 when 401 then 2 else 1 end, p.key || '-' || n, 'Of ' || p.key, 'Number ' || n
from public.projects p, generate_series(400, 402) n;
insert into public.tickets (ticket_id, project_id, status_id, key, name) values (99, 1, 1, 'B-400', 'Another''s');

-- 'tickets/projects', by key.
create function pg_temp.named(question text, project bigint default null, status text default null) returns text
language sql as $$
  select concat_ws('/',
    coalesce((select string_agg(t.key, ' ' order by u.place) from unnest(r.ticket_ids) with ordinality u(id, place) join public.tickets t on t.ticket_id = u.id), ''),
    coalesce((select string_agg(p.key, ' ' order by u.place) from unnest(r.project_ids) with ordinality u(id, place) join public.projects p on p.project_id = u.id), ''))
  from tasklens.read_names(tasklens.resolve_scope(tasklens.check_arguments(null, project_filter => project, status_filter => status)), question) r
$$;

-- Tickets -----------------------------------------------------------------------------------------

select is(array(select pg_temp.named('What became of ' || k || '?') from unnest(array['TX-400', 'tx-400', 'TX 400', 'tx 400', 'TX–400', 'TX#400', 'TX_400', 'tx400', 'TX - 400', 'Tx-400''s']) k),
  array_fill('TX-400/'::text, array[10]), 'a ticket key is recognised in any usual spelling');
select is(pg_temp.named('Is MOB-401 a copy of TX-400?'), 'MOB-401 TX-400/', 'several ticket keys are recognised, in the order of the question');
select is(pg_temp.named('status of A-B-400'), 'A-B-400 B-400/', 'if a key can be read with two project keys, each existing ticket is recognised');
select is(pg_temp.named('ticket 402?'), 'TX-402 MOB-402 PHX-402 SRCH-402 CPP-402/', 'a ticket number without a key matches the tickets of at most five projects');
select is(pg_temp.named('ticket #402 of the Phoenix project'), 'PHX-402/PHX', 'a ticket number without a key matches the ticket of the named project');
select is(pg_temp.named('TX-400 TX-401 TX-402 MOB-400 MOB-401 MOB-402'), 'TX-400 TX-401 TX-402 MOB-400 MOB-401/', 'at most five ticket keys are recognised');
select is(array(select pg_temp.named(q) from unnest(array['What is TX-99999?', 'UTF-8 in 400 years, sha256', 'TX-4000', 'xTX-40', '400', 'TX', '-', '']) q),
  array_fill('/'::text, array[8]), 'questions with no key of an existing ticket name nothing');
select is(pg_temp.named('TX-400 and MOB-400', 2), 'MOB-400/', 'a project filter excludes tickets of other projects');
select is(pg_temp.named('TX-400 and TX-401', null, 'done'), 'TX-401/', 'a status filter excludes tickets of other statuses');
select is(pg_temp.named('TX-400', 99), '/', 'a filter by an unknown project excludes every ticket');

-- Projects ----------------------------------------------------------------------------------------

select is(pg_temp.named('What''s the main objective of the ''Phoenix'' project?'), '/PHX', 'a project is recognised by its name');
select is(array(select pg_temp.named(q) from unnest(array['goal of phoenix?', 'the phoenix project', 'Is Phoenix late?', 'why is "phoenix" late', 'project phoenix', 'the Phoenix app is slow', 'the «Phoenix» plan']) q),
  array_fill('/PHX'::text, array[7]), 'a one-word project name is recognised if its case or context marks it as a name');
select is(array(select pg_temp.named(q) from unnest(array['how does search work', 'Search is slow', 'WHY IS SEARCH SLOW', 'we search for data all day', 'the data is wrong']) q),
  array_fill('/'::text, array[5]), 'a one-word project name without a mark is an ordinary word');
select is(array(select pg_temp.named(q) from unnest(array['the mobile app', 'MOBILE APP', 'mobile-app bugs', 'The Mobile app''s tests', 'mobile   app']) q),
  array_fill('/MOB'::text, array[5]), 'a project name of several words is recognised in any case');
select is(array(select pg_temp.named(q) from unnest(array['the mobile project', 'What of Mobile', 'how to be mobile today']) q), array['/MOB', '/MOB', '/'],
  'a project name is recognised without its generic word if it is marked as a name');
select is(array(select pg_temp.named(q) from unnest(array['Is TX late?', 'project tx', 'the tx project', 'tx is short', 'TX 2024 goals']) q), array['/TX', '/TX', '/TX', '/', '/'],
  'a project key is recognised in capitals or next to the word "project"');
select is(pg_temp.named('the Phoenix and the Mobile App', 2), '/MOB', 'a project filter excludes other projects');
select is(pg_temp.named('what is the data platform for'), '/DPL', 'a project name within a longer one is ignored');
select is(pg_temp.named('Is PHX ahead of MOB, I mean the Mobile App?'), '/MOB PHX', 'of two mentions of a project the longer one counts: longer names come first');
select is(pg_temp.named('Phoenix, TX, MOB and SRCH are late, are they'), '/TX MOB SRCH', 'at most three projects are recognised');
select is(pg_temp.named('objective of project C++ (100%_) [a-z]* \d?'), '/CPP', 'pattern characters in a project name are taken literally');
select is(array(select pg_temp.named(q) from unnest(array['project %', 'project .*', 'project _', 'project ''', 'project \']) q), array_fill('/'::text, array[5]),
  'pattern characters in a question match no project');
select is(array(select pg_temp.named(q) from unnest(array['数据平台项目的目标是什么?', 'ÜBERBLICK GRÖßE?', U&'u\0308berblick gro\0308\00DFe']) q), array['/DP', '/UBR', '/UBR'],
  'project names are recognised in any script, case and Unicode form');
select lives_ok($$ select pg_temp.named(q) from unnest(array[repeat('a', 5000), repeat('project a ', 500), repeat('数', 5000), repeat('''', 5000), repeat('TX-400 ', 500)]) q $$,
  'very long questions cause no error');
select is(pg_temp.named(null), '/', 'a null question names nothing');

-- Retrieval ---------------------------------------------------------------------------------------

-- The similarity to (1, 0, 0, …) is a vector's first number.
create function pg_temp.add(ticket bigint, project bigint, place integer, vector extensions.vector, text text, note bigint default null) returns void
language sql as $$
  insert into public.chunks (project_id, ticket_id, status_change_id, kind, position, text, tokens, input_hash, model, embedding)
  values (project, ticket, note, case when ticket is null then 'project' when note is null then 'ticket' else 'status_note' end, place, text, 7, 'h', 'm', vector)
$$;
insert into public.status_changes (status_change_id, ticket_id, status_id, note) values (1, 1400, 3, 'old'), (2, 1400, 3, 'new');
select pg_temp.add(1400, 1, 0, pg_temp.unit(0.28, 0.96), 'own'), pg_temp.add(1400, 1, 1, pg_temp.unit(0.6, 0.8), 'part'), pg_temp.add(1400, 1, 2, pg_temp.unit(0.1, 0, 0.9949874), 'old', 1),
  pg_temp.add(1400, 1, 3, pg_temp.unit(0, 0, 1), 'new', 2), pg_temp.add(1400, 1, 4, pg_temp.unit(0, 0, 0, 1), 'new again', 2),
  pg_temp.add(null, 1, 0, pg_temp.unit(0.28, 0, 0.96), 'checkout'), pg_temp.add(2401, 2, 0, pg_temp.unit(1), 'near'), pg_temp.add(2400, 2, 0, pg_temp.unit(-0.6, 0.8), 'far and blocked'),
  pg_temp.add(2402, 2, 0, pg_temp.unit(0.96, 0.28), 'near too');
set local role service_role;
create function pg_temp.found(question text, threshold double precision default 0.7, project bigint default null, status text default null, count integer default 20) returns setof text
language sql as $$
  select concat_ws(' ', text, round(similarity::numeric, 2)::real, case when over_threshold then 'over' else 'under' end, case when named then 'named' end)
  from public.retrieve_chunks(pg_temp.unit(1), 'm', threshold, count, 3, question,
    tasklens.check_arguments(null, project_filter => project, status_filter => status))
$$;
select results_eq($$ select * from pg_temp.found(null) $$, array['near 1 over', 'near too 0.96 over'], 'retrieval without a question adds no named sources');
select results_eq($$ select * from pg_temp.found('status of tx 400') $$,
  array['near 1 over', 'near too 0.96 over', 'part 0.6 under named', 'own 0.28 under named', 'new 0 under named'],
  'a named ticket adds its own text, the start of its newest note and its nearest chunk, and removes no other result');
select results_eq($$ select * from pg_temp.found('What is the Checkout and Payments project for?') $$, array['near 1 over', 'near too 0.96 over', 'checkout 0.28 under named'], 'a named project adds its own text');
select results_eq($$ select * from pg_temp.found('TX-401?', 0.99) $$, array['near 1 over', e'Of TX\n\nNumber 401 under named'], 'a named ticket without chunks adds its text');
select results_eq($$ select * from pg_temp.found('MOB-401?') $$, array['near 1 over named', 'near too 0.96 over'], 'a named ticket that is also near is returned once');
select results_eq($$ select * from pg_temp.found('TX-400', count => 2) $$, array['part 0.6 under named', 'own 0.28 under named'], 'named sources take precedence if match_count is small');
select is_empty($$ select * from pg_temp.found('TX-400', status => 'done') where found ~ 'named' $$, 'filters exclude named sources');
select is((select count(*)::integer from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.7, 20, question => 'status of tx 400', filters => '{"projects": [1]}', corpus => 'all') where named and text in ('part', 'own', 'new')), 3, 'retrieval of all corpora adds the named sources too');
select results_eq($$ select text || ' ' || round(similarity::numeric, 2)::real from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.7, 20, 3, 'status of tx 400', corpus => 'all') where named $$,
  array['part 0.6', 'own 0.28', 'new 0'], 'retrieval from tickets and documents adds the named sources too');
select is((select string_agg(cardinality(similarities)::text, ' ' order by similarity desc nulls last) from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.7, 20, 3, 'TX-400 and TX-401')),
  '0 1 2 3 4 5', 'each row has its similarities to the rows before it, also with named sources');
select is((select string_agg(distinct project_key, ' ' order by project_key) from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.7, 20, 3, 'TX-400')), 'MOB TX', 'each row has the key of its project');


-- Names of tickets and identifiers ----------------------------------------------------------------

reset role;
insert into public.tickets (ticket_id, project_id, status_id, key, name, description) values
  (901, 1, 1, 'TX-901', 'Voucher code rejects valid input', 'Own words'), (902, 1, 1, 'TX-902', 'Receipts', 'The job ends with E_STALE_LOCK.'),
  (903, 2, 1, 'MOB-903', 'Shipment labels lose their barcode on the second print', null);
set local role service_role;
select is(array(select split_part(f, e'\n', 1) from unnest(array['Why does the voucher code reject valid input?', 'What became of "Voucher code rejects valid inputs", do we know?',
    'voucher code rejecting valid input']) q, pg_temp.found(q, 0.99) f where f ~ 'named'), array_fill('Voucher code rejects valid input'::text, array[3]),
  'a ticket whose name is the question, or nearly, is added');
select is(array(select split_part(f, e'\n', 1) from pg_temp.found('Do shipment labels lose their barcode on a second print run?', 0.99) f where f ~ 'named'),
  array['Shipment labels lose their barcode on the second print under named'], 'and with one word more');
select is_empty($$ select * from unnest(array['Which input is valid?', 'Where is the code of the voucher service?', 'Who prints labels?']) q, pg_temp.found(q, 0.99) f where f ~ 'named' $$,
  'a ticket whose name shares a few words is not');
select is_empty($$ select * from pg_temp.found('Why does the voucher code reject valid input?', 0.99, project => 2) f where f ~ 'named' $$, 'filters exclude it');
select is(array(select split_part(f, e'\n', 1) from unnest(array['When does e_stale_lock occur?', 'What is E_STALE_LOCK']) q, pg_temp.found(q, 0.99) f where f ~ 'named'),
  array_fill('Receipts'::text, array[2]), 'a text that holds an identifier of the question is added');

select * from finish();
rollback;
