-- Document search by similarity, keywords, utility and age: each number of a result is compared
-- with one computed by hand.

begin;
select plan(50);

-- The first statement of this connection, before pgvector is loaded.
set local role service_role;
select is_empty(
  $$ select from public.search_documents_hybrid(('[1' || repeat(',0', 767) || ']')::extensions.vector, '{raft}') $$,
  'a new connection can search an empty table');

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

-- Vector search -----------------------------------------------------------------------------------

select results_eq(
  $$ select title, content, round(similarity::numeric, 6)::real from public.search_documents(pg_temp.unit(1), 10, 0.3, 'm') $$,
  $$ values ('near', 'text of near', 0.96::real), ('useful', 'text of useful', 0.8), ('equal', 'text of equal', 0.5) $$,
  'documents above the threshold by descending similarity, without archived and unembedded ones');
select is((select string_agg(title, ' ' order by similarity desc) from public.search_documents(pg_temp.unit(1), 10, 0.5, 'm')), 'near useful',
  'a similarity equal to the threshold is not above it');
select is((select string_agg(title, ' ') from public.search_documents(pg_temp.unit(1), 1)), 'other', 'without a model, vectors of any model are searched, up to match_count');
select is((select count(*) from public.search_documents(pg_temp.unit(1), 0)), 1::bigint, 'a match_count of 0 returns one document');
select results_eq(
  $$ select s.title, round(s.similarity::numeric, 4)::real from public.documents d, public.find_similar_documents(d.id, 2) s where d.title = 'near' $$,
  $$ values ('useful', 0.936::real), ('equal', 0.62) $$, 'similar documents exclude the document itself and those of other models');
select is_empty($$ select from public.documents d, public.find_similar_documents(d.id) s where d.title = 'no vector' $$, 'a document without a vector has no similar documents');
select is_empty($$ select from public.find_similar_documents(gen_random_uuid()) $$, 'an unknown document has no similar documents');

-- Parts of the score ------------------------------------------------------------------------------

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

select is(pg_temp.scores('plain'), '0.8 0 0 0.5 1 0.45', 'similarity weighs 0.5 and freshness 0.1, with a half-life of 30 days');
select is(pg_temp.scores('plain', decay => 10), '0.8 0 0 0.25 1 0.425', 'a shorter freshness decay lowers the score');
select is(pg_temp.scores('full', '{raft}'), '1 1 1 1 1 1', 'a document with the highest value in every part has score 1');
select is(pg_temp.scores('dated'), '0.8 0 0 0.5 0.7 0.315', 'the class dated has weight 0.7');
select is(pg_temp.scores('historical'), '0.8 0 0 0.5 0.5 0.225', 'the class historical has weight 0.5');
select is(pg_temp.scores('current') || pg_temp.scores('unknown'), pg_temp.scores('plain') || pg_temp.scores('plain'), 'the class current and unknown classes have weight 1, like none');
select is(pg_temp.scores('some'), '0.8 0 0.2891 0.5 1 0.4934', 'the utility boost is ln(u + 1) / ln(11)');
select is(pg_temp.scores('beyond'), '0.8 0 1 0.5 1 0.6', 'the utility boost is at most 1');
select is(pg_temp.scores('future'), '0.8 0 0 1 1 0.5', 'a creation date in the future has freshness 1');
select is(pg_temp.scores('opposite'), '-1 0 0 0.5 1 -0.45', 'a similarity may be negative');
select is(pg_temp.scores('plain', decay => 0), '0.8 0 0 0 1 0.4', 'with a decay of 0, an old document has freshness 0');
select is(pg_temp.scores('full', decay => 0), '1 0 1 1 1 0.75', 'with a decay of 0, a document created now has freshness 1');
select is(pg_temp.scores('plain', decay => -5), pg_temp.scores('plain', decay => 0), 'a negative decay counts as 0');
update public.documents set created_at = '0001-01-01' where title = 'plain';
select is(pg_temp.scores('plain'), '0.8 0 0 0 1 0.4', 'the first creation date has freshness 0');
update public.documents set created_at = '9999-12-31' where title = 'plain';
select is(pg_temp.scores('plain'), '0.8 0 0 1 1 0.5', 'the last creation date has freshness 1');

-- Keywords ----------------------------------------------------------------------------------------

create function pg_temp.share(keywords text[]) returns real
language sql as $$ select split_part(pg_temp.scores('words', keywords), ' ', 2)::real $$;
select is(pg_temp.share('{raft}'), 1::real, 'a query keyword that matches two keywords of a document counts once');
select is(pg_temp.share('{RAFT,Election}'), 1::real, 'a query keyword matches part of a keyword, ignoring case');
select is(pg_temp.share('{raft,paxos,zab,gossip}'), 0.25::real, 'the keyword score is the share of query keywords that match');
select is(pg_temp.share('{raft,Raft," raft ",paxos}'), 0.5::real, 'duplicate query keywords count once');
select is(pg_temp.share('{%}') || ' ' || pg_temp.share('{0%_u}') || ' ' || pg_temp.share('{"0% u"}'), '1 0 1', '% in a query keyword matches literally');
select is(pg_temp.share('{e_case}') || ' ' || pg_temp.share('{r_ft}') || ' ' || pg_temp.share('{\\}'), '1 0 0', '_ and \ in a query keyword match literally');
select is(pg_temp.share('{c++,.*}'), 0.5::real, 'signs in a query keyword match literally');
select is(pg_temp.share('{protocolleader}') || ' ' || pg_temp.share('{"protocol leader"}'), '0 0', 'a query keyword that spans two keywords matches neither');
select is(pg_temp.share(array[e'protocol\x01leader', 'raft']), 1::real, 'a query keyword with the internal separator does not match across keywords');
select is(pg_temp.share('{}') || ' ' || pg_temp.share(null) || ' ' || pg_temp.share('{"",NULL," "}'), '0 0 0', 'without query keywords the keyword score is 0');
select is(pg_temp.share('{raft,"",NULL}'), 1::real, 'blank query keywords do not count');

-- Order and limits --------------------------------------------------------------------------------

select is((select string_agg(title, ' ') from (
    select title from public.search_documents_hybrid(pg_temp.unit(1), '{leader}', 3, 0.3, false, 30, 'm')) s), 'full words beyond', 'results are ordered by score');
select is((select count(*) from public.search_documents_hybrid(pg_temp.unit(1), '{}', 100, 0.9, false)), 1::bigint, 'only documents above the threshold are returned');
select is((select count(*) from public.search_documents_hybrid(pg_temp.unit(1), '{}', null, null, null, null)), 10::bigint, 'null arguments use the defaults');
select is((select count(*) from public.search_documents_hybrid(pg_temp.unit(1), '{}', -1)), 1::bigint, 'a match_count of -1 returns one document');
select is_empty($$ select from public.search_documents_hybrid(pg_temp.unit(0), '{raft}', 10, -2) $$, 'a zero vector as query returns nothing');
select is_empty($$ select from public.search_documents_hybrid(null, '{raft}', 10, -2) $$, 'a null query vector returns nothing');
select throws_ok($$ select from public.search_documents_hybrid('[1,0]', '{raft}') $$, '22000', null, 'a query vector of another dimension is rejected');
select row_eq(
  $$ select title, content, keywords, temporal_class from public.search_documents_hybrid(pg_temp.unit(1), '{raft}', 1) $$,
  row('full'::text, 'text of full'::text, '{Raft,log}'::text[], 'evergreen'::text), 'a result contains title, content, keywords and class');

-- Tracking ----------------------------------------------------------------------------------------

update public.documents set retrieval_count = 0;
select from public.search_documents_hybrid(pg_temp.unit(1), '{}', 1);
select results_eq($$ select title, last_retrieved_at from public.documents where retrieval_count > 0 $$, $$ values ('full', now()) $$,
  'a hybrid search counts a retrieval of each returned document');
select is((select count(*) from public.documents where retrieval_queries <> '{}'), 0::bigint, 'a hybrid search has no query text and records none');
update public.documents set retrieval_count = 0, last_retrieved_at = null;
select from public.search_documents_hybrid(pg_temp.unit(1), '{}', 1, track_retrievals => false);
select is((select sum(retrieval_count) from public.documents), 0::numeric, 'no retrieval is counted if tracking is off');

-- Weights -----------------------------------------------------------------------------------------

update public.search_config set similarity_weight = 0, keyword_weight = 0, utility_weight = 0, freshness_weight = 1, dated_weight = 0.1;
select is(pg_temp.scores('dated'), '0.8 0 0 0.5 0.1 0.05', 'search uses the weights in search_config');
select throws_ok($$ update public.search_config set similarity_weight = 0.5 $$, '23514', null, 'score weights must add up to 1');
select throws_ok($$ update public.search_config set keyword_weight = -0.5, similarity_weight = 0.5 $$, '23514', null, 'a negative weight is rejected');
select throws_ok($$ update public.search_config set historical_weight = 1.5 $$, '23514', null, 'a class weight above 1 is rejected');

select is((select max(keyword_score) from public.search_documents_hybrid(pg_temp.unit(1), array['raft', repeat('ab ', 700)], track_retrievals => false)), 1::double precision,
  'a keyword longer than any query is dropped, since it would need an index lookup for each of its pieces');

select * from finish();
rollback;
