-- Values written by people are kept, whichever way they were written: enrichment adds to them and
-- never removes or replaces them.

begin;
select plan(42);
set local role service_role;

\ir kit/documents.sql
-- Enriches a document with its current text.
create function pg_temp.enrich(digit integer, keywords text[], entities jsonb default '[]', class text default null) returns boolean
language sql as $$
  select public.store_enrichment(s.source_id, t.source_hash, enrich.keywords, entities, class, 'model')
  from tasklens.sources s cross join lateral tasklens.source_texts(array[s.source_id]) t where s.document_id = pg_temp.doc(digit)
$$;
create function pg_temp.keywords(digit integer) returns text[] language sql as $$ select keywords from public.get_document(pg_temp.doc(digit)) $$;
create function pg_temp.class(digit integer) returns text language sql as $$ select temporal_class from public.get_document(pg_temp.doc(digit)) $$;
-- 'name type, …' of a document.
create function pg_temp.entities(digit integer) returns text
language sql as $$
  select coalesce(string_agg(concat_ws(' ', e ->> 'name', e ->> 'type'), ', ' order by place), 'none')
  from public.get_document(pg_temp.doc(digit)), jsonb_array_elements(named_entities) with ordinality as x(e, place)
$$;

-- Inserts -----------------------------------------------------------------------------------------

insert into public.documents (id, title, keywords, named_entities, temporal_class) values
  (pg_temp.doc(1), 'one', '{Mine}', '[{"name": "Ann", "type": "person"}]', 'dated');
select ok(pg_temp.enrich(1, '{pump,MINE}', '[{"name": "ANN", "type": "PERSON"}, {"name": "Redis", "type": "system"}]', 'evergreen'), 'a document with inserted values is enriched');
select is(pg_temp.keywords(1), '{Mine,pump}', 'enriched keywords follow inserted ones');
select is(pg_temp.entities(1), 'Ann person, Redis system', 'enriched entities follow inserted ones');
select is(pg_temp.class(1), 'dated', 'enrichment keeps an inserted class');

-- Edits -------------------------------------------------------------------------------------------

update public.documents set keywords = array_append(keywords, 'added'), named_entities = named_entities || '[{"name": "Go"}]' where id = pg_temp.doc(1);
select is(pg_temp.keywords(1), '{Mine,pump,added}', 'an edit adds a keyword');
select is(pg_temp.entities(1), 'Ann person, Redis system, Go', 'an edit adds an entity');
update public.documents set content = 'new' where id = pg_temp.doc(1);
select is(pg_temp.keywords(1), '{Mine,pump,added}', 'a new text keeps all keywords until the next enrichment');
select from pg_temp.enrich(1, '{valve}', '[{"name": "Kafka"}]', 'current');
select is(pg_temp.keywords(1), '{Mine,added,valve}', 'the next enrichment replaces enriched keywords and keeps given ones');
select is(pg_temp.entities(1), 'Ann person, Go, Kafka', 'the next enrichment replaces enriched entities and keeps given ones');

update public.documents set keywords = array_remove(keywords, 'valve'), named_entities = '[{"name": "Ann", "type": "person"}]' where id = pg_temp.doc(1);
select is(pg_temp.keywords(1) || array[pg_temp.entities(1)], '{Mine,added,Ann person}', 'an edit removes enriched and given values');
select from pg_temp.enrich(1, '{Valve,seal}', '[{"name": "kafka"}, {"name": "Go"}, {"name": "Ilse"}]', 'current');
select is(pg_temp.keywords(1), '{Mine,added,seal}', 'enrichment does not restore a removed keyword');
select is(pg_temp.entities(1), 'Ann person, Ilse', 'enrichment does not restore a removed entity');
update public.documents set keywords = array_append(keywords, 'valve'), named_entities = named_entities || '[{"name": "Kafka"}]' where id = pg_temp.doc(1);
select from pg_temp.enrich(1, '{}');
select is(pg_temp.keywords(1) || array[pg_temp.entities(1)], '{Mine,added,valve,"Ann person, Kafka"}', 'removed values that are added again are kept');
update public.documents set keywords = '{}', named_entities = '[]' where id = pg_temp.doc(1);
select from pg_temp.enrich(1, '{valve,bolt}', '[{"name": "Ann", "type": "person"}, {"name": "Tomás"}]');
select is(pg_temp.keywords(1) || array[pg_temp.entities(1)], '{bolt,Tomás}', 'an emptied list contains only values enriched later');
update public.documents set keywords = '{}', named_entities = '[]' where id = pg_temp.doc(1);
select is(pg_temp.keywords(1) || array[pg_temp.entities(1)], '{none}', 'a list that is emptied again is empty');
update public.documents set named_entities = '[{"name": "Tomás", "type": "person", "team": "billing"}]' where id = pg_temp.doc(1);
select from pg_temp.enrich(1, '{}', '[{"name": "Tomás", "type": "person"}]');
select is((select named_entities -> 0 ->> 'team' from public.get_document(pg_temp.doc(1))), 'billing', 'enrichment keeps an entity''s additional members');

-- A temporal class --------------------------------------------------------------------------------

update public.documents set temporal_class = null where id = pg_temp.doc(1);
select is(pg_temp.class(1), null, 'a class set to null is null without an enriched one');
select from pg_temp.enrich(1, '{}', '[]', 'current');
select is(pg_temp.class(1), 'current', 'enrichment sets a class');
update public.documents set temporal_class = 'historical' where id = pg_temp.doc(1);
select from pg_temp.enrich(1, '{}', '[]', 'historical');
select from pg_temp.enrich(1, '{}', '[]', 'dated');
select is(pg_temp.class(1), 'historical', 'a given class takes precedence over an enriched one');
update public.documents set temporal_class = null where id = pg_temp.doc(1);
select from pg_temp.enrich(1, '{}', '[]', 'dated');
select is(pg_temp.class(1), 'dated', 'after a class was set to null, enrichment sets it');

-- Loads -------------------------------------------------------------------------------------------

create function pg_temp.load(keywords text[], class text default null) returns text[]
language sql as $$
  select from public.upsert_documents(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('id', pg_temp.doc(2), 'title', 'two', 'keywords', keywords, 'temporal_class', class))));
  select (pg_temp.keywords(2))
$$;
select is(pg_temp.load('{file,old}', 'current'), '{file,old}', 'a load stores its keywords');
select from pg_temp.enrich(2, '{found}', '[]', 'dated');
update public.documents set keywords = array_append(keywords, 'hand'), updated_at = '2024-01-01' where id = pg_temp.doc(2);
select is(pg_temp.keywords(2), '{file,old,found,hand}', 'an edit adds a keyword to loaded ones');
update public.documents set updated_at = '2024-01-01' where id = pg_temp.doc(2);
select is(pg_temp.load('{File,old}', 'current'), '{File,old,found,hand}', 'a repeated load keeps keywords added by edits');
update public.documents set updated_at = '2024-01-01' where id = pg_temp.doc(2);
select is(pg_temp.load('{File,old}', 'current'), pg_temp.keywords(2), 'a repeated load keeps the keywords');
select is((select updated_at from public.get_document(pg_temp.doc(2))), '2024-01-01', 'a repeated load keeps updated_at');
select is(pg_temp.load('{file,new}'), '{file,new,found,hand}', 'a load with other keywords replaces loaded ones and keeps added and enriched ones');
select is(pg_temp.load(null), '{file,new,found,hand}', 'a load without keywords keeps all keywords');
update public.documents set keywords = array_remove(keywords, 'new') where id = pg_temp.doc(2);
select is(pg_temp.load(null), '{file,found,hand}', 'a loaded keyword removed by an edit stays removed after a load without keywords');
select is(pg_temp.load('{file,new}'), '{file,new,found,hand}', 'a removed keyword is restored by a load that contains it');
select is(pg_temp.load('{}'), '{found,hand}', 'a load with an empty list removes only loaded keywords');
select is(pg_temp.class(2), 'current', 'a loaded class is kept by loads without one');
update public.documents set temporal_class = 'historical' where id = pg_temp.doc(2);
select is(array[pg_temp.load(null)::text, pg_temp.class(2)], '{"{found,hand}",historical}', 'a class set by an edit is kept by loads without one');

-- Nulls -------------------------------------------------------------------------------------------

select lives_ok($$ insert into public.documents (id, title, content, keywords, named_entities, temporal_class, archived, utility_score, created_at)
  values (pg_temp.doc(3), 'three', null, null, null, null, null, null, null), (null, 'four', null, null, null, null, null, null, null) $$,
  'an insert accepts nulls in all columns that people write but the title');
select row_eq($$ select content, keywords, named_entities, archived, utility_score, created_at from public.documents where id = pg_temp.doc(3) $$,
  row(''::text, '{}'::text[], '[]'::jsonb, false, 0::double precision, now()), 'nulls in an insert become the defaults');
select is_empty($$ select from public.upsert_documents(jsonb_build_array(jsonb_build_object('id', pg_temp.doc(3), 'title', 'three', 'content', null,
    'keywords', null, 'temporal_class', null, 'archived', null, 'created_at', null))) where created or embedding_status <> 'pending' $$, 'upsert_documents accepts nulls');

update public.documents set content = 'text', keywords = '{mine}', named_entities = '[{"name": "Ann"}]', temporal_class = 'dated', archived = true, utility_score = 4,
  created_at = '2024-01-01' where id = pg_temp.doc(3);
-- PostgREST sends nulls for columns that some rows of a batch omit.
insert into public.documents (id, title, content, keywords, named_entities, temporal_class, archived, utility_score, created_at)
values (pg_temp.doc(3), 'new title', null, null, null, null, null, null, null)
on conflict (id) do update set title = excluded.title, content = excluded.content, keywords = excluded.keywords, named_entities = excluded.named_entities,
  temporal_class = excluded.temporal_class, archived = excluded.archived, utility_score = excluded.utility_score, created_at = excluded.created_at;
select row_eq($$ select title, content, keywords, named_entities, temporal_class, archived, utility_score, created_at from public.documents where id = pg_temp.doc(3) $$,
  row('new title'::text, 'text'::text, '{mine}'::text[], '[{"name": "Ann"}]'::jsonb, 'dated'::text, true, 4::double precision, '2024-01-01'::timestamptz),
  'nulls in an upsert keep the stored values');
insert into public.documents (id, title, keywords) values (pg_temp.doc(3), 'x', '{yours}')
on conflict (id) do update set keywords = excluded.keywords;
select is(pg_temp.keywords(3), '{yours}', 'values in an upsert replace the stored ones');
select throws_ok($$ update public.documents set named_entities = '[{"type": "x"}]' $$, '23514', null, 'named_entities rejects invalid entities');
select throws_ok($$ update public.documents set temporal_class = 'old' $$, '23514', null, 'temporal_class rejects unknown classes');

-- Timestamps and copies ---------------------------------------------------------------------------

select from pg_temp.enrich(2, '{found}', '[]', 'dated');
update public.documents set updated_at = '2024-01-01' where id = pg_temp.doc(2);
select from pg_temp.enrich(2, '{found}', '[]', 'dated');
select is((select updated_at from public.documents where id = pg_temp.doc(2)), '2024-01-01', 'an enrichment with the same values keeps updated_at');
select from pg_temp.enrich(2, '{other}', '[]', 'dated');
select is((select updated_at from public.documents where id = pg_temp.doc(2)), now(), 'an enrichment with other values moves updated_at');
update public.documents set keywords = array_remove(keywords, 'other'), named_entities = '[{"name": "Ann"}]' where id = pg_temp.doc(2);
create temporary table copy as select * from public.documents;
alter table copy drop column visible_text;
delete from public.documents;
insert into public.documents select * from copy;
select results_eq($$ select to_jsonb(d) - 'visible_text' from public.documents d order by id $$, 'select to_jsonb(c) from copy c order by id', 'documents restored from a copy are unchanged');

select * from finish();
rollback;
