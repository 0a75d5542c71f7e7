-- Documents are found by entity names: literal substrings, exact matches first.

begin;
select plan(28);
set local role service_role;

insert into public.documents (title, named_entities, archived) values
  ('Election', '[{"name": "Raft", "type": "Protocol"}, {"name": "raft", "type": "protocol"}, {"name": "Ann Lee", "type": "person"}]', false),
  ('Boats', '[{"name": "Raft", "type": "vehicle"}, {"name": "Life raft"}]', false),
  ('Copies', '[{"name": "Multi-Raft", "type": "protocol"}, {"name": "Raft protocol", "type": "protocol"}]', false),
  ('Old', '[{"name": "Raft", "type": "protocol"}]', true),
  ('Signs', '[{"name": "100% club", "type": null}, {"name": "snake_case"}, {"name": "C++", "type": "language"}, {"name": " Go "}, {"name": "C:\\temp"}]', false),
  ('Blank', '[{"name": " ", "type": "x"}, {"name": "abcxbcd"}]', false);

-- 'title: entity type', in order.
create function pg_temp.find(name text, type text default null, count integer default 10) returns text[]
language sql as $$
  select coalesce(array_agg(title || ': ' || concat_ws(' ', matched_entity, matched_type) order by place), '{}')
  from public.find_documents_by_entity(name, type, count) with ordinality as f(id, title, matched_entity, matched_type, place)
$$;

select is(pg_temp.find('raft'), array['Boats: Raft vehicle', 'Election: Raft Protocol', 'Boats: Life raft', 'Copies: Multi-Raft protocol', 'Copies: Raft protocol protocol'],
  'exact names come first, then shorter ones; each entity of a document once, no archived documents');
select is(pg_temp.find('RAFT P'), array['Copies: Raft protocol protocol'], 'part of a name matches, ignoring case');
select is(pg_temp.find(' raft ', ' PROTOCOL '), array['Election: Raft Protocol', 'Copies: Multi-Raft protocol', 'Copies: Raft protocol protocol'], 'a type filter matches, ignoring case and surrounding spaces');
select is(pg_temp.find('raft', 'proto'), '{}', 'a type filter does not match part of a type');
select is(pg_temp.find('raft', ''), pg_temp.find('raft'), 'a blank type filter is ignored');
select is(pg_temp.find('raft', null, 3), (pg_temp.find('raft')) [1:3], 'at most match_limit results are returned');
select is(pg_temp.find('raft', null, 1), (pg_temp.find('raft')) [1:1], 'match_limit also limits exact matches');
select is(pg_temp.find('raft', null, 0), (pg_temp.find('raft')) [1:1], 'a match_limit of 0 returns one result');
select is(pg_temp.find('%'), array['Signs: 100% club'], '% matches literally');
select is(pg_temp.find('r%t'), '{}', '% is no wildcard within a name');
select is(pg_temp.find('e_c'), array['Signs: snake_case'], '_ matches literally');
select is(pg_temp.find('r_ft'), '{}', '_ is no wildcard within a name');
select is(pg_temp.find('c:\t'), array['Signs: C:\temp'], 'a backslash matches literally');
select is(pg_temp.find('c++'), array['Signs: C++ language'], 'plus signs match literally');
select is(pg_temp.find('go'), array['Signs: Go'], 'a name of two letters is found');
select is(pg_temp.find('o'), array['Signs: Go', 'Copies: Raft protocol protocol'], 'a search for one letter finds parts of names');
select is(pg_temp.find(''), '{}', 'an empty name finds nothing');
select is(pg_temp.find(' ') || pg_temp.find(null), '{}', 'a blank or null name finds nothing');
select is(pg_temp.find('paxos'), '{}', 'an unknown name finds nothing');
select is(pg_temp.find('abcd'), '{}', 'a name with the same trigrams in another order is not found');

update public.documents set named_entities = '[{"name": "Paxos"}]' where title = 'Election';
select is(pg_temp.find('paxos') || pg_temp.find('ann'), array['Election: Paxos'], 'new entities replace the old ones');
update public.documents set named_entities = '[]' where title = 'Election';
select is(pg_temp.find('paxos'), '{}', 'removed entities are no longer found');
update public.documents set archived = true where title = 'Boats';
select is(pg_temp.find('life'), '{}', 'entities of an archived document are not found');
select lives_ok($$ insert into public.documents (title, named_entities)
  values ('Long', jsonb_build_array(jsonb_build_object('name', 'long ' || repeat('é ', 490), 'type', repeat('x', 1000)))) $$, 'a document may have a long entity name and type');
select is((select left(matched_entity, 6) from public.find_documents_by_entity('long é')), 'long é', 'a long entity name is found by its beginning');

-- The index ---------------------------------------------------------------------------------------

reset role;
insert into public.documents (title, named_entities)
select 'many ' || i, jsonb_build_array(jsonb_build_object('name', md5(i::text))) from generate_series(1, 5000) i;
insert into public.documents (title, named_entities) values ('needle', '[{"name": "Zookeeper"}]');
analyze public.documents;
set local role service_role;
set local plan_cache_mode = force_generic_plan;
create function pg_temp.scans(name text) returns bigint language sql as $$ select pg_stat_get_xact_numscans(name::regclass) $$;
create temporary table before as select pg_temp.scans('public.documents') as of_table, pg_temp.scans('public.documents_entity_pieces_idx') as of_index;
select is(pg_temp.find('okee'), array['needle: Zookeeper'], 'one name among many is found');
select is((pg_temp.scans('public.documents') - of_table) || ' ' || (pg_temp.scans('public.documents_entity_pieces_idx') - of_index), '0 1',
  'entity search uses the index and no sequential scan') from before;

set local statement_timeout = '10s';
select is_empty($$ select * from public.find_documents_by_entity(repeat('ab ', 500000)) $$, 'a name longer than any stored one returns nothing within the timeout');

select * from finish();
rollback;
