-- Lists of tickets that pass filters: order, pages, columns and facets.

begin;
select plan(20);

insert into public.status (status_id, name) values (1, 'To Do'), (2, 'Done');
insert into public.projects (project_id, key, name, description) values (1, 'TX', 'Telegraph', 'alpha'), (2, 'BB', 'Bananas', null);
insert into public.tickets (ticket_id, project_id, status_id, key, name, description, assignee, labels, due_date, created_at, updated_at)
values
  (11, 1, 1, 'TX-1', 'one <b>', 'first & last', 'Ada', '{ios}', '2025-05-01', '2025-01-01', '2025-03-01'),
  (12, 1, 2, 'TX-2', 'two', null, 'ada', '{}', null, '2025-01-02', '2025-01-02'),
  (13, 1, 1, 'TX-3', 'three', null, null, '{IOS,web}', null, '2025-01-02', '2025-02-01'),
  (21, 2, 1, 'BB-1', 'four', null, 'Noor', '{web}', null, '2024-12-31', '2025-03-01');
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (11, 'duplicates', 21);
set local role service_role;

create function pg_temp.listed(filters jsonb default null, sort text default 'newest', page integer default 10, skip integer default 0) returns text
language sql as $$
  select coalesce(string_agg(l.ticket_key, ' ' order by l.place), '')
  from (select t.*, row_number() over () as place from public.list_tickets(page, skip, sort => sort, filters => filters) t) l
$$;

select is(pg_temp.listed(), 'TX-2 TX-3 TX-1 BB-1', 'tickets are listed newest first, ties by ID');
select is(pg_temp.listed(sort => 'updated'), 'TX-1 BB-1 TX-3 TX-2', 'sort updated lists the last updated tickets first');
select is(pg_temp.listed('{}'), 'TX-2 TX-3 TX-1 BB-1', 'an empty filter object excludes nothing');
select is(pg_temp.listed('{"open": true}'), 'TX-3 TX-1 BB-1', 'an open filter lists open tickets');
select is(pg_temp.listed('{"assignee": "ADA"}', 'updated'), 'TX-1 TX-2', 'an assignee filter ignores case');
select is(pg_temp.listed('{"labels": ["ios"], "not": {"labels": "web"}}'), 'TX-1', 'label filters include and exclude');
select is(pg_temp.listed('{"created": {"to": "2025-01-01"}}'), 'TX-1 BB-1', 'a created filter includes its last day');
select is(pg_temp.listed('{"statuses": "unheard of"}'), '', 'an unknown status matches no ticket');
select is((select string_agg(l.ticket_key, ' ') from public.list_tickets(filters => '[{"projects": [1], "statuses": "to do"}, {"assignee": [null]}]') l), 'TX-3',
  'several objects must all match');
select is(pg_temp.listed(page => 2) || '|' || pg_temp.listed(page => 2, skip => 2), 'TX-2 TX-3|TX-1 BB-1', 'two pages contain the whole list in order');
select results_eq($$ select distinct has_more from public.list_tickets(2, 1) $$, array[true], 'has_more is true before the last page');
select results_eq($$ select distinct has_more from public.list_tickets(2, 2) $$, array[false], 'has_more is false on the last page');
select is_empty($$ select from public.list_tickets(2, 4) $$, 'an offset beyond the end returns nothing');
select is((select count(*) from public.list_tickets(-1, -1)), 1::bigint, 'a negative count and offset are clamped');
select throws_ok($$ select from public.list_tickets(sort => 'relevance') $$, '22023', 'sort is "relevance"', 'sort relevance is rejected without a query');
select throws_ok($$ select from public.list_tickets(filters => '{"assignee": [1]}') $$, '22023', 'filters.assignee[0] is of type number', 'invalid filters are rejected');
select results_eq($$ select text, highlight, status, project_name, fields - 'created_at' - 'updated_at' from public.list_tickets(1, filters => '{"assignee": "ada", "open": true}') $$,
  $$ values (e'one <b>\n\nfirst & last', e'one &lt;b&gt;\n\nfirst &amp; last', 'To Do', 'Telegraph', '{"url": null, "assignee": "Ada", "reporter": null, "type": null, "priority": null, "labels": ["ios"], "due_date": "2025-05-01", "resolved_at": null, "status_category": "to_do",
    "links": [{"kind": "duplicates", "direction": "out", "ticket_key": "BB-1", "ticket_name": "four", "status": "To Do"}]}'::jsonb) $$,
  'text is the ticket''s name and description, and highlight is escaped HTML');

-- Facets of such a list.
select results_eq($$ select facet, label, count from public.search_facets(null, filters => '{"open": true, "assignee": "ada"}') where facet in ('status', 'assignee', 'open', 'label') $$,
  $$ values ('status', 'To Do', 1::bigint), ('assignee', 'Ada', 1), ('assignee', 'Noor', 1), ('label', 'ios', 1), ('open', 'done', 1), ('open', 'open', 1) $$,
  'a facet ignores its own filter');
select results_eq($$ select label, count, capped from public.search_facets(null) where facet = 'project' $$,
  $$ values ('Telegraph', 3::bigint, false), ('Bananas', 1, false) $$, 'facets without filters count all tickets, without projects'' own texts');
select is_empty($$ select from public.search_facets('', filters => '{"open": true}') $$, 'a blank query has no facets');

select * from finish();
rollback;
