-- Texts in several languages: each project's words in its own, queries in those of what is
-- searched.

begin;
select plan(48);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name, language) values (1, 'EN', 'Boats', null), (2, 'DE', 'Boote', 'german'), (3, 'FR', 'Bateaux', 'french');
insert into public.tickets (ticket_id, project_id, status_id, key, name, description)
values
  (11, 1, 1, 'EN-1', 'Invoices sent twice', 'Customers pay double. The harbour log is open.'),
  (12, 1, 1, 'EN-2', 'Moorings drifting', 'People log in at night'),
  (21, 2, 1, 'DE-1', 'Rechnungen doppelt verschickt', 'Für die Kunden wurden Mahnungen gedruckt'),
  (22, 2, 1, 'DE-2', 'Segel gerissen', 'Der Mast wäre zu retten gewesen; IT weiß es'),
  (23, 2, 1, 'DE-3', 'Häfen überfüllt', 'Kein Liegeplatz im Hafenbecken'),
  (31, 3, 1, 'FR-1', 'Factures envoyées deux fois', 'Les réservations ont été annulées'),
  (32, 3, 1, 'FR-2', 'Voiles déchirées', 'À la marée haute');
insert into public.comments (comment_id, ticket_id, body) values (1, 22, 'Neue Segeltücher sind bestellt worden'), (2, 12, 'The anchors are rusty');

create function pg_temp.found(query text, filters jsonb default null) returns text[]
language sql as $$ select array_agg(r.ticket_key order by r.ticket_key) from public.search_by_keyword(query, filters => filters) r where r.ticket_id is not null $$;

select throws_ok($$ update public.projects set language = 'klingon' where project_id = 1 $$, '22023', 'language is "klingon"', 'a project has no language that Postgres does not know');
select throws_ok($$ update public.search_config set language = '' $$, '22023', 'language is ""', 'nor has the database');
select throws_ok($$ update public.search_config set language = null $$, '23502', null, 'the database has one');
select is((select count(*) from pg_catalog.pg_ts_config c where c.cfgnamespace = 'tasklens'::regnamespace),
  (select count(*) from pg_catalog.pg_ts_config c where c.cfgnamespace = 'pg_catalog'::regnamespace), 'each language of Postgres can be chosen');

select is(pg_temp.found(q), e::text[], 'any form finds any other: ' || q) from (values
  ('rechnung', '{DE-1}'), ('verschicken', '{DE-1}'), ('hafen', '{DE-3}'), ('facture', '{FR-1}'), ('réserver', '{FR-1}'), ('reservation', '{FR-1}'), ('marees', '{FR-2}'),
  ('invoice', '{EN-1}'), ('anchor', '{EN-2}'), ('login', '{EN-2}'), ('bestellen', '{DE-2}')) c (q, e);
select is(pg_temp.found('rechnungs facture invoicing'), '{DE-1,EN-1,FR-1}', 'one query finds texts in each language');
select is((select r.languages from public.explain_query('rechnung') r), '{german,english,french}', 'a query is read in all languages, that of most tickets first');
select is((select r.languages from public.explain_query('rechnung', '{"projects": ["FR"]}') r), '{french}', 'with a filter, in those of its projects');
select is((select r.excluded::text || r.ignored::text from public.explain_query('der den -mahnung') r), '{mahnung}{}', 'common words of one language are no wrong words of another');

-- Words, phrases, exclusions ----------------------------------------------------------------------

select is((tasklens.plan_words('rechnungen', null, false, '{german,english}')).terms, '{"(''rechnung'' | ''rechnungen'')"}', 'the stems of a word are one term');
select is((select round(keyword_score::numeric, 9) from public.search_by_keyword('rechnungen')),
  (select round(keyword_score::numeric, 9) from public.search_by_keyword('rechnungen', filters => '{"projects": ["DE"]}')), 'with the weight of one word');
select is(pg_temp.found(q), e::text[], 'read as typed: ' || q) from (values
  ('"für die Kunde"', '{DE-1}'), ('"rechnung doppelt"', '{DE-1}'), ('"doppelt rechnung"', '{DE-1}'), ('"réservation ont été"', '{FR-1}'), ('"log is open"', '{EN-1}'),
  ('segel -mast', null), ('hafen -liegeplätze', null), ('segel -mahnung', '{DE-2}'), ('rechnunk', '{DE-1}'), ('liege-plätze', '{DE-3}'), ('hafen becken', '{DE-3}')) c (q, e);
select is((select relaxed from public.search_hybrid('"der Kunden"') limit 1), true, 'a phrase with another article is another phrase');
select is(pg_temp.found('wäre zu', '{"projects": ["DE"]}'), '{DE-2}', 'common words are found if there are no others');
select is((select highlight from public.search_hybrid(q) limit 1), h, 'words are highlighted in any form: ' || q) from (values
  ('mahnung', E'Rechnungen doppelt verschickt\n\nFür die Kunden wurden <mark>Mahnungen</mark> gedruckt'),
  ('voile', E'<mark>Voiles</mark> déchirées\n\nÀ la marée haute')) c (q, h);

select is((public.count_tickets(query_text => 'rechnung')).count, 1::bigint, 'counts follow the language');
select is((select array_agg(r.facet || ' ' || r.label || ' ' || r.count order by r.facet) from public.search_facets('annulées -reserving', filters => '{"projects": ["FR"]}') r
  where r.facet in ('project', 'status')), '{"status To Do 1"}', 'as do those of facets: only the one that ignores the filter is read as English too');
select is((select array_agg(ticket_key) from public.similar_tickets(null, 'm', query_text => e'Rechnungen verschicken, doppelt\nMahnung für Kunden')), '{DE-1}', 'so do likely duplicates');

-- Another language --------------------------------------------------------------------------------

update public.projects set language = 'english' where project_id = 2;
select is((select waiting_languages from public.embedding_status('m')), 5::bigint, 'after a change, texts wait to be indexed');
insert into public.tickets (ticket_id, project_id, status_id, key, name) values (24, 2, 1, 'DE-4', 'Invoices lost');
select is(pg_temp.found('rechnung invoice', '{"projects": ["DE"]}'), '{DE-1,DE-4}', 'meanwhile texts in both languages are found');
update public.tickets set project_id = 1 where ticket_id = 31;
select is(pg_temp.found('facture', '{"projects": ["EN"]}'), '{FR-1}', 'as are tickets that move to a project of another language');
select is((select next_due_seconds from public.claim_embedding_jobs()), 0::double precision, 'workers index them');
select is((select count(*) from public.keyword_entries e where e.language <> tasklens.language_of(e.project_id))
  + (select count(*) from public.comment_entries e where e.language <> tasklens.language_of(e.project_id)), 0::bigint, 'until all are');
select is((select waiting_languages from public.embedding_status('m')), 0::bigint, 'and nothing waits');
-- Transactions of other databases that are as old could be writers.
update tasklens.former_languages set seen_by = '3';
select from public.claim_embedding_jobs();
select is((select count(*) from tasklens.former_languages), 0::bigint, 'nor is a former language searched');

update public.search_config set language = 'spanish';
update public.projects set language = null;
insert into public.tickets (ticket_id, project_id, status_id, key, name) values (41, 1, 1, 'EN-9', 'Facturas duplicadas');
select is(pg_temp.found('factura duplicar'), '{EN-9,FR-1}', 'another language of the database is that of projects without one');
select from public.claim_embedding_jobs();
update tasklens.former_languages set seen_by = '3';
select from public.claim_embedding_jobs();
select is((select r.languages from public.explain_query('factura') r), '{spanish}', 'which then is the only one');

select * from finish();
rollback;
