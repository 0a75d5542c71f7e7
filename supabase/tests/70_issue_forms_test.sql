-- Issue forms make no two tickets alike.

begin;
select plan(5);

create function pg_temp.form(what text default '', why text default '_No response_', os text default '') returns text language sql as $$
  select format(e'### Is there an existing issue for this?\n\n- [X] I have searched the existing issues\n- [ ] I would like to send a patch\n\n### Current behaviour\n\n%s\n\n### Expected behaviour\n\n%s\n\n'
    '### Steps to reproduce the problem\n\n_No response_\n\n### Environment\n\n- **OS:** %s\n- Browser:\n\n**Anything else?**\n\n_No response_\n', what, why, os)
$$;
create function pg_temp.template(what text default '') returns text language sql as $$
  select format(e'**Describe the bug**\nA clear and concise description of what the bug is.\n%s\n**To reproduce**\nSteps to reproduce the behaviour:\n1. Go to ''...''\n2. Click on ''....''\n3. See error\n\n'
    '**Expected behaviour**\nA clear and concise description of what you expected to happen.\n', what)
$$;
insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Machines');
insert into public.tickets (ticket_id, project_id, status_id, key, name, description)
select i, 1, 1, 'AA-' || i, a || ' of the ' || b, case when i % 2 = 0 then pg_temp.form('The ' || b || ' shows ' || md5(a), os => 'Plan ' || i) else pg_temp.template('The ' || b || ' shows ' || md5(a)) end
from (select row_number() over () as i, a, b
  from unnest('{Rattling,Overheating,Flickering,Leaking,Drift,Wobble}'::text[]) a, unnest('{crane,printer,furnace,conveyor,lathe}'::text[]) b) x;
insert into public.tickets (ticket_id, project_id, status_id, key, name, description) values
  (41, 1, 1, 'AA-41', 'Bug report', pg_temp.form()), (42, 1, 1, 'AA-42', 'Bug report', pg_temp.form()), (43, 1, 1, 'AA-43', 'Bug report', pg_temp.template('The horn sounds at night')),
  (44, 1, 1, 'AA-44', 'Bug report', pg_temp.form('Sparks fly out of the socket')), (45, 1, 1, 'AA-45', 'Bug report', pg_temp.form('The siren stays silent')),
  (46, 1, 1, 'AA-46', 'Magnet drops its load in the yard', pg_temp.form()), (47, 1, 1, 'AA-47', 'Magnet drops its load in the yard', pg_temp.form());
insert into public.tickets (ticket_id, project_id, status_id, key, name, description)
select 100 + i, 1, 1, 'AA-' || 100 + i, 'Filler ' || md5(i::text), 'Filler ' || md5((-i)::text) from generate_series(1, 400) i;
-- Vectors that say nothing apart.
insert into public.chunks (project_id, ticket_id, kind, position, text, tokens, input_hash, model, embedding)
select 1, t.ticket_id, 'ticket', 0, t.name, 1, 'h', 'text-embedding-3-small', ('[1' || repeat(',0', 1535) || ']')::extensions.vector from public.tickets t where t.ticket_id < 100;
set local role service_role;
create function pg_temp.duplicates(text text, own bigint default null) returns setof text language sql as $$
  select s.ticket_key from public.similar_tickets(('[1' || repeat(',0', 1535) || ']')::extensions.vector, 'text-embedding-3-small', 20, own, query_text => text) s where s.likely_duplicate
$$;

select is_empty($$ select d.text, k from unnest(array[pg_temp.form(), e'Bug report\n\n' || pg_temp.form(), e'[Bug]: \n\n' || pg_temp.form(), pg_temp.template(), e'Bug report\n' || pg_temp.template(),
  e'### What happened\n\n### Expected\n\n### Environment\n- OS: \n- Version: ']) d(text) cross join lateral pg_temp.duplicates(d.text) k $$,
  'a draft that is a bare form has no likely duplicate');
select is_empty($$ select t.key, k from public.tickets t cross join lateral pg_temp.duplicates(t.name || e'\n\n' || t.description, t.ticket_id) k where t.ticket_id < 46 $$,
  'tickets that share a form, and a name that says nothing, are no duplicates');
select results_eq($$ select pg_temp.duplicates(e'Magnet drops its load in the yard\n\n' || pg_temp.form()) order by 1 $$, array['AA-46', 'AA-47'], 'what the name says is compared');
select results_eq($$ select pg_temp.duplicates(e'Bug report\n\n' || pg_temp.form('Sparks fly out of the socket')) $$, array['AA-44'], 'a copy stays one');
select results_eq($$ select pg_temp.duplicates(e'# Overheating of the furnace\n\nIt shows ' || md5('Overheating')) $$, (select array_agg(t.key) from public.tickets t where t.name = 'Overheating of the furnace'), 'a first heading is a name');

select * from finish();
rollback;
