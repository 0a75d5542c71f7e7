-- Filters: each filter, tickets without a value, and invalid filters.

begin;
select plan(112);

\ir kit/vectors.sql
insert into public.status (status_id, name, category) values (1, 'To Do', 'to_do'), (2, 'In Progress', 'in_progress'), (3, 'Done', 'done'), (4, 'Won''t Fix', 'done');
insert into public.projects (project_id, key, name, description) values (1, 'TX', 'Alpha project', 'alpha'), (2, 'BB', 'Bananas', null), (3, '7', 'Alpha seven', null);
insert into public.tickets (ticket_id, project_id, status_id, key, name, assignee, reporter, ticket_type, priority, labels, due_date, created_at, updated_at) values
  (1, 1, 1, 'TX-1', 'alpha one',   'Noor',  'Ada', 'Bug',  'High', '{Payments,iOS}', '2025-03-10', '2025-03-01 00:00+00', '2025-06-01 12:00+00'),
  (2, 1, 2, 'TX-2', 'alpha two',   'NOOR',  'Bo',  'Task', 'Low',  '{payments}',     '2025-03-11', '2025-03-31 23:59+00', '2025-06-02 12:00+00'),
  (3, 1, 3, 'TX-3', 'alpha three', 'Ada',   'Ada', 'bug',  'high', '{ios}',          null,         '2025-04-01 00:00+00', '2025-06-03 12:00+00'),
  (4, 2, 4, 'BB-4', 'alpha four',  null,    null,  null,   null,   '{}',             null,         '2025-04-02 00:00+00', '2025-06-04 12:00+00'),
  (5, 2, 1, 'BB-5', 'alpha five',  null,    'Noor','Bug',  null,   '{web}',          '2025-12-31', '2025-05-01 00:00+00', '2025-06-05 12:00+00'),
  (6, 3, 2, '7-6',  'alpha six',   'me.too','Bo',  'Epic', 'Low',  '{Web,iOS}',      '2026-01-01', '2026-01-01 00:00+00', '2025-01-01 00:00+00');
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select t.project_id, t.ticket_id, 'ticket', 0, t.name, 1, 'h', 'm', pg_temp.unit(sqrt(1 - (t.ticket_id / 10.0) ^ 2), t.ticket_id / 10.0) from public.tickets t
union all
select 1, null, 'project', 0, 'Alpha project', 1, 'h', 'm', pg_temp.unit(1);
insert into public.ticket_links (ticket_id, kind, other_ticket_id) values (1, 'duplicates', 3), (5, 'blocks', 1), (1, 'blocks', 2);
\ir kit/actors.sql
set local role service_role;

-- The tickets that a search by words or vectors returns under a filter, and project 1 as -1; both
-- lists if they differ.
create function pg_temp.found(filters jsonb) returns text
language sql as $$
  select case when w.ids is not distinct from v.ids then coalesce(w.ids, '') else concat('words ', w.ids, ' vectors ', v.ids) end
  from (
    select string_agg(coalesce(k.ticket_id, -k.project_id)::text, ' ' order by k.ticket_id nulls last, k.project_id) as ids
    from public.search_by_keyword('alpha', 100, filters => found.filters) k where k.ticket_id is not null or k.project_id = 1
  ) w, (
    select string_agg(coalesce(n.ticket_id, -n.project_id)::text, ' ' order by n.ticket_id nulls last, n.project_id) as ids
    from public.search_by_vector(pg_temp.unit(1), 'm', -1, 100, filters => found.filters) n
  ) v
$$;

select is(pg_temp.found(f::jsonb), w, f) from (values
  (null, '1 2 3 4 5 6 -1'), ('null', '1 2 3 4 5 6 -1'), ('{}', '1 2 3 4 5 6 -1'), ('{"not": {}}', '1 2 3 4 5 6 -1'), ('{"not": null, "assignee": null}', '1 2 3 4 5 6 -1'),
  ('{"assignee": [], "labels": {"any": []}, "created": {}}', '1 2 3 4 5 6 -1'),
  -- Projects: the only filter that a project's own text can pass.
  ('{"projects": "tx"}', '1 2 3 -1'), ('{"projects": ["Tx", 2]}', '1 2 3 4 5 -1'), ('{"projects": [1]}', '1 2 3 -1'), ('{"projects": ["7"]}', '6'), ('{"projects": [7]}', ''),
  ('{"projects": ["none such"]}', ''), ('{"not": {"projects": ["BB", 3]}}', '1 2 3 -1'), ('{"projects": ["TX", "BB"], "not": {"projects": 1}}', '4 5'),
  ('{"not": {"projects": ["none such"]}}', '1 2 3 4 5 6 -1'), ('{"projects": [1], "open": true}', '1 2'),
  -- Statuses.
  ('{"statuses": ["TO do"]}', '1 5'), ('{"statuses": ["To Do", "done", "none such"]}', '1 3 5'), ('{"statuses": "none such"}', ''),
  ('{"not": {"statuses": ["To Do", "none such"]}}', '2 3 4 6'), ('{"open": true}', '1 2 5 6'), ('{"open": false}', '3 4'), ('{"open": false, "statuses": "To Do"}', ''),
  ('{"open": true, "not": {"statuses": ["To Do"]}}', '2 6'),
  -- People.
  ('{"assignee": "noor"}', '1 2'), ('{"assignee": [" Noor ", "ADA"]}', '1 2 3'), ('{"assignee": [null]}', '4 5'), ('{"assignee": [null, "ada"]}', '3 4 5'), ('{"assignee": ["nobody"]}', ''),
  ('{"not": {"assignee": ["noor"]}}', '3 4 5 6'), ('{"not": {"assignee": [null]}}', '1 2 3 6'), ('{"not": {"assignee": [null, "noor"]}}', '3 6'), ('{"assignee": ["me.too"]}', '6'),
  ('{"reporter": ["Ada"]}', '1 3'), ('{"reporter": [null]}', '4'), ('{"not": {"reporter": ["ada", "bo"]}}', '4 5'),
  -- Types, priorities, labels.
  ('{"types": ["BUG"]}', '1 3 5'), ('{"types": ["task", "Epic"]}', '2 6'), ('{"not": {"types": "bug"}}', '2 4 6'), ('{"priorities": ["high"]}', '1 3'), ('{"not": {"priorities": ["high"]}}', '2 4 5 6'),
  ('{"labels": "payments"}', '1 2'), ('{"labels": ["PAYMENTS", "web"]}', '1 2 5 6'), ('{"labels": {"any": ["payments", "web"]}}', '1 2 5 6'), ('{"labels": {"all": ["ios", "payments"]}}', '1'),
  ('{"labels": {"any": ["payments", "web"], "all": "iOS"}}', '1 6'), ('{"not": {"labels": ["ios"]}}', '2 4 5'), ('{"not": {"labels": {"all": ["ios", "web"]}}}', '1 2 3 4 5'),
  ('{"not": {"labels": {"any": ["web", "payments"], "all": ["ios"]}}}', '2 3 4 5'),
  -- Dates: both ends are inclusive. Times: the end is exclusive.
  ('{"created": {"from": "2025-03-01", "to": "2025-03-31"}}', '1 2'), ('{"created": {"from": "2025-04-01"}}', '3 4 5 6'), ('{"created": {"to": "2025-04-01"}}', '1 2 3'),
  ('{"created": {"from": "2025-03-01T00:00:00Z", "to": "2025-04-01T00:00:00Z"}}', '1 2'), ('{"created": {"from": "2025-04-01t01:00:00.5+01:00", "to": null}}', '4 5 6'),
  ('{"created": {"from": "2025-04-01", "to": "2025-04-01"}}', '3'), ('{"updated": {"from": "2025-06-02", "to": "2025-06-03"}}', '2 3'), ('{"not": {"updated": {"from": "2025-06-02", "to": "2025-06-03"}}}', '1 4 5 6'),
  ('{"due": {"from": "2025-03-11"}}', '2 5 6'), ('{"due": {"from": "2025-03-10", "to": "2025-03-10"}}', '1'), ('{"due": {"to": "2025-12-31"}}', '1 2 5'), ('{"not": {"due": {"to": "2025-12-31"}}}', '3 4 6'),
  -- Combined.
  ('{"projects": "TX", "open": true, "assignee": "noor", "types": ["bug", "story"], "labels": {"all": ["ios"]}, "created": {"to": "2025-03-31"}, "not": {"reporter": "bo", "due": {"from": "2025-04-01"}}}', '1'),
  ('{"assignee": ["noor", null], "not": {"types": ["bug"], "labels": ["web"]}}', '2 4'),
  -- A list: all must hold.
  ('[]', '1 2 3 4 5 6 -1'), ('[{"open": true}, {"labels": "ios"}, {"labels": "payments"}]', '1'), ('[{"not": {"reporter": "ada"}}, {"not": {"reporter": "bo"}}]', '4 5'), ('[{"projects": ["TX", "BB"]}, {"projects": "bb"}]', '4 5')
) v (f, w);

-- Together with the older parameters.
select results_eq($$ select k.ticket_id from public.search_by_keyword('alpha', 10, 1, 'to do', '{"open": true}') k $$, array[1::bigint], 'filters apply in addition to project_filter and status_filter');
select is_empty($$ select from public.search_by_keyword('alpha', 10, 1, null, '{"projects": ["BB"]}') $$, 'project filters in filters and project_filter must both match');
select results_eq($$ select k.ticket_id from public.search_by_keyword('TX-1 BB-5', 10, filters => '{"types": "bug"}') k where k.exact order by 1 $$, array[1::bigint, 5], 'tickets named by key must pass the filters');
select results_eq($$ select k.ticket_id from public.search_by_keyword('TX-1 BB-5', 10, filters => '{"projects": "bb"}') k where k.exact $$, array[5::bigint], 'a ticket named by key must pass a project filter');

-- Invalid filters ---------------------------------------------------------------------------------

create function pg_temp.refusal(filters jsonb) returns text
language plpgsql as $$
begin
  perform public.search_by_keyword('alpha', filters => filters);
  return 'passed';
exception when sqlstate '22023' then
  return sqlerrm;
end
$$;
select results_eq($$ select pg_temp.refusal(f) from unnest(array[
    '[5]', '"open"', '{"colour": 1}', '{"not": {"open": true}}', '{"not": {"not": {}}}', '{"not": []}', '{"open": "yes"}', '{"assignee": ["a", 3]}', '{"assignee": {"is": "a"}}', '{"types": [null]}',
    '{"not": {"types": [[]]}}', '{"projects": [1.5]}', '{"projects": [0]}', '{"projects": [true]}', '{"labels": {"none": []}}', '{"labels": {"all": [1]}}', '{"statuses": [" "]}', '{"reporter": ""}']::jsonb[]) f $$,
  array['filters is of type number', 'filters is of type string', 'filters.colour is unknown', 'filters.not.open is unknown', 'filters.not.not is unknown', 'filters.not is of type array', 'filters.open is of type string',
    'filters.assignee[1] is of type number', 'filters.assignee is of type object', 'filters.types[0] is of type null', 'filters.not.types[0] is of type array', 'filters.projects[0] is 1.5', 'filters.projects[0] is 0', 'filters.projects[0] is of type boolean',
    'filters.labels.none is unknown', 'filters.labels.all[0] is of type number', 'filters.statuses[0] is blank', 'filters.reporter is blank'], 'unknown names and wrong types are rejected with their path');
select results_eq($$ select pg_temp.refusal(f) from unnest(array[
    '{"created": "2025-01-01"}', '{"created": {"since": "2025-01-01"}}', '{"created": {"from": 2025}}', '{"created": {"from": "2025-13-01"}}', '{"created": {"to": "today"}}', '{"updated": {"to": "infinity"}}',
    '{"updated": {"from": "2025-01-01T10:00:00"}}', '{"due": {"from": "2025-01-01T10:00:00Z"}}', '{"due": {"from": "2025-01-02", "to": "2025-01-01"}}',
    '{"not": {"created": {"from": "2025-01-02T00:00:00Z", "to": "2025-01-01T00:00:00Z"}}}', '{"created": {"from": "2025-02-29"}}']::jsonb[]) f $$,
  array['filters.created is of type string', 'filters.created.since is unknown', 'filters.created.from is of type number', 'filters.created.from is "2025-13-01"', 'filters.created.to is "today"', 'filters.updated.to is "infinity"',
    'filters.updated.from is "2025-01-01T10:00:00"', 'filters.due.from is "2025-01-01T10:00:00Z"', 'filters.due: from is after to', 'filters.not.created: from is after to', 'filters.created.from is "2025-02-29"'],
  'invalid dates and ranges that end before they begin are rejected with their path');
create function pg_temp.hint(filters jsonb) returns text
language plpgsql as $$
declare
  hint text;
begin
  perform public.search_by_keyword('alpha', filters => filters);
  return 'passed';
exception when sqlstate '22023' then
  get stacked diagnostics hint = pg_exception_hint;
  return hint;
end
$$;
select results_eq($$ select pg_temp.hint(f) from unnest(array['{"colour": 1}', '{"not": {"colour": 1}}']::jsonb[]) f $$,
  $$ select format(f, (select string_agg(m.member, ', ') from tasklens.ticket_members m where m.member <> 'open')) from unnest(array['Allowed: %s, open, not.', 'Allowed: %s.']) f $$,
  'an unknown filter is answered by the known ones');
select is(pg_temp.refusal(jsonb_build_object('types', (select jsonb_agg('t' || i) from generate_series(1, 51) i))), 'filters.types has 51 values', 'more than 50 values are rejected');
select is(pg_temp.refusal(jsonb_build_object('types', jsonb_build_array(repeat('x', 256)))), 'filters.types[0] has 256 characters', 'a value of more than 255 characters is rejected');
select is(pg_temp.refusal(jsonb_build_object('types', (select jsonb_agg(repeat('x', 254) || i % 10) from generate_series(1, 50) i))), 'passed', '50 values of 255 characters are accepted');
select is(pg_temp.refusal('{"assignee": ["me"]}'), 'filters.assignee: nobody is signed in, so "me" is unknown', 'the value "me" is rejected without a user''s token');
select throws_ok(format('select from %s', f), '22023', 'filters.colour is unknown', 'an unknown filter is rejected by ' || f)
from unnest(array[
  'public.search_by_vector(pg_temp.unit(1), ''m'', filters => ''{"colour": 1}'')', 'public.search_by_keyword(''alpha'', filters => ''{"colour": 1}'')',
  'public.search_hybrid(''alpha'', filters => ''{"colour": 1}'')', 'public.search_facets(''alpha'', filters => ''{"colour": 1}'')',
  'public.retrieve_chunks(pg_temp.unit(1), ''m'', filters => ''{"colour": 1}'')',
  'public.retrieve_chunks(pg_temp.unit(1), ''m'', corpus => ''all'', filters => ''{"colour": 1}'')', 'public.similar_tickets(pg_temp.unit(1), ''m'', filters => ''{"colour": 1}'')',
  'public.find_similar_tickets(4, ''other'', filters => ''{"colour": 1}'')']) f;

-- A filter without an index would read all tickets.
select is_empty($$ select m.* from tasklens.ticket_members m where not exists (
    select from pg_catalog.pg_indexes i where i.schemaname = 'public' and i.tablename = 'tickets'
      and i.indexdef like '%(' || case when m.kind in ('person', 'text') then format('lower(%s)', m.source) when m.kind = 'labels' then format('tasklens.fold_labels(%s)', m.source) else m.source end || '%') $$,
  'every member of a ticket has an index for its filter');

-- All searches ------------------------------------------------------------------------------------

create temporary table asked as select '{"open": true, "not": {"assignee": ["noor"]}}'::jsonb as filters;
grant select on asked to service_role;
select results_eq($$ select f.way, string_agg(f.ticket_id::text, ' ' order by f.ticket_id) from (
    select 1 as way, h.ticket_id from asked a, public.search_hybrid('alpha', pg_temp.unit(1), 'm', -1, filters => a.filters) h
    union all select 2, r.ticket_id from asked a, public.search_by_keyword('alpha', filters => a.filters) r
    union all select 3, coalesce(r.ticket_id, 0) from asked a, public.retrieve_chunks(pg_temp.unit(1), 'm', -1, question => 'TX-1 and Bananas and Alpha project', filters => a.filters) r
    union all select 5, coalesce(r.ticket_id, 0) from asked a, public.retrieve_chunks(pg_temp.unit(1), 'm', -1, question => 'TX-1', corpus => 'all', filters => a.filters) r
    union all select 6, s.ticket_id from asked a, public.similar_tickets(pg_temp.unit(1), 'm', filters => a.filters) s
    union all select 7, n.ticket_id from asked a, public.nearest_chunks(pg_temp.unit(1), filters => a.filters) n
    union all select 8, (s.item ->> 'ticket_id')::bigint from asked a, public.find_similar_tickets(5, 'm', filters => a.filters) f, jsonb_array_elements(f.results) as s(item)
  ) f group by f.way order by f.way $$,
  $$ values (1, '5 6'), (2, '5 6'), (3, '5 6'), (5, '5 6'), (6, '5 6'), (7, '5 6'), (8, '6') $$, 'every search applies filters, also to tickets that a question names');

-- The value me ------------------------------------------------------------------------------------

reset role;
insert into public.project_members (project_id, user_id) select 2, a.user_id from actors a where a.name = 'viewer';
create function pg_temp.mine(claims jsonb) returns text
language plpgsql as $$
begin
  perform pg_temp.act('viewer');
  perform set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb || claims)::text, true);
  return (select string_agg(k.ticket_id::text, ' ' order by k.ticket_id) from public.search_by_keyword('alpha', 10, filters => '{"assignee": ["me", null]}') k);
end
$$;
select results_eq($$ select pg_temp.mine(c) from unnest(array[
    '{"email": "NOOR"}', '{"user_metadata": {"full_name": "Noor"}}', '{"user_metadata": {"name": "ada"}}', '{"user_metadata": {"user_name": "ada"}}', '{"user_metadata": {"preferred_username": "ada"}}',
    '{"email": "", "user_metadata": {"nickname": "ada"}}']::jsonb[]) c $$,
  array['1 2 4 5', '1 2 4 5', '3 4 5', '3 4 5', '3 4 5', '4 5'], 'the value "me" matches the token''s email and names');
select is(pg_temp.refusal('{"reporter": "ME"}'), 'passed', 'the value "me" is accepted for a user with only an ID');
select is_empty($$ select from public.search_by_keyword('alpha', 10, filters => '{"projects": [3, "7"]}') $$, 'a filter does not make invisible projects visible');
reset role;

-- Facets ------------------------------------------------------------------------------------------

set local role service_role;
create function pg_temp.facets(filters jsonb, of_facets text[] default null) returns setof text
language sql as $$
  select f.facet || ' ' || f.label || ' ' || f.count from public.search_facets('alpha', filters => facets.filters) f where of_facets is null or f.facet = any (of_facets)
$$;
select results_eq($$ select pg_temp.facets(null, '{assignee,reporter,type,priority,label,open}') $$,
  array['assignee NOOR 2', 'assignee Ada 1', 'assignee me.too 1', 'reporter Ada 2', 'reporter Bo 2', 'reporter Noor 1', 'type Bug 3', 'type Epic 1', 'type Task 1',
    'priority High 2', 'priority Low 2', 'label iOS 3', 'label Payments 2', 'label Web 2', 'open open 4', 'open done 2'], 'facets merge values that differ only in case');
select results_eq($$ select pg_temp.facets('{"assignee": "noor", "open": true}') $$,
  array['status In Progress 1', 'status To Do 1', 'project Alpha project 2', 'assignee NOOR 2', 'assignee me.too 1', 'reporter Ada 1', 'reporter Bo 1', 'type Bug 1', 'type Task 1',
    'priority High 1', 'priority Low 1', 'label Payments 2', 'label iOS 1', 'open open 2'], 'a facet''s counts ignore its own filter and apply the others');
select results_eq($$ select pg_temp.facets('[{"assignee": "noor"}, {"open": true}]') $$, $$ select pg_temp.facets('{"assignee": "noor", "open": true}') $$, 'facets ignore their own filter in a list, too');
select results_eq($$ select pg_temp.facets('{"labels": {"all": ["web"]}, "statuses": ["to do"], "projects": ["BB"]}', '{status,project,label}') $$,
  array['status To Do 1', 'project Bananas 1', 'label web 1'], 'the facets status, project and label ignore their own filters');
select results_eq($$ select pg_temp.facets('{"types": "bug", "priorities": "high", "reporter": "ada", "not": {"types": ["epic"]}}', '{reporter,type,priority}') $$,
  array['reporter Ada 2', 'type Bug 2', 'priority High 2'], 'the facets reporter, type and priority ignore their own filters');
reset role;
update public.tickets set labels = '{web,WEB,Web}' where ticket_id = 5;
set local role service_role;
select results_eq($$ select lower(f) from pg_temp.facets('{"projects": 2}', '{label}') f $$, array['label web 1'], 'a ticket with one label in three spellings counts once');
select is_empty($$ select pg_temp.facets('{"assignee": ["nobody"]}', '{status,reporter,open,label}') $$, 'facets are empty if no ticket matches');

-- Sorting by time ---------------------------------------------------------------------------------

create function pg_temp.listed(sort text, count integer default 10, start integer default 0, filters jsonb default '{"projects": ["TX", "BB", "7"]}') returns text
language sql as $$
  select string_agg(coalesce(h.ticket_key, '-'), ' ' order by h.place) || case when bool_or(h.has_more) then ' …' else '' end
  from (
    select s.*, row_number() over () as place
    from public.search_hybrid('alpha -seven', pg_temp.unit(1), 'm', 0.9, count, start, sort => listed.sort, filters => listed.filters) s
  ) h
$$;
select is(pg_temp.listed('newest', filters => '{"not": {"assignee": "ada"}}'), '7-6 BB-5 BB-4 TX-2 TX-1', 'sort newest returns the newest tickets first');
select is(pg_temp.listed('updated', filters => '{"not": {"assignee": "ada"}}'), 'BB-5 BB-4 TX-2 TX-1 7-6', 'sort updated returns the last updated tickets first');
select is(pg_temp.listed('newest', 2, 2, '{"open": true}'), 'TX-2 TX-1', 'the last page of a sorted list has no has_more');
select is(pg_temp.listed('newest', 2, 1, '{"open": true}'), 'BB-5 TX-2 …', 'a page before the last of a sorted list has has_more');
select matches(pg_temp.listed('newest'), '^- ', 'a project''s own row is sorted by the project''s time');
select is(pg_temp.listed('relevance'), pg_temp.listed(null), 'sort relevance is the default');
select throws_ok($$ select from public.search_hybrid('alpha', sort => 'oldest') $$, '22023', 'sort is "oldest"', 'an unknown sort is rejected');
reset role;
update public.tickets set created_at = '2025-01-01', updated_at = '2025-01-01';
set local role service_role;
select is(pg_temp.listed('updated', filters => '{"projects": ["TX", "BB"], "open": true}'), 'TX-1 TX-2 BB-5', 'tickets with equal times are sorted by ID');
select results_eq($$ select h.matched_by, h.keyword_rank is not null, h.vector_rank is not null, h.fused_score > 0 from public.search_hybrid('alpha', pg_temp.unit(1), 'm', -1, 1, sort => 'newest', filters => '{"types": "epic"}') h $$,
  $$ values ('{vector,keyword}'::text[], true, true, true) $$, 'sorted results have the ranks and scores of the search');

-- Columns -----------------------------------------------------------------------------------------

select results_eq($$ select h.fields - 'links', h.comment, h.fields #> '{links,0,ticket_key}',
    (select jsonb_agg(concat_ws(' ', l ->> 'direction', l ->> 'kind', l ->> 'ticket_key', l ->> 'ticket_name', l ->> 'status')) from jsonb_array_elements(h.fields -> 'links') l)
  from public.search_hybrid('TX-1', match_count => 1) h $$,
  $$ values ('{"url": null, "assignee": "Noor", "reporter": "Ada", "type": "Bug", "priority": "High", "labels": ["Payments", "iOS"], "due_date": "2025-03-10", "resolved_at": null,
    "created_at": "2025-01-01T00:00:00+00:00", "updated_at": "2025-01-01T00:00:00+00:00", "status_category": "to_do"}'::jsonb, null::jsonb, '"TX-2"'::jsonb,
    '["out blocks TX-2 alpha two In Progress", "out duplicates TX-3 alpha three Done", "in blocks BB-5 alpha five To Do"]'::jsonb) $$, 'a result contains the ticket''s fields and its links in both directions');
select results_eq($$ select h.fields -> 'links' from public.search_hybrid('BB-4 alpha', match_count => 1) h $$, array['[]'::jsonb], 'links is empty for a ticket without links');
select pg_temp.act('viewer');
select is((select h.fields -> 'links' from public.search_hybrid('TX-1', match_count => 1) h) @> '[{"ticket_key": "BB-5"}]', true, 'a user sees a link to a visible ticket');
select pg_temp.act('outsider');
select results_eq($$ select h.fields -> 'links' from public.search_hybrid('BB-5', match_count => 1) h $$, array['[]'::jsonb], 'a user does not see a link to an invisible ticket');
reset role;

-- Every field of names: what filters find, what the facet counts, and what results show.
create function pg_temp.uses(field text, member text, facet text) returns text[]
language plpgsql as $$
begin
  execute format('update public.tickets set %I = case ticket_id when 1 then ''Zed'' when 2 then ''ZED'' end', field);
  return array[pg_temp.found(jsonb_build_object(member, 'zed')), (select string_agg(f, ', ') from pg_temp.facets(null, array[facet]) f),
    (select h.fields ->> facet from public.search_hybrid('TX-1', match_count => 1) h),
    (select string_agg(l.fields ->> facet, ' ') from public.list_tickets(filters => jsonb_build_object(member, array['zed'])) l),
    (select t.fields ->> facet from public.get_ticket(1) t)];
end
$$;
select results_eq($$ select pg_temp.uses(m.source, m.member, m.facet) from tasklens.ticket_members m where m.kind in ('person', 'text') $$,
  $$ select array['1 2', m.facet || ' ZED 2', 'Zed', 'Zed ZED', 'Zed'] from tasklens.ticket_members m where m.kind in ('person', 'text') $$,
  'every field of names can be filtered by, is counted, and is shown by searches, lists and tickets');

select * from finish();
rollback;
