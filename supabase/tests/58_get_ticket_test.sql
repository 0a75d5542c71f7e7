-- get_ticket returns a ticket's columns, status changes, links and a page of its comments, bounded
-- in length, and only what the caller may read.

begin;
select plan(20);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas');
insert into public.tickets (ticket_id, key, project_id, status_id, name, description, assignee, labels, due_date) values
  (11, 'AA-11', 1, 2, 'Login fails', 'Since Monday', 'Lena', '{web}', '2025-04-01'), (12, 'aa-12', 1, 1, 'Export', null, null, '{}', null),
  (21, 'BB-21', 2, 1, 'Bend', null, null, '{}', null);
insert into public.status_changes (status_change_id, ticket_id, status_id, note, created_at)
  select n, 11, case when n % 2 = 0 then 2 end, 'note ' || n, '2025-03-01' from generate_series(1, 102) n;
insert into public.comments (comment_id, ticket_id, author, body, created_at) values
  (1003, 11, null, 'third', '2025-03-03'), (1001, 11, 'Ada', 'first', '2025-03-01'), (1002, 11, 'Noor', 'second', '2025-03-01'), (1004, 21, null, 'Bent', '2025-03-04');
insert into public.comments (ticket_id, body, created_at) select 12, 'n', '2025-03-01' from generate_series(1, 120);
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (11, 'blocks', 12), (21, 'duplicates', 11);

select results_eq(
  $$ select ticket_key, ticket_name, project_key, project_name, status, status_category, description, fields ->> 'assignee', fields ->> 'reporter', fields -> 'labels', fields ->> 'due_date', comment_count from public.get_ticket(11) $$,
  $$ values ('AA-11', 'Login fails', 'AA', 'Apples', 'Done', 'done', 'Since Monday', 'Lena', null::text, '["web"]'::jsonb, '2025-04-01', 3::bigint) $$,
  'a ticket is read by its ID');
select is((select ticket_id from public.get_ticket(ticket_key => key)), id, 'the ticket read by the key "' || key || '"') from (values
  ('AA-11', 11::bigint), ('aa-11', 11), ('AA-12', 12), ('AA-1', null), ('', null)) x(key, id);
select is_empty('select from public.get_ticket()', 'get_ticket without arguments returns nothing');

create function pg_temp.bodies(id bigint, page integer, skip integer) returns text
language sql as $$
  select string_agg(c ->> 'body', ' ' order by place) from public.get_ticket(id, null, page, skip), jsonb_array_elements(comments) with ordinality x(c, place)
$$;
select is(pg_temp.bodies(11, 2, 0) || ' | ' || pg_temp.bodies(11, 2, 2), 'first second | third', 'comments are returned oldest first, ties by ID, in pages');
select is((select jsonb_array_length(comments) from public.get_ticket(12, null, 1000)), 100, 'a page has at most 100 comments');
select is((select comments from public.get_ticket(11, null, 0, 3)), '[]', 'a page beyond the last comment is empty');
select is((select jsonb_array_length(status_changes) || ' ' || (status_changes -> 0 ->> 'note') || ' ' || (status_changes -> 99 ->> 'status')
  from public.get_ticket(11)), '100 note 3 Done', 'the last 100 status changes are returned, oldest first');
select is((select jsonb_path_query_array(fields, '$.links[*].ticket_key') from public.get_ticket(11)), '["aa-12", "BB-21"]', 'links of both directions are returned');

-- Long texts. A page of 50 comments of 2 MB each stays small, and the rest can be read.
insert into public.tickets (ticket_id, key, project_id, status_id, name, description) values (13, 'AA-13', 1, 1, 'Long', repeat('é', 200001) || 'rest');
insert into public.status_changes (status_change_id, ticket_id, note) values (201, 13, repeat('n', 2000)), (202, 13, repeat('n', 2001));
insert into public.comments (comment_id, ticket_id, body, created_at) select 2000 + n, 13, repeat('c', 2000000) || 'end', '2025-03-01' from generate_series(1, 50) n;
insert into public.comments (comment_id, ticket_id, body, created_at) values (1999, 13, 'short', '2025-02-01');
select is((select length(description) || ' ' || description_truncated_at from public.get_ticket(13)), '200000 200000', 'a description is cut after 200,000 characters');
select is((select description || coalesce(description_truncated_at::text, '') from public.get_ticket(13, text_offset => 200000)), 'érest', 'text_offset returns the rest of a description');
select is((select jsonb_path_query_array(status_changes, '$[*].truncated_at') || jsonb_build_array(length(status_changes #>> '{1,note}')) from public.get_ticket(13)),
  '[null, 2000, 2000]', 'a note is cut after 2,000 characters');
select results_eq(
  $$ select (c ->> 'comment_id')::integer, length(c ->> 'body'), (c ->> 'body_bytes')::integer, (c ->> 'truncated_at')::integer
     from public.get_ticket(13, null, 100), jsonb_array_elements(comments) with ordinality x(c, place) where place in (1, 2, 3, 51) order by place $$,
  $$ values (1999, 5, 5, null), (2001, 199995, 2000003, 199995), (2002, 2000, 2000003, 2000), (2050, 2000, 2000003, 2000) $$,
  'the comments of a page share 200,000 characters, and each has at least 2,000');
select cmp_ok((select octet_length(to_json(t)::text) from public.get_ticket(13, null, 100) t), '<', 1000000, 'a page of 100 MB of comments has less than 1 MB');
select is((select string_agg(length(c ->> 'body') || right(c ->> 'body', 3) || ' ' || coalesce(c ->> 'truncated_at', 'whole'), ', ' order by skip)
    from (values (0), (1900000)) s(skip), public.get_ticket(13, comment_id => 2002, text_offset => skip), jsonb_array_elements(comments) c),
  '200000ccc 200000, 100003end whole', 'comment_id and text_offset return any part of a comment');

insert into public.project_members (project_id, user_id, role) values (1, '00000000-0000-4000-8000-000000000001', 'viewer');
set local role authenticated;
set local request.jwt.claims = '{"sub": "00000000-0000-4000-8000-000000000001", "role": "authenticated"}';
select is((select jsonb_path_query_array(fields, '$.links[*].ticket_key') from public.get_ticket(ticket_key => 'aa-11')), '["aa-12"]', 'a user sees no link to an invisible ticket');
select is_empty($$ select from public.get_ticket(21) union all select from public.get_ticket(ticket_key => 'BB-21') $$, 'a user cannot read an invisible ticket by ID or key');

select * from finish();
rollback;
