-- A comment is a source of its own: reading, storing, queueing, counting and versioning it does not
-- affect the rest of its ticket.

begin;
select plan(64);

\ir kit/jobs.sql

\ir kit/vectors.sql
insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas');
insert into public.tickets (ticket_id, key, project_id, status_id, name, description) values
  (11, 'AA-11', 1, 1, 'Login fails', 'Since Monday'), (12, 'AA-12', 1, 1, 'Export', null), (21, 'BB-21', 2, 1, 'Bend', null);
insert into public.status_changes (status_change_id, ticket_id, note) values (101, 11, 'noted');
insert into public.comments (comment_id, ticket_id, author, body, created_at) values
  (1001, 11, 'Ada', 'The certificate has expired', '2025-03-01 23:30+00'), (1002, 11, ' ', 'Renewed', '2025-03-02 00:30+02'),
  (1003, 11, 'Noor', e' \n', '2025-03-03'), (1004, 21, null, 'Bent', '2025-03-04');

select from setval(pg_get_serial_sequence('public.comments', 'comment_id'), 5000);

-- Reading -----------------------------------------------------------------------------------------

select results_eq(
  $$ select names, texts from public.read_sources(array[pg_temp.source(comment => 1002), pg_temp.source(comment => 1001), pg_temp.source(comment => 1004)]) $$,
  $$ values
    ('{Apples,Login fails,"Comment, 2025-03-01"}'::text[], '[{"kind": "comment", "text": "Renewed", "status_change_id": null}]'::jsonb),
    ('{Apples,Login fails,"Comment by Ada, 2025-03-01"}', '[{"kind": "comment", "text": "The certificate has expired", "status_change_id": null}]'),
    ('{Bananas,Bend,"Comment, 2025-03-04"}', '[{"kind": "comment", "text": "Bent", "status_change_id": null}]') $$,
  'read_sources returns a comment''s body with ticket and project names, author and UTC date');
select is((select jsonb_path_query_array(texts, '$[*].kind') from public.read_sources(array[pg_temp.source(11)])), '["ticket", "status_note"]',
  'read_sources returns a ticket without its comments');
select is((select texts from public.read_sources(array[pg_temp.source(comment => 1003)])), '[]', 'a blank comment has no texts');
select is_empty(
  $$ select from public.find_sources('[{"project_id": 1, "ticket_id": 12, "comment_id": 1001}, {"project_id": 1, "ticket_id": 11, "comment_id": 404},
    {"project_id": 2, "ticket_id": 11, "comment_id": 1001}, {"project_id": 1, "comment_id": 1001}]') $$,
  'a comment is found only with its own ticket and project');
select is((select source_id from public.find_sources('[{"project_id": 1, "ticket_id": 11, "comment_id": 1001}]')), pg_temp.source(comment => 1001),
  'a comment is found with its ticket and project');

create function pg_temp.hash(ticket bigint, comment bigint default null) returns text
language sql as $$
  select r.source_hash from public.read_sources(array[case when comment is null then pg_temp.source(ticket) else pg_temp.source(comment => comment) end]) r
$$;
-- The source hashes that a statement changes: c, the comment's; t, its ticket's; o, another
-- comment's. The statement is rolled back.
create function pg_temp.changes(statement text) returns text
language plpgsql as $$
declare
  before text[] := array[pg_temp.hash(11, 1001), pg_temp.hash(11), pg_temp.hash(11, 1002)];
  after text[];
begin
  begin
    execute statement;
    after := array[pg_temp.hash(11, 1001), pg_temp.hash(11), pg_temp.hash(11, 1002)];
    raise exception 'undone' using errcode = 'UNDO0';
  exception when sqlstate 'UNDO0' then
    return (select string_agg(name, '' order by place) from unnest(array['c', 't', 'o'], before, after) with ordinality as x(name, old, new, place)
      where old is distinct from new);
  end;
end
$$;
select is(pg_temp.changes(statement), changed, says) from (values
  ($$ update public.comments set body = 'Else' where comment_id = 1001 $$, 'c', 'an edited body changes only the comment''s hash'),
  ($$ update public.comments set author = 'Bo' where comment_id = 1001 $$, 'c', 'a new author changes only the comment''s hash'),
  ($$ update public.comments set created_at = '2025-04-01' where comment_id = 1001 $$, 'c', 'a new date changes only the comment''s hash'),
  ($$ update public.comments set created_at = '2025-03-01 08:00+00', key = 'k' where comment_id = 1001 $$, null, 'a new time on the same day and a new key change no hash'),
  ($$ insert into public.comments (ticket_id, body) values (11, 'One more') $$, null, 'a new comment changes no other hash'),
  ($$ update public.tickets set description = 'x' where ticket_id = 11 $$, 't', 'a new description changes only the ticket''s hash'),
  ($$ update public.tickets set name = 'x' where ticket_id = 11 $$, 'cto', 'a new ticket name changes the hashes of ticket and comments'),
  ($$ update public.projects set name = 'x' where project_id = 1 $$, 'cto', 'a new project name changes the hashes of ticket and comments')
) as w(statement, changed, says);

-- Storing -----------------------------------------------------------------------------------------

create function pg_temp.store(ticket bigint, comment bigint, hash text, variadic texts text[]) returns boolean
language sql as $$
  select s.stored
  from (select case when comment is null then pg_temp.source(ticket) else pg_temp.source(comment => comment) end as id) o
  cross join lateral public.store_chunks(
    jsonb_build_array(jsonb_build_object('source_id', o.id, 'source_hash', hash, 'truncated', false)),
    (select coalesce(jsonb_agg(jsonb_build_object('source_id', o.id, 'kind', case when comment is null then 'ticket' else 'comment' end, 'position', place,
        'text', x, 'tokens', 1, 'input_hash', md5(x), 'model', 'm', 'embedding', 1)), '[]') from unnest(texts) with ordinality as u(x, place)),
    array[pg_temp.unit(1)]) s
$$;
create function pg_temp.stored() returns setof text
language sql as $$
  select concat_ws(' ', c.project_id, c.ticket_id, c.comment_id, c.kind, c.text) from public.chunks c
$$;
set local role service_role;
select ok(pg_temp.store(11, null, pg_temp.hash(11), 'Login fails'), 'a ticket''s chunks are stored');
select ok(pg_temp.store(11, 1001, pg_temp.hash(11, 1001), 'The certificate', 'has expired'), 'a comment''s chunks are stored');
select ok(pg_temp.store(11, 1002, pg_temp.hash(11, 1002), 'Renewed'), 'another comment''s chunks are stored at the same positions');
select bag_eq('select * from pg_temp.stored()',
  array['1 11 ticket Login fails', '1 11 1001 comment The certificate', '1 11 1001 comment has expired', '1 11 1002 comment Renewed'], 'chunks of a ticket and its comments are stored side by side');
select ok(not pg_temp.store(11, 1001, pg_temp.hash(11, 1002), 'stale'), 'a comment''s chunks are rejected with another comment''s hash');
select is((select jsonb_array_length(chunks) from public.read_sources(array[pg_temp.source(11)])), 1, 'read_sources returns a ticket with only its own chunks');
select is((select jsonb_array_length(chunks) from public.read_sources(array[pg_temp.source(comment => 1001)])), 2, 'read_sources returns a comment with only its own chunks');
select ok(pg_temp.store(11, 1001, pg_temp.hash(11, 1001), 'Shorter'), 'a comment''s chunks are stored again');
select ok(pg_temp.store(11, null, pg_temp.hash(11), 'Login fails again'), 'a ticket''s chunks are stored again');
select bag_eq('select * from pg_temp.stored()',
  array['1 11 ticket Login fails again', '1 11 1001 comment Shorter', '1 11 1002 comment Renewed'], 'storing again replaces only the source''s own chunks');
select throws_ok(
  $$ select public.store_chunks(jsonb_build_array(jsonb_build_object('source_id', pg_temp.source(11), 'source_hash', pg_temp.hash(11), 'truncated', false)),
       jsonb_build_array('{"kind": "comment", "position": 0, "text": "t", "tokens": 1, "input_hash": "h", "model": "m", "embedding": 1}'
         || jsonb_build_object('source_id', pg_temp.source(11))), array[pg_temp.unit(1)]) $$,
  '23514', null, 'a chunk without a comment ID cannot have the kind comment');
reset role;

-- Queueing ----------------------------------------------------------------------------------------

create function pg_temp.jobs() returns table (what text)
language sql as $$
  select coalesce('project ' || j.project_id, 'ticket ' || j.ticket_id, 'comment ' || j.comment_id)
    || case when j.with_children then ' and more' else '' end || case when j.background then ' (background)' else '' end
  from job j
$$;
create function pg_temp.queues(statement text, wanted text[], says text) returns text
language plpgsql as $$
begin
  delete from tasklens.embedding_jobs;
  execute statement;
  return bag_eq('select * from pg_temp.jobs()', wanted, says);
end
$$;
select pg_temp.queues($$ insert into public.comments (comment_id, ticket_id, author, body) values (1005, 12, 'Bo', 'New'), (1006, 12, 'Bo', ' ') $$,
  array['comment 1005', 'comment 1006'], 'a new comment queues one job');
select pg_temp.queues($$ update public.comments set body = body || '!', author = author where comment_id = 1005 $$, array['comment 1005'], 'an edited comment queues a job');
select pg_temp.queues($$ update public.comments set author = 'Cy' where comment_id = 1005 $$, array['comment 1005'], 'a new author of a comment queues a job');
select pg_temp.queues($$ update public.comments set body = body, key = 'k-' || comment_id, updated_at = now() $$, array[]::text[], 'an update that keeps a comment''s body and author queues nothing');
select pg_temp.queues($$ update public.comments set ticket_id = 21 where comment_id = 1002 $$, array['comment 1002'], 'a moved comment queues a job');
select bag_eq($$ select * from pg_temp.stored() s where s ~ 'Renewed' $$, array['2 21 1002 comment Renewed'], 'a moved comment''s chunks belong to its new ticket at once');
update public.comments set ticket_id = 11 where comment_id = 1002;
select pg_temp.queues($$ update public.tickets set description = 'x' where ticket_id = 11 $$, array['ticket 11'], 'a new ticket description queues only the ticket');
select pg_temp.queues($$ update public.tickets set name = 'Sign-in fails' where ticket_id in (11) $$, array['ticket 11 and more'], 'a new ticket name queues the ticket with its comments');
select pg_temp.queues($$ insert into public.tickets (ticket_id, project_id, status_id, name) values (13, 1, 1, 'Quiet'); update public.tickets set name = 'Silent' where ticket_id = 13 $$,
  array['ticket 13'], 'a new name of a ticket without comments queues only the ticket');
select pg_temp.queues($$ update public.comments set body = 'soon gone' where comment_id = 1006; delete from public.comments where comment_id = 1006 $$,
  array[]::text[], 'a deleted comment leaves no job');

-- Claiming ----------------------------------------------------------------------------------------

create temporary table claims (place bigint generated always as identity, lease_id uuid, jobs jsonb, next_due_seconds double precision);
create function pg_temp.claim(job_limit integer default 100) returns text
language sql as $$
  insert into pg_temp.claims (lease_id, jobs, next_due_seconds) select * from public.claim_embedding_jobs(job_limit);
  select coalesce(string_agg(concat_ws('/', o.project_id, o.ticket_id, o.comment_id), ' ' order by o.ticket_id, o.comment_id), 'none')
  from jsonb_array_elements((select c.jobs from pg_temp.claims c order by c.place desc limit 1)) j
  join tasklens.source_owners o on o.source_id = (j ->> 'source_id')::bigint
$$;
delete from tasklens.embedding_jobs;
update public.comments set body = 'Expired' where comment_id in (1001, 1004);
grant all on claims to service_role;
select is(pg_temp.claim(), '1/11/1001 2/21/1004', 'the jobs of comments are claimed');
select is(pg_temp.claim(), 'none', 'a leased comment job is not claimed again');
delete from tasklens.embedding_jobs;
update public.tickets set name = 'Nobody signs in' where ticket_id = 11;
select is(pg_temp.claim(1), '1/11', 'a renamed ticket''s job is claimed');
select bag_eq($$ select * from pg_temp.jobs() $$, array['ticket 11', 'comment 1001 (background)', 'comment 1002 (background)', 'comment 1003 (background)'], 'claiming a renamed ticket queues its comments as background jobs');
delete from tasklens.embedding_jobs;
update public.projects set name = 'Pears' where project_id = 1;
select is(pg_temp.claim(1), '1', 'a renamed project''s job is claimed');
select bag_eq($$ select * from pg_temp.jobs() where what like 'ticket%' $$,
  array['ticket 11 and more (background)', 'ticket 12 and more (background)', 'ticket 13 and more (background)'], 'claiming a renamed project queues its tickets with their comments');
delete from tasklens.embedding_jobs;
update public.tickets set name = name || '.' where project_id = 1;
select is(pg_temp.claim(), '1/11 1/12 1/13', 'jobs of several renamed tickets are claimed');
select bag_eq($$ select * from pg_temp.jobs() $$, array['ticket 11', 'ticket 12', 'ticket 13', 'comment 1001 (background)', 'comment 1002 (background)', 'comment 1003 (background)', 'comment 1005 (background)'],
  'claiming several renamed tickets queues the comments of all');

-- Ending jobs by storing
delete from tasklens.embedding_jobs;
update public.comments set body = 'Expired!' where comment_id = 1001;
update public.tickets set description = 'y' where ticket_id = 11;
set local role service_role;
select ok(pg_temp.store(11, 1001, pg_temp.hash(11, 1001), 'Expired!'), 'a comment is stored without claiming its job');
reset role;
select bag_eq($$ select * from pg_temp.jobs() $$, array['ticket 11'], 'storing a comment ends its job and keeps its ticket''s');

-- Counting ----------------------------------------------------------------------------------------

create function pg_temp.is_counted(says text) returns text
language sql as $$
  select is(array[s.chunks, s.sources_without_chunks, s.pending], array[
      (select count(*) from public.chunks), (select count(*) from tasklens.missing_sources('m')), (select count(*) from job)], says)
  from public.embedding_status('m') s
$$;
select pg_temp.is_counted('embedding_status counts comments as sources');
delete from public.comments where comment_id = 1001;
select pg_temp.is_counted('embedding_status counts comments after one is deleted');
select tasklens.recount_sources();
select pg_temp.is_counted('embedding_status counts comments after a recount');
select bag_eq($$ select o.comment_id from tasklens.missing_sources('m') join tasklens.source_owners o using (source_id) where o.ticket_id = 21 and o.comment_id is not null $$, $$ values (1004::bigint) $$, 'missing_sources returns a comment without chunks');

-- Versions ----------------------------------------------------------------------------------------

create function pg_temp.moves(statement text, projects bigint[], says text) returns text
language plpgsql as $$
begin
  delete from tasklens.data_version_changes;
  execute statement;
  return is(array(select c.project_id from tasklens.data_version_changes c order by c.project_id), projects, says);
end
$$;
select pg_temp.moves($$ insert into public.comments (comment_id, ticket_id, body) values (2001, 12, 'v') $$, '{1}', 'a new comment moves its project''s version');
select pg_temp.moves($$ update public.comments set body = 'w' where comment_id = 2001 $$, '{1}', 'an edited comment moves its project''s version');
select pg_temp.moves($$ update public.comments set body = body, updated_at = now() $$, '{}', 'an update that keeps a comment''s body moves no version');
select pg_temp.moves($$ update public.comments set ticket_id = 21 where comment_id = 2001 $$, '{1,2}', 'a comment moved to another project moves both versions');
select pg_temp.moves($$ delete from public.comments where comment_id = 2001 $$, '{2}', 'a deleted comment moves its project''s version');
select pg_temp.moves($$ insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (11, 'blocks', 21) $$, '{1,2}', 'a new link moves the versions of both tickets'' projects');
select pg_temp.moves($$ update public.ticket_links set kind = 'duplicates' $$, '{1,2}', 'a link''s new kind moves the versions of both tickets'' projects');
select pg_temp.moves($$ update public.ticket_links set kind = kind $$, '{}', 'a no-op update of links moves no version');
select pg_temp.moves($$ delete from public.ticket_links $$, '{1,2}', 'a deleted link moves the versions of both tickets'' projects');

-- Moving and deleting a ticket --------------------------------------------------------------------

insert into public.chunks (project_id, ticket_id, comment_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, 12, c.comment_id, 'comment', 0, 'x', 1, 'h', 'm', pg_temp.unit(1) from public.comments c where c.ticket_id = 12 order by 3 limit 3;
update public.tickets set project_id = 2 where ticket_id = 12;
select is((select array_agg(distinct c.project_id) from public.chunks c where c.ticket_id = 12), '{2}', 'moving a ticket moves the chunks of its comments');
select is((select array_agg(distinct c.project_id) from public.comment_entries c where c.ticket_id = 12), '{2}', 'moving a ticket moves the keyword entries of its comments');
delete from public.tickets where ticket_id = 12;
select is((select count(*) from public.chunks c where c.ticket_id = 12) + (select count(*) from public.comment_entries c where c.ticket_id = 12)
  + (select count(*) from job j where j.comment_id is not null and not exists (select from public.comments c where c.comment_id = j.comment_id)), 0::bigint,
  'deleting a ticket deletes its comments'' chunks, entries and jobs');

truncate public.comments cascade;
select is((select count(*) from public.chunks), 0::bigint, 'truncating comments cascades to all chunks');
select ok((select count(*) > 0 from job j where j.ticket_id is not null), 'truncating comments queues all tickets');
select is((select sum(w.comments) from tasklens.word_entries(array['', ' ', 'expir', 'mani']) w), 0::numeric, 'truncating comments resets the word counts of comments');
select ok((select w.entries > 0 from tasklens.word_entries(array['']) w), 'truncating comments keeps the word counts of tickets');

select * from finish();
rollback;
