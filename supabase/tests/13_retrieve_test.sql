-- Retrieval for answers: the limit of chunks per ticket, and the fields of a ticket.
-- (Threshold and filters of retrieve_chunks: 06_vector_search_test.sql.)

begin;
select plan(10);

\ir kit/vectors.sql

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas');
insert into public.tickets (ticket_id, project_id, status_id, key, name, description) values
  (11, 1, 1, 'AA-400', 'Pump leaks', 'The shaft is worn'),
  (12, 1, 2, 'AA-2', 'Valve jams', 'Rust in the shaft'),
  (13, 1, 1, 'AA-3', 'Gauge sticks', null),
  (21, 2, 1, 'BB-1', 'Hose bursts', 'Nobody knows why'),
  (22, 2, 2, 'BB-2', 'Shaft of the fan', 'Not embedded yet');

create function pg_temp.add(ticket bigint, project bigint, "position" integer, vector extensions.vector, text text, model text default 'm') returns void
language sql as $$
  insert into public.chunks (chunk_id, project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  values (format('00000000-0000-4000-8000-%s%s', lpad((coalesce(ticket, project))::text, 6, '0'), lpad("position"::text, 6, '0'))::uuid,
    project, ticket, case when ticket is null then 'project' else 'ticket' end, "position", text, 7, 'h', model, vector)
$$;
-- The similarity to (1, 0, 0, …) is a vector's first number.
select pg_temp.add(11, 1, 0, pg_temp.unit(0.96, 0.28), 'Pump leaks. The shaft is worn'), pg_temp.add(11, 1, 1, pg_temp.unit(0.8, 0.6), 'Pump, part one'),
  pg_temp.add(11, 1, 2, pg_temp.unit(0.8, 0, 0.6), 'Pump, part two'), pg_temp.add(11, 1, 3, pg_temp.unit(0.6, 0.8), 'Pump, part three'),
  pg_temp.add(12, 1, 0, pg_temp.unit(0.28, 0, 0.96), 'Valve jams. Rust in the shaft'), pg_temp.add(12, 1, 1, pg_temp.unit(0.6, 0, 0.8), 'Valve, a note'),
  pg_temp.add(13, 1, 0, pg_temp.unit(0.75, 0, 0, 0.6614378), 'Gauge sticks'),
  pg_temp.add(21, 2, 0, pg_temp.unit(1), 'Hose bursts', 'other'),
  pg_temp.add(null, 2, 0, pg_temp.unit(0, 1), 'Bananas');
insert into public.status_changes (status_change_id, ticket_id, status_id, note, created_at) values (7, 12, 2, 'Valve, a note', '2025-06-01 08:00+00');
update public.chunks set status_change_id = 7, kind = 'status_note' where ticket_id = 12 and position = 1;
set local role service_role;

-- Chunks per ticket -------------------------------------------------------------------------------

create function pg_temp.places(count integer, source_limit integer default null) returns setof text
language sql as $$
  select right(chunk_id::text, 12) from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.5, count, source_limit)
$$;
select results_eq($$ select * from pg_temp.places(4) $$, array['000011000000', '000011000001', '000011000002', '000013000000'],
  'without source_chunk_limit the nearest chunks are returned, regardless of their tickets');
select results_eq($$ select * from pg_temp.places(4, 2) $$, array['000011000000', '000011000001', '000013000000', '000012000001'],
  'with source_chunk_limit the first chunks of each ticket take precedence over its other chunks');
select results_eq($$ select * from pg_temp.places(5, 2) $$, array['000011000000', '000011000001', '000011000002', '000013000000', '000012000001'],
  'chunks beyond source_chunk_limit fill the remaining places, and all are sorted by similarity');
select results_eq($$ select * from pg_temp.places(3, 0) $$, array['000011000000', '000013000000', '000012000001'], 'a source_chunk_limit of 0 returns one chunk of each ticket');
select results_eq(
  $$ select right(chunk_id::text, 12), over_threshold from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.97, 20, 2) $$,
  $$ values ('000011000000', false) $$, 'with source_chunk_limit, if no chunk exceeds the threshold, the nearest is returned');
select is(
  (select string_agg(cardinality(similarities)::text, ' ' order by similarity desc, chunk_id) from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.5, 4, 2)),
  '0 1 2 3', 'each row has its similarities to the rows before it');
select is(
  (select string_agg(kind, ' ') from public.retrieve_chunks(pg_temp.unit(0, 1), 'm', 0.9)), 'project', 'the kind of text is returned');

-- Fields ------------------------------------------------------------------------------------------

reset role;
insert into public.tickets (ticket_id, project_id, status_id, key, name) select 100 + n, 1, 2, 'AA-' || 100 + n, 'Part ' || n from generate_series(1, 25) n;
insert into public.ticket_links (ticket_id, kind, other_ticket_id) select 100 + n, 'child_of', 11 from generate_series(1, 25) n;
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (11, 'blocks', 12), (13, 'relates_to', 11);
update public.tickets set assignee = 'Ada', labels = '{worn}', due_date = '2025-03-01' where ticket_id = 11;
set local role service_role;
select is_empty(
  $$ select r.ticket_id, r.fields -> 'links' from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.2) r
     where r.fields -> 'links' is distinct from tasklens.ticket_fields(r.ticket_id) -> 'links' and r.ticket_id is not null
       or (r.fields is null) <> (r.ticket_id is null) $$, 'a chunk has the links of its ticket, at most 20, outgoing ones first');
select is(
  (select distinct (r.fields - 'links' - 'created_at' - 'updated_at') from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.9) r where r.ticket_id = 11),
  '{"url": null, "type": null, "labels": ["worn"], "assignee": "Ada", "due_date": "2025-03-01", "priority": null, "reporter": null, "resolved_at": null, "status_category": "to_do"}', 'and its fields');

select results_eq(
  $$ select r.kind, r.written_at, r.note_status from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.5) r where r.ticket_id = 12 $$,
  $$ values ('status_note', timestamptz '2025-06-01 08:00+00', 'Done') $$, 'a note''s chunk has its day and the status that it set');

select * from finish();
rollback;
