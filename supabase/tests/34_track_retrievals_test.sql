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
  row(1::bigint, now(), '{raft}'::text[]), 'a retrieval updates count, time and queries');
select from public.track_document_retrieval(pg_temp.doc(1), 'paxos') a, public.track_document_retrieval(pg_temp.doc(1), 'raft') b;
select is(pg_temp.queries(1), '{paxos,raft}', 'a repeated query is kept once, at its last position');
select is(pg_temp.count(1), 3::bigint, 'each retrieval of a repeated query is counted');
select from public.track_document_retrievals(array[pg_temp.doc(2), pg_temp.doc(1), pg_temp.doc(2), pg_temp.doc(9)], 'both');
select is(pg_temp.count(1) || ' ' || pg_temp.count(2) || ' ' || pg_temp.count(3), '4 1 0', 'each document of a search is counted once');
select is(pg_temp.queries(2), '{both}', 'a retrieval of several documents records the query');
select from public.track_document_retrievals(array[pg_temp.doc(2)], null) a, public.track_document_retrievals(array[pg_temp.doc(2)], e' \n') b;
select is(pg_temp.count(2) || ' ' || pg_temp.queries(2)::text, '3 {both}', 'retrievals without a query are counted, and no query is recorded');
select lives_ok($$ select public.track_document_retrievals('{}', 'x') $$, 'tracking no documents succeeds');
select lives_ok($$ select public.track_document_retrieval(gen_random_uuid(), 'x') $$, 'tracking an unknown document succeeds');

do $$ begin
  for i in 1..120 loop perform public.track_document_retrieval('00000000-0000-4000-8000-000000000003', 'query ' || i); end loop;
end $$;
select is(pg_temp.queries(3), array(select 'query ' || i from generate_series(71, 120) i), 'the last 50 queries are kept, oldest first');
select is(pg_temp.count(3), 120::bigint, 'retrievals are counted beyond the last 50 queries');
select from public.track_document_retrieval(pg_temp.doc(3), 'query 71');
select is(pg_temp.queries(3), array(select 'query ' || i from generate_series(72, 120) i) || 'query 71'::text, 'a repeated query moves to the end and displaces no other');
select from public.track_document_retrieval(pg_temp.doc(3), repeat('é', 300));
select is((pg_temp.queries(3)) [50], repeat('é', 200), 'a long query is truncated to 200 characters');
select from public.track_document_retrieval(pg_temp.doc(3), repeat('é', 250));
select is(cardinality(array_positions(pg_temp.queries(3), repeat('é', 200))), 1, 'queries that are equal after truncation are recorded once');

select * from finish();
rollback;
