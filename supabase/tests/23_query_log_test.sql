-- The query log: entries are written once, expire, and give the questions without results.

begin;
select plan(19);

create function pg_temp.id(n integer) returns text
language sql as $$ select '00000000-0000-0000-0000-' || lpad(n::text, 12, '0') $$;
-- An entry as the service sends it, age_days old.
create function pg_temp.entry(n integer, question text, outcome text default 'abstained', age_days double precision default 0, more jsonb default '{}')
returns jsonb language sql
as $$
  select jsonb_build_object('query_id', pg_temp.id(n), 'asked_at', now() - make_interval(secs => age_days * 86400), 'kind', 'query',
    'question', question, 'outcome', outcome, 'total_ms', 1.5) || more
$$;
set local role service_role;

-- Writing -----------------------------------------------------------------------------------------

select results_eq(
  $$ select * from public.log_queries(jsonb_build_array(
       pg_temp.entry(1, 'What burns?', 'answered', 0, '{"request_id": "r-1", "parameters": {"top_k": 5}, "sources": [{"ticket_id": 7, "similarity": 0.8}],
         "best_similarity": 0.8, "answer": "The pump [1].", "model": "m", "low_similarity": true, "ambiguous": true, "uncited": true, "unknown_citations": 2, "cached": true,
         "streamed": true, "tokens_in": 11, "tokens_out": 3, "embedding_ms": 1, "retrieval_ms": 2, "chat_ms": 3, "unknown": 1}'),
       pg_temp.entry(2, 'nothing more', 'failed', 0, '{"error": "timeout", "kind": "search"}'))) $$,
  $$ values (2::bigint, 0::bigint) $$, 'log_queries inserts two entries');
select is(
  (select to_jsonb(l) - 'asked_at' from tasklens.query_log l where query_id = pg_temp.id(1)::uuid),
  '{"query_id": "00000000-0000-0000-0000-000000000001", "request_id": "r-1", "kind": "query", "question": "What burns?", "parameters": {"top_k": 5},
    "outcome": "answered", "error": null, "sources": [{"ticket_id": 7, "similarity": 0.8}], "best_similarity": 0.8, "answer": "The pump [1].",
    "model": "m", "low_similarity": true, "ambiguous": true, "uncited": true, "unknown_citations": 2, "cached": true, "streamed": true, "tokens_in": 11, "tokens_out": 3,
    "embedding_ms": 1, "retrieval_ms": 2, "chat_ms": 3, "total_ms": 1.5}'::jsonb, 'an entry keeps all its fields');
select is(
  (select to_jsonb(l) - array['asked_at', 'query_id'] from tasklens.query_log l where query_id = pg_temp.id(2)::uuid),
  '{"request_id": null, "kind": "search", "question": "nothing more", "parameters": null, "outcome": "failed", "error": "timeout", "sources": null,
    "best_similarity": null, "answer": null, "model": null, "low_similarity": null, "ambiguous": null, "uncited": null, "unknown_citations": null, "cached": null,
    "streamed": null, "tokens_in": null, "tokens_out": null, "embedding_ms": null, "retrieval_ms": null, "chat_ms": null, "total_ms": 1.5}'::jsonb,
  'omitted fields of an entry are null');
select results_eq(
  $$ select * from public.log_queries(jsonb_build_array(pg_temp.entry(2, 'again'), pg_temp.entry(3, 'new'))) $$,
  $$ values (1::bigint, 0::bigint) $$, 'an entry that was sent before is not inserted again');
select is((select question from tasklens.query_log where query_id = pg_temp.id(2)::uuid), 'nothing more', 'an entry that is sent again keeps its first content');
select throws_ok(
  $$ select * from public.log_queries(jsonb_build_array(pg_temp.entry(4, 'x', 'answered', 0, '{"kind": "gossip"}'))) $$,
  '23514', null, 'an unknown kind of entry is rejected');

-- Retention ---------------------------------------------------------------------------------------

delete from tasklens.query_log;
select results_eq(
  $$ select * from public.log_queries(jsonb_build_array(pg_temp.entry(1, 'old', 'answered', 29.9), pg_temp.entry(2, 'older', 'answered', 30.1))) $$,
  $$ values (2::bigint, 0::bigint) $$, 'a call does not delete the entries that it inserts');
select results_eq($$ select * from public.log_queries('[]') $$, $$ values (0::bigint, 1::bigint) $$, 'entries older than 30 days are deleted');
select results_eq($$ select question from tasklens.query_log $$, $$ values ('old') $$, 'entries younger than 30 days are kept');
select results_eq($$ select * from public.log_queries('[]', 29) $$, $$ values (0::bigint, 1::bigint) $$, 'a given retention in days is applied');
select is(
  (select logged from public.log_queries((select jsonb_agg(pg_temp.entry(n, 'very old', 'answered', 2)) from generate_series(1, 1002) n))),
  1002::bigint, 'log_queries inserts 1,002 entries');
select results_eq($$ select * from public.log_queries('[]', 1) $$, $$ values (0::bigint, 1000::bigint) $$, 'a call deletes at most 1,000 expired entries');
select results_eq($$ select * from public.log_queries('[]', -5) $$, $$ values (0::bigint, 2::bigint) $$, 'a retention below one day is raised to one day');

-- Without results ---------------------------------------------------------------------------------

select is((select logged from public.log_queries(jsonb_build_array(
    pg_temp.entry(1, 'How do I bake bread?', 'abstained', 3, '{"best_similarity": 0.2}'),
    pg_temp.entry(2, '  how do I  bake BREAD ', 'nothing', 1, '{"best_similarity": 0.4, "kind": "search"}'),
    pg_temp.entry(3, 'Who pays?', 'abstained', 2),
    pg_temp.entry(4, 'Who rows?', 'abstained', 1),
    pg_temp.entry(5, 'Who pays?', 'answered', 0), pg_temp.entry(6, 'Who fails?', 'failed', 0),
    pg_temp.entry(7, 'Who slept?', 'abstained', 8), pg_temp.entry(8, 'Who pays?', 'abstained', 2)))), 8::bigint, 'log_queries inserts eight questions');
select results_eq(
  $$ select question, times, best_similarity, now() - last_asked_at from public.unanswered_questions() $$,
  $$ values ('  how do I  bake BREAD ', 2::bigint, 0.4::double precision, interval '24 hours'), ('Who pays?', 2, null, '48 hours'), ('Who rows?', 1, null, '24 hours') $$,
  'questions of the last week without results are returned, equal ones grouped, most frequent first, then the latest');
select results_eq($$ select question from public.unanswered_questions(9) offset 3 $$, $$ values ('Who slept?') $$, 'a longer period returns older questions');
select results_eq($$ select times from public.unanswered_questions(match_count => 0) $$, $$ values (2::bigint) $$, 'a match_count of 0 returns one question');
select public.log_queries(jsonb_build_array(pg_temp.entry(9, E'Wo ist\u00a0die\tSTRASSE …?!', 'abstained', 2), pg_temp.entry(10, 'wo ist die strasse', 'abstained', 2)));
select is((select times from public.unanswered_questions() where question ilike 'wo ist%'), 2::bigint, 'questions are grouped ignoring case, whitespace and punctuation');

set local role authenticated;
select throws_ok($$ select * from public.unanswered_questions() $$, '42501', null, 'users cannot read unanswered questions');

select * from finish();
rollback;
