-- Fusion of scores instead of ranks: its arithmetic, its pages, and that uninformative vectors do
-- not harm the keyword ranking.

begin;
select plan(28);

\ir kit/vectors.sql
create function pg_temp.add(ticket bigint, model text, embedding extensions.vector) returns void
language sql as $$
  insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  select t.project_id, t.ticket_id, 'ticket', 0, t.name, 7, 'h', model, embedding from public.tickets t where t.ticket_id = ticket
$$;
create function pg_temp.measure(model text, unrelated double precision) returns void
language sql as $$
  select public.store_match_thresholds(jsonb_build_array(jsonb_build_object('embedding_model', model, 'dimensions', 1536,
    'match_threshold', 0.5, 'right_over', 1, 'related_over', 0, 'unrelated_over', 0, 'unrelated_median', unrelated, 'judged_set', 'first')))
$$;

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'TX', 'Telegraph');
insert into public.tickets (ticket_id, project_id, status_id, key, name, description)
values
  (11, 1, 1, 'TX-1', 'alpha one', null), (12, 1, 1, 'TX-2', 'alpha two', null), (13, 1, 1, 'TX-3', 'gamma', 'delta'),
  (14, 1, 1, 'TX-4', 'alpha alpha', null), (15, 1, 1, 'TX-5', 'long', 'prelude alpha coda');
-- By vector: 11, 12, 13, in this order; by keyword: 14, 11, 12, 15.
do $$ begin
  perform pg_temp.add(t, 'm', pg_temp.unit(s, sqrt(1 - s ^ 2))) from (values (11, 0.96), (12, 0.8), (13, 0.52)) v(t, s);
  perform pg_temp.measure('m', 0.6);
end $$;

-- The similarity of unrelated texts ---------------------------------------------------------------

select is(tasklens.unrelated_similarity('m'), 0.6::double precision, 'unrelated_similarity returns the measured median');
select is(array[tasklens.unrelated_similarity('text-embedding-3-small'), tasklens.unrelated_similarity('text-embedding-3-large@1024'),
    tasklens.unrelated_similarity('text-embedding-ada-002'), tasklens.unrelated_similarity('another')],
  array[0.14, 0.14, 0.65, 0]::double precision[], 'without a measurement, unrelated_similarity returns a constant of the model or 0');
do $$ begin perform pg_temp.measure('far', -0.2), pg_temp.measure('flat', 1), pg_temp.measure('text-embedding-ada-002', 0.7); end $$;
select is(array[tasklens.unrelated_similarity('far'), tasklens.unrelated_similarity('flat'), tasklens.unrelated_similarity('text-embedding-ada-002')],
  array[0, 0.99, 0.7]::double precision[], 'unrelated_similarity is clamped to 0 and 0.99, and a measurement overrides the constant');
set local role authenticated;
select is(tasklens.unrelated_similarity('m'), 0.6::double precision, 'users can call unrelated_similarity');
set local role service_role;

-- The sum -----------------------------------------------------------------------------------------

create temporary view fused as
select row_number() over () as place, h.* from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5, fusion => 'convex') h;
select results_eq(
  $$ select ticket_id, round(vector_contribution::numeric, 6), round((keyword_contribution / keyword_score)::numeric, 6) from fused order by ticket_id $$,
  $$ select t, v::numeric(7, 6), round((case when t <> 13 then 0.6 / (select max(keyword_score) from fused) end)::numeric, 6)
    from (values (11::bigint, 0.36), (12, 0.2), (13, 0), (14, 0), (15, 0)) e(t, v) $$,
  'contributions: a cosine relative to that of unrelated texts, a keyword score relative to the best');
select is_empty($$ select from fused where abs(fused_score - vector_contribution - keyword_contribution) > 1e-12 $$, 'the fused score is the sum of the two contributions');
select is((select max(keyword_contribution) from fused), 0.6::double precision, 'the best keyword match contributes the full keyword share');
select results_eq('select ticket_id from fused order by place', 'select ticket_id from fused order by fused_score desc, keyword_rank nulls last', 'results are ordered by fused score');
select results_eq('select ticket_id from fused order by place', array[11, 14, 12, 15, 13]::bigint[], 'the order with convex fusion differs from that of rank fusion');
select results_eq(
  'select ticket_id, rrf_score, vector_rank, keyword_rank from fused order by ticket_id',
  $$ select ticket_id, rrf_score, vector_rank, keyword_rank from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5) order by ticket_id $$,
  'convex fusion returns the rank fusion''s score and ranks too');
select is_empty($$ select from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5) where fused_score <> rrf_score $$, 'with rank fusion the fused score is the RRF score');
select results_eq(
  $$ select h.ticket_id, h.vector_contribution = 2 * f.vector_contribution, h.keyword_contribution = 0.5 * f.keyword_contribution
    from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5, vector_weight => 2, keyword_weight => 0.5, fusion => 'convex') h
    join fused f using (ticket_id) order by 1 $$,
  'select t, true, true from unnest(array[11, 12, 13, 14, 15]::bigint[]) t', 'weights are factors of the contributions');
select results_eq(
  $$ select ticket_id, exact from public.search_hybrid('tx-3 alpha', pg_temp.unit(1), 'm', 0.5, fusion => 'convex') limit 2 $$,
  $$ values (13::bigint, true), (11, false) $$, 'a ticket named by its key comes first');
select is((select max(keyword_contribution) from public.search_hybrid('tx-3 alpha', pg_temp.unit(1), 'm', 0.5, fusion => 'convex') where not exact),
  0.6::double precision, 'an exact key match does not lower the keyword contributions of others');
select results_eq(
  $$ select ticket_id, fused_score > 0 from public.search_hybrid('alpha', fusion => 'convex') $$,
  $$ select ticket_id, true from public.search_by_keyword('alpha', 10) order by rank $$, 'without a vector the results are those of keyword search');
select results_eq(
  $$ select ticket_id, keyword_contribution from public.search_hybrid('unheardof', pg_temp.unit(1), 'm', 0.5, fusion => 'convex') $$,
  $$ values (11::bigint, 0::double precision), (12, 0), (13, 0) $$, 'without a known word the results are those of vector search');
select throws_ok($$ select * from public.search_hybrid('alpha', fusion => 'sum') $$, '22023', 'fusion is "sum"', 'search_hybrid rejects an unknown fusion');
select throws_ok($$ select * from public.search_hybrid('alpha', fusion => '') $$, '22023', 'fusion is ""', 'search_hybrid rejects an empty fusion');
select results_eq($$ select ticket_id from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5, fusion => null) $$,
  $$ select ticket_id from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5) $$, 'a null fusion uses the default');

-- Pages -------------------------------------------------------------------------------------------

reset role;
insert into public.tickets (ticket_id, project_id, status_id, name) select i, 1, 1, 'beta ' || repeat('beta ', i % 5) from generate_series(101, 140) i;
do $$ begin
  perform pg_temp.add(i, 'm', pg_temp.unit(s, sqrt(1 - s ^ 2))) from (select i, 0.9 - (i * 7 % 13) * 0.03 as s from generate_series(121, 140) i) v;
end $$;
set local role service_role;
select results_eq(
  format($$ select h.ticket_id from generate_series(0, 60, %1$s) as skipped, public.search_hybrid(
      %2$L, pg_temp.unit(1), 'm', 0.5, %1$s, skipped::integer, vector_weight => %3$s, keyword_weight => %4$s, fusion => 'convex') h $$,
    size, query, vector_weight, keyword_weight),
  format($$ select ticket_id from public.search_hybrid(%1$L, pg_temp.unit(1), 'm', 0.5, 100, vector_weight => %2$s, keyword_weight => %3$s, fusion => 'convex') $$,
    query, vector_weight, keyword_weight),
  format('pages of %s add up to the list, for %s with weights of %s and %s', size, query, vector_weight, keyword_weight))
from (values (1, 'beta', '1', '1'), (7, 'beta', '1', '1'), (1, 'beta', '1', '0'), (1, 'beta', '0', '1'), (1, 'tx-1 tx-2 beta', '1', '1')) w(size, query, vector_weight, keyword_weight);
-- From the 501st on keyword scores are 0 and the rank decides, not the id. The replaced function
-- ranks few.
savepoint ranked;
reset role;
create or replace function tasklens.rank_entries(
  search tasklens.search, match_count integer,
  reach integer default 8000, scored_count integer default 500, near_count integer default 100)
returns table (rank bigint, project_id bigint, ticket_id bigint, score double precision, tier integer, holds_all boolean)
language sql as $$ values (1, 1, 105, 3, 0, true), (2, 1, 140, 0, 0, true), (3, 1, 120, 0, 0, true), (4, 1, 103, 0, 0, true) $$;
select results_eq(
  $$ select f.ticket_id from tasklens.fuse_searches(tasklens.begin_search('beta', null, pg_temp.unit(0, 0, 1), 'm', 0.5), 1, 1, 'convex') f
    order by f.place $$,
  array[105, 140, 120, 103]::bigint[], 'keyword scores of 0 follow the keyword ranks');
rollback to ranked;

-- Uninformative vectors ---------------------------------------------------------------------------

-- Each of 300 tickets has a unique word (without digits, or it would be an identifier), one of 20
-- words that 15 tickets share, and a random vector: all are about as similar as unrelated texts.
reset role;
create function pg_temp.chance(seed text) returns extensions.vector
language sql immutable as $$
  select extensions.l2_normalize((array[sqrt(0.7::double precision)] || array_agg(sqrt(0.3 * 3 / 1535) * (hashtextextended(seed || ' ' || i, 0) / 9223372036854775807::double precision))
    )::extensions.vector(1536))
  from generate_series(2, 1536) i
$$;
insert into public.tickets (ticket_id, project_id, status_id, name)
select i, 1, 1, format('shared%s topic%s own%s', chr(97 + i % 20), chr(97 + i % 20), translate(i::text, '0123456789', 'abcdefghij')) from generate_series(1001, 1300) i;
do $$ begin
  perform pg_temp.add(i, 'chance', pg_temp.chance('ticket ' || i)) from generate_series(1001, 1300) i;
  perform pg_temp.measure('chance', 0.7);
end $$;
set local role service_role;
-- Mean reciprocal rank, over every tenth ticket, of the ticket whose unique word is in the query.
create function pg_temp.quality(fusion text, embedded boolean) returns double precision
language sql as $$
  select avg(coalesce((
    select 1 / h.place::double precision from (
      select row_number() over () as place, s.ticket_id
      from public.search_hybrid(format('shared%s topic%s own%s', chr(97 + i % 20), chr(97 + i % 20), translate(i::text, '0123456789', 'abcdefghij')),
        case when embedded then pg_temp.chance('query ' || i) end, 'chance', 0.5, fusion => quality.fusion) s
    ) h where h.ticket_id = i), 0))
  from generate_series(1001, 1300, 10) i
$$;
select cmp_ok(pg_temp.quality('convex', true), '>=', pg_temp.quality('rrf', false) - 0.01, 'convex fusion with random vectors is as good as keyword search');
select cmp_ok(pg_temp.quality('rrf', true), '<', pg_temp.quality('rrf', false) - 0.05, 'rank fusion with random vectors is worse than keyword search');
do $$ begin perform set_config('role', 'none', true), pg_temp.measure('chance', 0), set_config('role', 'service_role', true); end $$;
select cmp_ok(pg_temp.quality('convex', true), '<', pg_temp.quality('rrf', false) - 0.05, 'convex fusion without a measured similarity of unrelated texts is worse than keyword search');

select * from finish();
rollback;
