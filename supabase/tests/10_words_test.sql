-- What counts as a word, what each is worth, and that the counts behind it stay exact whatever is written.

begin;
select plan(62);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Apples'), (2, 'BB', 'Bananas');
create function pg_temp.tickets(query text, count integer default 10) returns bigint[]
language sql as $$
  select array_agg(coalesce(k.ticket_id, -k.project_id) order by k.rank) from public.search_by_keyword(query, count) k
$$;

-- Names of things in programs -------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values
  (11, 1, 1, 'Ti.UI.TableView flickers', null),
  (12, 1, 1, 'Seen in production', 'the answer was ERR_CARD_DECLINED_05'),
  (13, 1, 1, 'Seen in staging', 'the answer was ERR_CARD_DECLINED_51'),
  (14, 1, 1, 'Crash', 'unexpected Vec<Widget> here, in src/lexer/token_stream.go'),
  (15, 1, 1, 'Hooks', 'see https://docs.example.com/guide/webhooks?page=retries#top'),
  (16, 1, 1, 'XMLHttpRequest hangs', 'parseJSONBody(value) never returns');
select is(pg_temp.tickets(q), array[t]::bigint[], format('%s is found by %s', f, q))
from (values
  ('a dotted name', 'TableView', 11), ('a dotted name', 'view', 11), ('a dotted name', 'Ti.UI.TableView', 11), ('a dotted name', 'ti ui', 11),
  ('a name in camel case', 'xml request', 16), ('a name in camel case', 'XMLHttpRequest', 16), ('a name in camel case', 'json', 16),
  ('a type', 'Vec<Widget>', 14), ('a type', 'vec', 14), ('a type', 'widgets', 14),
  ('a file', 'token_stream.go', 14), ('a file', 'stream', 14), ('a file', 'src/lexer', 14),
  ('an address', 'webhooks', 15), ('an address', 'docs.example.com', 15), ('an address', 'retries', 15)) q (f, q, t);
select is(pg_temp.tickets('ERR_CARD_DECLINED_51'), '{13,12}', 'a whole code comes before one that is the same in part');
select is(pg_temp.tickets('ERR_CARD_DECLINED_05'), '{12,13}', 'and the other way round');
select is(pg_temp.tickets('declined'), '{12,13}', 'its part finds both');
select is(pg_temp.tickets('"card declined 51"'), '{13}', 'the parts stand beside one another');

-- Accents and scripts ---------------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values
  (21, 1, 1, 'résumé upload', null), (22, 1, 1, 'the resume button', 'of the naïve form'),
  (23, 1, 1, '東京都庁の設定画面', null), (24, 1, 1, '결제오류', null), (25, 1, 1, '支付失败', null), (26, 1, 1, 'การชำระเงิน', null),
  (27, 1, 1, 'Webhookの再送', null);
select set_eq(format('select unnest(pg_temp.tickets(%L))', q), '{21,22}'::bigint[], 'accents make no other word: ' || q)
from unnest(array['resume', 'résumé', 'RÉSUMÉS']) q;
select is(pg_temp.tickets('naive'), '{22}', 'nor in a description');
select is(pg_temp.tickets(q), array[t]::bigint[], 'two neighbours of a script without spaces find: ' || q)
from (values ('東京', 23), ('京都', 23), ('画面', 23), ('定画', 23), ('결제', 24), ('제오', 24), ('支付', 25), ('付失', 25), ('ชำ', 26), ('เงิน', 26),
  ('再送', 27)) q (q, t);
select is(pg_temp.tickets('京庁'), null, 'two that are no neighbours do not');
select is(pg_temp.tickets('設定画面'), '{23}', 'nor is a longer part of it lost');

-- What a word is worth --------------------------------------------------------------------------------------------

-- Of two tickets the better one has the greater id, so that equals would come the other way round.
insert into public.tickets (ticket_id, project_id, status_id, name, description)
values
  (31, 1, 1, 'n', 'zebra'), (32, 1, 1, 'n', 'quagga'), (33, 1, 1, 'n', 'zebra'), (34, 1, 1, 'n', 'zebra'),
  (41, 1, 1, 'n', null), (42, 1, 1, 'n', 'okapi'), (43, 1, 1, 'okapi', null),
  (51, 1, 1, 'n', 'tapir in a text that goes on about other animals'), (52, 1, 1, 'n', 'tapir in a text'),
  (61, 1, 1, 'n', 'gnu over there, red kite here'), (62, 1, 1, 'n', 'kite gnu over there, here red'), (63, 1, 1, 'n', 'there gnu kite, over here red');
insert into public.status_changes (ticket_id, note) values (41, 'okapi');
select is(pg_temp.tickets('quagga zebra'), '{32,31,33,34}', 'a rare word is worth more than a common one');
select is(pg_temp.tickets('okapi'), '{43,42,41}', 'a name counts more than a description, and that more than a note');
select is(pg_temp.tickets('tapir'), '{52,51}', 'a short text more than a long one');
select is((pg_temp.tickets('gnu kite')) [1], 63::bigint, 'neighbours of the query that are neighbours in the text, in their order, more than scattered ones');
-- What a score says of a word's frequency: score = f / (1.2 + f), f being the frequency against the length of the text.
insert into public.tickets (ticket_id, project_id, status_id, name, description)
select 80 + n, 1, 1, 'n', repeat('rhea ', n) from unnest(array[1, 2, 5, 20]) n;
select is(
  (select round((1.2 * s.score / (1 - s.score) * (0.25 + 0.75 * e.body_length * t.entries / t.body_words))::numeric)::integer
   from public.keyword_entries e
   cross join private.word_entries(array['']) t
   cross join lateral private.score_entries(array[e.keyword_entry_id], array['rhea'], array[1::double precision], array[1], 'rhea', 0, 0) s
   where e.ticket_id = 80 + n), n,
  format('a word that is there %s times is counted so', n))
from unnest(array[1, 2, 5, 20]) n;

-- Words that nobody wrote -----------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values (71, 1, 1, 'n', 'authentication'), (72, 1, 1, 'n', 'the gateway'), (73, 1, 1, 'n', 'failed with E1147');
select is(pg_temp.tickets('authentcation'), '{71}', 'a word written wrongly stands for the nearest known one');
select is(pg_temp.tickets('authentcation gateway'), '{72,71}', 'and is worth less than one written rightly');
select is(pg_temp.tickets('E1148'), null, 'a code stands for itself alone');
select is(pg_temp.tickets('E1147'), '{73}', 'and is found by it');

-- Counts ----------------------------------------------------------------------------------------------------------

-- The words whose count is not what counting the entries gives.
create function pg_temp.miscounted() returns setof text
language sql as $$
  with counted as materialized (
    select u.lexeme as word, count(*) as entries, count(*) filter (where 'A' = any (u.weights)) as titles, 0::bigint as title_words, 0::bigint as body_words
    from public.keyword_entries e, unnest(e.words) u group by u.lexeme
    union all
    select '', count(*), 0, coalesce(sum(e.title_length), 0), coalesce(sum(e.body_length), 0) from public.keyword_entries e
  ), seen as materialized (
    select c.word from counted c union select k.word from private.word_counts k union select g.word from private.word_count_changes g
  )
  select w.word
  from private.word_entries(array(select s.word from seen s)) w left join counted c using (word)
  where (w.entries, w.titles, w.title_words, w.body_words)
    is distinct from (coalesce(c.entries, 0), coalesce(c.titles, 0), coalesce(c.title_words, 0), coalesce(c.body_words, 0))
$$;
select is_empty('select * from pg_temp.miscounted()', 'words are counted after inserts');
update public.tickets set name = name || ' and emu', description = replace(description, 'zebra', 'horse') where ticket_id between 31 and 43;
update public.projects set name = 'Pears emu' where project_id = 1;
select is_empty('select * from pg_temp.miscounted()', 'after an update of many');
select is((select (w.entries, w.titles)::text from private.word_entries('{emu}') w), '(8,8)', 'a new word is known');
select is((select (w.entries, w.titles)::text from private.word_entries('{zebra}') w), '(0,0)', 'a word that went is gone');
insert into public.status_changes (ticket_id, note) select t, 'emu noted' from unnest(array[51, 51, 52]) t;
update public.status_changes set ticket_id = 61, note = 'ostrich' where ticket_id = 41;
update public.tickets set project_id = 2 where ticket_id in (11, 12, 51);
select is_empty('select * from pg_temp.miscounted()', 'after notes and moves to another project');
insert into public.tickets (ticket_id, project_id, status_id, name) values (11, 2, 1, 'cassowary'), (81, 2, 1, 'cassowary')
on conflict (ticket_id) do update set name = excluded.name;
select is_empty('select * from pg_temp.miscounted()', 'after rows that are new and rows that are not, in one statement');
select private.merge_word_counts();
select is_empty('select * from pg_temp.miscounted() union all select word from private.word_count_changes', 'after the changes are added up, which leaves none');
delete from public.tickets where ticket_id in (11, 13, 43);
delete from public.projects where project_id = 2;
select is_empty('select * from pg_temp.miscounted()', 'after deletes, of a project with its tickets, too');
select isnt_empty('select from private.word_count_changes', 'which wait to be added up');
insert into public.tickets (ticket_id, project_id, status_id, name, description)
select 91, 1, 1, 'n', string_agg(md5(i::text), ' ') from generate_series(1, 6000) i;
select is_empty('select * from pg_temp.miscounted() union all select word from private.word_count_changes', 'until there are many');

-- Common words ----------------------------------------------------------------------------------------------------

insert into public.tickets (ticket_id, project_id, status_id, name, description)
values (20001, 1, 1, 'n', 'unique'), (20002, 1, 1, 'ordinary', null), (20003, 1, 1, 'ordinary', null);
insert into public.tickets (ticket_id, project_id, status_id, name, description)
select i, 1, 1, 'n', 'ordinary' from generate_series(10001, 16000) i;
select is((pg_temp.tickets('ordinary unique')) [1], 20001::bigint, 'a rare word finds among thousands that hold the common one');
select is(cardinality(pg_temp.tickets('ordinary', 2000000000)), 1000, 'of a common word alone a thousand are found');
select is((pg_temp.tickets('ordinary')) [1:2], '{20002,20003}', 'its names first');

select * from finish();
rollback;
