-- Keyword search: query syntax, matches and their order.

begin;
select plan(107);

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

-- 14 is before 11 for queries with both words: "password" is the rarer one, and its name is more
-- similar to the query.

-- Words -------------------------------------------------------------------------------------------

select is(pg_temp.tickets('login'), '{11,12,13}', 'a name counts more than a description, which counts more than a note');
select is(pg_temp.tickets('LOGIN'), '{11,12,13}', 'case is ignored');
select is(pg_temp.tickets('logins'), '{11,12,13}', 'endings are stemmed');
select is(pg_temp.tickets('colours ink'), '{13,15}', 'any of the words is enough');
select is(pg_temp.tickets('Why is the login so slow?'), '{12,11,13}', 'a question finds texts with some of its words, more of them first');
select is(pg_temp.tickets('telegraph'), '{-1}', 'a project is found by its name');
select is(pg_temp.tickets('messages'), '{-1}', 'a project is found by its description');
select results_eq(
  $$ select rank, project_id, ticket_id, exact from public.search_by_keyword('password login') $$,
  $$ values (1::bigint, 2::bigint, 14::bigint, false), (2, 1, 11, false), (3, 1, 12, false), (4, 1, 13, false) $$,
  'ranks start at 1');
select ok(bool_and(score > 0), 'scores are positive') from public.search_by_keyword('password login');
select is(pg_temp.tickets('password login', 2), '{14,11}', 'at most match_count rows');
select is(pg_temp.tickets('password login', 0), '{14}', 'at least one row');
select is(pg_temp.tickets(q), null, 'nothing to look for, nothing found: ' || coalesce(to_json(q)::text, 'null'))
from unnest(array[null, '', ' ', e'\n\t', '?!', '"', '""', '-', '- -', '"-"', 'the of and', '-login', '-"login fails"', 'unheardof']) q;

-- Phrases and minus -------------------------------------------------------------------------------

select is(pg_temp.tickets('"black paper"'), '{15}', 'a phrase must occur');
select is(pg_temp.tickets('"paper black"'), '{16}', 'a phrase must occur in its order');
select is(pg_temp.tickets('"black paper" login'), '{15}', 'a phrase must occur beside words that others contain');
select is(pg_temp.tickets('"login" "password"'), '{11}', 'each of several phrases must occur');
select is(pg_temp.tickets('"ink paper"'), '{15,16}', 'a phrase without matches is searched as words');
select is(pg_temp.tickets('"ink paper" colours'), '{13,15,16}', 'so is a phrase without matches beside other words');
select is(pg_temp.tickets('"login" "black paper" -"page changed"'), '{11,15,16,13}', 'so are phrases that no text has together, without what is excluded');
select is(pg_temp.tickets('"black paper" login', project => 1), null, 'a phrase with matches only outside the filter is still required');
select is(pg_temp.tickets('login "password'), '{14,11,12,13}', 'an unclosed quote is ignored');
select is(pg_temp.tickets('login "the"'), '{11,12,13}', 'a phrase of stop words is ignored');
select is(pg_temp.tickets('login -password'), '{12,13}', 'a word behind a minus must not occur');
select is(pg_temp.tickets('-password login'), '{12,13}', 'an excluded word may stand anywhere');
select is(pg_temp.tickets('login -passwords -slow'), '{13}', 'none of several excluded words may occur, in any ending');
select is(pg_temp.tickets('login ink -"black paper"'), '{11,12,13}', 'an excluded phrase must not occur');
select is(pg_temp.tickets('login ink -"paper black"'), '{11,12,15,13}', 'an excluded phrase may occur in another order');
select set_eq($$ select unnest(pg_temp.tickets('pass-word login')) $$, '{11,12,13,14}'::bigint[], 'a minus within a word excludes nothing');
select is(pg_temp.tickets('login - password'), '{14,11,12,13}', 'a single minus excludes nothing');
select is(pg_temp.tickets(q), '{15}', 'quotes may be curly: ' || q)
from unnest(array['“black paper”', '„black paper“ login', '”black paper”', '« black paper » login', 'blue -“paper black”']) q;
select is(pg_temp.tickets(q), t::bigint[], 'a phrase opens behind anything but a letter or digit: ' || q)
from (values ('("black paper")', '{15}'), ('login,"black paper"', '{15}'), ('"black paper", login', '{15}'), ('「black paper」', '{15}'), ('〝black paper〟', '{15}'),
  ('"login""black paper"', '{11,15,16,12,13}'), ('blue 5" black 6" paper', '{15,16}'), ('"black paper" "the"', '{15}'), ('"paper" -"black paper"', '{16}'), ('"nothing of note blue"', '{15}')) q (q, t);
select is(pg_temp.tickets(q), t::bigint[], 'a negative number is a number: ' || q)
from (values ('status -400', '{15}'), ('TX-400 status -0x1F', '{11,15}'), ('similar -400.', '{15}'), ('similar -400x', '{15}'), ('login -2fa', '{11,12,13}')) q (q, t);

-- Keys --------------------------------------------------------------------------------------------

select is(pg_temp.tickets('TX-400'), '{11,15}', 'a ticket named by key comes first, then those that mention it');
select is(pg_temp.tickets('tx-400'), '{11,15}', 'case of the query does not matter to a key');
select is(pg_temp.tickets('OP-8'), '{15}', 'case of the key does not matter');
select is(pg_temp.tickets('tx 400'), '{11,15}', 'a key may have a space if it is the whole query');
select is(pg_temp.tickets(' TX  400 '), '{11,15}', 'and surrounding blanks');
select is((pg_temp.tickets('what about TX-402 and the login?')) [1:2], '{13,11}', 'a key within a question');
select is((pg_temp.tickets('see (TX-402), login')) [1], 13::bigint, 'a key in brackets');
select ok(exists (select from public.search_by_keyword(q) k where k.ticket_id = 13 and k.exact), 'or as a link or with another dash: ' || q)
from unnest(array['https://tracker.example.com/browse/TX-402?focus=1', 'TX–402', 'see TX‑402', 'ＴＸ－４０２', '"TX-402"']) q;
select is((pg_temp.tickets('TX-402 TX-401 login')) [1:3], '{12,13,11}', 'several named tickets are ordered by score');
select is(pg_temp.tickets('OP-2-7'), '{14}', 'a project''s key may contain a minus');
select is_empty($$ select from unnest(array['TX-40', 'TX-4000', 'ATX-400', 'TX-400a', 'TX 400 login', 'login TX 400', '-TX-400']) q, public.search_by_keyword(q) k where k.exact $$,
  'part of a key, or a longer one, is not the key');
select results_eq(
  $$ select rank, ticket_id, exact, score = 0 from public.search_by_keyword('tx 402', 1) $$, $$ values (1::bigint, 13::bigint, true, true) $$,
  'a ticket found only by its key is exact and has no score');
select results_eq(
  $$ select ticket_id, exact from public.search_by_keyword('TX-401 login') $$,
  $$ values (12::bigint, true), (11, false), (13, false), (15, false) $$, 'a ticket found by key and words occurs once');
select is(pg_temp.tickets('TX-400 TX-401 -password'), '{12,15}', 'an excluded word leaves out a named ticket too');

select is(pg_temp.tickets('similar login -TX-400'), '{12,13,15}', 'an excluded key leaves out its ticket, not those that mention it');
select is(pg_temp.tickets('TX-400 TX-401 -tx-400,'), '{12,15}', 'also if the query names it, in any case');
select is(pg_temp.tickets('similar login -"TX-400"'), '{12,13}', 'an excluded key in quotes leaves out both');
select is(pg_temp.tickets('login -x-400'), '{11,12,13}', 'a word that resembles a key is a word');
select is(pg_temp.tickets('similar -tx-40'), '{15}', 'an excluded part of a key excludes no ticket');
select is(pg_temp.tickets('"TX-400"'), '{11,15}', 'a key in quotes finds the ticket and those that mention it');
select is(pg_temp.tickets('"TX-402" login similar'), '{13}', 'only the ticket if nothing mentions it');
select is(pg_temp.tickets('TX-401 "password is refused"'), '{11}', 'a named ticket must contain a required phrase');

-- Filters -----------------------------------------------------------------------------------------

select is(pg_temp.tickets('password login', project => 1), '{11,12,13}', 'a filter by project');
select is(pg_temp.tickets('password login', status => 'dONE'), '{12}', 'a filter by status ignores case');
select is(pg_temp.tickets('password login', project => 1, status => 'To Do'), '{11,13}', 'of both');
select is(pg_temp.tickets('telegraph', project => 1), '{-1}', 'a filter by project includes its own text');
select is(pg_temp.tickets('telegraph', status => 'To Do'), null, 'a project''s own text has no status');
select is(pg_temp.tickets('TX-400', project => 2), '{15}', 'filters apply to named tickets');
select is(pg_temp.tickets('TX-400', status => 'Done'), '{15}', 'all filters apply');
select is(pg_temp.tickets('login', project => 404), null, 'an unknown project finds nothing');
select is(pg_temp.tickets('login', status => 'No such'), null, 'an unknown status finds nothing');

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
  'ties are ordered by id, projects last');
select is(
  pg_temp.tickets('same words', 10, 2, 'Done'), array(select i::bigint from generate_series(2000, 2009) i),
  'ten tickets of a rare status are all found among 600');
select is(cardinality(pg_temp.tickets('same words', 2000000000)), 612, 'match_count may be large');

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
  'whatever else a query says, it does no harm and its plain word finds');

select lives_ok(
  format('select * from public.search_by_keyword(%L)', q), 'nor does an endless query: ' || left(q, 8))
from unnest(array[repeat('"x" ', 1000), repeat('"login fails" ', 1000), '"' || repeat('x ', 5000) || '"', repeat('-ab ', 20000)]) q;

set local role anon;
select throws_ok($$ select * from public.search_by_keyword('login') $$, '42501', null, 'anon is refused');
set local role authenticated;
select is_empty($$ select * from public.search_by_keyword('login') $$, 'a user without projects finds nothing');

select * from finish();
rollback;
