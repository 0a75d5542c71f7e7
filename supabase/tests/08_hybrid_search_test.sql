-- Hybrid search: the arithmetic of reciprocal rank fusion, paging, and the display of results.

begin;
select plan(105);

\ir kit/vectors.sql
create function pg_temp.add(ticket bigint, project bigint, "position" integer, text text, similarity double precision) returns void
language sql as $$
  insert into public.chunks (chunk_id, project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
  values (format('00000000-0000-4000-8000-%s%s', lpad(coalesce(ticket, project)::text, 6, '0'), lpad("position"::text, 6, '0'))::uuid,
    project, ticket, case when ticket is null then 'project' else 'ticket' end, "position", text, 7, 'h', 'm',
    pg_temp.unit(similarity, sqrt(1 - similarity ^ 2)))
$$;

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name, description) values (1, 'TX', 'Telegraph', null), (2, 'BB', 'Bananas', 'alpha fruit of the far south');
insert into public.tickets (ticket_id, project_id, status_id, key, name, description)
values
  (11, 1, 1, 'TX-1', 'alpha one', null), (12, 1, 2, 'TX-2', 'alpha two', null), (13, 1, 1, 'TX-3', 'gamma', 'delta'),
  (14, 1, 1, 'TX-4', 'alpha alpha', 'not embedded yet'), (15, 1, 2, 'TX-5', 'long', 'prelude alpha coda');
-- By vector: 11, 12, 13, in this order. By keyword: 14, 11, 12, then (in descriptions, the shorter
-- one first) 15 and project 2.
select pg_temp.add(11, 1, 0, 'alpha one', 0.96), pg_temp.add(12, 1, 0, 'alpha two', 0.8), pg_temp.add(12, 1, 1, 'second', 0.6),
  pg_temp.add(13, 1, 0, 'gamma delta', 0.6), pg_temp.add(15, 1, 0, 'prelude', 0.28), pg_temp.add(15, 1, 1, 'alpha coda', -0.6),
  pg_temp.add(null, 2, 0, 'Bananas, an alpha fruit', 0);
set local role service_role;

-- Fusion ------------------------------------------------------------------------------------------

create temporary view fused as select * from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5);
select results_eq(
  $$ select ticket_id, project_id, vector_rank, keyword_rank, rrf_score from fused $$,
  $$ values (11::bigint, 1::bigint, 1::bigint, 2::bigint, 1::double precision / 61 + 1::double precision / 62),
    (12, 1, 2, 3, 1::double precision / 62 + 1::double precision / 63),
    (14, 1, null, 1, 1::double precision / 61),
    (13, 1, 3, null, 1::double precision / 63),
    (15, 1, null, 4, 1::double precision / 64),
    (null, 2, null, 5, 1::double precision / 65) $$,
  'each result is listed once, sorted by the sum of 1 / (60 + rank) over the lists that contain it');
select results_eq(
  $$ select ticket_id, source, matched_by, round(similarity::numeric, 6)::real, keyword_score > 0 from fused $$,
  $$ values (11::bigint, 'vector', array['vector', 'keyword'], 0.96::real, true), (12, 'vector', '{vector,keyword}', 0.8, true),
    (14, 'keyword', '{keyword}', null, true), (13, 'vector', '{vector}', 0.6, null),
    (15, 'keyword', '{keyword}', null, true), (null, 'keyword', '{keyword}', null, true) $$,
  'results of the vector search have a similarity and that source, others have none');
select results_eq(
  $$ select ticket_id, vector_contribution, keyword_contribution from fused where ticket_id in (11, 13, 14) $$,
  $$ values (11::bigint, 1::double precision / 61, 1::double precision / 62), (14, 0, 1::double precision / 61), (13, 1::double precision / 63, 0) $$,
  'the contribution of each list is returned');
select results_eq(
  $$ select project_name, ticket_key, ticket_name, status, text, chunk_id::text, exact from fused $$,
  $$ values ('Telegraph', 'TX-1', 'alpha one', 'To Do', 'alpha one', '00000000-0000-4000-8000-000011000000', false),
    ('Telegraph', 'TX-2', 'alpha two', 'Done', 'alpha two', '00000000-0000-4000-8000-000012000000', false),
    ('Telegraph', 'TX-4', 'alpha alpha', 'To Do', e'alpha alpha\n\nnot embedded yet', null, false),
    ('Telegraph', 'TX-3', 'gamma', 'To Do', 'gamma delta', '00000000-0000-4000-8000-000013000000', false),
    ('Telegraph', 'TX-5', 'long', 'Done', 'alpha coda', '00000000-0000-4000-8000-000015000001', false),
    ('Bananas', null, null, null, 'Bananas, an alpha fruit', '00000000-0000-4000-8000-000002000000', false) $$,
  'each result shows its nearest chunk, or the one that matches the keywords best, or the beginning of its text');

select results_eq(
  $$ select ticket_id, highlight from fused $$,
  $$ values (11::bigint, '<mark>alpha</mark> one'), (12, '<mark>alpha</mark> two'), (14, e'<mark>alpha</mark> <mark>alpha</mark>\n\nnot embedded yet'),
    (13, 'gamma delta'), (15, '<mark>alpha</mark> coda'), (null, 'Bananas, an <mark>alpha</mark> fruit') $$,
  'the highlight of a result is taken from the text shown');
insert into public.projects (project_id, key, name, description) values (3, 'CC', 'Cranes', 'lifts for okapi');
select results_eq($$ select text, highlight from public.search_hybrid('okapi') $$, $$ values (e'Cranes\n\nlifts for okapi', e'Cranes\n\nlifts for <mark>okapi</mark>') $$,
  'a project that is not embedded shows the beginning of its text, too');
delete from public.projects where project_id = 3;
select results_eq(
  $$ select text, highlight from public.search_hybrid('unheardof two', pg_temp.unit(0.6, 0.8), 'm', 0.99) where ticket_id = 12 $$,
  $$ values ('second', 'alpha <mark>two</mark>') $$, 'where the words are in the name and not in the chunk, the beginning of the text is shown');

select results_eq(
  $$ select ticket_id, rrf_score from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5, vector_weight => 0.5, keyword_weight => 2) limit 3 $$,
  $$ values (11::bigint, 0.5::double precision / 61 + 2::double precision / 62), (12, 0.5::double precision / 62 + 2::double precision / 63),
    (14, 2::double precision / 61) $$,
  'weights multiply the contributions of their lists');
select results_eq(
  $$ select ticket_id from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5, vector_weight => 0) $$,
  array[14, 11, 12, 15, null, 13]::bigint[], 'a vector_weight of 0 sorts by keyword rank');
select results_eq(
  $$ select ticket_id, project_id from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5, vector_weight => 0, keyword_weight => 0) $$,
  $$ values (11::bigint, 1::bigint), (12, 1), (13, 1), (14, 1), (15, 1), (null, 2) $$, 'equal scores are sorted by id, with projects last');

select results_eq(
  $$ select ticket_id, vector_rank, keyword_rank, source, rrf_score from public.search_hybrid('alpha') $$,
  $$ values (14::bigint, null::bigint, 1::bigint, 'keyword', 1::double precision / 61), (11, null, 2, 'keyword', 1::double precision / 62),
    (12, null, 3, 'keyword', 1::double precision / 63), (15, null, 4, 'keyword', 1::double precision / 64),
    (null, null, 5, 'keyword', 1::double precision / 65) $$,
  'without a query vector only the keyword search runs');
select results_eq(
  $$ select ticket_id, keyword_rank from public.search_hybrid('unheardof', pg_temp.unit(1), 'm', 0.5) $$,
  $$ values (11::bigint, null::bigint), (12, null), (13, null) $$, 'if the keyword search finds nothing, results of the vector search are returned');
select results_eq(
  $$ select ticket_id, vector_rank from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.9) $$,
  $$ values (11::bigint, 1::bigint), (14, null), (12, null), (15, null), (null, null) $$, 'the threshold applies to the vector search and not to the keyword search');
select is_empty($$ select from public.search_hybrid('alpha', pg_temp.unit(1), 'another', 0) where vector_rank is not null $$,
  'vectors of another model are not compared');
select is_empty($$ select * from public.search_hybrid('unheardof') union all select * from public.search_hybrid('') $$, 'a search without matches returns no rows');

-- Keys, minus, filters ----------------------------------------------------------------------------

-- By keyword: 14, 12, 11. The t makes "alpha two" more similar to this query than "alpha one".
select results_eq(
  $$ select ticket_id, exact, keyword_rank from public.search_hybrid('tx-3 alpha', pg_temp.unit(1), 'm', 0.5) limit 2 $$,
  $$ values (13::bigint, true, 1::bigint), (11, false, 4) $$, 'a ticket named by its key comes first, regardless of its score');
select results_eq(
  $$ select ticket_id, exact, matched_by from public.search_hybrid('TX-4', pg_temp.unit(1), 'm', 0.9) $$,
  $$ values (14::bigint, true, array['keyword']) $$, 'a ticket named by its key alone is listed even if no other list contains it, and without what is only near');
select results_eq(
  $$ select ticket_id, vector_rank from public.search_hybrid('alpha -two', pg_temp.unit(1), 'm', 0.5) where vector_rank is not null $$,
  $$ values (11::bigint, 1::bigint), (13, 2) $$, 'an excluded word removes results of the vector search before they are ranked');
select is_empty(
  $$ select ticket_id from public.search_hybrid('TX-2 alpha -two', pg_temp.unit(1), 'm', 0.5) where ticket_id = 12 $$,
  'an excluded word removes a ticket named by its key');
select results_eq(
  $$ select ticket_id, project_id from public.search_hybrid('alpha -fruit', pg_temp.unit(1), 'm', -0.9) $$,
  $$ select ticket_id, project_id from public.search_hybrid('alpha', pg_temp.unit(1), 'm', -0.9) where ticket_id is not null $$,
  'an excluded word removes projects');

select results_eq(
  $$ select ticket_id, exact from public.search_hybrid('alpha -TX-1 -tx-2', pg_temp.unit(1), 'm', 0.5) $$,
  $$ values (13::bigint, false), (14, false), (15, false), (null, false) $$, 'an excluded key removes its ticket from both lists');

create function pg_temp.filtered(project bigint default null, status text default null, threshold double precision default 0.5) returns setof bigint
language sql as $$
  select coalesce(h.ticket_id, -h.project_id)
  from public.search_hybrid('alpha', pg_temp.unit(1), 'm', threshold, project_filter => project, status_filter => status) h
$$;
select results_eq($$ select * from pg_temp.filtered(1) $$, '{11,12,14,13,15}'::bigint[], 'the project filter excludes other projects');
select results_eq($$ select * from pg_temp.filtered(2, threshold => -0.5) $$, '{-2}'::bigint[], 'the project filter includes the project''s own text');
select results_eq($$ select * from pg_temp.filtered(null, 'dONE', -0.9) $$, '{12,15}'::bigint[], 'the status filter excludes projects and ignores case');
-- In each search a blank status filters nothing, and spaces around a name are ignored.
select set_eq(format(question, filter), format(question, same), 'the filter ' || filter || ' of ' || left(question, 60))
from (values
  ($$ select h.ticket_id, h.project_id, h.rrf_score from public.search_hybrid('alpha', pg_temp.unit(1), 'm', -0.9, status_filter => %s) h $$),
  ($$ select v.chunk_id from public.search_by_vector(pg_temp.unit(1), 'm', -0.9, 100, status_filter => %s) v $$),
  ($$ select k.ticket_id, k.project_id from public.search_by_keyword('alpha', 100, status_filter => %s) k $$),
  ($$ select f.facet, f.value, f.count from public.search_facets('alpha', pg_temp.unit(1), 'm', -0.9, status_filter => %s) f $$)
) q (question), (values ($$ e' \t\u00a0\u3000\n' $$, 'null'), ($$ e'\u2003 dONE\n' $$, $$ 'Done' $$)) v (filter, same);
select is_empty($$ select * from pg_temp.filtered(404) union all select * from pg_temp.filtered(null, 'No such') union all select * from pg_temp.filtered(2, 'Done') $$,
  'unknown projects and statuses, and filters that match no row, return no rows');
select results_eq(
  $$ select vector_rank, keyword_rank from public.search_hybrid('alpha', pg_temp.unit(1), 'm', 0.5, status_filter => 'Done') $$,
  $$ values (1::bigint, 1::bigint), (null, 2) $$, 'filters apply before ranking');

-- Pages -------------------------------------------------------------------------------------------

reset role;
insert into public.tickets (ticket_id, project_id, status_id, name) select i, 1, 1, 'beta ' || repeat('beta ', i % 5) from generate_series(101, 140) i;
do $$ begin perform pg_temp.add(i, 1, 0, 'beta', 0.9 - (i * 7 % 13) * 0.01) from generate_series(121, 160) i where i <= 140; end $$;
set local role service_role;
create function pg_temp.page(size integer, skipped integer) returns setof bigint
language sql as $$ select ticket_id from public.search_hybrid('beta', pg_temp.unit(1), 'm', 0.79, size, skipped) $$;
select results_eq(
  format($$ select p from generate_series(0, 60, %1$s) as skipped, pg_temp.page(%1$s, skipped::integer) p $$, size),
  $$ select * from pg_temp.page(100, 0) $$,
  format('pages of %s add up to the whole list', size))
from unnest(array[1, 3, 7, 40]) size;
select is_empty(
  format($$ select skipped from generate_series(0, 60) as skipped, public.search_hybrid('beta', %2$s, 'm', 0.79, %1$s, skipped) h
    where h.has_more <> (skipped + %1$s < (select count(*) from public.search_hybrid('beta', %2$s, 'm', 0.79, 100))) $$, size, embedding),
  format('has_more is right for each result on pages of %s, with the vector %s', size, embedding))
from unnest(array[1, 3, 7, 40, 41, 100]) size, unnest(array['null', 'pg_temp.unit(1)']) embedding;
-- Items found by one search only, zero weights, named and excluded items: paging loses nothing.
select results_eq(
  format($$ select h.ticket_id from generate_series(0, 60) as skipped, public.search_hybrid(%1$L, %2$s, 'm', 0.79, 1, skipped, vector_weight => %3$s, keyword_weight => %4$s) h $$,
    query, embedding, vector_weight, keyword_weight),
  format($$ select ticket_id from public.search_hybrid(%1$L, %2$s, 'm', 0.79, 100, vector_weight => %3$s, keyword_weight => %4$s) $$, query, embedding, vector_weight, keyword_weight),
  format('pages of 1 add up to the whole list for %s, with the vector %s and weights %s and %s', query, embedding, vector_weight, keyword_weight))
from (values ('beta', 'null', '1', '1'), ('beta', 'pg_temp.unit(1)', '1', '0'), ('beta', 'pg_temp.unit(1)', '0', '1'), ('beta', 'pg_temp.unit(1)', '0', '0'),
  ('beta', 'pg_temp.unit(1)', '1', 'null'), ('beta', 'pg_temp.unit(1)', '-1', '1'), ('beta', 'pg_temp.unit(1)', '1', '''infinity'''),
  ('tx-1 tx-105 beta', 'pg_temp.unit(1)', '1', '1'), ('tx-1 beta -one', 'pg_temp.unit(1)', '1', '1')) w(query, embedding, vector_weight, keyword_weight);


select is((select count(*)::integer from pg_temp.page(100, 0)), 42, 'the whole list contains all matches of both searches');
select is((select count(*)::integer from pg_temp.page(0, 0)), 1, 'a page size of 0 returns one result');
select is_empty($$ select * from pg_temp.page(10, 42) $$, 'an offset after the last result returns no rows');
select results_eq($$ select * from pg_temp.page(3, -5) $$, $$ select * from pg_temp.page(3, 0) $$, 'a negative offset returns the first page');

-- Display ----------------------------------------------------------------------------------------

create function pg_temp.highlight(text text, query text) returns text
language sql as $$ select tasklens.highlight(text, (select string_agg(w.term, ' | ')::tsquery from tasklens.read_words(query, '{english}') w)) $$;
select is(pg_temp.highlight('The Logins fail', 'login failing'), 'The <mark>Logins</mark> <mark>fail</mark>', 'all forms of a word are highlighted');
select is(pg_temp.highlight('The QSA and qsb asked', 'QSA qsb'), 'The <mark>QSA</mark> and <mark>qsb</mark> asked', 'a word is not taken for the code of a sign');
select is(pg_temp.highlight('a → b 😀 ×', '→ 😀 ×'), 'a <mark>→</mark> b <mark>😀</mark> <mark>×</mark>', 'signs are highlighted');
select is(pg_temp.highlight('x <script>alert("it''s")</script> & Vec<T> login', 'login'),
  'x &lt;script&gt;alert(&quot;it&#39;s&quot;)&lt;/script&gt; &amp; Vec&lt;T&gt; <mark>login</mark>', 'all text but the marks is escaped');
select is(pg_temp.highlight('a <b>script</b> &amp; more', 'script amp'),
  'a &lt;b&gt;<mark>script</mark>&lt;/b&gt; &amp;<mark>amp</mark>; more', 'words inside markup are highlighted and the markup is escaped');
select is(pg_temp.highlight(U&'\E000x\E001 \E002 \E003 \E004 login', 'login'), 'x    <mark>login</mark>', 'the characters that stand for marks internally are removed from a text');
select is(pg_temp.highlight('no such word', 'login'), 'no such word', 'without a match the highlight is the beginning of the text');
select is(pg_temp.highlight(repeat('<i> ', 1000), ''), rtrim(repeat('&lt;i&gt; ', 50)) || '…', 'without a query the highlight is limited to 200 characters before escaping');
select alike(pg_temp.highlight(repeat('word ', 500) || 'login' || repeat(' word', 500), 'login'), '%<mark>login</mark>%', 'the highlight of a long text is an excerpt around the match');
select ok(length(pg_temp.highlight(repeat('word ', 500) || 'login' || repeat(' word', 500), 'login')) < 400, 'the excerpt of a long text is shorter than 400 characters');
select is(pg_temp.highlight(t, q), h, 'words are highlighted where the search matches them: ' || q)
from (values
  ('Ti.UI.TableView flickers', 'TableView', 'Ti.UI.<mark>TableView</mark> flickers'),
  ('Ti.UI.TableView flickers', 'ti.ui.TableView', '<mark>Ti.UI.TableView</mark> flickers'),
  ('the TableView', 'tableview', 'the <mark>TableView</mark>'),
  ('at acme.Cart.add(Cart.java:142)', 'Cart.java', 'at acme.<mark>Cart</mark>.add(<mark>Cart.java</mark>:142)'),
  ('said ERR_UPSTREAM_502, exit code -9', 'ERR_UPSTREAM_502 9', 'said <mark>ERR_UPSTREAM_502</mark>, exit code -<mark>9</mark>'),
  ('POST https://x.example.com/api/checkout?basket=9 by user@example.org', 'checkout user', 'POST https://x.example.com/api/<mark>checkout</mark>?basket=9 by <mark>user</mark>@example.org'),
  ('決済エラーが発生、エラー <1>', 'エラー', '決済<mark>エラー</mark>が発生、<mark>エラー</mark> &lt;1&gt;'),
  ('C++Cplusplus and C#', 'c++', '<mark>C++</mark><mark>Cplusplus</mark> and C#'), ('C++Cplusplus and C#', 'none', 'C++Cplusplus and C#'),
  ('決済 page', '決済 page', '<mark>決済</mark> <mark>page</mark>'),
  (U&'re\0301sume\0301', 'resume', '<mark>résumé</mark>'), ('the RÉSUMÉ', 'resume', 'the <mark>RÉSUMÉ</mark>')) v (t, q, h);
select alike(pg_temp.highlight(repeat('前の文章です。', 100) || '決済エラー' || repeat('後の文章です。', 100), 'エラー'), '%決済<mark>エラー</mark>後の%', 'the highlight of a long Japanese text is an excerpt around the match');
select ok(length(pg_temp.highlight(repeat('前の文章です。', 100) || '決済エラー' || repeat('後の文章です。', 100), 'エラー')) < 400, 'the excerpt of a long Japanese text is shorter than 400 characters');

reset role;
insert into public.tickets (ticket_id, project_id, status_id, name) values (22, 1, 1, 'long, in Japanese');
select pg_temp.add(22, 1, 0, '前の文章です。', 0), pg_temp.add(22, 1, 1, '支払いのエラー', 0.1), pg_temp.add(22, 1, 2, 'Ti.UI.TableView', 0.2);
update public.tickets set description = '前の文章です。支払いのエラー Ti.UI.TableView' where ticket_id = 22;
select is((select h.text from public.search_hybrid(q) h where h.ticket_id = 22), t, 'the chunk shown is the one that contains the words: ' || q)
from (values ('エラー', '支払いのエラー'), ('TableView', 'Ti.UI.TableView')) v (q, t);
insert into public.tickets (ticket_id, project_id, status_id, name) values (21, 2, 1, 'omega fruit');
set local role service_role;
select results_eq(
  $$ select text, chunk_id from public.search_hybrid('omega') $$, $$ values ('omega fruit', null::uuid) $$,
  'a ticket without chunks shows its own text, not a chunk of its project');

-- Phrases -----------------------------------------------------------------------------------------

-- Tickets nearer than any text with the phrase, more of them than a vector search returns.
reset role;
insert into public.tickets (ticket_id, project_id, status_id, name, description)
select i, 1, 1, 'kappa lambda', null from generate_series(401, 540) i union all
select i, 1, 1 + i % 2, 'n', 'lambda kappa' from generate_series(541, 552) i;
insert into public.projects (project_id, key, name, description) values (3, 'LK', 'Crates', 'lambda, kappa');
do $$ begin
  perform pg_temp.add(i, 1, 0, 'kappa', case when i <= 540 then 0.99 else 0.9 end - i * 0.0001) from generate_series(401, 552) i;
  perform pg_temp.add(null, 3, 0, 'Crates', 0.8);
end $$;
set local role service_role;
create function pg_temp.near(query text, status text default null) returns bigint[]
language sql as $$
  select array_agg(coalesce(h.ticket_id, -h.project_id) order by h.vector_rank)
  from public.search_hybrid(query, pg_temp.unit(1), 'm', 0.5, 100, status_filter => status) h where h.vector_rank is not null
$$;
create function pg_temp.check_phrases(how text) returns setof text
language plpgsql as $$
begin
  return next is(pg_temp.near('"lambda kappa"'), array(select i::bigint from generate_series(541, 552) i) || -3::bigint, 'the vector search returns all texts that contain the phrase and no others: ' || how);
  return next is(pg_temp.near('"lambda kappa"', 'Done'), '{541,543,545,547,549,551}', 'the vector search applies a phrase and a filter: ' || how);
  return next is(pg_temp.near('"kappa" -"kappa lambda" -TX-1'), array(select i::bigint from generate_series(541, 552) i) || -3::bigint, 'the vector search applies a phrase and exclusions: ' || how);
  return next is((pg_temp.near('omega -"kappa lambda" -alpha -beta')) [1:12], array(select i::bigint from generate_series(541, 552) i), 'excluded texts do not take the places of others: ' || how);
  return next results_eq(
    $t$ select h.ticket_id from generate_series(0, 20) as skipped, public.search_hybrid('"lambda kappa"', pg_temp.unit(1), 'm', 0.5, 1, skipped) h $t$,
    $t$ select h.ticket_id from public.search_hybrid('"lambda kappa"', pg_temp.unit(1), 'm', 0.5, 100) h $t$, 'pages of a phrase search add up to the whole list: ' || how);
end
$$;
select * from pg_temp.check_phrases('few matches, all compared');
reset role;
create or replace function tasklens.few_entries(scope tasklens.scope, required tsquery) returns bigint[]
language sql stable as $$ select null::bigint[] $$;
set local role service_role;
select * from pg_temp.check_phrases('many matches, through the index');
select results_eq(
  $$ select distinct q, h.relaxed from unnest(array['"lambda kappa"', '"kappa kappa" two', 'two', '"TX-2"', '"unheardof" two', 'two "the of"']) q, public.search_hybrid(q, pg_temp.unit(1), 'm', 0.5) h order by 1 $$,
  $$ values ('"TX-2"', false), ('"kappa kappa" two', true), ('"lambda kappa"', false), ('"unheardof" two', true), ('two', false), ('two "the of"', true) $$,
  'relaxed is true if a phrase that no text contains was searched for as its words');
select results_eq($$ select ticket_id from public.search_hybrid('"TX-2"', pg_temp.unit(1), 'm', 0.5) $$, array[12::bigint], 'a key in quotes returns only its ticket if no text mentions it');
select is_empty($$ select from public.search_hybrid('"lambda kappa"', pg_temp.unit(1), 'm', 0.5, project_filter => 2) $$, 'a phrase is not relaxed if only texts outside of the filter contain it');
select ok(count(*) filter (where not h.ticket_id between 541 and 552) > 5, 'retrieval for a question with a phrase returns chunks without the phrase')
from public.retrieve_chunks(pg_temp.unit(1), 'm', 0.5, 40, question => 'why "lambda kappa"') h;

set local role anon;
select throws_ok($$ select * from public.search_hybrid('alpha') $$, '42501', null, 'anon cannot call search_hybrid');

select * from finish();
rollback;
