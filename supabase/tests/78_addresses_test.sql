-- A ticket is known by the address of its page in its tracker.

begin;
select plan(6);

select results_eq($$ select a, array_to_string(tasklens.page_names(a), ' ') from (values
    (1, 'https://github.com/tidemill/rotor/issues/31'), (2, 'http://www.github.com/tidemill/rotor/issues/31/?x=1#issuecomment-9'), (3, 'github.com/tidemill/rotor/pull/31/files'), (4, 'tidemill/rotor#31'),
    (5, 'https://git.kelp.example/harbor/winch/issues/7'), (6, 'https://gitlab.example/a/b/c/-/issues/7'), (7, 'https://linear.app/acme/issue/ENG-12/fix-login'), (8, 'https://acme.atlassian.net/browse/TX-400?page=2'),
    (9, 'and/or'), (10, '#31'), (11, 'https://github.com'), (12, 'src/main.go')) c(i, a) order by i $$,
  $$ values ('https://github.com/tidemill/rotor/issues/31', 'GITHUB.COM/TIDEMILL/ROTOR/ISSUES/31 TIDEMILL/ROTOR#31'),
    ('http://www.github.com/tidemill/rotor/issues/31/?x=1#issuecomment-9', 'GITHUB.COM/TIDEMILL/ROTOR/ISSUES/31 TIDEMILL/ROTOR#31'),
    ('github.com/tidemill/rotor/pull/31/files', 'GITHUB.COM/TIDEMILL/ROTOR/PULL/31 TIDEMILL/ROTOR#31'), ('tidemill/rotor#31', 'TIDEMILL/ROTOR#31'),
    ('https://git.kelp.example/harbor/winch/issues/7', 'GIT.KELP.EXAMPLE/HARBOR/WINCH/ISSUES/7 HARBOR/WINCH#7'), ('https://gitlab.example/a/b/c/-/issues/7', 'GITLAB.EXAMPLE/A/B/C/-/ISSUES/7 A/B/C#7'),
    ('https://linear.app/acme/issue/ENG-12/fix-login', 'LINEAR.APP/ACME/ISSUE/ENG-12/FIX-LOGIN'), ('https://acme.atlassian.net/browse/TX-400?page=2', 'ACME.ATLASSIAN.NET/BROWSE/TX-400'),
    ('and/or', ''), ('#31', ''), ('https://github.com', ''), ('src/main.go', '') $$, 'the names of pages');

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'ROTOR', 'tidemill/rotor'), (2, 'BB', 'Bananas');
insert into public.tickets (ticket_id, key, project_id, status_id, name, url) values
  (1, 'ROTOR-31', 1, 1, 'Blades flutter', 'https://github.com/tidemill/rotor/issues/31'), (2, 'ROTOR-3', 1, 1, 'Blades stop', 'https://github.com/tidemill/rotor/issues/3'),
  (3, 'BB-7', 2, 1, 'Winch jams', 'https://git.kelp.example/harbor/winch/issues/7'), (4, 'BB-8', 2, 1, 'Mentions https://github.com/tidemill/rotor/issues/31 too', null),
  (5, 'ENG-12', 2, 1, 'Fix the login', 'https://linear.app/acme/issue/ENG-12/fix-login'), (6, 'TX-400', 2, 1, 'Charged twice', null);
select is_empty($$ select c.*, f.found from (values
    ('https://github.com/tidemill/rotor/issues/31', 1), ('tidemill/rotor#31', 1), ('blades tidemill/rotor#3?', 2), ('https://git.kelp.example/harbor/winch/issues/7#issuecomment-2', 3), ('see https://linear.app/acme/issue/ENG-12/renamed', 5),
    ('https://acme.atlassian.net/browse/TX-400', 6)) c (query, ticket)
  cross join lateral (select array_agg(s.ticket_id) as found from public.search_hybrid(c.query) s where s.exact and s.ticket_id <> 4) f where f.found is distinct from array[c.ticket]::bigint[] $$, 'a search finds the ticket of an address first');
select is((select array_agg(s.ticket_id) from public.search_hybrid('https://github.com/tidemill/rotor/issues/31') s), '{1,4}', 'alone, only with texts that mention it');
select is((select s.fields ->> 'url' from public.search_hybrid('ROTOR-31') s limit 1), 'https://github.com/tidemill/rotor/issues/31', 'a result has the address');
select is_empty($$ select c.* from (values ('What is https://github.com/tidemill/rotor/issues/31 about?', 1), ('Is tidemill/rotor#3 done?', 2), ('Why does harbor/winch#7 jam?', 3)) c (question, ticket)
  where (tasklens.read_names(tasklens.resolve_scope(null), c.question)).ticket_ids [1] is distinct from c.ticket $$, 'a question names it');
select is_empty($$ select c.* from (values ('https://github.com/tidemill/rotor/issues/31', 1), ('tidemill/rotor#31', 1), ('https://acme.atlassian.net/browse/TX-400?x=BB-7', 6), ('http://127.0.0.1:8080/#search?q=BB-7', 3), ('bb-7', 3), ('https://github.com/other/rotor/issues/31', null)) c (name, ticket)
  where tasklens.find_ticket(c.name) is distinct from c.ticket $$, 'and so is it read');

select * from finish();
rollback;
