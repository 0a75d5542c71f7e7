-- One ticket whole, by key or by id.

begin;
select plan(8);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Ales');
insert into public.tickets (ticket_id, key, project_id, status_id, name, description, labels) values
  (11, 'AA-1', 1, 1, 'Pump leaks', 'At the seal.', '{wet}'), (12, '11', 1, 2, 'A key of digits', null, '{}'), (13, 'AA-3', 1, 1, 'Bare', null, '{}');
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (11, 'blocks', 13);
insert into public.status_changes (ticket_id, status_id, note) values (11, 2, 'Seal replaced.'), (11, 1, ' '), (11, 1, null);
insert into public.comments (ticket_id, author, body, created_at)
  select 11, 'Ada', 'Comment ' || n, '2026-01-01'::timestamptz + n * interval '1 day' from generate_series(1, 102) n;

set local role service_role;
select results_eq($$ select ticket_id, ticket_key, ticket_name, project_key, project_name, status, status_category, description, labels from public.get_ticket(' aa-1 ') $$,
  $$ values (11::bigint, 'AA-1', 'Pump leaks', 'AA', 'Ales', 'To Do', 'to_do', 'At the seal.', '{wet}'::text[]) $$, 'a key is found as people type it');
select is((select ticket_id from public.get_ticket('13')), 13::bigint, 'so is an id');
select is((select ticket_id from public.get_ticket('11')), 12::bigint, 'a key goes before an id');
select is_empty($$ select * from unnest('{"", "0", "-1", "AA-9", "99999999999999999999", "1e1"}'::text[]) t cross join lateral public.get_ticket(t) g $$,
  'an unknown ticket has no row, whatever names it');
select results_eq($$ select comment_count, jsonb_array_length(comments), comments -> 0 ->> 'text', comments -> 99 ->> 'text', comments -> 0 ->> 'author' from public.get_ticket('AA-1') $$,
  $$ values (102::bigint, 100, 'Comment 3', 'Comment 102', 'Ada') $$, 'the last hundred comments come, the oldest first');
select results_eq($$ select jsonb_array_length(notes), notes -> 0 ->> 'text', links -> 0 ->> 'ticket_key' from public.get_ticket('AA-1') $$,
  $$ values (1, 'Seal replaced.', 'AA-3') $$, 'with notes that say something, and links');
select results_eq($$ select notes, comments, comment_count, description from public.get_ticket('AA-3') $$,
  $$ values ('[]'::jsonb, '[]'::jsonb, 0::bigint, null::text) $$, 'a bare ticket has empty lists');
reset role;
set local role anon;
select throws_ok($$ select * from public.get_ticket('AA-1') $$, '42501', null, 'anon is refused');

select * from finish();
rollback;
