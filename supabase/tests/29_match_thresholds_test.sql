-- Measured thresholds are stored per model and dimensions, and read together with the sets.

begin;
select plan(5);

create function pg_temp.measured(model text, width integer, threshold double precision) returns jsonb
language sql as $$
  select jsonb_build_object('embedding_model', model, 'dimensions', width, 'match_threshold', threshold, 'right_over', 0.95, 'related_over', 0.2,
    'unrelated_over', 0, 'unrelated_median', 0.1, 'judged_set', 'first')
$$;
create function pg_temp.known() returns text[]
language sql as $$
  select array(select concat_ws(' ', t ->> 'embedding_model', t ->> 'dimensions', t ->> 'match_threshold')
    from public.embedding_sets() s cross join jsonb_array_elements(s.match_thresholds) t)
$$;

select is(pg_temp.known(), '{}', 'at first no thresholds are stored');
select public.store_match_thresholds(jsonb_build_array(pg_temp.measured('m', 1536, 0.31), pg_temp.measured('m', 768, 0.33), pg_temp.measured('n', 1536, 0.5)));
select is(pg_temp.known(), array['m 768 0.33', 'm 1536 0.31', 'n 1536 0.5'], 'embedding_sets returns stored thresholds');
select public.store_match_thresholds(jsonb_build_array(pg_temp.measured('m', 1536, 0.4)));
select is(pg_temp.known(), array['m 768 0.33', 'm 1536 0.4', 'n 1536 0.5'], 'a new measurement replaces the old one');
select throws_ok($$ select public.store_match_thresholds(jsonb_build_array(pg_temp.measured('m', 1536, 1.5))) $$, '23514', null, 'a threshold above 1 is rejected');
set local role authenticated;
select throws_ok('select public.embedding_sets()', '42501', null, 'users cannot read the sets and thresholds');

select * from finish();
rollback;
