-- Values written by people are kept, however they were written: enrichment adds to them and never
-- removes or replaces them.

begin;
select plan(50);
set local role service_role;

\ir kit/documents.sql
-- Enriches a document with its current text.
create function pg_temp.enrich(digit integer, keywords text[], entities jsonb default '[]', class text default null) returns boolean
language sql as $$
  select public.store_enrichment(id, private.document_hash(title, content), enrich.keywords, entities, class, 'model') from public.documents where id = pg_temp.doc(digit)
$$;
create function pg_temp.keywords(digit integer) returns text[] language sql as $$ select keywords from public.get_document(pg_temp.doc(digit)) $$;
create function pg_temp.class(digit integer) returns text language sql as $$ select temporal_class from public.get_document(pg_temp.doc(digit)) $$;
-- 'name type, …' of a document, from the column and from the lookup table.
create function pg_temp.entities(digit integer) returns text
language sql as $$
  select coalesce(string_agg(concat_ws(' ', e ->> 'name', e ->> 'type'), ', ' order by place), 'none')
  from public.get_document(pg_temp.doc(digit)), jsonb_array_elements(named_entities) with ordinality as x(e, place)
$$;
create function pg_temp.found(digit integer) returns text
language sql as $$ select coalesce(string_agg(concat_ws(' ', name, type), ', ' order by place), 'none') from public.document_entities where document_id = pg_temp.doc(digit) $$;

-- An insert ---------------------------------------------------------------------------------------

insert into public.documents (id, title, keywords, named_entities, temporal_class) values
  (pg_temp.doc(1), 'one', '{ Mine ,mine,""}', '[{"name": "Ann", "type": "person"}, {"name": "ann", "type": "Person"}]', 'dated');
select is(pg_temp.keywords(1), '{Mine}', 'keywords are trimmed, each once, none blank');
select ok(pg_temp.enrich(1, '{pump,MINE}', '[{"name": "ANN", "type": "PERSON"}, {"name": "Redis", "type": "system"}]', 'evergreen'), 'an enrichment');
select is(pg_temp.keywords(1), '{Mine,pump}', 'adds keywords behind those that were inserted');
select is(pg_temp.entities(1), 'Ann person, Redis system', 'and entities');
select is(pg_temp.found(1), 'Ann person, Redis system', 'that are looked up');
select is(pg_temp.class(1), 'dated', 'and leaves the class');
select row_eq($$ select given_keywords, enriched_keywords, given_temporal_class, enriched_temporal_class from public.documents where id = pg_temp.doc(1) $$,
  row('{Mine}'::text[], '{pump,MINE}'::text[], 'dated'::text, 'evergreen'::text), 'what was given and what was found are kept apart');

-- An edit -----------------------------------------------------------------------------------------

update public.documents set keywords = array_append(keywords, 'added'), named_entities = named_entities || '[{"name": "Go"}]' where id = pg_temp.doc(1);
select is(pg_temp.keywords(1), '{Mine,added,pump}', 'an edit adds a keyword');
select is(pg_temp.found(1), 'Ann person, Go, Redis system', 'and an entity');
update public.documents set content = 'new' where id = pg_temp.doc(1);
select is(pg_temp.keywords(1), '{Mine,added,pump}', 'a new text keeps all until it is enriched');
select from pg_temp.enrich(1, '{valve}', '[{"name": "Kafka"}]', 'current');
select is(pg_temp.keywords(1), '{Mine,added,valve}', 'then found keywords are replaced and given ones stay');
select is(pg_temp.found(1), 'Ann person, Go, Kafka', 'as do entities');

update public.documents set keywords = array_remove(keywords, 'valve'), named_entities = '[{"name": "Ann", "type": "person"}]' where id = pg_temp.doc(1);
select is(pg_temp.keywords(1) || array[pg_temp.found(1)], '{Mine,added,Ann person}', 'an edit removes what was found, and what was given');
select from pg_temp.enrich(1, '{Valve,seal}', '[{"name": "kafka"}, {"name": "Go"}, {"name": "Ilse"}]', 'current');
select is(pg_temp.keywords(1), '{Mine,added,seal}', 'and enrichment does not bring it back');
select is(pg_temp.entities(1), 'Ann person, Ilse', 'no entity either');
update public.documents set keywords = array_append(keywords, 'valve'), named_entities = named_entities || '[{"name": "Kafka"}]' where id = pg_temp.doc(1);
select from pg_temp.enrich(1, '{}');
select is(pg_temp.keywords(1) || array[pg_temp.entities(1)], '{Mine,added,valve,"Ann person, Kafka"}', 'but writing it again does, for good');
select is((select removed_keywords || array[removed_entities::text] from public.documents where id = pg_temp.doc(1)), array['[{"name": "Go"}]'], 'and no longer counts as removing it');

update public.documents set keywords = '{}', named_entities = '[]' where id = pg_temp.doc(1);
select from pg_temp.enrich(1, '{valve,bolt}', '[{"name": "Ann", "type": "person"}, {"name": "Tomás"}]');
select is(pg_temp.keywords(1) || array[pg_temp.found(1)], '{bolt,Tomás}', 'an emptied list holds only what is found later');
update public.documents set keywords = '{}', named_entities = '[]' where id = pg_temp.doc(1);
select is(pg_temp.keywords(1) || array[pg_temp.found(1)], '{none}', 'and is empty as written');
update public.documents set keywords = null, named_entities = null where id = pg_temp.doc(1);
select is(pg_temp.keywords(1) || array[pg_temp.found(1)], '{valve,bolt,"Ann person, Tomás"}', 'null drops all edits: what was found shows again');
update public.documents set named_entities = '[{"name": "Tomás", "type": "person", "team": "billing"}]' where id = pg_temp.doc(1);
select from pg_temp.enrich(1, '{}', '[{"name": "Tomás", "type": "person"}]');
select is((select named_entities -> 0 ->> 'team' from public.get_document(pg_temp.doc(1))), 'billing', 'an entity keeps what was written beside its type');
update public.documents set given_keywords = '{valve}', given_entities = '[{"name": "Ann", "type": "person"}]' where id = pg_temp.doc(1);
select is(pg_temp.keywords(1) || array[pg_temp.found(1)], '{valve,"Ann person, Tomás person"}', 'a program may write its own list, and what was found follows');

-- A temporal class --------------------------------------------------------------------------------

update public.documents set temporal_class = null where id = pg_temp.doc(1);
select is(pg_temp.class(1), null, 'a class that is set to null is unset: here nothing else was found');
select from pg_temp.enrich(1, '{}', '[]', 'current');
select is(pg_temp.class(1), 'current', 'an enrichment says one');
update public.documents set temporal_class = 'historical' where id = pg_temp.doc(1);
select from pg_temp.enrich(1, '{}', '[]', 'dated');
select is(pg_temp.class(1), 'historical', 'an update goes before it');
update public.documents set temporal_class = null where id = pg_temp.doc(1);
select is(pg_temp.class(1), 'dated', 'and unset shows it again');

-- A load ------------------------------------------------------------------------------------------

create function pg_temp.load(keywords text[], class text default null) returns text[]
language sql as $$
  select from public.upsert_documents(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('id', pg_temp.doc(2), 'title', 'two', 'keywords', keywords, 'temporal_class', class))));
  select (pg_temp.keywords(2))
$$;
select is(pg_temp.load('{file,old}', 'current'), '{file,old}', 'a load');
select from pg_temp.enrich(2, '{found}', '[]', 'dated');
update public.documents set keywords = array_append(keywords, 'hand'), updated_at = '2024-01-01' where id = pg_temp.doc(2);
select is(pg_temp.keywords(2), '{file,old,hand,found}', 'an edit of what was loaded');
update public.documents set updated_at = '2024-01-01' where id = pg_temp.doc(2);
select is(pg_temp.load('{File,old}', 'current'), '{File,old,hand,found}', 'the same load again keeps what was added by hand');
update public.documents set updated_at = '2024-01-01' where id = pg_temp.doc(2);
select is(pg_temp.load('{File,old}', 'current'), pg_temp.keywords(2), 'and changes nothing');
select is((select updated_at from public.get_document(pg_temp.doc(2))), '2024-01-01', 'at all');
select is(pg_temp.load('{file,new}'), '{file,new,hand,found}', 'another load replaces what was loaded before');
select is(pg_temp.load(null), '{file,new,hand,found}', 'and one without keywords replaces none');
update public.documents set keywords = array_remove(keywords, 'new') where id = pg_temp.doc(2);
select is(pg_temp.load(null), '{file,hand,found}', 'what was removed by hand');
select is(pg_temp.load('{file,new}'), '{file,new,hand,found}', 'comes back with a load that names it');
select is(pg_temp.load('{}'), '{hand,found}', 'no keywords are none but those of others');
select is(pg_temp.class(2), 'current', 'a class of a load stays');
update public.documents set temporal_class = 'historical' where id = pg_temp.doc(2);
select is(array[pg_temp.load(null)::text, pg_temp.class(2)], '{"{hand,found}",historical}', 'until it is edited, and after loads without one');

-- Nulls -------------------------------------------------------------------------------------------

select lives_ok($$ insert into public.documents (id, title, content, keywords, given_keywords, named_entities, given_entities, temporal_class, archived, embedding_status,
    utility_score, retrieval_count, retrieval_queries, created_at, updated_at)
  values (pg_temp.doc(3), 'three', null, null, null, null, null, null, null, null, null, null, null, null, null), (null, 'four', null, null, null, null, null, null, null, null,
    null, null, null, null, null) $$, 'nulls may be inserted');
select row_eq($$ select content, keywords, named_entities, archived, embedding_status, utility_score, retrieval_count, retrieval_queries, created_at
    from public.documents where id = pg_temp.doc(3) $$,
  row(''::text, '{}'::text[], '[]'::jsonb, false, 'pending'::text, 0::double precision, 0::bigint, '{}'::text[], now()), 'and are the defaults');
select is_empty($$ select from public.upsert_documents(jsonb_build_array(jsonb_build_object('id', pg_temp.doc(3), 'title', 'three', 'content', null,
    'keywords', null, 'temporal_class', null, 'archived', null, 'created_at', null))) where created or embedding_status <> 'pending' $$, 'a load takes them');

update public.documents set content = 'text', keywords = '{mine}', named_entities = '[{"name": "Ann"}]', temporal_class = 'dated', archived = true, utility_score = 4,
  created_at = '2024-01-01' where id = pg_temp.doc(3);
-- As PostgREST inserts a batch in which some rows omit columns.
insert into public.documents (id, title, content, keywords, named_entities, temporal_class, archived, utility_score, created_at)
values (pg_temp.doc(3), 'new title', null, null, null, null, null, null, null)
on conflict (id) do update set title = excluded.title, content = excluded.content, keywords = excluded.keywords, named_entities = excluded.named_entities,
  temporal_class = excluded.temporal_class, archived = excluded.archived, utility_score = excluded.utility_score, created_at = excluded.created_at;
select row_eq($$ select title, content, keywords, named_entities, temporal_class, archived, utility_score, created_at from public.documents where id = pg_temp.doc(3) $$,
  row('new title'::text, 'text'::text, '{mine}'::text[], '[{"name": "Ann"}]'::jsonb, 'dated'::text, true, 4::double precision, '2024-01-01'::timestamptz),
  'in an upsert they leave what is there');
insert into public.documents (id, title, keywords) values (pg_temp.doc(3), 'x', '{yours}')
on conflict (id) do update set keywords = excluded.keywords;
select is(pg_temp.keywords(3), '{yours}', 'and what is given replaces it');
select lives_ok($$ update public.documents set content = null, keywords = null, named_entities = null, temporal_class = null, archived = null, utility_score = null,
  retrieval_count = null, retrieval_queries = null, created_at = null, embedding_status = null where id = pg_temp.doc(3) $$, 'an update to null');
select row_eq($$ select content, keywords, named_entities, temporal_class, archived, utility_score, created_at from public.documents where id = pg_temp.doc(3) $$,
  row(''::text, '{}'::text[], '[]'::jsonb, null::text, false, 0::double precision, '2024-01-01'::timestamptz), 'unsets all, and the age stays');
select throws_ok($$ update public.documents set given_entities = '[{"type": "x"}]' $$, '23514', null, 'what is no entity is refused in every list');
select throws_ok($$ update public.documents set enriched_temporal_class = 'old' $$, '23514', null, 'and so is what is no class');

-- Times and copies --------------------------------------------------------------------------------

update public.documents set updated_at = '2024-01-01' where id = pg_temp.doc(2);
select from pg_temp.enrich(2, '{found}', '[]', 'dated');
select is((select updated_at from public.documents where id = pg_temp.doc(2)), '2024-01-01', 'an enrichment that finds the same changes no document');
select from pg_temp.enrich(2, '{other}', '[]', 'dated');
select is((select updated_at from public.documents where id = pg_temp.doc(2)), now(), 'one that finds something else does');
update public.documents set keywords = array_remove(keywords, 'other'), named_entities = '[{"name": "Ann"}]' where id = pg_temp.doc(2);
create temporary table copy as select * from public.documents;
delete from public.documents;
insert into public.documents select * from copy;
select results_eq('select * from public.documents order by id', 'select * from copy order by id', 'a copy that is put back is the same');

select * from finish();
rollback;
