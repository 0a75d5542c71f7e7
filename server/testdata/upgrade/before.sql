-- After an import of the sample, what is left for every table to have rows, in states that an
-- upgrade may meet.
insert into public.project_members (project_id, user_id, role)
select project_id, 'c0ffee00-0000-4000-8000-00000000000a', 'member' from public.projects;
insert into public.tickets (project_id, status_id, name) -- with a key from a counter
select p.project_id, s.status_id, 'The sentinel guards the gate' from (select min(project_id) as project_id from public.projects) p, (select min(status_id) as status_id from public.status) s;
insert into tasklens.former_keys select 'MOVED-1', min(ticket_id) from public.tickets;
select public.rate_document(id, true) from public.documents;
insert into tasklens.query_log (query_id, asked_at, kind, question, outcome, total_ms) values (gen_random_uuid(), now(), 'query', 'Who guards the gate?', 'nothing', 1);

create schema app;
create table app.issues (id bigint primary key, title text not null, state text not null);
create table app.remarks (id bigint primary key, issue bigint not null references app.issues, body text not null);
create view app.projects as select 1 as project_id, 'APP' as key, 'Application' as name;
create view app.members as select 1 as project_id, 'c0ffee00-0000-4000-8000-00000000000b'::uuid as user_id;
create view app.tickets as select id as ticket_id, 1 as project_id, title as name, state as status from app.issues;
create view app.comments as select id as comment_id, issue as ticket_id, body from app.remarks;
insert into app.issues values (1, 'A copied lantern', 'Open'), (2, 'It has no state', '');
insert into app.remarks values (1, 1, 'The lantern was lit.');
select from public.attach_tables('{
  "projects": {"view": "app.projects", "tables": {}},
  "members": {"view": "app.members", "tables": {}},
  "tickets": {"view": "app.tickets", "tables": {"app.issues": {"id": "ticket_id"}}},
  "comments": {"view": "app.comments", "tables": {"app.remarks": {"id": "comment_id"}}}}');
select public.copy_changes();
-- Merged, and some not merged yet.
select tasklens.merge_word_counts();
insert into tasklens.data_versions values (0, 1);

-- The queue: waiting, leased, dead; and another set of embeddings is being built.
select public.begin_reembed('next-embedding', 1);
update public.tickets set name = name || ' repainted' where ticket_id > (select max(ticket_id) - 4 from public.tickets);
select public.claim_embedding_jobs(2, 3);
update tasklens.embedding_jobs set dead_at = now(), attempts = 10, last_error = 'refused' where embedding_job_id = (
  select min(j.embedding_job_id) from tasklens.embedding_jobs j join tasklens.sources s using (source_id) where s.comment_id is not null and j.background);
update app.issues set title = 'A copied lantern, lit' where id = 1;
update public.projects set language = 'german' where project_id = (select max(project_id) from public.projects); -- indexed again by workers
