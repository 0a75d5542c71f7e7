-- A precomputed keyword ranking gives the same result as one computed now, except for rows
-- that no longer match.

begin;
select plan(23);

\ir kit/vectors.sql

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name, description) values (1, 'AA', 'Pumps', 'what a pump needs'), (2, 'BB', 'Wheels', null);
insert into public.tickets (ticket_id, key, project_id, status_id, name, description)
select i, case when i % 5 = 0 then 'BB-' else 'AA-' end || i, case when i % 5 = 0 then 2 else 1 end, 1 + i % 2,
  case i % 3 when 0 then 'pump leaks' when 1 then 'pump hums in ' || i else 'wheel squeaks' end, case when i % 3 = 2 then 'like a pump ' || i end
from generate_series(11, 50) i;
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select t.project_id, t.ticket_id, 'ticket', 0, t.name, 7, 'h', 'm', pg_temp.unit(t.ticket_id / 50.0, sqrt(1 - (t.ticket_id / 50.0) ^ 2)) from public.tickets t where t.ticket_id % 2 = 0;
\ir kit/actors.sql
select pg_temp.act('service');

-- A ranking in the form in which the service passes it back.
create function pg_temp.ranking(query_text text, project_filter bigint default null, status_filter text default null) returns jsonb
language sql as $$ select to_jsonb(k) from public.keyword_ranking(query_text, project_filter, status_filter) k $$;
create temporary table queries (text text, project_filter bigint, status_filter text, match_count integer, match_offset integer);
insert into queries values ('pump leaks', null, null, 10, 0), ('pump leaks', null, null, 10, 10), ('"like a pump"', null, null, 100, 0), ('pump -hums', null, null, 100, 0),
  ('AA-13', null, null, 10, 0), ('pump aa-13', 1, 'Done', 100, 0), ('pump', 2, null, 100, 0), ('pump', null, 'to do', 100, 0), ('pump', 3, null, 10, 0), ('nothing holds this', null, null, 100, 0);
select results_eq(
  $$ select q, jsonb_agg(h) from queries q cross join lateral public.search_hybrid(
      q.text, pg_temp.unit(0.6, 0.8), 'm', 0.5, q.match_count, q.match_offset, q.project_filter, q.status_filter, 0.7, 1.5,
      pg_temp.ranking(q.text, q.project_filter, q.status_filter)) h group by q order by q $$,
  $$ select q, jsonb_agg(h) from queries q cross join lateral public.search_hybrid(
      q.text, pg_temp.unit(0.6, 0.8), 'm', 0.5, q.match_count, q.match_offset, q.project_filter, q.status_filter, 0.7, 1.5) h group by q order by q $$,
  'search_hybrid returns the same with a precomputed ranking');
select results_eq(
  $$ select q, jsonb_agg(h) from queries q cross join lateral public.retrieve_chunks_hybrid(
      q.text, pg_temp.unit(0.6, 0.8), 'm', 0.5, q.match_count, q.project_filter, q.status_filter, 0.7, 1.5, 2,
      pg_temp.ranking(q.text, q.project_filter, q.status_filter)) h group by q order by q $$,
  $$ select q, jsonb_agg(h) from queries q cross join lateral public.retrieve_chunks_hybrid(
      q.text, pg_temp.unit(0.6, 0.8), 'm', 0.5, q.match_count, q.project_filter, q.status_filter, 0.7, 1.5, 2) h group by q order by q $$,
  'retrieve_chunks_hybrid returns the same with a precomputed ranking');
select is(
  (select count(*) from public.search_hybrid('pump leaks', null, 'm', 0.5, 100, keyword_ranking => pg_temp.ranking('AA-13')) h),
  (select count(*) from public.search_by_keyword('AA-13', 100)), 'search_hybrid with a precomputed ranking does not run the keyword search');
select results_eq(
  $$ select k.exact, cardinality(k.tickets::bigint[]), cardinality(k.projects::bigint[]), cardinality(k.scores::double precision[]) from public.keyword_ranking('pump aa-13') k $$,
  $$ select 1, count(*)::integer, count(*)::integer, count(*)::integer from public.search_by_keyword('pump aa-13', 1000) $$, 'the arrays of a ranking have equal lengths');
select results_eq($$ select * from public.keyword_ranking('nothing holds this', 3) $$,
  $$ select '{}', '{}', '{}', 0 $$, 'a query without matches has an empty ranking');

-- Changes after the ranking -----------------------------------------------------------------------

create temporary table before as
select pg_temp.ranking('pump') as everything, pg_temp.ranking('pump', 1) as project, pg_temp.ranking('pump', null, 'To Do') as open;
select pg_temp.act('service');
create function pg_temp.tickets(ranking jsonb, project_filter bigint default null, status_filter text default null) returns bigint[]
language sql as $$
  select array_agg(h.ticket_id order by h.ticket_id) from public.search_hybrid(
    'pump', null, 'm', 0.5, 100, project_filter => $2, status_filter => $3, keyword_ranking => $1) h
$$;
select is((select pg_temp.tickets(everything) from before), array(select i from generate_series(11::bigint, 50) i) || null::bigint, 'a ranking contains all matches');
reset role;
delete from public.tickets where ticket_id = 12;
insert into public.tickets (ticket_id, project_id, status_id, name) values (60, 1, 1, 'pump pump pump');
select pg_temp.act('service');
select is((select pg_temp.tickets(everything) from before), array(select i from generate_series(11::bigint, 50) i where i <> 12) || null::bigint,
  'deleted tickets are left out, and new ones are not added');
select results_eq($$ select count(h.project_id), bool_and(h.has_more = (skipped + 1 < 41)) from before, generate_series(0, 45) as skipped,
    public.search_hybrid('pump', null, 'm', 0.5, 1, skipped, keyword_ranking => everything) h $$,
  $$ values (40::bigint, true) $$, 'a deleted ticket''s position stays empty, and pages after it continue');
select results_eq($$ select skipped, h.project_id, h.text, h.has_more from before, generate_series(0, 100) as skipped,
    public.search_hybrid('pump', null, 'm', 0.5, 1, skipped, keyword_ranking => everything) h where h.project_id is null $$,
  $$ select array_position((everything ->> 'tickets')::bigint[], 12) - 1, null::bigint, null::text, true from before $$, 'a page that only contains a deleted ticket has has_more set');
reset role;
update public.tickets set status_id = 3 - status_id where ticket_id = 14;
update public.tickets set project_id = 2 where ticket_id = 16;
select pg_temp.act('service');
select is((select pg_temp.tickets(open, null, 'To Do') from before), array(select i from generate_series(16::bigint, 50) i where i % 2 = 0),
  'tickets whose status changed no longer pass the status filter');
select is((select pg_temp.tickets(project, 1) from before), array(select i from generate_series(11::bigint, 50) i where i % 5 <> 0 and i not in (12, 16)) || null::bigint,
  'tickets moved to another project no longer pass the project filter');
reset role;
delete from public.projects where project_id = 1;
select pg_temp.act('service');
select is((select pg_temp.tickets(everything) from before), array(select i from generate_series(15::bigint, 50) i where i % 5 = 0 or i = 16),
  'a deleted project''s own row and tickets are left out');

-- Callers and invalid rankings --------------------------------------------------------------------

create temporary table stolen as select pg_temp.ranking('pump') as ranking;
grant select on stolen to authenticated;
select is(pg_temp.attempt('service', 'select from stolen, public.search_hybrid(''pump'', keyword_ranking => ranking, match_count => 100)'), '9', 'the service gets all rows of its ranking');
select is(pg_temp.attempt('stranger', 'select from stolen, public.search_hybrid(''pump'', keyword_ranking => ranking, match_count => 100)'), '0',
  'another caller''s ranking reveals no invisible rows');
select is(pg_temp.attempt('stranger', 'select from public.search_hybrid(''pump'', keyword_ranking => ''{"tickets": "{15,20,null}", "projects": "{2,2,2}", "scores": "{3,2,1}", "exact": 1}'')'), '0',
  'a made-up ranking reveals no invisible rows');
select is(pg_temp.attempt('service', 'select from public.search_hybrid(''pump'', project_filter => 3, keyword_ranking => ''{"tickets": "{15,20}", "projects": "{3,2}", "scores": "{2,1}", "exact": 0}'')'), '0',
  'a ranking with a wrong project does not pass a filter for that project');
select pg_temp.act('service');
select results_eq($$ select h.ticket_id, h.project_id from public.search_hybrid('pump', keyword_ranking => '{"tickets": "{15}", "projects": "{3}", "scores": "{1}", "exact": 0}') h $$,
  $$ values (15::bigint, 2::bigint) $$, 'results contain a ticket''s actual project, even if the ranking has another');
reset role;
select is(pg_temp.attempt('stranger', 'select from stolen, public.retrieve_chunks_hybrid(''pump'', pg_temp.unit(1), ''m'', keyword_ranking => ranking)'), '0',
  'retrieve_chunks_hybrid with another caller''s ranking reveals no invisible rows');
select results_eq(
  $$ select r, pg_temp.attempt('service', format('select from public.search_hybrid(''pump'', keyword_ranking => %L)', r)) from unnest(array['{}', '[]', '5', 'null', '[{"exact": 0}]',
      '{"tickets": "none", "projects": "{}", "scores": "{}", "exact": 0}', '{"tickets": "{}", "projects": "{}", "exact": 0}', '{"tickets": "{}", "projects": "{}", "scores": "{}"}',
      '{"tickets": [], "projects": [], "scores": [], "exact": 0}', '{"tickets": "{11}", "projects": "{1}", "scores": "{a}", "exact": 0}', '{"tickets": "{11}", "projects": "{1}", "scores": "{1}", "exact": "few"}',
      '{"tickets": "{99999999999999999999}", "projects": "{1}", "scores": "{1}", "exact": 0}',
      '{"tickets": "[2147483647:2147483647]={11}", "projects": "{1}", "scores": "{1}", "exact": 0}', '{"tickets": "{{{{{{{11}}}}}}}", "projects": "{1}", "scores": "{1}", "exact": 0}',
      '{"tickets": "{11}", "projects": "{1,1}", "scores": "{1}", "exact": 0}', '{"tickets": "{11}", "projects": "{1}", "scores": "{1,2}", "exact": 0}']) r $$,
  $$ select r, '22023' from unnest(array['{}', '[]', '5', 'null', '[{"exact": 0}]',
      '{"tickets": "none", "projects": "{}", "scores": "{}", "exact": 0}', '{"tickets": "{}", "projects": "{}", "exact": 0}', '{"tickets": "{}", "projects": "{}", "scores": "{}"}',
      '{"tickets": [], "projects": [], "scores": [], "exact": 0}', '{"tickets": "{11}", "projects": "{1}", "scores": "{a}", "exact": 0}', '{"tickets": "{11}", "projects": "{1}", "scores": "{1}", "exact": "few"}',
      '{"tickets": "{99999999999999999999}", "projects": "{1}", "scores": "{1}", "exact": 0}',
      '{"tickets": "[2147483647:2147483647]={11}", "projects": "{1}", "scores": "{1}", "exact": 0}', '{"tickets": "{{{{{{{11}}}}}}}", "projects": "{1}", "scores": "{1}", "exact": 0}',
      '{"tickets": "{11}", "projects": "{1,1}", "scores": "{1}", "exact": 0}', '{"tickets": "{11}", "projects": "{1}", "scores": "{1,2}", "exact": 0}']) r $$, 'an invalid ranking is rejected');
select is(pg_temp.attempt('service', 'select from public.retrieve_chunks_hybrid(''pump'', pg_temp.unit(0, 0, 1), ''m'', keyword_ranking => jsonb_build_object(
  ''tickets'', ''{999,15}'', ''projects'', ''{2,2}'', ''scores'', ''{2,1}'', ''exact'', 0))'), '2', 'retrieve_chunks_hybrid ignores ranked tickets that do not exist');
select pg_temp.act('service');
select is((select h.relevance from public.retrieve_chunks_hybrid('pump', pg_temp.unit(0, 0, 1), 'm',
    keyword_ranking => '{"tickets": "{999,15}", "projects": "{2,2}", "scores": "{2,1}", "exact": 0}') h where h.ticket_id = 15), 1::double precision,
  'ranked tickets that do not exist do not lower the relevance of others');
reset role;

select is(pg_temp.attempt('service', 'select from public.search_hybrid(''pump'', keyword_ranking => jsonb_build_object(
  ''tickets'', ''{NULL}'', ''projects'', ''{-9223372036854775808}'', ''scores'', ''{1}'', ''exact'', 0))'), '0', 'a project ID of the lowest bigint in a ranking matches nothing');

select results_eq($$ select length, pg_temp.attempt('service', format('select from public.search_hybrid(''pump'', keyword_ranking => %L) where project_id is not null',
      jsonb_build_object('tickets', r.numbers, 'projects', r.numbers, 'scores', r.numbers, 'exact', 0)))
    from (select length, array_fill(999, array[length])::text as numbers from unnest(array[1000, 1001]) length) r order by length $$,
  $$ values (1000, '0'), (1001, '22023') $$, 'a ranking with more than 1,000 rows is rejected');

select * from finish();
rollback;
