-- A document's chunks and vectors are stored atomically, and only if its text is unchanged.

begin;
select plan(22);
set local role service_role;

\ir kit/documents.sql
insert into public.documents (id, title, content) values (pg_temp.doc(1), 'One', 'text of one'), (pg_temp.doc(2), 'Two', e' \n'), (pg_temp.doc(3), 'Three', 'text');

-- Reading -----------------------------------------------------------------------------------------

create function pg_temp.source(digit bigint) returns bigint
language sql as $$ select source_id from public.find_sources(jsonb_build_array(jsonb_build_object('document_id', pg_temp.doc(digit::integer)))) $$;

select results_eq(
  $$ select names, texts #>> '{0,text}', chunks from public.read_sources(array[pg_temp.source(2), pg_temp.source(9), pg_temp.source(1)]) $$,
  $$ values ('{Two}'::text[], 'Two', '[]'::jsonb), ('{One}', 'text of one', '[]') $$,
  'documents are returned in the given order, blank ones with the title as text, unknown ones omitted');
create function pg_temp.hash(digit integer) returns text
language sql as $$ select source_hash from public.read_sources(array[pg_temp.source(digit)]) $$;
select isnt(pg_temp.hash(1), pg_temp.hash(3), 'different texts have different hashes');

-- Storing -----------------------------------------------------------------------------------------

create function pg_temp.chunk(source integer, "position" integer, embedding integer, kept uuid default null, model text default 'm') returns jsonb
language sql as $$
  select jsonb_build_object('source_id', pg_temp.source(source), 'chunk_id', kept, 'position', "position", 'text', 'piece ' || "position", 'tokens', 3,
    'input_hash', 'h' || embedding, 'model', model, 'embedding', embedding)
$$;
create function pg_temp.given(digit integer, hash text) returns jsonb
language sql as $$ select jsonb_build_object('source_id', coalesce(pg_temp.source(digit), 404404), 'source_hash', hash, 'truncated', false) $$;
create function pg_temp.own(digit integer) returns text
language sql as $$
  select concat_ws(' ', d.embedding_status, (select model || ' ' || array(select round(x::numeric, 4)::real from unnest(e.embedding::real[]) x limit 3)::text
    from public.embeddings e where e.document_id = d.id and e.chunk_id is null))
  from public.documents d where d.id = pg_temp.doc(digit)
$$;
create function pg_temp.chunks(digit integer) returns uuid[]
language sql as $$ select array(select chunk_id from public.document_chunks where document_id = pg_temp.doc(digit) order by position) $$;

select is(pg_temp.own(1), 'pending', 'a document without a vector is pending');
create temporary table answers as
select * from public.store_chunks(jsonb_build_array(pg_temp.given(1, pg_temp.hash(1)), pg_temp.given(2, 'stale'), pg_temp.given(9, 'h')),
  jsonb_build_array(pg_temp.chunk(1, 0, 1), pg_temp.chunk(1, 1, 2), pg_temp.chunk(2, 0, 1)), array[pg_temp.unit(1), pg_temp.unit(0.6, 0.8)]);
select results_eq('select source_id, stored from answers', 'values (pg_temp.source(1), true), (pg_temp.source(2), false), (404404, false)', 'documents with the current hash are stored, stale and unknown ones are reported');
select is((select embedding_ids from answers where source_id = pg_temp.source(1)), pg_temp.chunks(1), 'the IDs of the stored chunks are returned in order');
select is(cardinality(pg_temp.chunks(1)), 2, 'both chunks are stored');
select is(pg_temp.own(1), 'complete m {0.8944,0.4472,0}', 'a document''s vector is the normalized mean of its chunks'' vectors');
select is(pg_temp.own(2), 'pending', 'a document with a stale hash stays pending');
select is(cardinality(pg_temp.chunks(2)), 0, 'no chunks are stored for a document with a stale hash');
select is((select jsonb_agg(c - 'chunk_id' - 'position' - 'status_change_id') from public.read_sources(array[pg_temp.source(1)]), jsonb_array_elements(chunks) c),
  '[{"input_hash": "h1", "model": "m"}, {"input_hash": "h2", "model": "m"}]', 'read_sources returns the stored chunks');

-- Storing again -----------------------------------------------------------------------------------

create temporary table kept as select pg_temp.chunks(1) as ids;
create function pg_temp.kept(place integer) returns uuid language sql as 'select ids[place] from pg_temp.kept';
update public.documents set content = 'another text' where id = pg_temp.doc(1);
select is(pg_temp.own(1), 'pending m {0.8944,0.4472,0}', 'an edited document keeps its vectors until new ones are stored');
select from public.store_chunks(jsonb_build_array(pg_temp.given(1, pg_temp.hash(1))),
  jsonb_build_array(pg_temp.chunk(1, 1, null, pg_temp.kept(1)), pg_temp.chunk(1, 0, null, pg_temp.kept(2)), pg_temp.chunk(1, 2, 1)), array[pg_temp.unit(0, 0, 1)]);
select is((pg_temp.chunks(1)) [1:2], array[pg_temp.kept(2), pg_temp.kept(1)], 'kept chunks keep their IDs at their new positions');
select is(pg_temp.own(1), 'complete m {0.7807,0.3904,0.488}', 'the document''s vector is the mean of the kept and new chunks');
select from public.store_chunks(jsonb_build_array(pg_temp.given(1, pg_temp.hash(1))), jsonb_build_array(pg_temp.chunk(1, 0, null, pg_temp.kept(1))), '{}');
select is(pg_temp.chunks(1), array[pg_temp.kept(1)], 'chunks that are not kept are deleted');
select is((select count(*) from public.embeddings where document_id = pg_temp.doc(1)), 2::bigint, 'vectors of deleted chunks are deleted');
select is(pg_temp.own(1), 'complete m {1,0,0}', 'the mean of one chunk is that chunk''s vector');
select is(s.stored, false, 'a request to keep a deleted chunk is rejected')
  from public.store_chunks(jsonb_build_array(pg_temp.given(1, pg_temp.hash(1))), jsonb_build_array(pg_temp.chunk(1, 0, null, pg_temp.kept(2))), '{}') s;
select is(s.stored, false, 'a request to keep another document''s chunk is rejected')
  from public.store_chunks(jsonb_build_array(pg_temp.given(3, pg_temp.hash(3))), jsonb_build_array(pg_temp.chunk(3, 0, null, pg_temp.kept(1))), '{}') s;

select from public.store_chunks(jsonb_build_array(pg_temp.given(3, pg_temp.hash(3))),
  jsonb_build_array(pg_temp.chunk(3, 0, 1, model => 'new'), pg_temp.chunk(3, 1, 2, model => 'new')), array[pg_temp.unit(0, 1), pg_temp.unit(0, -1)]);
select is(pg_temp.own(3), 'complete new {0,1,0}', 'if the mean is zero, the first chunk''s vector is the document''s');
select throws_ok($$ select from public.store_chunks(jsonb_build_array(pg_temp.given(3, pg_temp.hash(3))),
  jsonb_build_array(pg_temp.chunk(3, 0, 1)), array['[1,0]'::extensions.vector]) $$, '22000', null, 'a vector of another dimension is rejected');
select throws_ok($$ insert into public.embeddings (document_id, embedding) values (pg_temp.doc(2), pg_temp.unit(0)) $$, '23514', null, 'a zero vector is rejected');

select from public.delete_document(pg_temp.doc(1));
select is_empty($$ select document_id from public.document_chunks where document_id = pg_temp.doc(1)
  union all select document_id from public.embeddings where document_id = pg_temp.doc(1) $$, 'deleting a document deletes its chunks and vectors');

select * from finish();
rollback;
