-- Document search by meaning, keywords, usefulness and age: every number of a result, computed by
-- hand.

begin;
select plan(50);

-- The first statement of this connection, as for callers: pgvector is not loaded yet.
set local role service_role;
select is_empty(
  $$ select from public.search_documents_hybrid(('[1' || repeat(',0', 767) || ']')::extensions.vector, '{raft}') $$,
  'a cold connection searches an empty table');

\ir kit/documents.sql
create function pg_temp.add(
  name text, vector extensions.vector, keywords text[] default '{}', class text default null, utility double precision default 0,
  days double precision default 30, archived boolean default false, status text default 'complete', model text default 'm'
) returns void
language sql as $$
  with written as (
    insert into public.documents (title, content, keywords, temporal_class, utility_score, created_at, archived, embedding_status)
    values (name, 'text of ' || name, keywords, class, utility, now() - make_interval(secs => days * 86400), archived, status)
    returning id)
  insert into public.embeddings (document_id, model, embedding) select id, model, vector from written
$$;
-- Similarities to (1, 0, 0, …): every vector has length 1, so its first number is the cosine.
select pg_temp.add('near', pg_temp.unit(0.96, 0.28)), pg_temp.add('useful', pg_temp.unit(0.8, 0.6), utility => 10),
  pg_temp.add('equal', pg_temp.unit(0.5, 0.5, 0.5, 0.5)), pg_temp.add('far', pg_temp.unit(0.28, 0.96)),
  pg_temp.add('archived', pg_temp.unit(1), archived => true), pg_temp.add('pending', pg_temp.unit(1), status => 'pending'),
  pg_temp.add('failed', pg_temp.unit(1), status => 'failed'), pg_temp.add('other', pg_temp.unit(1), model => 'other');
insert into public.documents (title, embedding_status) values ('no vector', 'complete');

-- By meaning alone --------------------------------------------------------------------------------

select results_eq(
  $$ select title, content, round(similarity::numeric, 6)::real from public.search_documents(pg_temp.unit(1), 10, 0.3, 'm') $$,
  $$ values ('near', 'text of near', 0.96::real), ('useful', 'text of useful', 0.8), ('equal', 'text of equal', 0.5) $$,
  'documents over the threshold by falling similarity, none that may not be shown');
select is((select string_agg(title, ' ' order by similarity desc) from public.search_documents(pg_temp.unit(1), 10, 0.5, 'm')), 'near useful',
  'a similarity equal to the threshold is not over it');
select is((select string_agg(title, ' ') from public.search_documents(pg_temp.unit(1), 1)), 'other', 'without a model, of any; no more than asked for');
select is((select count(*) from public.search_documents(pg_temp.unit(1), 0)), 1::bigint, 'and at least one');
select results_eq(
  $$ select s.title, round(s.similarity::numeric, 4)::real from public.documents d, public.find_similar_documents(d.id, 2) s where d.title = 'near' $$,
  $$ values ('useful', 0.936::real), ('equal', 0.62) $$, 'those like a document, without itself and without other models''');
select is_empty($$ select from public.documents d, public.find_similar_documents(d.id) s where d.title = 'no vector' $$, 'nothing is like what has no vector');
select is_empty($$ select from public.find_similar_documents(gen_random_uuid()) $$, 'or is not there');

-- The numbers of one result -----------------------------------------------------------------------

delete from public.documents;
-- Of one document: 'similarity keyword utility freshness weight final'.
create function pg_temp.scores(name text, keywords text[] default '{}', decay integer default 30) returns text
language sql as $$
  select array_to_string(array(select round(x::numeric, 4)::real
    from unnest(array[similarity, keyword_score, utility_boost, freshness_boost, temporal_weight, final_score]) x), ' ')
  from public.search_documents_hybrid(pg_temp.unit(1), keywords, 100, -2, false, decay, 'm') where title = name
$$;
select pg_temp.add('plain', pg_temp.unit(0.8, 0.6)), pg_temp.add('full', pg_temp.unit(1), '{Raft,log}', 'evergreen', 10, 0),
  pg_temp.add('dated', pg_temp.unit(0.8, 0.6), class => 'dated'), pg_temp.add('historical', pg_temp.unit(0.8, 0.6), class => 'historical'),
  pg_temp.add('current', pg_temp.unit(0.8, 0.6), class => 'current'), pg_temp.add('unknown', pg_temp.unit(0.8, 0.6), class => 'unknown'),
  pg_temp.add('future', pg_temp.unit(0.8, 0.6), days => -10), pg_temp.add('opposite', pg_temp.unit(-1)),
  pg_temp.add('beyond', pg_temp.unit(0.8, 0.6), utility => 1e6), pg_temp.add('some', pg_temp.unit(0.8, 0.6), utility => 1),
  pg_temp.add('words', pg_temp.unit(0.8, 0.6), '{Raft,raft protocol,leader election,100% uptime,snake_case,C++}');

select is(pg_temp.scores('plain'), '0.8 0 0 0.5 1 0.45', 'half for similarity, a tenth for freshness, which halves in 30 days');
select is(pg_temp.scores('plain', decay => 10), '0.8 0 0 0.25 1 0.425', 'or sooner');
select is(pg_temp.scores('full', '{raft}'), '1 1 1 1 1 1', 'what has everything has 1');
select is(pg_temp.scores('dated'), '0.8 0 0 0.5 0.7 0.315', 'what is dated counts 0.7');
select is(pg_temp.scores('historical'), '0.8 0 0 0.5 0.5 0.225', 'what is historical half');
select is(pg_temp.scores('current') || pg_temp.scores('unknown'), pg_temp.scores('plain') || pg_temp.scores('plain'), 'other classes and none in full');
select is(pg_temp.scores('some'), '0.8 0 0.2891 0.5 1 0.4934', 'usefulness is ln(u + 1) / ln(11)');
select is(pg_temp.scores('beyond'), '0.8 0 1 0.5 1 0.6', 'and never more than 1');
select is(pg_temp.scores('future'), '0.8 0 0 1 1 0.5', 'what comes from the future is new and no newer');
select is(pg_temp.scores('opposite'), '-1 0 0 0.5 1 -0.45', 'a similarity may be negative');
select is(pg_temp.scores('plain', decay => 0), '0.8 0 0 0 1 0.4', 'with no decay at all nothing old is fresh');
select is(pg_temp.scores('full', decay => 0), '1 0 1 1 1 0.75', 'and what is of this moment is');
select is(pg_temp.scores('plain', decay => -5), pg_temp.scores('plain', decay => 0), 'less than none is none');
update public.documents set created_at = '-infinity' where title = 'plain';
select is(pg_temp.scores('plain'), '0.8 0 0 0 1 0.4', 'what is infinitely old is not fresh');
update public.documents set created_at = 'infinity' where title = 'plain';
select is(pg_temp.scores('plain'), '0.8 0 0 1 1 0.5', 'nor does any date fail');

-- Keywords ----------------------------------------------------------------------------------------

create function pg_temp.share(keywords text[]) returns real
language sql as $$ select split_part(pg_temp.scores('words', keywords), ' ', 2)::real $$;
select is(pg_temp.share('{raft}'), 1::real, 'two keywords of a document on one of the query are one');
select is(pg_temp.share('{RAFT,Election}'), 1::real, 'part of a keyword, case apart, is enough');
select is(pg_temp.share('{raft,paxos,zab,gossip}'), 0.25::real, 'the score is the share of the query''s');
select is(pg_temp.share('{raft,Raft," raft ",paxos}'), 0.5::real, 'each of which counts once');
select is(pg_temp.share('{%}') || ' ' || pg_temp.share('{0%_u}') || ' ' || pg_temp.share('{"0% u"}'), '1 0 1', '% and');
select is(pg_temp.share('{e_case}') || ' ' || pg_temp.share('{r_ft}') || ' ' || pg_temp.share('{\\}'), '1 0 0', '_ and \ are what they are');
select is(pg_temp.share('{c++,.*}'), 0.5::real, 'and so is all else');
select is(pg_temp.share('{protocolleader}') || ' ' || pg_temp.share('{"protocol leader"}'), '0 0', 'what spans two keywords is in neither');
select is(pg_temp.share(array[e'protocol\x01leader', 'raft']), 1::real, 'nor by what joins them within the search');
select is(pg_temp.share('{}') || ' ' || pg_temp.share(null) || ' ' || pg_temp.share('{"",NULL," "}'), '0 0 0', 'no keywords, no score');
select is(pg_temp.share('{raft,"",NULL}'), 1::real, 'blank ones don''t count');

-- Order and limits --------------------------------------------------------------------------------

select is((select string_agg(title, ' ') from (
    select title from public.search_documents_hybrid(pg_temp.unit(1), '{leader}', 3, 0.3, false, 30, 'm')) s), 'full words beyond', 'the score orders');
select is((select count(*) from public.search_documents_hybrid(pg_temp.unit(1), '{}', 100, 0.9, false)), 1::bigint, 'only what is over the threshold');
select is((select count(*) from public.search_documents_hybrid(pg_temp.unit(1), '{}', null, null, null, null)), 10::bigint, 'null is the default');
select is((select count(*) from public.search_documents_hybrid(pg_temp.unit(1), '{}', -1)), 1::bigint, 'at least one is given');
select is_empty($$ select from public.search_documents_hybrid(pg_temp.unit(0), '{raft}', 10, -2) $$, 'nothing is like what has no direction');
select is_empty($$ select from public.search_documents_hybrid(null, '{raft}', 10, -2) $$, 'or is not there');
select throws_ok($$ select from public.search_documents_hybrid('[1,0]', '{raft}') $$, '22000', null, 'a question of another dimension is refused');
select row_eq(
  $$ select title, content, keywords, temporal_class from public.search_documents_hybrid(pg_temp.unit(1), '{raft}', 1) $$,
  row('full'::text, 'text of full'::text, '{Raft,log}'::text[], 'evergreen'::text), 'a result says what it is');

-- Tracking ----------------------------------------------------------------------------------------

update public.documents set retrieval_count = 0;
select from public.search_documents_hybrid(pg_temp.unit(1), '{}', 1);
select results_eq($$ select title, last_retrieved_at from public.documents where retrieval_count > 0 $$, $$ values ('full', now()) $$,
  'who searches counts what is shown');
select is((select count(*) from public.documents where retrieval_queries <> '{}'), 0::bigint, 'the words of the query are not known here');
update public.documents set retrieval_count = 0, last_retrieved_at = null;
select from public.search_documents_hybrid(pg_temp.unit(1), '{}', 1, track_retrievals => false);
select is((select sum(retrieval_count) from public.documents), 0::numeric, 'unless tracking is off');

-- Weights -----------------------------------------------------------------------------------------

update public.search_config set similarity_weight = 0, keyword_weight = 0, utility_weight = 0, freshness_weight = 1, dated_weight = 0.1;
select is(pg_temp.scores('dated'), '0.8 0 0 0.5 0.1 0.05', 'the weights are those of the table');
select throws_ok($$ update public.search_config set similarity_weight = 0.5 $$, '23514', null, 'which make 1 together');
select throws_ok($$ update public.search_config set keyword_weight = -0.5, similarity_weight = 0.5 $$, '23514', null, 'none of them negative');
select throws_ok($$ update public.search_config set historical_weight = 1.5 $$, '23514', null, 'or more than 1');

reset role;
select is(private.clean_keywords(array['a', repeat('ab ', 700)]), '{a}', 'a keyword longer than any query is none: an index would be asked for each of its pieces');

select * from finish();
rollback;
