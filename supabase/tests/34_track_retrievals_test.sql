-- Retrieval counts of documents. The Go tests show, with several sessions, that no count is lost.

begin;
select plan(13);
set local role service_role;

\ir kit/documents.sql
insert into public.documents (id, title) values (pg_temp.doc(1), 'one'), (pg_temp.doc(2), 'two'), (pg_temp.doc(3), 'three');
create function pg_temp.queries(digit integer) returns text[] language sql as $$ select retrieval_queries from public.documents where id = pg_temp.doc(digit) $$;
create function pg_temp.count(digit integer) returns bigint language sql as $$ select retrieval_count from public.documents where id = pg_temp.doc(digit) $$;

select from public.track_document_retrieval(pg_temp.doc(1), 'raft');
select row_eq($$ select retrieval_count, last_retrieved_at, retrieval_queries from public.documents where id = pg_temp.doc(1) $$,
  row(1::bigint, now(), '{raft}'::text[]), 'a retrieval leaves count, time and query');
select from public.track_document_retrieval(pg_temp.doc(1), 'paxos') a, public.track_document_retrieval(pg_temp.doc(1), 'raft') b;
select is(pg_temp.queries(1), '{paxos,raft}', 'a query is kept once, where it was last');
select is(pg_temp.count(1), 3::bigint, 'and counted each time');
select from public.track_document_retrievals(array[pg_temp.doc(2), pg_temp.doc(1), pg_temp.doc(2), pg_temp.doc(9)], 'both');
select is(pg_temp.count(1) || ' ' || pg_temp.count(2) || ' ' || pg_temp.count(3), '4 1 0', 'all documents of one search are counted, each once');
select is(pg_temp.queries(2), '{both}', 'with the query');
select from public.track_document_retrievals(array[pg_temp.doc(2)], null) a, public.track_document_retrievals(array[pg_temp.doc(2)], e' \n') b;
select is(pg_temp.count(2) || ' ' || pg_temp.queries(2)::text, '3 {both}', 'none and a blank one are counted and not kept');
select lives_ok($$ select public.track_document_retrievals('{}', 'x') $$, 'nothing found, nothing tracked');
select lives_ok($$ select public.track_document_retrieval(gen_random_uuid(), 'x') $$, 'what is gone does no harm');

do $$ begin
  for i in 1..120 loop perform public.track_document_retrieval('00000000-0000-4000-8000-000000000003', 'query ' || i); end loop;
end $$;
select is(pg_temp.queries(3), array(select 'query ' || i from generate_series(71, 120) i), 'the last 50 are kept, the latest last');
select is(pg_temp.count(3), 120::bigint, 'all are counted');
select from public.track_document_retrieval(pg_temp.doc(3), 'query 71');
select is(pg_temp.queries(3), array(select 'query ' || i from generate_series(72, 120) i) || 'query 71'::text, 'a known query displaces no other');
select from public.track_document_retrieval(pg_temp.doc(3), repeat('é', 300));
select is((pg_temp.queries(3)) [50], repeat('é', 200), 'a long one is cut, and gets in');
select from public.track_document_retrieval(pg_temp.doc(3), repeat('é', 250));
select is(cardinality(array_positions(pg_temp.queries(3), repeat('é', 200))), 1, 'one that is cut to the same is the same');

select * from finish();
rollback;
