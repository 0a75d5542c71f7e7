-- What people really type: pasted lines, common words, signs, parts of versions and hashes, words
-- written together and apart, letters with and without marks.

begin;
select plan(138);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas');
create function pg_temp.tickets(query text, count integer default 10) returns bigint[]
language sql as $$ select array_agg(k.ticket_id order by k.rank) from public.search_by_keyword(query, count) k where k.ticket_id is not null $$;

-- Pasted lines ------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description) values
  (1, 1, 1, 'Heap of the importer', 'Start it as java -Xmx2g -jar importer.jar, else it stops.'),
  (2, 1, 1, 'Cleaning the disk', E'Somebody ran\n-rf build\nand git push -f on Friday.'),
  (3, 1, 1, 'Refund fails', 'the voucher is gone'),
  (4, 1, 1, 'Refund works', 'with a card'),
  (5, 1, 1, 'Search in files', 'find . -name build, then sed -i s/a/b/');
select is((pg_temp.tickets(q)) [1], t::bigint, 'a pasted line finds its text: ' || q) from (values
  ('java -Xmx2g -jar importer.jar', 1), ('java -Xmx4g -jar importer.jar', 1), ('rm -rf build', 2), ('git push -f', 2), ('find . -name build', 5), ('sed -i s/a/b/ -backup', 5)) c (q, t);
select is(pg_temp.tickets(q), t::bigint[], 'a minus excludes where no text has it as typed: ' || q) from (values
  ('refund -voucher', '{4}'), ('-voucher refund', '{4}'), ('refund -card -AA-3', null), ('refund -"with a card"', '{3}'), ('refund -"with card"', '{3,4}')) c (q, t);
select is(r.excluded, e::text[], 'exclusions are reported: ' || q) from (values
  ('refund -voucher -TX-9 -"a card"', '{voucher,TX-9,"\"a card\""}'), ('git push -f', '{}'), ('refund', '{}')) c (q, e), public.explain_query(q) r;

-- Common words and signs --------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description) values
  (11, 1, 1, 'IT cannot open the safe', 'nobody has a key'),
  (12, 1, 1, 'Band "The Who" in the list of artists', 'Not to be or not to be.'),
  (13, 1, 1, '🔥 Oven too hot', 'Marked by the baker, and ✅ by nobody.'),
  (14, 1, 1, 'Operator => is shown as →', 'Also != and 100% and §12.'),
  (15, 1, 1, 'It is on call', 'The call came and it was over, 100 times.'),
  (16, 1, 1, 'Handbook of the ward', 'Doctor Who is on call tonight, with 12 beds.');
select is(pg_temp.tickets(q), t::bigint[], 'found as written: ' || q) from (values
  ('IT', '{11}'), ('"The Who"', '{12}'), ('"to be or not to be"', '{12}'), ('"on call"', '{15,16}'), ('"Doctor Who"', '{16}'), ('🔥', '{13}'), ('✅', '{13}'), ('=>', '{14}'), ('!=', '{14}'), ('→', '{14}'),
  ('"🔥 oven"', '{13}'), ('🦄', null), ('🦄 oven', '{13}'), ('xylotol how', null)) c (q, t);
select is((pg_temp.tickets(q)) [1], t::bigint, 'first as written: ' || q) from (values ('The Who', 12), ('to be or not to be', 12), ('100%', 14), ('§12', 14), ('Not to be OR not', 12)) c (q, t);
select is(r.ignored, i::text[], 'what no search can use is reported: ' || q) from (values
  ('🦄 oven', '{🦄}'), ('🔥 oven', '{}'), ('=> oven', '{=>}'), ('whom ourselves', '{ourselves,whom}'), ('who can', '{}'), ('how is the oven', '{}'), ('oven - hot / …', '{}')) c (q, i), public.explain_query(q) r;

-- Edges of tokens ---------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description) values
  (21, 1, 1, 'Crash since v2.14.1', 'Works in v2.14.0.'),
  (22, 1, 1, 'Slow list', 'Seen with 2.14.1 on the tablet.'),
  (23, 1, 1, 'Meeting on 14.1.', 'Table 2, seat 14, row 1. 14 1 14 1 2.'),
  (24, 1, 1, 'Regression after the merge', 'Bisected to 9f3c1ab27d5e4b6f80a1c2d3e4f5a6b7c8d9e0f1.'),
  (25, 1, 1, 'Revert needed', 'Caused by 9f3c1ab, please revert.'),
  (26, 1, 1, 'Device restarts', '3F2C1E9A-5B7D-4C0E-9A41-6D2F8B70C512 is its id'),
  (27, 1, 1, 'Teapot', 'the answer was HTTP418, as of r90217 and go1.26.3'),
  (28, 1, 1, 'Kettle', 'the answer was 418, as of 90217 and 1.26.3'),
  (29, 1, 1, 'Image', 'pull sha256:7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730');
select is(array(select unnest((pg_temp.tickets(q)) [1:2]) order by 1), t::bigint[], 'found both ways: ' || q) from (values
  ('v2.14.1', '{21,22}'), ('2.14.1', '{21,22}'), ('9f3c1ab', '{24,25}'), ('9f3c1ab27d5e4b6f80a1c2d3e4f5a6b7c8d9e0f1', '{24,25}'),
  ('HTTP418', '{27,28}'), ('418', '{27,28}'), ('r90217', '{27,28}'), ('90217', '{27,28}'), ('go1.26.3', '{27,28}'), ('1.26.3', '{27,28}')) c (q, t);
select is((pg_temp.tickets(q)) [1], t::bigint, 'as typed first: ' || q) from (values
  ('2.14.1', 22), ('v2.14.1', 21), ('9f3c1ab', 25), ('9f3c1ab27d5e4b6f80a1c2d3e4f5a6b7c8d9e0f1', 24), ('HTTP418', 27), ('418', 28), ('r90217', 27), ('90217', 28), ('go1.26.3', 27), ('1.26.3', 28)) c (q, t);
select is((pg_temp.tickets(q)) [1], t::bigint, 'found by its beginning: ' || q) from (values
  ('3F2C1E9A', 26), ('3f2c1e9a', 26), ('7d865e9', 29), ('7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730', 29)) c (q, t);
select is((select array_agg(k.ticket_id order by k.ticket_id) from public.search_by_keyword(q, 50) k where k.exact), t::bigint[], 'exact: ' || q) from (values
  ('2.14.1', '{21,22}'), ('v2.14.1', '{21,22}'), ('9f3c1ab', '{24,25}'), ('9f3c1ab27d5e4b6f80a1c2d3e4f5a6b7c8d9e0f1', '{24,25}'), ('14.1', '{23}'), ('100%', '{14}'), ('§12', '{14}')) c (q, t);

-- Written together and apart ----------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name) values
  (31, 1, 1, 'email bounces'), (32, 1, 1, 'e-mail bounces'), (33, 1, 1, 'e mail bounces'),
  (34, 1, 1, 'wifi drops'), (35, 1, 1, 'wi-fi drops'), (36, 1, 1, 'wi fi drops'),
  (37, 1, 1, 'onboarding stalls'), (38, 1, 1, 'on-boarding stalls'), (39, 1, 1, 'on boarding stalls'),
  (40, 1, 1, 'dropdown flickers'), (41, 1, 1, 'drop-down flickers'), (42, 1, 1, 'drop down flickers'),
  (43, 1, 1, 'UTF-8 names'), (44, 1, 1, 'utf8 names');
select bag_eq(format('select unnest((pg_temp.tickets(%L)) [:%s])', q, cardinality(t::bigint[])), t::bigint[], 'every form finds every form: ' || q) from (values
  ('email', '{31,32,33}'), ('e-mail', '{31,32,33}'), ('e mail', '{31,32,33}'), ('wifi', '{34,35,36}'), ('wi-fi', '{34,35,36}'), ('wi fi', '{34,35,36}'),
  ('onboarding', '{37,38,39}'), ('on-boarding', '{37,38,39}'), ('on boarding', '{37,38,39}'), ('drop-down', '{40,41,42}'), ('dropdown', '{40,41,42}'), ('drop down', '{40,41,42}'),
  ('utf-8', '{43,44}'), ('utf8', '{43,44}')) c (q, t);
select is((select string_agg(regexp_replace(s.highlight, '(</mark>)([^<]*)$', '\1'), ' ' order by s.ticket_id) from public.search_hybrid(q) s), h, 'each form is highlighted: ' || q) from (values
  ('wifi', '<mark>wifi</mark> <mark>wi-fi</mark> <mark>wi</mark> <mark>fi</mark>'), ('wi fi', '<mark>wifi</mark> <mark>wi-fi</mark> <mark>wi</mark> <mark>fi</mark>'), ('"The Who"', 'Band &quot;<mark>The</mark> <mark>Who</mark>&quot; in <mark>the</mark>'), ('🔥', '<mark>🔥</mark>'), ('=>', 'Operator <mark>=&gt;</mark>')) c (q, h);

-- Letters -----------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name) values
  (51, 1, 1, U&'trans\00adport of pumps'), (52, 1, 1, U&'web\200bhooks'), (53, 1, 1, U&'\0645\0650\0641\062a\0627\062d'), (54, 1, 1, U&'\05e9\05c1\05b8\05dc\05d5\05b9\05dd'),
  (55, 1, 1, U&'\0915\093c\0932\092e'), (56, 1, 1, U&'\0645\06cc\200c\062e\0648\0627\0647\0645'), (57, 1, 1, U&'\0623\062d\0645\062f'), (58, 1, 1, U&'\0439\043e\0434 \0451\043b\043a\0430');
select is((pg_temp.tickets(q)) [1], t::bigint, 'letters without marks and ignorable characters: ' || q) from (values
  ('transport', 51), (U&'trans\00adport', 51), ('webhooks', 52), (U&'\0645\0641\062a\0627\062d', 53), (U&'\05e9\05dc\05d5\05dd', 54), (U&'\0915\0932\092e', 55),
  (U&'\0645\06cc\062e\0648\0627\0647\0645', 56), (U&'\0627\062d\0645\062f', 57), (U&'\0435\043b\043a\0430', 58)) c (q, t);
select is((pg_temp.tickets(U&'\0e21\0e48')) is null, true, 'marks of Thai are letters');

-- Words like marks --------------------------------------------------------------------------------

-- The index marks signs, options, common words and capitals. No typed word is taken for one.
insert into public.tickets (ticket_id, project_id, status_id, name) values
  (61, 1, 1, 'QoS of the voucher'), (62, 1, 1, 'QoS of the plum'), (63, 1, 1, 'qcx rattles'), (64, 1, 1, 'QSA and qs2b rattle'), (65, 1, 1, 'theqz wobbles as BAQC and buzqz');
select is(pg_temp.tickets(q), t::bigint[], 'a word like a mark is a word: ' || q) from (values
  ('QoS -voucher', '{62}'), ('qoS plum', '{62,61}'), ('qcx', '{63}'), ('QSA', '{64}'), ('theqz', '{65}'), ('baqc', '{65}')) c (q, t);
select is((select s.highlight from public.search_hybrid(q, match_count => 1) s), h, 'and highlighted as one: ' || q) from (values
  ('qos', '<mark>QoS</mark> of the plum'), ('qcx', '<mark>qcx</mark> rattles'), ('QSA qs2b', '<mark>QSA</mark> and <mark>qs2b</mark> rattle'),
  ('theqz the buzqz', '<mark>theqz</mark> wobbles as BAQC and <mark>buzqz</mark>'), ('BAQC wobble', 'theqz <mark>wobbles</mark> as <mark>BAQC</mark> and buzqz')) c (q, h);
select is(r.ignored, '{}', 'an unknown one is not reported as one that no search can use: ' || q) from (values ('qsunknown'), ('qounknown'), ('unknownqc'), ('unknownqz')) c (q), public.explain_query(q) r;
select is((select array_agg(k.ticket_id) from public.search_by_keyword(U&'plu\1D24m') k), '{62}', 'the letter of the marks is no part of a word');

-- A word that no text holds is replaced by a similar one, and the reading says so. In quotes it is
-- not replaced.
insert into public.tickets (ticket_id, key, project_id, status_id, name) values (900, 'AA-900', 1, 1, 'The wombatcode of the parser');
select is(r.corrected, w::jsonb, 'corrected: ' || q) from (values
  ('parser wombatone', '[{"from": "wombatone", "to": ["wombatcod"]}]'), ('Parsser, Wombatone!', '[{"from": "Parsser", "to": ["parser"]}, {"from": "Wombatone", "to": ["wombatcod"]}]'),
  ('parser wombatcode', '[]'), ('parser "wombatone"', '[]'), ('"parser wombatone" wombatone', '[]'), ('the zzzzqqqq', '[]')) c (q, w), public.explain_query(q) r;
select is(pg_temp.tickets(q), w, 'found by ' || q) from (values ('wombatone', '{900}'::bigint[]), ('"wombatone"', null), ('"wombatcode"', '{900}')) c (q, w);

-- While it is typed, the last word is the beginning of others, below the texts that hold it whole.
insert into public.tickets (ticket_id, key, project_id, status_id, name) values
  (910, 'AA-910', 1, 1, 'Zanzibar connection of ferries'), (911, 'AA-911', 1, 1, 'Ferries are late'), (912, 'AA-912', 1, 1, 'Crypt of the kings'), (913, 'AA-913', 1, 1, 'Authentication by mail'),
  (914, 'AA-914', 1, 1, 'Zoë walks'), (915, 'BB-915', 2, 1, 'Zanzotto was a cryptic poet');
select is((select array_agg(s.ticket_id) from public.search_hybrid(q, unfinished => true) s where s.ticket_id > 900), t::bigint[], 'typed so far: ' || q) from (values
  ('zan', '{915,910}'), ('zanz', '{915,910}'), ('za', null), ('crypt', '{912,915}'), ('zanzibar cryp', '{910,915,912}'), ('authenticati', '{913}'), ('zoe', '{914}'), ('"zanz"', null), ('ferries -zanz', '{911,910}')) c (q, t);
select is((select array_agg(s.ticket_id) from public.search_hybrid('zanz') s), null, 'a finished word is no beginning');

-- Many signs or words cost few readings. Counted, because time depends on the machine.
create temp sequence readings minvalue 0;
create schema uncounted;
alter function tasklens.read_words(text, text[], boolean) set schema uncounted;
create function tasklens.read_words(text text, languages text[], common boolean default false)
returns table (term text, words text[], place integer, times integer, is_common boolean, kind text)
language sql volatile as $$ select nextval('pg_temp.readings'); select * from uncounted.read_words(text, languages, common) $$;
select is((select cardinality(r.ignored) from public.explain_query(q) r), 32, left(q, 3) || ' …: the first 32 are reported')
from (select string_agg(chr(first + i), ' ') as q from (values (127744), (9728)) v(first), generate_series(0, 999) i group by first) c;
select cmp_ok(nextval('readings'), '<', 100::bigint, 'no more are read one by one');

select * from finish();
rollback;
