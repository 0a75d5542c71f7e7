-- Document chunks for an answer, with their pairwise similarities.

begin;
select plan(12);
set local role service_role;

\ir kit/documents.sql
insert into public.documents (id, title, content) values (pg_temp.doc(1), 'One', 'x'), (pg_temp.doc(2), 'Two', 'x'), (pg_temp.doc(3), 'Archived', 'x');
create function pg_temp.embed(digit integer, variadic vectors extensions.vector[]) returns boolean
language sql as $$
  select s.stored
  from public.read_documents(array[pg_temp.doc(digit)]) r
  cross join lateral public.store_document_chunks(array[r.id], array[r.source_hash], (
    select jsonb_agg(jsonb_build_object('source', 1, 'position', i - 1, 'text', r.title || ' ' || i, 'tokens', i, 'input_hash', 'h', 'model', 'm', 'embedding', i))
    from generate_subscripts(vectors, 1) i), vectors) s
$$;
select from pg_temp.embed(1, pg_temp.unit(0.96, 0.28), pg_temp.unit(0, 1)) a, pg_temp.embed(2, pg_temp.unit(0.8, 0.6)) b, pg_temp.embed(3, pg_temp.unit(1)) c;
update public.documents set archived = true where id = pg_temp.doc(3);

create function pg_temp.found(threshold double precision, count integer default 20, model text default 'm') returns setof text
language sql as $$
  select concat_ws(' ', text, tokens, round(similarity::numeric, 4)::real, case when over_threshold then 'over' else 'under' end,
    array(select round(s::numeric, 4)::real from unnest(similarities) s)::text)
  from public.retrieve_document_chunks(pg_temp.unit(1), model, threshold, count)
$$;
select results_eq($$ select * from pg_temp.found(0.7) $$, array['One 1 1 0.96 over {}', 'Two 1 1 0.8 over {0.936}'],
  'chunks over the threshold, each compared with all, none of an archived document');
select results_eq($$ select * from pg_temp.found(-0.1) $$,
  array['One 1 1 0.96 over {}', 'Two 1 1 0.8 over {0.936}', 'One 2 2 0 over {0.28,0.6}'], 'several of one document');
select results_eq($$ select * from pg_temp.found(0.97) $$, array['One 1 1 0.96 under {}'], 'else the nearest alone, which is not over it');
select results_eq($$ select * from pg_temp.found(-1, 1) $$, array['One 1 1 0.96 over {}'], 'no more than asked for');
select is_empty($$ select * from pg_temp.found(-1, 20, 'other') $$, 'nothing of another model');
select results_eq($$ select document_id, title from public.retrieve_document_chunks(pg_temp.unit(0.8, 0.6), 'm', 0.99) $$,
  $$ values (pg_temp.doc(2), 'Two') $$, 'a chunk says whose it is');
update public.documents set content = 'new' where id = pg_temp.doc(2);
select results_eq($$ select * from pg_temp.found(0.7) $$, array['One 1 1 0.96 over {}'], 'chunks of a former text are not shown');
select throws_ok($$ select from public.retrieve_document_chunks('[1,0]', 'm') $$, '22000', null, 'a question of another dimension is refused');
select is_empty($$ select from public.retrieve_document_chunks(pg_temp.unit(0), 'm', -2) $$, 'nothing is like what has no direction');

-- The index stops among the chunks of an archived document, which are the nearest.
insert into public.document_chunks (document_id, position, text, tokens, input_hash)
select pg_temp.doc(3), i, 'archived', 1, 'h' from generate_series(1, 400) i;
insert into public.embeddings (document_id, chunk_id, model, embedding)
select c.document_id, c.chunk_id, 'm', pg_temp.unit(1, 0.0001 * c.position) from public.document_chunks c where c.document_id = pg_temp.doc(3) and c.position > 0;
select is((select count(*) from pg_temp.found(-1)), 2::bigint, 'archived documents hide no others');
set local hnsw.max_scan_tuples = 1;
select results_eq($$ select * from pg_temp.found(-0.1) $$, array['One 1 1 0.96 over {}', 'One 2 2 0 over {0.28}'],
  'also where the index gives up: everything is compared');
select is(current_setting('enable_sort'), 'on', 'the caller''s planner settings are as before');

select * from finish();
rollback;
