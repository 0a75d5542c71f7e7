-- Keyword search: query syntax, matches and ranking.

begin;
select plan(106);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name, description)
values (1, 'TX', 'Telegraph', 'sends messages'), (2, 'OP-2', 'Orchard', null);
insert into public.tickets (ticket_id, project_id, status_id, key, name, description)
values
  (11, 1, 1, 'TX-400', 'Login fails', 'The password is refused'),
  (12, 1, 2, 'TX-401', 'Export is slow', 'Since the login page changed'),
  (13, 1, 1, 'TX-402', 'Colours', null),
  (14, 2, 1, 'OP-2-7', 'Password rules', 'Long passwords are cut'),
  (15, 2, 2, 'op-8', 'Nothing of note', 'Blue ink, black paper; paper stays black'),
  (16, 2, 1, 'OP-2-9', 'Ochre', 'Paper black as night');
insert into public.status_changes (ticket_id, note) values (13, 'login checked'), (15, 'TX-400 was similar');
set local role service_role;

create function pg_temp.tickets(query text, count integer default 10, project bigint default null, status text default null) returns bigint[]
language sql as $$
  select array_agg(coalesce(k.ticket_id, -k.project_id) order by k.rank) from public.search_by_keyword(query, count, project, status) k
$$;

-- Queries with both words, login and password, rank 14 before 11: "password" is rarer, and the name
-- of 14 is more similar to the query.

-- Words -------------------------------------------------------------------------------------------

select is(pg_temp.tickets('login'), '{11,12,13}', 'a match in a name ranks above one in a description, and that above one in a note');
select is(pg_temp.tickets('LOGIN'), '{11,12,13}', 'a query matches in any case');
select is(pg_temp.tickets('logins'), '{11,12,13}', 'a query matches words with other endings');
select is(pg_temp.tickets('colours ink'), '{13,15}', 'a text with any word of the query matches');
select is(pg_temp.tickets('Why is the login so slow?'), '{12,11,13}', 'a question finds texts with some of its words, those with more words first');
select is(pg_temp.tickets('telegraph'), '{-1}', 'a project is found by its name');
select is(pg_temp.tickets('messages'), '{-1}', 'a project is found by its description');
select results_eq(
  $$ select rank, project_id, ticket_id, exact from public.search_by_keyword('password login') $$,
  $$ values (1::bigint, 2::bigint, 14::bigint, false), (2, 1, 11, false), (3, 1, 12, false), (4, 1, 13, false) $$,
  'ranks start at 1 and are consecutive');
select ok(bool_and(keyword_score > 0), 'scores of matches are positive') from public.search_by_keyword('password login');
select is(pg_temp.tickets('password login', 2), '{14,11}', 'match_count limits the number of rows');
select is(pg_temp.tickets('password login', 0), '{14}', 'a match_count of 0 returns one row');
select is(pg_temp.tickets(q), null, 'a query without a searchable or known word finds nothing: ' || coalesce(to_json(q)::text, 'null'))
from unnest(array[null, '', ' ', e'\n\t', '?!', '"', '""', '-', '- -', '"-"', '-login', '-"login fails"', 'unheardof']) q;

-- Phrases and minus -------------------------------------------------------------------------------

select is(pg_temp.tickets('"black paper"'), '{15}', 'a phrase finds only texts that contain it');
select is(pg_temp.tickets('"paper black"'), '{16}', 'a phrase matches only in its word order');
select is(pg_temp.tickets('"black paper" login'), '{15}', 'a phrase is required even if the query has words that other texts contain');
select is(pg_temp.tickets('"login" "password"'), '{11}', 'each of several phrases is required');
select is(pg_temp.tickets('"ink paper"'), '{15,16}', 'a phrase that no text contains is searched for as its words');
select is(pg_temp.tickets('"ink paper" colours'), '{13,15,16}', 'a phrase that no text contains is searched for as its words next to other words');
select is(pg_temp.tickets('"login" "black paper" -"page changed"'), '{11,15,16,13}', 'phrases that no text contains together are searched for as words, and exclusions still apply');
select is(pg_temp.tickets('"black paper" login', project => 1), null, 'a phrase is still required if only texts outside of the filter contain it');
select is(pg_temp.tickets('login "password'), '{14,11,12,13}', 'an unclosed quote is ignored');
select is(pg_temp.tickets('login "the"'), '{11,12}', 'a phrase of common words is required');
select is(pg_temp.tickets('login -password'), '{12,13}', 'a word after a minus excludes texts that contain it');
select is(pg_temp.tickets('-password login'), '{12,13}', 'a word after a minus excludes in any position of the query');
select is(pg_temp.tickets('login -passwords -slow'), '{13}', 'several excluded words exclude texts with any of them, with any ending');
select is(pg_temp.tickets('login ink -"black paper"'), '{11,12,13}', 'a phrase after a minus excludes texts that contain it');
select is(pg_temp.tickets('login ink -"paper black"'), '{11,12,15,13}', 'an excluded phrase does not exclude texts with its words in another order');
select set_eq($$ select unnest(pg_temp.tickets('pass-word login')) $$, '{11,12,13,14}'::bigint[], 'a minus within a word excludes nothing');
select is(pg_temp.tickets('login - password'), '{14,11,12,13}', 'a minus between spaces excludes nothing');
select is(pg_temp.tickets(q), '{15}', 'typographic quotes mark a phrase: ' || q)
from unnest(array['“black paper”', '„black paper“ login', '”black paper”', '« black paper » login', 'blue -“paper black”']) q;
select is(pg_temp.tickets(q), t::bigint[], 'a quote opens a phrase unless it follows a letter or digit: ' || q)
from (values ('("black paper")', '{15}'), ('login,"black paper"', '{15}'), ('"black paper", login', '{15}'), ('「black paper」', '{15}'), ('〝black paper〟', '{15}'),
  ('"login""black paper"', '{11,15,16,12,13}'), ('blue 5" black 6" paper', '{15,16}'), ('"black paper" "the"', '{15,16}'), ('"paper" -"black paper"', '{16}'), ('"nothing of note blue"', '{15}')) q (q, t);
select is(pg_temp.tickets(q), t::bigint[], 'a negative number is searched for, not excluded: ' || q)
from (values ('status -400', '{15}'), ('TX-400 status -0x1F', '{11,15}'), ('similar -400.', '{15}'), ('similar -400x', '{15}'), ('login -2fa', '{11,12,13}')) q (q, t);

-- Keys --------------------------------------------------------------------------------------------

select is(pg_temp.tickets('TX-400'), '{11,15}', 'a ticket named by its key comes first, then tickets that mention the key');
select is(pg_temp.tickets('tx-400'), '{11,15}', 'a key in lower case finds its ticket');
select is(pg_temp.tickets('OP-8'), '{15}', 'a key stored in lower case is found in upper case');
select is(pg_temp.tickets('tx 400'), '{11,15}', 'a key written with a space finds its ticket if it is the whole query');
select is(pg_temp.tickets(' TX  400 '), '{11,15}', 'extra spaces in and around a key are ignored');
select is((pg_temp.tickets('what about TX-402 and the login?')) [1:2], '{13,11}', 'a key within a question puts its ticket first');
select is((pg_temp.tickets('see (TX-402), login')) [1], 13::bigint, 'a key in brackets puts its ticket first');
select ok(exists (select from public.search_by_keyword(q) k where k.ticket_id = 13 and k.exact), 'a key in a link, in quotes or with another dash finds its ticket: ' || q)
from unnest(array['https://tracker.example.com/browse/TX-402?focus=1', 'TX–402', 'see TX‑402', 'ＴＸ－４０２', '"TX-402"']) q;
select is((pg_temp.tickets('TX-402 TX-401 login')) [1:3], '{12,13,11}', 'several named tickets are sorted by score');
select is(pg_temp.tickets('OP-2-7'), '{14}', 'a key is recognised if its project key contains a hyphen');
select is_empty($$ select from unnest(array['TX-40', 'TX-4000', 'ATX-400', 'TX-400a', 'TX 400 login', 'login TX 400', '-TX-400']) q, public.search_by_keyword(q) k where k.exact $$,
  'a query with part of a key, or with more around it, is not an exact match');
select results_eq(
  $$ select rank, ticket_id, exact, keyword_score = 0 from public.search_by_keyword('tx 402', 1) $$, $$ values (1::bigint, 13::bigint, true, true) $$,
  'a ticket found only by its key is exact and has score 0');
select results_eq(
  $$ select ticket_id, exact from public.search_by_keyword('TX-401 login') $$,
  $$ values (12::bigint, true), (11, false), (13, false), (15, false) $$, 'a ticket found by key and words is returned once');
select is(pg_temp.tickets('TX-400 TX-401 -password'), '{12,15}', 'an excluded word removes a ticket named by its key');

select is(pg_temp.tickets('similar login -TX-400'), '{12,13,15}', 'a key after a minus excludes its ticket, but not tickets that mention it');
select is(pg_temp.tickets('TX-400 TX-401 -tx-400,'), '{12,15}', 'an excluded key takes precedence over the same key in the query, in any case');
select is(pg_temp.tickets('similar login -"TX-400"'), '{12,13}', 'a key in quotes after a minus excludes its ticket and tickets that mention it');
select is(pg_temp.tickets('login -x-400'), '{11,12,13}', 'an excluded word that looks like a key but is not one is treated as a word');
select is(pg_temp.tickets('similar -tx-40'), '{15}', 'an excluded prefix of a key does not exclude texts with the whole key');
select is(pg_temp.tickets('"TX-400"'), '{11,15}', 'a key in quotes finds its ticket and tickets that mention it');
select is(pg_temp.tickets('"TX-402" login similar'), '{13}', 'a key in quotes that no text mentions finds only its ticket');
select is(pg_temp.tickets('TX-401 "password is refused"'), '{11}', 'a ticket named by its key must contain the phrase of the query');

-- Filters -----------------------------------------------------------------------------------------

select is(pg_temp.tickets('password login', project => 1), '{11,12,13}', 'the project filter excludes other projects');
select is(pg_temp.tickets('password login', status => 'dONE'), '{12}', 'the status filter excludes other statuses and ignores case');
select is(pg_temp.tickets('password login', project => 1, status => 'To Do'), '{11,13}', 'project and status filters combine');
select is(pg_temp.tickets('telegraph', project => 1), '{-1}', 'the project filter includes the project''s own text');
select is(pg_temp.tickets('telegraph', status => 'To Do'), null, 'the status filter excludes projects');
select is(pg_temp.tickets('TX-400', project => 2), '{15}', 'the project filter applies to tickets named by key');
select is(pg_temp.tickets('TX-400', status => 'Done'), '{15}', 'the status filter applies to tickets named by key');
select is(pg_temp.tickets('login', project => 404), null, 'a filter by an unknown project finds nothing');
select is(pg_temp.tickets('login', status => 'No such'), null, 'a filter by an unknown status finds nothing');

-- Order -------------------------------------------------------------------------------------------

reset role;
insert into public.tickets (ticket_id, project_id, status_id, name)
select i, 1 + i % 2, 1, 'the same words' from generate_series(1000, 1599) i order by i % 7, i;
insert into public.tickets (ticket_id, project_id, status_id, name) select i, 2, 2, 'the same words' from generate_series(2000, 2009) i;
insert into public.projects (project_id, key, name) values (4, 'B', 'the same words'), (3, 'C', 'the same words');
set local role service_role;
select is(
  pg_temp.tickets('same words', 1000),
  array(select i from generate_series(1000, 1599) i union all select i from generate_series(2000, 2009) i) || '{-3,-4}'::bigint[],
  'equal scores are sorted by id, with projects last');
select is(
  pg_temp.tickets('same words', 10, 2, 'Done'), array(select i::bigint from generate_series(2000, 2009) i),
  'ten tickets of a rare status are all found among 600 others');
select is(cardinality(pg_temp.tickets('same words', 2000000000)), 612, 'a very high match_count returns every match');

-- Hostile queries ---------------------------------------------------------------------------------

create temporary table hostile (query text);
insert into hostile values
  ('login'' or 1=1; --'), ('login''''); drop table x; --'), ($q$it's \'login\' \\$q$), ('login & | ! <-> ( )'), ('login:* login:AB'), ('''login'':A & !'),
  ('((((((login'), ('login \'), ('\login'), ('login $1 $2 %s %I {} []'), ('"login'' "'), ('"login & |" login'), ('-"x fails'' \" login'),
  ('login -''x -\x -!x -(x) -:*'), ('login <b> &amp; </b> <script'), ('login http://x.de/it''s|a''&''b'), ('login 100%_'), ('login' || U&'\FFFF\E000\200B\202E\+01F600\0301'), ('login
newline'), ('login ' || repeat('"', 999)), ('login ' || repeat('-', 1000)), ('login ' || repeat('(', 1000)), ('login ' || repeat('-x ', 1000)),
  ('login ' || repeat('-"x y" ', 300)), ('login ' || repeat('a', 100000)), ('login ' || repeat('a-', 1000)),
  ('login ' || (select string_agg(md5(i::text), ' ') from generate_series(1, 3000) i)), ('login ' || repeat('TX-1 ', 2000)),
  ('login ' || repeat('a.b@c/', 500)), ('login TX-99999999999999999999999999'), ('login https://x.y/z?a=b#c mailto:a@b.c 1e999 -1e999 0x10');
select is_empty(
  $$ select left(query, 60) from pg_temp.hostile where not coalesce(pg_temp.tickets(query) @> '{11}', false) $$,
  'queries with hostile characters or lengths still find the ticket with their plain word');

select lives_ok(
  format('select * from public.search_by_keyword(%L)', q), 'a very long query causes no error: ' || left(q, 8))
from unnest(array[repeat('"x" ', 1000), repeat('"login fails" ', 1000), '"' || repeat('x ', 5000) || '"', repeat('-ab ', 20000)]) q;

set local role anon;
select throws_ok($$ select * from public.search_by_keyword('login') $$, '42501', null, 'anon cannot search by keyword');
set local role authenticated;
select is_empty($$ select * from public.search_by_keyword('login') $$, 'a user who is a member of no project finds nothing');

select * from finish();
rollback;
