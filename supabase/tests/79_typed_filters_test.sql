-- The filters that people type in a query, and what of it stays text.

begin;
select plan(15);

insert into public.status (status_id, name, category) values (1, 'To Do', 'to_do'), (2, 'Done', 'done'), (3, 'In Progress', 'in_progress'), (4, 'blocked', 'to_do');
insert into public.projects (project_id, key, name) values (1, 'PX', 'Project X'), (2, 'MOB', 'Mobile App'), (3, 'WEB', 'web'), (4, 'TA', 'Twins'), (5, 'TB', 'Twins'), (6, 'TX', 'Transactions');
insert into public.tickets (ticket_id, project_id, status_id, name, assignee, reporter, ticket_type, priority, labels) values
  (1, 1, 1, 'One', 'Ada Lovelace', 'ada', 'bug', 'high', '{third party,ios,payments,cards,de,web,android,a,b,c,d}'),
  (2, 1, 1, 'Two', 'Noor', 'Gary Mathews', 'story', 'low', '{forecast,me}'), (3, 1, 1, 'Three', 'o''brien', 'Noor', 'bug', 'low', '{}'), (4, 1, 1, 'Four', 'ada', null, 'bug', 'low', '{}');

-- With what nothing has, and nothing is near, as what is typed.
create function pg_temp.reads(query text) returns text
language sql as $$
  select concat_ws(' | ', nullif(r.text, ''), r.filters) from tasklens.read_typed_query(query, '2026-02-28') r
$$;
create function pg_temp.written(text text, filters text) returns text
language sql as $$ select concat_ws(' | ', nullif(text, ''), filters::jsonb) $$;

select is_empty($test$ select q, pg_temp.reads(q), pg_temp.written(t, f) from (values
  ('timeout', 'timeout', '{}'),
  ('timeout status:Done on login', 'timeout on login', '{"statuses":["Done"]}'),
  ('status:Done', '', '{"statuses":["Done"]}'),
  ('STATUS:Done Status:Done', '', '{"statuses":["Done","Done"]}'),
  ('status:"in progress" pump', 'pump', '{"statuses":["in progress"]}'),
  ('status:“in progress” pump', 'pump', '{"statuses":["in progress"]}'),
  ('status:„in  progress“ pump', 'pump', '{"statuses":["in progress"]}'),
  ('status:«in progress»,done', '', '{"statuses":["in progress","done"]}'),
  ('status:todo,, status:done,', '', '{"statuses":["To Do","done"]}'),
  ('project:TX project:6,mob', '', '{"projects":["TX",6,"MOB"]}'),
  ('project:0 project:99999999999999999999', '', '{"projects":["0","99999999999999999999"]}'),
  ('project:0000000000000000001,999999999999999999', '', '{"projects":["0000000000000000001",999999999999999999]}'),
  ('assignee:me,@ME,Noor', '', '{"assignee":["me","me","Noor"]}'),
  ('assignee:@noor assignee:o''brien', '', '{"assignee":["Noor","o''brien"]}'),
  ('no:assignee assignee:ada', '', '{"assignee":[null,"ada"]}'),
  ('no:reporter', '', '{"reporter":[null]}'),
  ('-no:assignee', '', '{"not":{"assignee":[null]}}'),
  ('reporter:ada priority:high type:bug,story', '', '{"reporter":["ada"],"types":["bug","story"],"priorities":["high"]}'),
  ('label:ios', '', '{"labels":{"any":["ios"]}}'),
  ('label:ios label:payments,cards label:de', '', '{"labels":{"any":["payments","cards"],"all":["ios","de"]}}'),
  ('-label:ios,android -label:web', '', '{"not":{"labels":{"any":["ios","android","web"]}}}'),
  ('-status:done -status:blocked pump -type:bug', 'pump', '{"not":{"statuses":["done","blocked"],"types":["bug"]}}'),
  ('is:open', '', '{"open":true}'),
  ('is:Done -is:open is:closed', '', '{"open":false}'),
  ('http://x.example/a:b', 'http://x.example/a:b', '{}'),
  ('error:42 foo:bar 10:30 is:blue no:label', 'error:42 foo:bar 10:30 is:blue no:label', '{}'),
  ('is:open,done', 'is:open,done', '{}'),
  ('status: done', '', '{"statuses":["Done"]}'),
  ('status:"" status:,', 'status:"" status:,', '{}'),
  ('status:"in progress', 'status:"in progress', '{}'),
  ('status:"a"b', 'status:"a"b', '{}'),
  ('"status:done is:open" pump', '"status:done is:open" pump', '{}'),
  ('-"is:open" is:done', '-"is:open"', '{"open":false}'),
  ('5" is:open 6" is:open', '5" 6"', '{"open":true}'),
  ('(is:open) x,is:open', '(is:open) x,is:open', '{}'),
  ('--is:open', '--is:open', '{}'),
  ('-pump is:open', '-pump', '{"open":true}'),
  ('', '', '{}')) c (q, t, f) where pg_temp.reads(q) is distinct from pg_temp.written(t, f) $test$, 'filters and text');

select is_empty($test$ select q, pg_temp.reads(q), pg_temp.written(t, f) from (values
  ('UI bugs in Project X status: To Do', 'UI bugs', '{"projects":["PX"],"statuses":["To Do"]}'),
  ('status:To Do login', 'login', '{"statuses":["To Do"]}'),
  ('status: To Doing', 'status: To Doing', '{}'),
  ('status: Done', '', '{"statuses":["Done"]}'),
  ('status: 500 when paying', 'status: 500 when paying', '{}'),
  ('status: "in progress" pump', 'pump', '{"statuses":["in progress"]}'),
  ('-status: To Do pump', 'pump', '{"not":{"statuses":["To Do"]}}'),
  ('assignee:Ada Lovelace is: open', '', '{"open":true,"assignee":["Ada Lovelace"]}'),
  ('label:third party', '', '{"labels":{"any":["third party"]}}'),
  ('pump created: >2025-02-28', 'pump', '{"created":{"from":"2025-03-01"}}'),
  ('pump created: yesterday''s log', 'pump created: yesterday''s log', '{}'),
  ('crashes in the Mobile App project when paying', 'crashes when paying', '{"projects":["MOB"]}'),
  ('crashes in mobile app?', 'crashes', '{"projects":["MOB"]}'),
  ('project Mobile App', '', '{"projects":["MOB"]}'),
  ('bugs in WEB', 'bugs', '{"projects":["WEB"]}'),
  ('bugs in web', 'bugs in web', '{}'),
  ('bugs in the web project', 'bugs', '{"projects":["WEB"]}'),
  ('bugs in project web when idle', 'bugs when idle', '{"projects":["WEB"]}'),
  ('bugs in WEB Plugins', 'bugs in WEB Plugins', '{}'),
  ('project:"Mobile App" -project:web', '', '{"projects":["MOB"],"not":{"projects":["WEB"]}}'),
  ('status:open crash', 'crash', '{"open":true}'),
  ('-status:closed', '', '{"open":true}'),
  ('status:Done,open', '', '{"statuses":["Done","open"]}'),
  ('bugs in Twins', 'bugs in Twins', '{}'),
  ('bugs "in Mobile App"', 'bugs "in Mobile App"', '{}'),
  ('bugs in "Mobile App"', 'bugs in "Mobile App"', '{}'),
  ('login Mobile App', 'login Mobile App', '{}')) c (q, t, f) where pg_temp.reads(q) is distinct from pg_temp.written(t, f) $test$, 'values of several words, and names of projects');

create temporary table dates (value text, read text);
insert into dates values
  ('2025-03-01', '{"from":"2025-03-01","to":"2025-03-01"}'),
  ('=2025-03-01', '{"from":"2025-03-01","to":"2025-03-01"}'),
  ('>2025-02-28', '{"from":"2025-03-01"}'),
  ('>=2025-02-28', '{"from":"2025-02-28"}'),
  ('<2025-03-01', '{"to":"2025-02-28"}'),
  ('<=2025-03-01', '{"to":"2025-03-01"}'),
  ('"2025-03-01"', '{"from":"2025-03-01","to":"2025-03-01"}'),
  ('2024-02', '{"from":"2024-02-01","to":"2024-02-29"}'),
  ('>2024-02', '{"from":"2024-03-01"}'),
  ('2024', '{"from":"2024-01-01","to":"2024-12-31"}'),
  ('<2024', '{"to":"2023-12-31"}'),
  ('2025-03-01..2025-04-01', '{"from":"2025-03-01","to":"2025-04-01"}'),
  ('2025-03-01..*', '{"from":"2025-03-01"}'),
  ('..2025-04', '{"to":"2025-04-30"}'),
  ('>2025-03-01T10:00:00Z', '{"from":"2025-03-01T10:00:00Z"}'),
  ('<=2025-03-01t10:00:00+02:00', '{"to":"2025-03-01T10:00:00+02:00"}'),
  ('2025-03-01T10:00:00Z..2025', '{"from":"2025-03-01T10:00:00Z","to":"2025-12-31"}'),
  ('today', '{"from":"2026-02-28","to":"2026-02-28"}'),
  ('@today', '{"from":"2026-02-28","to":"2026-02-28"}'),
  ('>yesterday', '{"from":"2026-02-28"}'),
  ('<Tomorrow', '{"to":"2026-02-28"}'),
  ('7d', '{"from":"2026-02-21","to":"2026-02-28"}'),
  ('-7d', '{"from":"2026-02-21","to":"2026-02-28"}'),
  ('>7d', '{"from":"2026-02-21"}'),
  ('>=7d', '{"from":"2026-02-21"}'),
  ('<7d', '{"to":"2026-02-20"}'),
  ('<=7d', '{"to":"2026-02-20"}'),
  ('>-2w', '{"from":"2026-02-14"}'),
  ('<1y', '{"to":"2025-02-27"}'),
  ('>6mo', '{"from":"2025-08-28"}'),
  ('6MO..1mo', '{"from":"2025-08-28","to":"2026-01-28"}'),
  ('30d..7d', '{"from":"2026-01-29","to":"2026-02-21"}'),
  ('+7d', '{"from":"2026-02-28","to":"2026-03-07"}');
select is_empty($test$ select value, pg_temp.reads('updated:' || value), pg_temp.reads('x -created:' || value) from dates
  where pg_temp.reads('updated:' || value) is distinct from pg_temp.written('', '{"updated":' || read || '}')
    or pg_temp.reads('x -created:' || value) is distinct from pg_temp.written('x', '{"not":{"created":' || read || '}}') $test$, 'dates; today is 28 February 2026');
select is_empty($test$ select value, pg_temp.reads('due:' || value) from (values
  ('7d', '{"from":"2026-02-28","to":"2026-03-07"}'),
  ('-7d', '{"from":"2026-02-21","to":"2026-02-28"}'),
  ('<7d', '{"to":"2026-03-06"}'),
  ('<=1w', '{"to":"2026-03-07"}'),
  ('>7d', '{"from":"2026-03-08"}'),
  ('1mo', '{"from":"2026-02-28","to":"2026-03-28"}'),
  ('<today', '{"to":"2026-02-27"}'),
  ('2027', '{"from":"2027-01-01","to":"2027-12-31"}'),
  ('-7d..7d', '{"from":"2026-02-21","to":"2026-03-07"}')) c (value, read) where pg_temp.reads('due:' || value) is distinct from pg_temp.written('', '{"due":' || read || '}') $test$, 'days that usually lie in the future');
select is_empty($test$ select q, pg_temp.reads(q) from unnest(array[
  'updated:soon', 'updated:>', 'updated:..', 'updated:*..*', 'updated:2025-13-01', 'updated:2025-02-30', 'updated:>9999-12-31', 'updated:>9999y', 'updated:7m', 'updated:7mon', 'updated:24h', 'updated:2025-04-01..2025-03-01', 'updated:2025-03-01,2025-03-02', 'updated:2025-03-01T10:00:00Z', 'updated:<>7d', 'updated:x..2025', 'updated:2025..x', 'due:>2025-03-01T10:00:00Z', 'updated:<0001-01-01', 'updated:0000-05-01', '{}']) q where pg_temp.reads(q) <> q || ' | {}' $test$, 'no date: text');

create function pg_temp.refusal(query text) returns text
language plpgsql as $$
begin
  return pg_temp.reads(query);
exception when invalid_parameter_value then
  return sqlerrm;
end
$$;
select is_empty($test$ select q, pg_temp.refusal(q) from (values
  ('is:open is:done', 'is cannot be both open and done'),
  ('label:a,b label:c,d', 'label has two lists of alternatives'),
  ('created:2024 created:2025', 'created has two ranges: write one, as in 2025-01-01..2025-03-31'),
  ('created:>2025 created:<2025', 'created ends before it begins'),
  ('-created:2023 -created:2025', 'created has two ranges: write one, as in 2025-01-01..2025-03-31'),
  ('-due:<today -due:>2020', 'due has two ranges: write one, as in 2025-01-01..2025-03-31')) c (q, e) where pg_temp.refusal(q) <> 'query: ' || e $test$, 'a combination that one object cannot express is an error');

select is_empty($test$ select q, pg_temp.reads(q) from (values
  ('status:"In Review",done is:open', '{"statuses":["In Review","done"],"open":true}'), ('project:TX,6 no:assignee assignee:me', '{"projects":["TX",6],"assignee":[null,"me"]}'),
  ('label:a,b label:c is:done', '{"labels":{"any":["a","b"],"all":["c"]},"open":false}'),
  ('created:2026-01-01..2026-01-31 due:..2026-03', '{"created":{"from":"2026-01-01","to":"2026-01-31"},"due":{"to":"2026-03-31"}}'),
  ('updated:2026-02-01 resolved:2026-01-01..', '{"updated":{"from":"2026-02-01","to":"2026-02-01"},"resolved":{"from":"2026-01-01"}}'),
  ('-assignee:"Ada Lovelace" -label:ios', '{"not":{"assignee":["Ada Lovelace"],"labels":{"any":["ios"]}}}')) c (q, f)
  where pg_temp.reads(q) is distinct from pg_temp.written('', f) $test$, 'what the service writes is read as the same filters');

-- The languages of other trackers.
select is_empty($test$ select c.q, r.text, r.filters, r.sort, r.not_read from (values
  ('project = TX AND status = "In Progress" ORDER BY created DESC', null, '{"projects":["TX"],"statuses":["In Progress"]}', 'newest', '[]'),
  ('assignee = currentUser() and status not in (Done, ''To Do'')', null, '{"assignee":["me"],"not":{"statuses":["Done","To Do"]}}', null, '[]'),
  ('(type = bug OR type = story) AND labels in (payments, cards) AND labels = ios', null, '{"types":["bug","story"],"labels":{"any":["payments","cards"],"all":["ios"]}}', null, '[]'),
  ('assignee is EMPTY AND created >= -7d AND due <= now()', null, '{"assignee":[null],"created":{"from":"2026-02-21"},"due":{"to":"2026-02-28"}}', null, '[]'),
  ('label:payments OR label:cards crash', 'crash', '{"labels":{"any":["payments","cards"]}}', null, '[]'),
  ('label:payments OR label:nonsuch', null, '{"labels":{"any":["payments","nonsuch"]}}', null, '[]'),
  ('refund AND NOT mobile', 'refund -mobile', '{}', null, '[]'),
  ('crash NOT status:Done -author:ada', 'crash', '{"not":{"statuses":["Done"],"reporter":["ada"]}}', null, '[]'),
  ('status != Done crash sort:updated-desc', 'crash', '{"not":{"statuses":["Done"]}}', 'updated', '[]'),
  ('created>2025-03-01 key = TX-4 text ~ "pump leaks"', 'TX-4 pump leaks', '{"created":{"from":"2025-03-02"}}', null, '[]'),
  ('404 NOT FOUND', '404 NOT FOUND', '{}', null, '[]'), ('payments OR cards', 'payments OR cards', '{}', null, '[]'), ('a => b != c', 'a => b != c', '{}', null, '[]'),
  ('how to order by phone', 'how to order by phone', '{}', null, '[]'),
  ('refund NOT mobile', 'refund NOT mobile', '{}', null, '[{"text":"NOT mobile","instead":"-mobile"}]'),
  ('if status != 200 {', 'if status != 200 {', '{}', null, '[{"text":"status != 200","instead":"-status:200"}]'),
  ('priority >= high', 'priority >= high', '{}', null, '[{"text":"priority >= high","instead":null}]'),
  ('label:ios OR type:bug', null, '{"types":["bug"],"labels":{"any":["ios"]}}', null, '[{"text":"OR","instead":"status:a,b"}]'),
  ('fixVersion in (1.0, 2.0) AND project = TX', 'fixVersion in (1.0, 2.0)', '{"projects":["TX"]}', null, '[{"text":"fixVersion in (1.0, 2.0)","instead":null}]'),
  ('type = bug and resolution is empty', 'resolution is empty', '{"types":["bug"]}', null, '[{"text":"resolution is empty","instead":null}]'),
  ('type = bug and sprint in openSprints()', 'sprint in openSprints()', '{"types":["bug"]}', null, '[{"text":"sprint in openSprints()","instead":null}]'),
  ('is:issue crash', 'is:issue crash', '{}', null, '[{"text":"is:issue","instead":null}]'),
  ('type = bug order by priority', null, '{"types":["bug"]}', null, '[{"text":"order by priority","instead":"sort:created or sort:updated"}]')
  ) c (q, t, f, s, n), tasklens.read_typed_query(q, '2026-02-28') r
  where (r.text, r.filters, r.sort, r.not_read) is distinct from (c.t, c.f::jsonb, c.s, c.n::jsonb) $test$, 'what other trackers write is read where it means the same, else named');

-- SQL callers type the same.
select is((select array_agg(s.ticket_id || s.source order by s.ticket_id) from public.search_hybrid(q) s), f::text[], 'search_hybrid reads ' || q) from (values
  ('label:ios is:open', '{1filters}'), ('sort:updated', '{1filters,2filters,3filters,4filters}')) c (q, f);

-- Me is a person, and elsewhere a name like any other. What only leaves out accuses nothing.
select is(pg_temp.reads('label:me crash'), pg_temp.written('crash', '{"labels":{"any":["me"]}}'), 'a label may be called me');
select is((select array_agg(c ->> 'value') from public.explain_query('crash', '{"labels": ["nonsuch"], "not": {"labels": ["nothing"]}}') e, jsonb_array_elements(e.candidates) c),
  '{nonsuch}', 'names under not are no candidates');

-- Whatever is typed: filters are valid, no word is lost, and none is added.
select setseed(0.5);
create temporary table typed as
select (select string_agg((array['timeout', 'status:Done', '-label:ios', '"is:open"', 'is:open', '5"', 'in', 'Mobile App', 'the', 'project', 'no:assignee', '„x', '“', 'created:>7d',
    'due:2025..', 'label:a,', 'foo:bar', ':', '-', 'status: ', 'assignee:me', '(is:done)', 'type:"a b', 'x"y"z', 'project:web', 'status = Done', 'label in (ios)', 'created > 2025'])[1 + floor(random() * 28)::integer], ' ')
  from generate_series(1, 2 + i % 9)) as query
from generate_series(1, 400) i;
select is_empty($test$
  select t.query, r.text, r.filters from typed t
  cross join lateral (select pg_temp.refusal(t.query) as all) x
  cross join lateral (select * from tasklens.read_typed_query(case when x.all ~ '^query: ' then '' else t.query end, '2026-02-28')) r
  cross join lateral (select cardinality(tasklens.read_filters(r.filters #- '{assignee}' #- '{not,assignee}'))) f(count)
  where x.all !~ '^query: ' and (f.count is null or r.filters = '{}' and r.text <> t.query
    or exists (select unnest(string_to_array(r.text, ' ')) except all select unnest(string_to_array(t.query, ' ')))
    or 'timeout' = any (string_to_array(t.query, ' ')) and r.text !~ 'timeout')
$test$, 'a text without filters stays as it is, and words stay words');

-- Names are looked up where there are some.
create or replace function tasklens.match_names(filters jsonb, close boolean) returns table (member text, spelling text, value text, exact boolean, near boolean)
language plpgsql as $$ begin raise exception 'looked up'; end $$;
select lives_ok($$ select from public.explain_query('nonsuch') $$, 'a query without filters and keys looks up no names');
select throws_ok($$ select from public.explain_query('nonsuch', '{"labels": ["nonsuch"]}') $$, 'looked up', 'one with filters does');

select * from finish();
rollback;
