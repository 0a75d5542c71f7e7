-- How texts are split into words, how words are weighted, and that the counts behind the weights
-- stay exact after any write.

begin;
select plan(141);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas');
create function pg_temp.tickets(query text, count integer default 10) returns bigint[]
language sql as $$
  select array_agg(coalesce(k.ticket_id, -k.project_id) order by k.rank) from public.search_by_keyword(query, count) k
$$;

-- Identifiers -------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values
  (11, 1, 1, 'Ti.UI.TableView flickers', null),
  (12, 1, 1, 'Seen in production', 'the answer was ERR_CARD_DECLINED_05'),
  (13, 1, 1, 'Seen in staging', 'the answer was ERR_CARD_DECLINED_51'),
  (14, 1, 1, 'Crash', 'unexpected Vec<Widget> here, in src/lexer/token_stream.go'),
  (15, 1, 1, 'Hooks', 'see https://docs.example.com/guide/webhooks?page=retries#top'),
  (16, 1, 1, 'XMLHttpRequest hangs', 'parseJSONBody(value) never returns'),
  (17, 1, 1, 'sha256Sum differs', null);
select is(pg_temp.tickets(q), array[t]::bigint[], format('%s is found by %s', f, q))
from (values
  ('a dotted name', 'TableView', 11), ('a dotted name', 'view', 11), ('a dotted name', 'Ti.UI.TableView', 11), ('a dotted name', 'ti ui', 11),
  ('a name in camel case', 'xml request', 16), ('a name in camel case', 'XMLHttpRequest', 16), ('a name in camel case', 'json', 16),
  ('a name in camel case', 'tableview', 11), ('a name in camel case', 'xmlhttprequest', 16), ('a name in camel case', 'sum', 17), ('a name in camel case', 'sha256', 17),
  ('a type', 'Vec<Widget>', 14), ('a type', 'vec', 14), ('a type', 'widgets', 14),
  ('a file', 'token_stream.go', 14), ('a file', 'stream', 14), ('a file', 'src/lexer', 14),
  ('an address', 'webhooks', 15), ('an address', 'docs.example.com', 15), ('an address', 'retries', 15)) q (f, q, t);
select is(pg_temp.tickets('ERR_CARD_DECLINED_51'), '{13,12}', 'the ticket with the whole code comes first, one that shares a part second');
select is(pg_temp.tickets('ERR_CARD_DECLINED_05'), '{12,13}', 'the whole code comes first for the other code too');
select is(pg_temp.tickets('declined'), '{12,13}', 'a part of a code finds every code with that part');
select is(pg_temp.tickets('"card declined 51"'), '{13}', 'the parts of a code match as a phrase');

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values
  (201, 1, 1, 'Bindings for C++', null), (202, 1, 1, 'Bindings', 'written in (C#), or F#.'), (203, 1, 1, 'Bindings for C', 'and obj-c'), (204, 1, 1, 'Bindings for .NET', null),
  (205, 1, 1, 'The net result', null), (206, 1, 1, 'Moved to node.js 1.2.3', 'C++11 and C/C++');
select is(pg_temp.tickets(q), t::bigint[], 'signs are part of a name: ' || q)
from (values ('C++', '{201,206}'), ('c++,', '{201,206}'), ('C#', '{202}'), ('(c#)', '{202}'), ('F#', '{202}'), ('C', '{203,206}'), ('.NET', '{204,205}'), ('obj-c', '{203,206}'),
  ('node.js', '{206}'), ('"node.js"', '{206}'), ('"1.2.3"', '{206}'), ('"bindings for C++"', '{201}'), ('"for .NET"', '{204}'), ('".NET"', '{204}'), ('bindings -C++', '{202,203,204}'), ('bindings -C#', '{201,203,204}'),
  ('bindings -.NET', '{202,201,203}')) q (q, t);

-- Accents and scripts -----------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values
  (21, 1, 1, 'résumé upload', null), (22, 1, 1, 'the resume button', 'of the naïve form'),
  (23, 1, 1, '東京都庁の設定画面', null), (24, 1, 1, '결제오류', null), (25, 1, 1, '支付失败', null), (26, 1, 1, 'การชำระเงิน', null),
  (27, 1, 1, 'Webhookの再送', null), (28, 1, 1, U&'cafe\0301 \1112\1161\11ab', null), (29, 1, 1, 'ﾕｰｻﾞｰ', null), (30, 1, 1, 'エラー表示', null);
select set_eq(format('select unnest(pg_temp.tickets(%L))', q), '{21,22}'::bigint[], 'accents are ignored: ' || q)
from unnest(array['resume', 'résumé', 'RÉSUMÉS', U&'re\0301sume\0301']) q;
select is(pg_temp.tickets('naive'), '{22}', 'accents are ignored in a description');
select is(pg_temp.tickets(q), array[t]::bigint[], 'two adjacent characters of a script without spaces match: ' || q)
from (values ('東京', 23), ('京都', 23), ('画面', 23), ('定画', 23), ('결제', 24), ('제오', 24), ('支付', 25), ('付失', 25), ('ชำ', 26), ('เงิน', 26),
  ('再送', 27)) q (q, t);
select is(pg_temp.tickets('京庁'), null, 'two characters that are not adjacent find nothing');
select is(pg_temp.tickets(q), array[t]::bigint[], 'equivalent spellings of a character match: ' || q)
from (values ('café', 28), ('CAFE', 28), ('한', 28), ('ユーザー', 29), ('ｴﾗｰ', 30)) q (q, t);
select is(pg_temp.tickets('エラー'), '{30}', 'characters left over after a pair do not match by themselves');
select is(pg_temp.tickets(q), t::bigint[], 'phrases and minus match at any position in a script without spaces: ' || q)
from (values ('"ラー表" 画面', '{30}'), ('"表示"', '{30}'), ('表示 画面 -エラー', '{23}'), ('表示 -ラー表', null), ('表示 -示エラ', '{30}'),
  ('再送 -"Webhookの"', null), ('再送 -"送再"', '{27}')) q (q, t);
select is(pg_temp.tickets(q), t::bigint[], 'a single character matches every text that contains it: ' || q)
from (values ('都', '{23}'), ('庁', '{23}'), ('面', '{23}'), ('付', '{25}'), ('再', '{27}'), ('の', '{23,27}'), ('"再"', '{27}'), ('の -再', '{23}'), ('東京 面', '{23}'), ('水', null)) q (q, t);
select is(tasklens.compose_text('e' || repeat(U&'\0301\0323', 20000)), U&'\1eb9', 'a character with 40,000 combining marks is composed');
select is(length(tasklens.compose_text(repeat(U&'\fdfa\ff01', 1000))), 4000, 'composing a text makes it at most twice as long');
select results_eq($$ select * from tasklens.read_words(U&'the Cafe\0301Menu', '{english}') order by term $$, $$ select * from tasklens.read_words('the CaféMenu', '{english}') order by term $$, 'names are split the same whether their characters are composed or decomposed');
select is(pg_temp.tickets('設定画面'), '{23}', 'four adjacent characters of a script without spaces match');

-- Weights of words --------------------------------------------------------------------------------

-- The better of two tickets has the higher id, so that a tie would give the opposite order.
insert into public.tickets (ticket_id, project_id, status_id, name, description)
values
  (31, 1, 1, 'n', 'zebra'), (32, 1, 1, 'n', 'quagga'), (33, 1, 1, 'n', 'zebra'), (34, 1, 1, 'n', 'zebra'),
  (41, 1, 1, 'n', null), (42, 1, 1, 'n', 'okapi'), (43, 1, 1, 'okapi', null),
  (51, 1, 1, 'n', 'tapir in a text that goes on about other animals'), (52, 1, 1, 'n', 'tapir in a text'),
  (61, 1, 1, 'n', 'gnu over there, red kite here'), (62, 1, 1, 'n', 'kite gnu over there, here red'), (63, 1, 1, 'n', 'there gnu kite, over here red'),
  (64, 1, 1, 'n', 'ibis one two three loon'), (65, 1, 1, 'n', 'ibis one two loon three'), (66, 1, 1, 'crane stork', 'one two three');
insert into public.status_changes (ticket_id, note) values (41, 'okapi');
select is(pg_temp.tickets('quagga zebra'), '{32,31,33,34}', 'a rare word weighs more than a common one');
select is(pg_temp.tickets('okapi'), '{43,42,41}', 'a name weighs more than a description, and a description more than a note');
select is(pg_temp.tickets('tapir'), '{52,51}', 'a word weighs more in a short text than in a long one');
select is((pg_temp.tickets('gnu kite')) [1], 63::bigint, 'adjacent words of the query score higher if the text has them adjacent and in the same order');
select is((pg_temp.tickets('ibis loon')) [1], 65::bigint, 'words up to three positions apart score higher than words farther apart');
select is(
  (select round((near.score - far.score)::numeric, 6)
   from public.keyword_entries e
   cross join lateral tasklens.score_entries(array[e.keyword_entry_id], '{}', row(c.words, '{1,3}', '{1,2}', null, null, null), 'x', 1) near
   cross join lateral tasklens.score_entries(array[e.keyword_entry_id], '{}', row(c.words, '{1,3}', '{1,2}', null, null, null), 'x', 0) far
   where e.ticket_id = t), extra, 'closeness adds 0.3 times the mean weight of the two words, twice that in a name: ' || extra)
from (values (65, '{ibi,loon}'::text[], 0.6), (66, '{crane,stork}', 1.2), (64, '{ibi,loon}', 0)) c (t, words, extra);
-- The frequency of a word from its score: score = f / (1.2 + f), where f is the frequency
-- normalised by length.
insert into public.tickets (ticket_id, project_id, status_id, name, description)
select 80 + n, 1, 1, 'n', repeat('rhea ', n) from unnest(array[1, 2, 5, 20]) n;
select is(
  (select round((1.2 * s.score / (1 - s.score) * (0.25 + 0.75 * e.body_length * t.entries / l.entries))::numeric)::integer
   from public.keyword_entries e
   cross join tasklens.word_entries(array['']) t cross join tasklens.word_entries(array[' ']) l
   cross join lateral tasklens.score_entries(array[e.keyword_entry_id], '{}', row('{rhea}', '{1}', '{1}', null, null, null), 'rhea', 0) s
   where e.ticket_id = 80 + n), n,
  format('the frequency of a word that occurs %s times is computed', n))
from unnest(array[1, 2, 5, 20]) n;
insert into public.tickets (ticket_id, project_id, status_id, name) values (95, 1, 1, 'heron'), (96, 1, 1, 'heron among so many other birds of passage');
select is(
  (select round((1.2 * s.score / (1 - s.score) * (0.25 + 0.75 * e.title_length * t.entries / l.titles))::numeric)::integer
   from public.keyword_entries e
   cross join tasklens.word_entries(array['']) t cross join tasklens.word_entries(array[' ']) l
   cross join lateral tasklens.score_entries(array[e.keyword_entry_id], '{}', row('{heron}', '{1}', '{1}', null, null, null), 'x', 0) s
   where e.ticket_id = n), 3,
  'a word of a name counts three times, normalised by the length of names: ' || n)
from unnest(array[95, 96]) n;
select ok(pg_temp.tickets('zebra quagga okapi tapir gnu ibis crane rhea heron', 100) @> '{31,32,43,51,61,64,66,81,95}', 'every word of a query is searched for');
insert into public.tickets (ticket_id, project_id, status_id, name, description)
select i, 1, 1, 'n', (select string_agg('qu' || chr(96 + a) || chr(96 + b), ' ') from generate_series(1, 5) a, generate_series(1, 8) b) || case i when 97 then '' else ' hoopoe' end
from unnest(array[97, 98]) i;
select is(
  ((tasklens.plan_words(e.description, null)).terms) [1], '''hoopo''', 'a query of 41 words is reduced to its rarest words')
from public.tickets e where e.ticket_id = 98;
select is(cardinality((tasklens.plan_words(e.description, null)).terms), 32, 'a query of 41 words is reduced to 32')
from public.tickets e where e.ticket_id = 98;

-- Words that no text contains --------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values (71, 1, 1, 'n', 'authentication'), (72, 1, 1, 'n', 'the gateway'), (73, 1, 1, 'n', 'failed with E1147'), (74, 1, 1, 'n', 'lakeside64'), (75, 1, 1, 'n', 'quartz');
select is(pg_temp.tickets('authentcation'), '{71}', 'a misspelt word is replaced by the most similar known word');
select is(pg_temp.tickets('qaurtz'), '{75}', 'swapped letters too, though few trigrams are left, as soon as the word is there');
select is(pg_temp.tickets('authentcation gateway'), '{72,71}', 'a replaced word weighs less than a correctly spelt one');
select set_eq($$ select unnest(pg_temp.tickets('authentcation gatewey')) $$, '{71,72}'::bigint[], 'each of two misspelt words is replaced');
select is(pg_temp.tickets(q), null, 'a code is never replaced: ' || q) from unnest(array['E1148', 'gateway2', 'lakeside']) q;
select is(pg_temp.tickets('E1147'), '{73}', 'a code is found by its exact spelling');

-- Joined and split words -------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values
  (301, 1, 1, 'Login refused', null), (302, 1, 1, 'Nobody can log in', null), (303, 1, 1, 'n', 'She logged in twice'), (304, 1, 1, 'Log rotation', 'happens in time'),
  (305, 1, 1, 'A checkbox jumps', null), (306, 1, 1, 'Each check box jumped', null), (307, 1, 1, 'Check the box', null), (308, 1, 1, 'n', 'the roll out was a set-up'),
  (309, 1, 1, 'The parser informs', null), (310, 1, 1, 'Error in form', null);
select set_eq(format('select unnest(pg_temp.tickets(%L))', q), t::bigint[], 'a compound also finds the text with two words: ' || q)
from (values ('login', '{301,302,303}'), ('"login"', '{301,302,303}'), ('setup', '{308}'), ('rollout', '{308}'), ('refused -login', null), ('rotation -login', '{304}'),
  ('checkbox', '{305,306}')) q (q, t);
select set_eq(format('select unnest(pg_temp.tickets(%L))', q), t::bigint[], 'two words also find the text with the compound: ' || q)
from (values ('log in', '{301,302,303,304}'), ('log-in', '{301,302,303,304}'), ('check box', '{305,306,307}')) q (q, t);
select is(pg_temp.tickets('in form'), '{310,22}', 'a stop word is not joined with the word after it');
select is(array_position((tasklens.plan_words('error in', null)).terms, '''errorin'''), null, 'adjacent words are not joined if no text contains the compound');

-- Counts ------------------------------------------------------------------------------------------

-- The words whose stored count differs from counting the entries.
create function pg_temp.miscounted() returns setof text
language sql as $$
  with counted as materialized (
    select u.lexeme as word, count(*) as entries, count(*) filter (where 'A' = any (u.weights)) as titles
    from public.keyword_entries e, unnest(e.words) u group by u.lexeme
    union all
    select '', count(*), 0 from public.keyword_entries e
    union all
    select ' ', coalesce(sum(e.body_length), 0), coalesce(sum(e.title_length), 0) from public.keyword_entries e
  ), seen as materialized (
    select c.word from counted c union select k.word from tasklens.word_counts k union select g.word from tasklens.word_count_changes g
  )
  select w.word
  from tasklens.word_entries(array(select s.word from seen s)) w left join counted c using (word)
  where (w.entries, w.titles) is distinct from (coalesce(c.entries, 0), coalesce(c.titles, 0))
$$;
select is_empty('select * from pg_temp.miscounted()', 'word counts are exact after inserts');
update public.tickets set name = name || ' and emu', description = replace(description, 'zebra', 'horse') where ticket_id between 31 and 43;
update public.projects set name = 'Pears emu' where project_id = 1;
select is_empty('select * from pg_temp.miscounted()', 'word counts are exact after an update of many rows');
select is((select (w.entries, w.titles)::text from tasklens.word_entries('{emu}') w), '(8,8)', 'a new word is counted in every entry that contains it');
select is((select (w.entries, w.titles)::text from tasklens.word_entries('{zebra}') w), '(0,0)', 'the count of a removed word is 0');
insert into public.status_changes (ticket_id, note) select t, 'emu noted' from unnest(array[51, 51, 52]) t;
update public.status_changes set ticket_id = 61, note = 'ostrich' where ticket_id = 41;
update public.tickets set project_id = 2 where ticket_id in (11, 12, 51);
select is_empty('select * from pg_temp.miscounted()', 'word counts are exact after changes of notes and moves to another project');
insert into public.tickets (ticket_id, project_id, status_id, name) values (11, 2, 1, 'cassowary'), (81, 2, 1, 'cassowary')
on conflict (ticket_id) do update set name = excluded.name;
select is_empty('select * from pg_temp.miscounted()', 'word counts are exact after an upsert that inserts and updates');
select tasklens.merge_word_counts();
select is_empty('select * from pg_temp.miscounted() union all select word from tasklens.word_count_changes', 'word counts are exact after a merge, which leaves no unmerged changes');
select is(pg_temp.tickets('authentcation'), '{71}', 'a misspelt word is replaced after a merge too');
delete from public.tickets where ticket_id in (11, 13, 43);
delete from public.projects where project_id = 2;
select is_empty('select * from pg_temp.miscounted()', 'word counts are exact after deletes of tickets and of a project with its tickets');
select isnt_empty('select from tasklens.word_count_changes', 'deletes leave changes to be merged');
insert into public.tickets (ticket_id, project_id, status_id, name, description)
select 91, 1, 1, 'n', string_agg(md5(i::text), ' ') from generate_series(1, 6000) i;
select is_empty('select * from pg_temp.miscounted() union all select word from tasklens.word_count_changes', 'a statement with many new words merges all changes, and word counts stay exact');

-- Common words ------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description)
select i, 1, 1, 'n', 'ordinary' from generate_series(10001, 22000) i;
insert into public.tickets (ticket_id, project_id, status_id, name, description)
values (30001, 1, 1, 'n', 'unique'), (30002, 1, 1, 'ordinary', null), (30003, 1, 1, 'ordinary', null);
select is((pg_temp.tickets('ordinary unique')) [1], 30001::bigint, 'a rare word finds its ticket among thousands that contain the common one');
select is(cardinality(pg_temp.tickets('ordinary', 2000000000)), 1000, 'a query of only a common word returns 1,000 tickets');
select is((pg_temp.tickets('ordinary')) [1:2], '{30002,30003}', 'tickets with the common word in their name come first');

-- With explicit limits: total entries looked up for the words, and how many of them are scored.
create function pg_temp.bounded(query text, reach integer, scored integer) returns bigint[]
language sql as $$
  select array_agg(k.ticket_id order by k.rank) from tasklens.rank_entries(tasklens.begin_search(query, null), 1000, reach, scored, scored) k
$$;
select is((pg_temp.bounded('ordinary', 100, 600)) [1:2], '{30002,30003}', 'a word over the lookup limit is still searched for in all names');
select is(cardinality(pg_temp.bounded('ordinary', 100, 600)), 102, 'a word over the lookup limit is found outside of names only up to the limit');
select is(pg_temp.bounded('ordinary unique', 100, 600), '{30001,30002,30003}', 'next to a rare word, a word over the lookup limit is searched for only in names');
select is((pg_temp.bounded('ordinary unique', 100000, 1)) [1:3], '{30001,30002,30003}', 'entries beyond the scoring limit are sorted by the weights of their words');
-- The entries read so far. A search reads the few hundred that it scores up to four times each.
create function pg_temp.reads() returns bigint
language sql as $$
  select pg_stat_get_xact_tuples_fetched('public.keyword_entries'::regclass)
$$;
create temporary table before as select pg_temp.reads() as reads;
select pg_temp.tickets('ordinary');
select cmp_ok(pg_temp.reads() - (select reads from before), '<', 11500::bigint, 'a search for a common word reads a bounded number of entries');

select * from finish();
rollback;
