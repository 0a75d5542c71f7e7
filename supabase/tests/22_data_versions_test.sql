-- The data version: which changes move it, and for which projects.

begin;
select plan(59);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done'), (3, 'Unused');
insert into public.projects (project_id, key, name) values (1, 'AA', 'One'), (2, 'BB', 'Two'), (3, 'CC', 'Three');
insert into public.tickets (ticket_id, project_id, status_id, name, description) values
  (11, 1, 1, 'Pump', 'Leaks'), (12, 1, 2, 'Valve', null), (21, 2, 1, 'Wheel', 'Squeaks');
insert into public.status_changes (status_change_id, ticket_id, status_id, note) values (111, 11, 2, 'Sealed'), (112, 11, 2, null);

\ir kit/vectors.sql
insert into public.chunks (chunk_id, project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding) values
  ('00000000-0000-0000-0000-000000000011', 1, 11, 'ticket', 0, 'Pump', 1, 'h', 'm', pg_temp.unit(1)),
  ('00000000-0000-0000-0000-000000000021', 2, 21, 'ticket', 0, 'Wheel', 1, 'h', 'm', pg_temp.unit(0, 1));

-- The test is one transaction, in which a project changes only once. So the recorded changes are
-- deleted before each step, as if it were a new transaction.
create function pg_temp.moved(statement text) returns bigint[]
language plpgsql as $$
begin
  delete from tasklens.data_version_changes;
  execute statement;
  return array(select c.project_id from tasklens.data_version_changes c order by c.project_id);
end
$$;

create function pg_temp.moves(statement text, projects bigint[], says text) returns text
language sql as $$ select extensions.is(pg_temp.moved(statement), projects, says) $$;

-- Projects
select pg_temp.moves($$ insert into public.projects (project_id, key, name) values (4, 'DD', 'Four') $$, '{4}', 'a new project moves its version');
select pg_temp.moves($$ update public.projects set name = 'Uno' where project_id = 1 $$, '{1}', 'a new project name moves the project''s version');
select pg_temp.moves($$ update public.projects set description = 'Pumps' where project_id = 1 $$, '{1}', 'a new project description moves the project''s version');
select pg_temp.moves($$ update public.projects set name = name $$, '{}', 'a no-op update of projects moves no version');
select pg_temp.moves($$ update public.projects set key = 'ONE' where project_id = 1 $$, '{1}', 'a new project key, which filters use, moves the project''s version');
select pg_temp.moves($$ delete from public.projects where project_id = 4 $$, '{4}', 'a deleted project moves its version');

-- Tickets
select pg_temp.moves($$ insert into public.tickets (ticket_id, project_id, status_id, name) values (13, 1, 1, 'Hose'), (22, 2, 1, 'Axle') $$, '{1,2}',
  'new tickets move the versions of their projects');
select pg_temp.moves($$ update public.tickets set name = 'Hoses' where ticket_id = 13 $$, '{1}', 'a new ticket name moves its project''s version');
select pg_temp.moves($$ update public.tickets set description = 'Short' where ticket_id = 22 $$, '{2}', 'a new ticket description moves its project''s version');
select pg_temp.moves($$ update public.tickets set status_id = 2 where ticket_id = 13 $$, '{1}', 'a ticket''s new status moves its project''s version');
select pg_temp.moves($$ update public.tickets set key = 'AA-99' where ticket_id = 13 $$, '{1}', 'a new ticket key moves its project''s version');
select pg_temp.moves($$ update public.tickets set ticket_id = 14 where ticket_id = 13 $$, '{1}', 'a new ticket ID moves its project''s version');
select pg_temp.moves($$ update public.tickets set project_id = 2 where ticket_id = 14 $$, '{1,2}', 'a ticket moved to another project moves both versions');
select pg_temp.moves($$ update public.tickets set name = name, status_id = status_id $$, '{}', 'a no-op update of tickets moves no version');
select pg_temp.moves($$ update public.tickets set created_at = now() - interval '1 day' where ticket_id = 21 $$, '{2}', 'a new ticket creation time, which filters use, moves its project''s version');
select pg_temp.moves($$ update public.tickets set assignee = 'Ada' where ticket_id = 21 $$, '{2}', 'a new assignee moves the project''s version');
select pg_temp.moves($$ update public.tickets set labels = '{pumps}' where ticket_id = 21 $$, '{2}', 'a new label moves the project''s version');
select pg_temp.moves($$ update public.status set category = 'done' where status_id = 3 $$, '{0}', 'a new status category moves the version of all projects');
select pg_temp.moves($$ update public.tickets set name = 'x' where ticket_id = 0 $$, '{}', 'an update that matches no ticket moves no version');
select pg_temp.moves($$ delete from public.tickets where ticket_id in (14, 22) $$, '{2}', 'deleted tickets move their project''s version');
select pg_temp.moves($$ delete from public.tickets where ticket_id = 0 $$, '{}', 'a delete that matches no ticket moves no version');

-- Statuses
select pg_temp.moves($$ insert into public.status (status_id, name) values (4, 'New') $$, '{}', 'a new status, which has no tickets yet, moves no version');
select pg_temp.moves($$ delete from public.status where status_id = 4 $$, '{}', 'a deleted status, which has no tickets left, moves no version');
select pg_temp.moves($$ update public.status set name = 'Finished' where status_id = 2 $$, '{0}', 'a new status name moves the version of all projects');
select pg_temp.moves($$ update public.status set name = name $$, '{}', 'a no-op update of statuses moves no version');

-- Notes
select pg_temp.moves($$ insert into public.status_changes (status_change_id, ticket_id, status_id, note) values (113, 11, 2, 'Tested') $$, '{1}',
  'a new note moves the version of its ticket''s project');
select pg_temp.moves($$ insert into public.status_changes (status_change_id, ticket_id, status_id, note) values (114, 11, 2, null) $$, '{}',
  'a new status change without a note moves no version');
select pg_temp.moves($$ update public.status_changes set note = 'Tested twice' where status_change_id = 113 $$, '{1}', 'an edited note moves its project''s version');
select pg_temp.moves($$ update public.status_changes set note = note, status_id = 1 $$, '{}', 'a status change whose note is unchanged moves no version');
select pg_temp.moves($$ update public.status_changes set ticket_id = 21 where status_change_id = 113 $$, '{1,2}', 'a note moved to a ticket of another project moves both versions');
select pg_temp.moves($$ delete from public.status_changes where status_change_id = 113 $$, '{2}', 'a deleted note moves its project''s version');
select pg_temp.moves($$ delete from public.status_changes where status_change_id = 114 $$, '{}', 'a deleted status change without a note moves no version');

-- Chunks
select pg_temp.moves($$ update public.chunks set text = 'Pumps' where ticket_id = 11 $$, '{1}', 'a new chunk text moves its project''s version');
select pg_temp.moves($$ update public.chunks set embedding = pg_temp.unit(0, 0, 1) where ticket_id = 11 $$, '{1}', 'a new chunk embedding moves its project''s version');
select pg_temp.moves($$ update public.chunks set embedding = embedding, position = position $$, '{}',
  'an update that leaves chunks'' text and embedding unchanged moves no version');
select pg_temp.moves($$ delete from public.chunks where ticket_id = 11 $$, '{1}', 'a deleted chunk moves its project''s version');
select pg_temp.moves(
  $$ insert into public.chunks (project_id, kind, position, text, tokens, input_hash, model, embedding) values (3, 'project', 0, 'Three', 1, 'h', 'm', pg_temp.unit(0, 0, 0, 1)) $$,
  '{3}', 'a new chunk moves its project''s version');

-- Documents
insert into public.documents (id, title) values ('00000000-0000-4000-8000-000000000001', 'One');
select pg_temp.moves($$ insert into public.documents (title) values ('Two') $$, '{-1}', 'a new document moves the documents'' version');
select pg_temp.moves($$ update public.documents set content = 'new' where title = 'Two' $$, '{-1}', 'a new document text moves the documents'' version');
select pg_temp.moves($$ update public.documents set archived = true where title = 'Two' $$, '{-1}', 'archiving a document moves the documents'' version');
select pg_temp.moves($$ update public.documents set embedding_status = 'complete' $$, '{-1}', 'a new embedding status moves the documents'' version');
select pg_temp.moves($$ insert into public.embeddings (document_id, model, embedding)
  select id, 'm', (array[1]::double precision[] || array_fill(0::double precision, array[767]))::extensions.vector from public.documents $$, '{-1}', 'a new vector moves the documents'' version');
select pg_temp.moves($$ select public.track_document_retrieval('00000000-0000-4000-8000-000000000001', 'q'), public.rate_document('00000000-0000-4000-8000-000000000001', true) $$,
  '{}', 'a retrieval and a vote move no version');
select pg_temp.moves($$ update public.documents set keywords = '{k}', temporal_class = 'dated' $$, '{}', 'new keywords and a new temporal class of a document move no version');
select pg_temp.moves($$ update public.documents set enriched_keywords = '{e}', enriched_at = now() $$, '{}', 'a document''s enrichment moves no version');
select pg_temp.moves($$ select public.upsert_documents('[{"id": "00000000-0000-4000-8000-000000000001", "title": "One"}]') $$, '{}', 'an upsert of an unchanged document moves no version');
select pg_temp.moves($$ delete from public.embeddings where document_id = '00000000-0000-4000-8000-000000000009' $$, '{}', 'a delete that matches no vector moves no version');
create function pg_temp.store(chunk jsonb) returns boolean
language sql as $$
  select t.stored
  from tasklens.sources s
  cross join lateral public.read_sources(array[s.source_id]) r
  cross join lateral public.store_chunks(jsonb_build_array(jsonb_build_object('source_id', r.source_id, 'source_hash', r.source_hash, 'truncated', false)),
    jsonb_build_array(chunk || jsonb_build_object('source_id', r.source_id)),
    array[(array[1]::double precision[] || array_fill(0::double precision, array[767]))::extensions.vector]) t
  where s.document_id = '00000000-0000-4000-8000-000000000001'
$$;
select pg_temp.moves($$ select pg_temp.store('{"position": 0, "text": "One", "tokens": 1, "input_hash": "h", "model": "m", "embedding": 1}') $$,
  '{-1}', 'a new document chunk moves the documents'' version');
select pg_temp.moves($$ select pg_temp.store((select jsonb_build_object('position', 0, 'chunk_id', chunk_id) from public.document_chunks)) $$,
  '{}', 'storing an unchanged document chunk moves no version');
select pg_temp.moves($$ delete from public.documents where title = 'Two' $$, '{-1}', 'a deleted document moves the documents'' version');
select pg_temp.moves($$ truncate public.documents cascade $$, '{-1}', 'truncating documents moves the documents'' version');

-- Truncation
select pg_temp.moves($$ truncate public.chunks $$, '{0}', 'truncating chunks moves the version of all projects');

-- What callers see
create function pg_temp.note(project bigint, transaction integer) returns void
language sql as $$ insert into tasklens.data_version_changes (project_id, transaction_id) values (project, transaction::text::xid8) $$;
create temporary table seen (everything text, one text, two text);
create function pg_temp.look() returns void
language sql as $$ truncate seen; insert into seen select (public.data_version()).version, (public.data_version(1)).version, (public.data_version(2)).version $$;
create function pg_temp.since() returns boolean[]
language sql as $$
  select array[everything <> (public.data_version()).version, one <> (public.data_version(1)).version, two <> (public.data_version(2)).version] from seen
$$;

select pg_temp.look();
select pg_temp.note(1, 1);
select is(pg_temp.since(), '{t,t,f}', 'a change of project 1 moves its version and the overall one, but not that of project 2');
select pg_temp.look();
select pg_temp.note(0, 2);
select is(pg_temp.since(), '{t,t,t}', 'a change of all projects moves every version');
select pg_temp.look();
delete from tasklens.data_version_changes where project_id = 1;
select pg_temp.note(1, 3);
select isnt((public.data_version(1)).version, (select one from seen), 'versions differ after a database is restored, even with the same number of changes');

insert into tasklens.data_version_changes (project_id, transaction_id, started_at) values (2, pg_current_xact_id(), now() - interval '1 day');
select pg_temp.look();
update public.tickets set name = 'Wheels' where ticket_id = 21;
select is(pg_temp.since(), '{t,f,t}', 'a change is recorded although an older transaction had the same ID, as after a restore');

select pg_temp.note(3, i) from generate_series(1, 300) i;
delete from tasklens.data_version_changes where project_id = 2;
select pg_temp.look();
update public.tickets set name = 'Wheel' where ticket_id = 21;
select is((select count(*)::integer from tasklens.data_version_changes), 0, 'a writer merges accumulated changes');
select is(pg_temp.since(), '{t,f,t}', 'merging the changes of other projects moves no version of theirs');

select pg_temp.look();
insert into tasklens.migrations (version) values ('99990101000000');
select is(pg_temp.since(), '{t,t,t}', 'a migration moves all versions, since results depend on the functions');

select * from finish();
rollback;
