-- Document chunks for an answer, with pairwise similarities.

begin;
select plan(13);
set local role service_role;

\ir kit/documents.sql
insert into public.documents (id, title, content) values (pg_temp.doc(1), 'One', 'x'), (pg_temp.doc(2), 'Two', 'x'), (pg_temp.doc(3), 'Archived', 'x');
create function pg_temp.embed(digit integer, variadic vectors extensions.vector[]) returns boolean
language sql as $$
  select s.stored
  from public.find_sources(jsonb_build_array(jsonb_build_object('document_id', pg_temp.doc(digit)))) f
  cross join lateral public.read_sources(array[f.source_id]) r
  cross join lateral public.store_chunks(jsonb_build_array(jsonb_build_object('source_id', r.source_id, 'source_hash', r.source_hash, 'truncated', false)), (
    select jsonb_agg(jsonb_build_object('source_id', r.source_id, 'position', i - 1, 'text', r.names[1] || ' ' || i, 'tokens', i, 'input_hash', 'h', 'model', 'm', 'embedding', i))
    from generate_subscripts(vectors, 1) i), vectors) s
$$;
select from pg_temp.embed(1, pg_temp.unit(0.96, 0.28), pg_temp.unit(0, 1)) a, pg_temp.embed(2, pg_temp.unit(0.8, 0.6)) b, pg_temp.embed(3, pg_temp.unit(1)) c;
update public.documents set archived = true where id = pg_temp.doc(3);

-- A question's vector is longer; the rest is cut.
create function pg_temp.asked(variadic x double precision[]) returns extensions.vector
language sql as $$ select (pg_temp.unit(variadic x)::real[] || array_fill(0::real, array[768]))::extensions.vector $$;
create function pg_temp.found(threshold double precision, count integer default 20, model text default 'm') returns setof text
language sql as $$
  select concat_ws(' ', text, tokens, round(similarity::numeric, 4)::real, case when over_threshold then 'over' else 'under' end,
    array(select round(s::numeric, 4)::real from unnest(similarities) s)::text)
  from public.retrieve_chunks(pg_temp.asked(1), model, threshold, count, corpus => 'documents')
$$;
select results_eq($$ select * from pg_temp.found(0.7) $$, array['One 1 1 0.96 over {}', 'Two 1 1 0.8 over {0.936}'],
  'chunks above the threshold with their pairwise similarities, none of an archived document');
select results_eq($$ select * from pg_temp.found(-0.1) $$,
  array['One 1 1 0.96 over {}', 'Two 1 1 0.8 over {0.936}', 'One 2 2 0 over {0.28,0.6}'], 'several chunks of one document are returned');
select results_eq($$ select * from pg_temp.found(0) $$, array['One 1 1 0.96 over {}', 'Two 1 1 0.8 over {0.936}'], 'a chunk at the threshold is not above it');
select results_eq($$ select * from pg_temp.found(0.97) $$, array['One 1 1 0.96 under {}'], 'if no chunk is above the threshold, the nearest is returned and marked as below');
select results_eq($$ select * from pg_temp.found(-1, 1) $$, array['One 1 1 0.96 over {}'], 'at most the given number of chunks is returned');
select is_empty($$ select * from pg_temp.found(-1, 20, 'other') $$, 'chunks of another model are excluded');
select results_eq($$ select document_id, title from public.retrieve_chunks(pg_temp.asked(0.8, 0.6), 'm', 0.99, corpus => 'documents') $$,
  $$ values (pg_temp.doc(2), 'Two') $$, 'a chunk contains its document''s ID and title');
update public.documents set content = 'new' where id = pg_temp.doc(2);
select results_eq($$ select * from pg_temp.found(0.7) $$, array['One 1 1 0.96 over {}'], 'chunks of a previous text are excluded');
select throws_ok($$ select from public.retrieve_chunks('[1,0]', 'm', corpus => 'documents') $$, '22000', null, 'a query vector of another dimension is rejected');
select is_empty($$ select from public.retrieve_chunks(pg_temp.asked(0), 'm', -2, corpus => 'documents') $$, 'a zero vector as query returns nothing');

-- The nearest chunks all belong to an archived document.
insert into public.document_chunks (document_id, position, text, tokens, input_hash)
select pg_temp.doc(3), i, 'archived', 1, 'h' from generate_series(1, 400) i;
insert into public.embeddings (document_id, chunk_id, model, embedding)
select c.document_id, c.chunk_id, 'm', pg_temp.unit(1, 0.0001 * c.position) from public.document_chunks c where c.document_id = pg_temp.doc(3) and c.position > 0;
select is((select count(*) from pg_temp.found(-1)), 2::bigint, 'chunks of an archived document near the query hide no others');
set local hnsw.max_scan_tuples = 1;
select results_eq($$ select * from pg_temp.found(-0.1) $$, array['One 1 1 0.96 over {}', 'One 2 2 0 over {0.28}'],
  'if the index scan stops early, all chunks are compared');
select is(current_setting('enable_sort'), 'on', 'retrieval restores the caller''s planner settings');

select * from finish();
rollback;
