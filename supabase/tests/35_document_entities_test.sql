-- Documents are found by the people and systems that they name: substrings, literally, exact
-- matches first.

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
  'exact names come first, then the shorter ones; each entity of a document once, nothing archived');
select is(pg_temp.find('RAFT P'), array['Copies: Raft protocol protocol'], 'part of a name, case apart');
select is(pg_temp.find(' raft ', ' PROTOCOL '), array['Election: Raft Protocol', 'Copies: Multi-Raft protocol', 'Copies: Raft protocol protocol'], 'of one type, case apart');
select is(pg_temp.find('raft', 'proto'), '{}', 'a type is compared whole');
select is(pg_temp.find('raft', ''), pg_temp.find('raft'), 'a blank one is none');
select is(pg_temp.find('raft', null, 3), (pg_temp.find('raft')) [1:3], 'no more than asked for');
select is(pg_temp.find('raft', null, 1), (pg_temp.find('raft')) [1:1], 'fewer than match exactly');
select is(pg_temp.find('raft', null, 0), (pg_temp.find('raft')) [1:1], 'at least one');
select is(pg_temp.find('%'), array['Signs: 100% club'], '% is no wildcard');
select is(pg_temp.find('r%t'), '{}', 'anywhere');
select is(pg_temp.find('e_c'), array['Signs: snake_case'], 'nor is _');
select is(pg_temp.find('r_ft'), '{}', 'anywhere');
select is(pg_temp.find('c:\t'), array['Signs: C:\temp'], 'a backslash is a backslash');
select is(pg_temp.find('c++'), array['Signs: C++ language'], 'signs count');
select is(pg_temp.find('go'), array['Signs: Go'], 'short names are found');
select is(pg_temp.find('o'), array['Signs: Go', 'Copies: Raft protocol protocol'], 'and parts of one letter');
select is(pg_temp.find(''), '{}', 'an empty name finds nothing');
select is(pg_temp.find(' ') || pg_temp.find(null), '{}', 'nor a blank one or none');
select is(pg_temp.find('paxos'), '{}', 'what is not named is not found');
select is(pg_temp.find('abcd'), '{}', 'nor what has the same pieces in another order');

update public.documents set named_entities = '[{"name": "Paxos"}]' where title = 'Election';
select is(pg_temp.find('paxos') || pg_temp.find('ann'), array['Election: Paxos'], 'new entities take the place of the old');
update public.documents set named_entities = '[]' where title = 'Election';
select is(pg_temp.find('paxos'), '{}', 'or none');
update public.documents set archived = true where title = 'Boats';
select is(pg_temp.find('life'), '{}', 'who archives a document hides it');
select lives_ok($$ insert into public.documents (title, named_entities)
  values ('Long', jsonb_build_array(jsonb_build_object('name', 'long ' || repeat('é ', 5000), 'type', repeat('x', 5000)))) $$, 'a name may be long');
select is((select left(matched_entity, 6) from public.find_documents_by_entity('long é')), 'long é', 'and is found by its beginning');

-- The index ---------------------------------------------------------------------------------------

reset role;
insert into public.documents (title, named_entities)
select 'many ' || i, jsonb_build_array(jsonb_build_object('name', md5(i::text))) from generate_series(1, 5000) i;
insert into public.documents (title, named_entities) values ('needle', '[{"name": "Zookeeper"}]');
analyze public.document_entities;
set local role service_role;
set local plan_cache_mode = force_generic_plan;
create function pg_temp.scans(name text) returns bigint language sql as $$ select pg_stat_get_xact_numscans(name::regclass) $$;
create temporary table before as select pg_temp.scans('public.document_entities') as of_table, pg_temp.scans('public.document_entities_name_pieces_idx') as of_index;
select is(pg_temp.find('okee'), array['needle: Zookeeper'], 'one of many');
select is((pg_temp.scans('public.document_entities') - of_table) || ' ' || (pg_temp.scans('public.document_entities_name_pieces_idx') - of_index), '0 1',
  'is found by the index, never by reading all') from before;

set local statement_timeout = '10s';
select is_empty($$ select * from public.find_documents_by_entity(repeat('ab ', 500000)) $$, 'a name longer than any that is kept is not looked for');

select * from finish();
rollback;
