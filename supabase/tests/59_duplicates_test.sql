-- Similar tickets by words and vectors, and the rule for likely duplicates.

begin;
select plan(41);

\ir kit/vectors.sql
create function pg_temp.embed(ticket bigint, vector extensions.vector, "position" integer default 0) returns void
language sql as $$
  insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  select t.project_id, ticket, 'ticket', "position", concat_ws(e'\n\n', t.name, t.description), 1, 'h', 'm', vector from public.tickets t where t.ticket_id = ticket
$$;

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas');
insert into public.tickets (ticket_id, project_id, status_id, key, name, description) values
  (1, 1, 1, 'AA-1', 'Valve leaks after the storm', 'The northern valve drips into the cellar since Monday.'),
  (2, 1, 1, 'AA-2', 'Valve leaks after the storm', 'The northern valve drips into the cellar since Monday.'),
  (3, 1, 1, 'AA-3', 'Printer jams', 'Paper sticks in the second tray.'),
  (4, 2, 1, 'BB-1', 'Storm damage at the northern valve', null),
  (5, 1, 1, 'AA-5', 'Lamp flickers', 'In the hall.'),
  (6, 1, 1, 'AA-6', 'Door squeaks', 'Every morning.'),
  (7, 1, 1, 'AA-7', 'Gate stuck', 'It says ERR_X7741 on the panel.'),
  (8, 2, 1, 'BB-2', 'Fence broken', 'The panel shows ERR_X7741 and nothing more.');
-- Rare words weigh more, which needs other tickets.
insert into public.tickets (ticket_id, project_id, status_id, key, name)
select 100 + i, 1, 1, 'AA-' || 100 + i, 'filler number ' || i from generate_series(1, 30) i;
select pg_temp.embed(1, pg_temp.unit(1)), pg_temp.embed(3, pg_temp.unit(0.8, 0.6)), pg_temp.embed(4, pg_temp.unit(0.6, 0.8)),
  pg_temp.embed(5, pg_temp.unit(0, 1)), pg_temp.embed(6, pg_temp.unit(0, 0, 1)), pg_temp.embed(7, pg_temp.unit(0, 0, 0, 1)), pg_temp.embed(8, pg_temp.unit(0, 0, 0, 0, 1));
set local role service_role;

create function pg_temp.draft() returns text
language sql as $$ select e'Valve leaks after the storm\n\nThe northern valve drips into the cellar since Monday.' $$;
create temporary view found as
select s.* from public.similar_tickets(pg_temp.unit(1), 'm', 100, query_text => pg_temp.draft()) s;

-- Order and numbers -------------------------------------------------------------------------------

select results_eq($$ select ticket_key from found limit 4 $$, array['AA-1', 'AA-2', 'BB-1', 'AA-3'],
  'words and vectors rank an embedded copy, one without embedding, one with shared words, then a near one');
select is((select count(*) - count(distinct ticket_id) from found), 0::bigint, 'each similar ticket is returned once');
select is_empty($$ select ticket_id from found where abs(fused_score - vector_contribution - keyword_contribution) > 1e-12 $$, 'the fused score is the sum of the two contributions');
select is_empty($$ select 1 from (select fused_score, lead(fused_score) over () as next from found) f where next > fused_score $$, 'similar tickets are ordered by fused score');
select results_eq($$ select vector_rank, similarity, round(vector_contribution::numeric, 6) from found where ticket_key in ('AA-1', 'AA-3') order by ticket_key $$,
  $$ values (1::bigint, 1::double precision, 0.3), (2, 0.800000011920929, 0.24) $$, 'vectors contribute 0.3 times the similarity above that of unrelated texts');
select ok((select keyword_contribution between 0.66 and 0.7 and keyword_rank = 1 from found where ticket_key = 'AA-1'),
  'words contribute 0.7 times the share of the text''s own score, near 0.7 for a copy');
select ok((select similarity is null and vector_rank is null and vector_contribution = 0 and keyword_contribution > 0.6 from found where ticket_key = 'AA-2'),
  'a ticket without embedding is found by its words');
select ok((select keyword_rank is null and keyword_score is null and keyword_contribution = 0 from found where ticket_key = 'AA-3'), 'a ticket without shared words has no keyword contribution');
select results_eq($$ select ticket_key from public.similar_tickets(pg_temp.unit(1), 'm', 2, query_text => pg_temp.draft()) $$, array['AA-1', 'AA-2'],
  'a shorter list is a prefix of a longer one');
select results_eq($$ select ticket_key, keyword_rank from public.similar_tickets(pg_temp.unit(1), 'm', 2) $$,
  $$ values ('AA-1', null::bigint), ('AA-3', null) $$, 'without a text only vectors are compared');
select results_eq($$ select ticket_key from public.similar_tickets(pg_temp.unit(0, 1), 'm', 1, query_text => e'Panel\n\n' || repeat('It is so and so. ', 3000) || 'ERR_X7741') $$,
  array['AA-5'], 'words far down in a long text are not searched');
select results_eq($$ select ticket_key from public.similar_tickets(pg_temp.unit(-1), 'm', 2, query_text => e'Boiler\n\nIt shows ERR_X7741 again') order by 1 $$,
  array['AA-7', 'BB-2'], 'tickets that contain a rare word of the text are found');
select results_eq($$ select ticket_key from public.similar_tickets(pg_temp.unit(1), 'm', 1, filters => '{"projects": [2]}', query_text => pg_temp.draft()) $$, array['BB-1'], 'a project filter applies to similar tickets');
select is_empty($$ select ticket_key from public.similar_tickets(pg_temp.unit(1), 'm', 100, 1, query_text => pg_temp.draft()) where ticket_key = 'AA-1' $$, 'the excluded ticket is not returned');
select lives_ok($$ select s.* from unnest(array['', ' ', '-valve "not closed', repeat('"', 30000), repeat('x', 100000), e'\n\n\n',
  'AA-1', repeat('漢字', 5000), repeat('ab ', 30000)]) t
  cross join lateral public.similar_tickets(pg_temp.unit(1), 'm', query_text => t) s $$, 'any text is accepted');
select results_eq($$ select ticket_key from public.similar_tickets(pg_temp.unit(1), 'm', 1, query_text => '-Valve leaks "after the sun" -storm') $$, array['AA-1'],
  'minus signs and quotes in a text have no search syntax');
reset role;
select ok((select cardinality((words).terms) <= 32 from tasklens.plan_text(e'Name\n\n' || (select string_agg('word' || i || 'x filler number ' || i, ' ') from generate_series(1, 500) i), 1)),
  'at most 32 words are searched');

-- Known duplicates --------------------------------------------------------------------------------

insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (1, 'duplicates', 2);
set local role service_role;
select is_empty($$ select ticket_key from public.similar_tickets(pg_temp.unit(1), 'm', 100, 1, query_text => pg_temp.draft()) where ticket_key = 'AA-2' $$,
  'a linked duplicate is not returned, although its words match');
reset role;
delete from public.ticket_links;
set local role service_role;

-- The decision ------------------------------------------------------------------------------------

select results_eq($$ select ticket_key from found where likely_duplicate $$, array['AA-1', 'AA-2'], 'a copy is a likely duplicate for any model');
select is((select count(*) from public.similar_tickets(pg_temp.unit(1), 'm', 5, query_text => replace(pg_temp.draft(), 'Monday', 'Tuesday')) where likely_duplicate), 0::bigint,
  'without a known similarity of unrelated texts no other ticket is a likely duplicate');
select public.store_match_thresholds(jsonb_build_array(jsonb_build_object('embedding_model', 'm', 'dimensions', 1536, 'match_threshold', 0.5, 'right_over', 1, 'related_over', 0,
  'unrelated_over', 0, 'unrelated_median', 0.2, 'judged_set', 's')));
select results_eq($$ select ticket_key from found where likely_duplicate $$, array['AA-1', 'AA-2'], 'with a measured similarity of unrelated texts, the default threshold applies');
select results_eq($$ select round(vector_contribution::numeric, 6) from found where ticket_key = 'AA-3' $$, array[0.225], 'similarities count above the measured one of unrelated texts: 0.3 × (0.8 - 0.2) / 0.8');
select is_empty($$ select 1 from public.similar_tickets(pg_temp.unit(1), 'm', 5) where likely_duplicate or duplicate_score is not null $$, 'without a text no ticket is a likely duplicate');
select is_empty($$ select 1 from found where (duplicate_score = 1) <> (ticket_key in ('AA-1', 'AA-2')) $$, 'only copies score 1');
select results_eq($$ select ticket_key, duplicate_score from public.similar_tickets(pg_temp.unit(1), 'm', 1, query_text => e'  VALVE leaks after the  storm\nThe northern valve drips into the cellar since monday.\n ') $$,
  $$ values ('AA-1', 1::double precision) $$, 'a copy may differ in case and whitespace');
select results_eq($$ select ticket_key, likely_duplicate, duplicate_score < 1 from public.similar_tickets(pg_temp.unit(1), 'm', 2, query_text => replace(pg_temp.draft(), 'Monday', 'Tuesday')) $$,
  $$ values ('AA-1', true, true), ('AA-2', true, true) $$, 'a text that differs by a word is a likely duplicate');
select is_empty($$ select 1 from public.similar_tickets(pg_temp.unit(1), 'm', 100, query_text => pg_temp.draft()) s
  join tasklens.find_similar(pg_temp.draft(), pg_temp.unit(1), 'm', '{}', 100, null) f using (ticket_id)
  where s.duplicate_score < 1 and abs(s.duplicate_score - f.specificity * (0.7 * s.fused_score + 0.3 * f.name_share)) > 1e-12 $$,
  'the score is 0.7 of the fused score and 0.3 of the name''s share, times the specificity of the name');
select results_eq($$ select count(*), bool_or(likely_duplicate), max(duplicate_score) < 0.2, min(fused_score) > 0.5
  from (select * from public.similar_tickets(pg_temp.unit(1), 'm', 3, query_text => e'Filler number\n\nThe northern valve drips.')) s where ticket_name ~ 'filler' $$,
  $$ values (3::bigint, false, true, true) $$, 'a name of words that most tickets have makes nothing a duplicate');
select results_eq($$ select t.key, f.name_share from tasklens.find_similar(e'Storm, leaking\n\nvalve', pg_temp.unit(1), 'm', '{}', 100, null) f
  join public.tickets t using (ticket_id) where f.keyword_rank is not null and f.name_share in (0, 1) order by 1 $$,
  $$ values ('AA-1', 1::double precision), ('AA-2', 1) $$, 'the share of a name counts its words in any form, and not those of the description');
select results_eq($$ select count(keyword_rank), max(specificity) from tasklens.find_similar('', pg_temp.unit(1), 'm', '{}', 100, null) $$, $$ values (0::bigint, 0::double precision) $$, 'a text without words is not specific');

-- Names that contradict each other ---------------------------------------------------------------

reset role;
select is(tasklens.specifics(n), w::text[], 'specifics of: ' || n) from (values
  ('Upgrade ZooKeeper to version 3.8.3', '{v3.8.3}'), ('Backport HADOOP-17796 for branch-3.2', '{khadoop-17796,v3.2}'),
  ('www.a.com - unsupported browser', '{hwww.a.com}'), ('Error 500 in map.rs:12', '{n500,n12}'), ('Nothing special', '{}')) x(n, w);
reset role;
insert into public.tickets (ticket_id, project_id, status_id, key, name) values
  (50, 1, 1, 'AA-50', 'Upgrade zookeeper throughout to version 3.5.8'), (51, 1, 1, 'AA-51', 'Upgrade zookeeper throughout to the newest version'),
  (52, 1, 1, 'AA-52', 'Backport KIWI-17653 orchard patch for branch-3.2');
set local role service_role;
create function pg_temp.judged(draft text, ticket bigint) returns text
language sql as $$
  select case when s.likely_duplicate then 'likely' else 'no' end from public.similar_tickets(pg_temp.unit(1), 'm', 100, query_text => draft) s where s.ticket_id = ticket
$$;
select is(pg_temp.judged(draft, ticket), w, draft || ': ' || ticket) from (values
  ('Upgrade zookeeper throughout to version 3.8.3', 50, 'no'), ('Upgrade zookeeper throughout to version 3.5.8 again', 50, 'likely'),
  ('Upgrade zookeeper throughout to version', 50, 'likely'),
  ('Backport KIWI-17796 orchard patch for branch-3.2', 52, 'no'), ('Backport KIWI-17653 orchard patch for branch-3.2 and 3.3', 52, 'likely')) x(draft, ticket, w);
select is((select duplicate_score < 0.5 from public.similar_tickets(pg_temp.unit(1), 'm', 1, query_text => 'Upgrade zookeeper throughout to version 3.8.3')), true,
  'the score says so, too');
rollback;
