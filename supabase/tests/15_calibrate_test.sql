-- Samples of tickets, and their similarities to queries, for calibrating thresholds.

begin;
select plan(9);

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples');
insert into public.tickets (ticket_id, project_id, status_id, key, name)
values (11, 1, 1, 'AA-1', 'eleven'), (12, 1, 1, 'AA-2', 'twelve'), (13, 1, 1, 'AA-3', 'not embedded');
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding) values
  (1, 11, 'ticket', 0, 'a', 1, 'h', 'm', pg_temp.unit(0.6, 0.8)), (1, 11, 'ticket', 1, 'b', 1, 'h', 'm', pg_temp.unit(0.8, 0.6)),
  (1, 12, 'ticket', 0, 'c', 1, 'h', 'm', pg_temp.unit(0, 1)), (1, 12, 'ticket', 1, 'd', 1, 'h', 'other', pg_temp.unit(1));
set local role service_role;

select bag_eq($$ select * from public.sample_tickets('m') $$, $$ values ('AA-1', 'eleven', false), ('AA-2', 'twelve', false) $$, 'only tickets embedded by the model are sampled');
select results_eq($$ select * from public.sample_tickets('m', 1) $$, $$ select * from public.sample_tickets('m', 2) limit 1 $$, 'samples are deterministic');
select is((select count(*)::integer from public.sample_tickets('m', 0)), 1, 'a match_count of 0 samples one ticket');
select results_eq(
  $$ select place, array(select round(s::numeric, 6)::real from unnest(similarities) s)
     from public.compare_tickets(array[pg_temp.unit(1), pg_temp.unit(0, 1)], array['aa-1', 'AA-2', 'AA-3', 'ZZ-9'], 'm') $$,
  $$ values (1::bigint, array[0.8, 0, null, null]::real[]), (2, array[0.8, 1, null, null]) $$,
  'each query is compared with the best chunk of each ticket; tickets without chunks or unknown are null');
reset role;
insert into public.comments (comment_id, ticket_id, body) select 1000 + i, 12, 'c' || i from generate_series(1, 50) i;
insert into public.chunks (project_id, ticket_id, comment_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, 12, 1000 + i, 'comment', 0, 'c' || i, 1, 'h', 'm', case when i < 50 then pg_temp.unit(0.6, 0.8) else pg_temp.unit(1) end from generate_series(1, 50) i;
set local role service_role;
select is((select round(similarities[1]::numeric, 6) from public.compare_tickets(array[pg_temp.unit(1)], array['AA-2'], 'm')), 0.6,
  'at most 50 chunks of a ticket are compared: its own text and its oldest comments');
reset role;
delete from public.comments;
set local role service_role;
select is_empty($$ select * from public.compare_tickets('{}', array['AA-1'], 'm') $$, 'an empty array of queries returns no rows');
reset role;
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (13, 'duplicates', 11), (11, 'relates_to', 12), (11, 'duplicates', 13);
set local role service_role;
select bag_eq($$ select * from public.sample_tickets('m') $$, $$ values ('AA-1', 'not embedded', true), ('AA-2', 'twelve', false) $$,
  'an embedded ticket with a known duplicate is sampled with the name of the duplicate, and the flag duplicate');
select is((select count(*) from public.sample_tickets('m', 1) where duplicate), 0::bigint, 'duplicates are at most half of the sample');
set local role anon;
select throws_ok($$ select * from public.sample_tickets('m') $$, '42501', null, 'anon cannot call sample_tickets');

select * from finish();
rollback;
