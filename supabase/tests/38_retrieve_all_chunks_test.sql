-- Chunks of tickets and documents for one answer, compared by their first 768 dimensions.

begin;
select plan(15);

-- A vector of two parts: the first within the 768 compared dimensions, the second after them.
create function pg_temp.long(x double precision, y double precision, behind double precision default 0) returns extensions.vector
language sql as $$ select (array[x, y] || array_fill(0::double precision, array[1533]) || behind)::extensions.vector $$;
\ir kit/documents.sql
insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name) values (1, 'AA', 'One');
insert into public.tickets (ticket_id, project_id, status_id, key, name) values (11, 1, 1, 'AA-1', 'Pump'), (12, 1, 2, 'AA-2', 'Valve');
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding) values
  (1, null, 'project', 0, 'project', 1, 'h', 'm', pg_temp.long(0, 1)),
  (1, 11, 'ticket', 0, 'pump', 2, 'h', 'm', pg_temp.long(0.9, 0.436)),
  (1, 11, 'ticket', 1, 'pump again', 2, 'h', 'm', pg_temp.long(0.95, 0.312)),
  -- The second farthest by all dimensions, the nearest by the first 768.
  (1, 12, 'ticket', 0, 'valve', 3, 'h', 'm', pg_temp.long(0.5, 0, 0.866)),
  (1, 12, 'ticket', 1, 'another model''s', 3, 'h', 'other', pg_temp.long(1, 0)),
  -- Zero in the compared dimensions.
  (1, 12, 'ticket', 2, 'behind', 3, 'h', 'm', pg_temp.long(0, 0, 1));
insert into public.documents (id, title, content, embedding_status) values (pg_temp.doc(1), 'Runbook', 'x', 'complete'), (pg_temp.doc(2), 'Archived', 'x', 'complete');
update public.documents set archived = true where id = pg_temp.doc(2);
insert into public.document_chunks (chunk_id, document_id, position, text, tokens, input_hash) values
  (pg_temp.doc(3), pg_temp.doc(1), 0, 'turn off', 4, 'h'), (pg_temp.doc(4), pg_temp.doc(2), 0, 'never', 4, 'h');
insert into public.embeddings (document_id, chunk_id, model, embedding) values
  (pg_temp.doc(1), pg_temp.doc(3), 'm', (array[0.8, 0.6]::double precision[] || array_fill(0::double precision, array[766]))::extensions.vector),
  (pg_temp.doc(2), pg_temp.doc(4), 'm', (array[1]::double precision[] || array_fill(0::double precision, array[767]))::extensions.vector);

set local role service_role;
create function pg_temp.found(threshold double precision, count integer default 20, status text default null, per_source integer default null,
  query extensions.vector default null, project bigint default null) returns setof text
language sql as $$
  select concat_ws(' ', text, round(similarity::numeric, 2)::real, case when over_threshold then 'over' else 'under' end)
  from public.retrieve_chunks(coalesce(query, pg_temp.long(1, 0)), 'm', threshold, count, per_source,
    filters => tasklens.check_arguments(null, project_filter => project, status_filter => status), corpus => 'all')
$$;

select results_eq($$ select * from pg_temp.found(0.7) $$, array['valve 1 over', 'pump again 0.95 over', 'pump 0.9 over', 'turn off 0.8 over'],
  'chunks of tickets and documents are ordered by the first 768 dimensions');
select results_eq($$ select * from pg_temp.found(-0.5, 2) $$, array['valve 1 over', 'pump again 0.95 over'], 'at most the given number of chunks is returned');
select results_eq($$ select * from pg_temp.found(0.7, 3) $$, array['valve 1 over', 'pump again 0.95 over', 'pump 0.9 over'], 'without a limit per source the nearest chunks are returned');
select results_eq($$ select * from pg_temp.found(0.7, 3, per_source => 1) $$, array['valve 1 over', 'pump again 0.95 over', 'turn off 0.8 over'],
  'a limit per source leaves room for chunks of other sources');
select results_eq($$ select * from pg_temp.found(0.94) $$, array['valve 1 over', 'pump again 0.95 over'], 'one threshold applies to tickets and documents');
select results_eq($$ select * from pg_temp.found(0.95, query => pg_temp.long(0.5, 0.5)) $$, array['turn off 0.99 over'], 'a document''s chunk can be the nearest');
select results_eq($$ select * from pg_temp.found(0.999, query => pg_temp.long(0.5, 0.5)) $$, array['turn off 0.99 under'], 'a document''s chunk can be the nearest below the threshold');
select results_eq($$ select * from pg_temp.found(0.7, status => 'to do') $$, array['pump again 0.95 over', 'pump 0.9 over', 'turn off 0.8 over'],
  'a status filter applies to tickets and keeps documents');
select results_eq($$ select * from pg_temp.found(0.7, project => 2) $$, array['turn off 0.8 over'], 'a project filter without tickets keeps documents');
select results_eq(
  $$ select ticket_key, ticket_name, status, project_name, document_id, title, kind, tokens from public.retrieve_chunks(pg_temp.long(1, 0), 'm', 0.7, 20, 1, corpus => 'all') where text <> 'pump' $$,
  $$ values ('AA-2', 'Valve', 'Done', 'One', null::uuid, null, 'ticket', 3), ('AA-1', 'Pump', 'To Do', 'One', null, null, 'ticket', 2),
       (null, null, null, null, pg_temp.doc(1), 'Runbook', 'document', 4) $$, 'a chunk contains its ticket''s or document''s fields and its kind');
select results_eq($$ select array(select round(s::numeric, 2)::real from unnest(similarities) s)::text from public.retrieve_chunks(pg_temp.long(1, 0), 'm', 0.7, 20, 1, corpus => 'all') $$,
  array['{}', '{0.95}', '{0.9,0.99}', '{0.8,0.95,0.98}'], 'pairwise similarities include tickets and documents');
select throws_ok($$ select from public.retrieve_chunks('[1,0]', 'm', corpus => 'all') $$, '22000', null, 'a query vector of another dimension is rejected');

-- Many tickets and documents ----------------------------------------------------------------------

-- 140 tickets and 140 documents alternate, nearer for lower numbers. After the compared
-- dimensions a ticket's vector is reversed: by all dimensions the farthest is the nearest.
reset role;
insert into public.tickets (ticket_id, project_id, status_id, key, name) select 100 + i, 1, 1, 'AA-' || 100 + i, 'many' from generate_series(1, 140) i;
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, 100 + i, 'ticket', 0, 'many ' || 2 * i, 1, 'h', 'm', 
  extensions.l2_normalize(pg_temp.long(-cos(0.005 * i), -sin(0.005 * i), 1 - 0.005 * i))
from generate_series(1, 140) i;
insert into public.documents (id, title, embedding_status)
select ('00000000-0000-4000-9000-' || lpad(i::text, 12, '0'))::uuid, 'many', 'complete' from generate_series(1, 140) i;
insert into public.document_chunks (chunk_id, document_id, position, text, tokens, input_hash)
select d.id, d.id, 0, 'many ' || 2 * right(d.id::text, 12)::integer - 1, 1, 'h' from public.documents d where d.title = 'many';
insert into public.embeddings (document_id, chunk_id, model, embedding)
select d.id, d.id, 'm', extensions.subvector(pg_temp.long(-cos(0.005 * (right(d.id::text, 12)::integer - 0.5)), -sin(0.005 * (right(d.id::text, 12)::integer - 0.5))), 1, 768)
from public.documents d where d.title = 'many';
set local role service_role;
create function pg_temp.many(threshold double precision, count integer) returns text[]
language sql as $$
  select array_agg(text order by place)
  from (select r.text, row_number() over () as place from public.retrieve_chunks(pg_temp.long(-1, 0), 'm', threshold, count, corpus => 'all') r) f
$$;
select is(pg_temp.many(0.7, 20), array(select 'many ' || i from generate_series(1, 20) i), 'the 20 nearest of 280 chunks alternate between tickets and documents');
select is(pg_temp.many(0.7, 100), array(select 'many ' || i from generate_series(1, 100) i), 'the 100 nearest of 280 chunks alternate between tickets and documents');
select is(pg_temp.many(0.9999, 100), array(select 'many ' || i from generate_series(1, 5) i), 'all five chunks above a high threshold are returned');

select * from finish();
rollback;
