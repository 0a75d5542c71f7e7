-- Facets count the matches of a hybrid search under the filters of the other facets, up to a limit.

begin;
select plan(34);

\ir kit/vectors.sql
create function pg_temp.add(ticket bigint, project bigint, similarity double precision) returns void
language sql as $$
  insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  values (project, ticket, case when ticket is null then 'project' else 'ticket' end, 0, 'text', 1, 'h', 'm', pg_temp.unit(similarity, sqrt(1 - similarity ^ 2)))
$$;

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done'), (3, 'Rare'), (4, 'Unused');
insert into public.projects (project_id, key, name, description) values (1, 'TX', 'Telegraph', null), (2, 'BB', 'Bananas', 'alpha fruit'), (3, 'CC', 'Crates', null);
insert into public.tickets (ticket_id, project_id, status_id, key, name, description)
values
  (11, 1, 1, 'TX-1', 'alpha one', null), (12, 1, 2, 'TX-2', 'alpha two', 'red kite'), (13, 1, 1, 'TX-3', 'gamma', 'delta'),
  (14, 1, 3, 'TX-4', 'alpha beta', 'kite red'), (21, 2, 1, 'BB-1', 'beta', 'alphabet'), (22, 2, 2, 'BB-2', 'alpha two', null);
select pg_temp.add(11, 1, 0.9), pg_temp.add(13, 1, 0.8), pg_temp.add(21, 2, 0.6), pg_temp.add(null, 3, 0.7);
set local role service_role;

-- Rows as 'label count', statuses first. Another test covers the other facets.
create function pg_temp.facets(query text, threshold double precision default null, project bigint default null, status text default null)
returns setof text
language sql as $$
  select f.label || ' ' || f.count
  from public.search_facets(query, case when threshold is not null then pg_temp.unit(1) end, 'm', threshold, project, status) f
  where f.facet in ('status', 'project')
$$;

-- Counts ------------------------------------------------------------------------------------------

select results_eq($$ select * from public.search_facets('alpha') where facet in ('status', 'project') $$,
  $$ values ('status', 2::bigint, 'Done', 2::bigint, false), ('status', 3, 'Rare', 1, false), ('status', 1, 'To Do', 1, false),
    ('project', 1, 'Telegraph', 3, false), ('project', 2, 'Bananas', 2, false) $$,
  'statuses and projects are sorted by number of matches, then label; a project''s own text counts only for the project');
select results_eq($$ select * from pg_temp.facets('gamma beta') $$, array['To Do 2', 'Rare 1', 'Telegraph 2', 'Bananas 1'], 'a text with any word of the query is counted');
select results_eq($$ select * from pg_temp.facets('alpha', 0.5) $$,
  array['To Do 3', 'Done 2', 'Rare 1', 'Telegraph 4', 'Bananas 3', 'Crates 1'], 'results of the vector search are counted, each result once');
select results_eq($$ select * from pg_temp.facets('unheardof', 0.85) $$, array['To Do 1', 'Telegraph 1'], 'results of the vector search below the threshold are not counted');
select results_eq($$ select * from pg_temp.facets('unheardof', 0.65) $$, array['To Do 2', 'Telegraph 2', 'Crates 1'], 'a project found by the vector search is counted');
select is_empty($$ select * from public.search_facets('alpha', pg_temp.unit(1), 'another', 0.1) except select * from public.search_facets('alpha') $$,
  'vectors of another model are not counted');
select results_eq($$ select * from pg_temp.facets('tx-3') $$, array['To Do 1', 'Telegraph 1'], 'a ticket named by its key is counted');
select results_eq($$ select * from pg_temp.facets('tx-3 fruit') $$, array['To Do 1', 'Bananas 1', 'Telegraph 1'], 'a ticket named by its key is counted along with matches of the words');
select results_eq($$ select * from pg_temp.facets('alpha -two') $$, array['Rare 1', 'To Do 1', 'Telegraph 2', 'Bananas 1'], 'an excluded word removes matches of the keyword search');
select results_eq($$ select * from pg_temp.facets('alpha -one', 0.5) $$, array['Done 2', 'To Do 2', 'Rare 1', 'Bananas 3', 'Telegraph 3', 'Crates 1'],
  'an excluded word removes results of the vector search');
select results_eq($$ select * from pg_temp.facets('alpha -crates', 0.65) $$, array['Done 2', 'To Do 2', 'Rare 1', 'Telegraph 4', 'Bananas 2'],
  'an excluded word removes projects');
select is_empty($$ select * from pg_temp.facets('TX-2 -two') $$, 'an excluded word removes a ticket named by its key');
select results_eq($$ select * from pg_temp.facets('alpha "red kite"') $$, array['Done 1', 'Telegraph 1'], 'only texts with the phrase are counted');
select results_eq($$ select * from pg_temp.facets('alpha "red kite"', 0.85) $$, array['Done 1', 'Telegraph 1'], 'results of the vector search are counted only if they contain the phrase');
select results_eq($$ select * from pg_temp.facets('alpha -TX-1', 0.85) $$, array['Done 2', 'Rare 1', 'Bananas 2', 'Telegraph 2'], 'a ticket excluded by its key is not counted');
select results_eq($$ select * from pg_temp.facets('"red kite" -two') $$, array[]::text[], 'a phrase and an excluded word apply together');
select results_eq($$ select * from pg_temp.facets('"kite of two"') $$, array['Done 2', 'Rare 1', 'Telegraph 2', 'Bananas 1'], 'a phrase that no text contains is searched for as its words');
select results_eq($$ select * from pg_temp.facets('telegrapf') $$, array['Telegraph 1'], 'an unknown word is replaced by the most similar known word');
select is_empty($$ select * from pg_temp.facets('unheardof') union all select * from pg_temp.facets('') union all select * from pg_temp.facets('-alpha')
  union all select * from pg_temp.facets('unheardof', 0.95) $$, 'a query without matches returns no facets');

-- Filters -----------------------------------------------------------------------------------------

select results_eq($$ select * from pg_temp.facets('alpha', project => 2) $$, array['Done 1', 'Telegraph 3', 'Bananas 2'], 'a project filter applies to the status counts only');
select results_eq($$ select * from pg_temp.facets('alpha', status => 'dONE') $$, array['Done 2', 'Rare 1', 'To Do 1', 'Bananas 1', 'Telegraph 1'],
  'a status filter applies to the project counts only, and excludes the projects'' own texts');
select results_eq($$ select * from pg_temp.facets('alpha', 0.5, 2, 'To Do') $$, array['Done 1', 'To Do 1', 'Telegraph 2', 'Bananas 1'], 'with both filters, each facet ignores its own filter');
select results_eq($$ select * from pg_temp.facets('tx-3', project => 2) union all select * from pg_temp.facets('tx-3', status => 'Done') $$,
  array['Telegraph 1', 'To Do 1'], 'filters apply to tickets named by their key');
select results_eq($$ select * from pg_temp.facets('alpha', project => 404, status => 'No such') $$, array[]::text[], 'filters by an unknown project and status return no facets');

-- Limits ------------------------------------------------------------------------------------------

reset role;
insert into public.tickets (ticket_id, project_id, status_id, key, name)
select i, 3, case when i <= 1600 then 2 else 1 end, 'CC-' || i, 'omega' || case when i % 1000 = 0 then ' psi' else '' end from generate_series(1001, 13000) i;
set local role service_role;
select results_eq($$ select facet, label, count, capped from public.search_facets('omega') where facet in ('status', 'project') $$,
  $$ values ('status', 'To Do', 9400::bigint, true), ('status', 'Done', 600, true), ('project', 'Crates', 10000, true) $$,
  'at most 10,000 matches are counted, with capped set');
select results_eq($$ select label, count, capped from public.search_facets('psi omega CC-12999', status_filter => 'To Do') where facet = 'project' $$,
  $$ values ('Crates', 10000::bigint, true) $$, 'at most 10,000 matches are counted under a filter that leaves more');
select results_eq($$ select label, count, capped from public.search_facets('omega psi alpha', status_filter => 'Done') where facet = 'project' $$,
  $$ values ('Crates', 600::bigint, false), ('Bananas', 1, false), ('Telegraph', 1, false) $$, 'all matches are counted under a filter that leaves fewer than 10,000');
-- With a word this common, the few entries that pass the filter are checked one by one.
select results_eq(format($$ select label || ' ' || count from public.search_facets(%L, project_filter => 2) where facet = 'status' $$, q), w::text[], 'entries checked one by one match by the same rules: ' || q)
from (values ('omega alpha', '{Done 1}'), ('omega alpha -fruit', '{Done 1}'), ('omega alpha -two', '{}'), ('omega "alpha two"', '{Done 1}'), ('omega alpha "red kite"', '{}')) v (q, w);
reset role;
insert into public.tickets (ticket_id, project_id, status_id, key, name, assignee, labels)
select i, 3, 1, 'CC-' || i, 'sigma', 'person ' || i, array['label ' || i] from generate_series(20001, 20600) i;
set local role service_role;
select results_eq($$ select facet, count(*), bool_and(capped) from public.search_facets('sigma') group by facet order by facet $$,
  $$ values ('assignee', 499::bigint, true), ('label', 498, true), ('open', 1, true), ('project', 1, true), ('status', 1, true) $$,
  'at most 1,000 values are returned, of all facets an equal share, with capped set');
reset role;

set local role anon;
select throws_ok($$ select * from public.search_facets('alpha') $$, '42501', null, 'anon cannot call search_facets');

select * from finish();
rollback;
