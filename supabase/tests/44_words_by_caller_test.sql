-- A word that occurs only in texts invisible to the caller is treated as an unknown word. Of other
-- words, scores tell how many texts have them, visible or not, and no other column does.

begin;
select plan(10);

insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name) values (1, 'AA', 'Pumps'), (2, 'BB', 'Wheels');
insert into public.tickets (key, project_id, status_id, name) values
  ('AA-1', 1, 1, 'Carburettor leaks'), ('AA-2', 1, 1, 'Thermostat sticks'),
  ('BB-1', 2, 1, 'Carburettar'), -- the viewer's misspelling
  ('BB-2', 2, 1, 'Thermostotx'), ('BB-3', 2, 1, 'Thermostoty'), ('BB-4', 2, 1, 'Thermostotz');
\ir kit/actors.sql

create function pg_temp.found(actor text, query text) returns text
language plpgsql as $$
begin
  perform pg_temp.act(actor);
  return (select string_agg(t.key, ' ' order by t.key) from public.search_by_keyword(query) join public.tickets t using (ticket_id));
end
$$;
create function pg_temp.counted(actor text, query text) returns bigint
language plpgsql as $$
begin
  perform pg_temp.act(actor);
  return (select sum(f.count) from public.search_facets(query) f where f.facet = 'project');
end
$$;

select is(pg_temp.found('service', 'carburettar'), 'BB-1', 'the service finds the exact word');
select is(pg_temp.found('outsider', 'carburettar'), 'BB-1', 'a user who sees the exact word''s ticket finds it');
select is(pg_temp.found('viewer', 'carburettar'), 'AA-1', 'a word invisible to the caller is corrected to the nearest visible word');
select is(pg_temp.counted('viewer', 'carburettar'), 1::bigint, 'counts use the corrected word as well');
select is(pg_temp.found('viewer', 'thermostot'), 'AA-2', 'invisible words that are more similar do not displace a visible word');
select is(pg_temp.found('stranger', 'carburettar'), null, 'a caller who sees no projects finds nothing');

-- docs/access.md, "What scores tell about hidden texts".
reset role;
create temporary table seen (moment text, score double precision, others jsonb);
grant select, insert on seen to authenticated;
create function pg_temp.look(moment text) returns void
language sql as $$
  select pg_temp.act('viewer');
  insert into seen
  select moment, s.keyword_score, jsonb_build_array(to_jsonb(s) - 'keyword_score', (select jsonb_agg(f) from public.search_facets('carburettor') f))
  from public.search_hybrid('carburettor') s;
  reset role;
$$;
select pg_temp.look('before');
insert into public.tickets (key, project_id, status_id, name) values ('BB-5', 2, 1, 'A wheel');
select pg_temp.look('another text');
insert into public.tickets (key, project_id, status_id, name) values ('BB-6', 2, 1, 'Carburettor');
select pg_temp.look('the word');
select is((select count(*) from seen), 3::bigint, 'the viewer finds one ticket each time');
select isnt((select score from seen where moment = 'another text'), (select score from seen where moment = 'before'), 'a score changes with a hidden text without the word');
select cmp_ok((select score from seen where moment = 'the word'), '<', (select score from seen where moment = 'another text'), 'a score falls with a hidden text that has the word');
select is((select count(distinct others) from seen), 1::bigint, 'hidden texts change no other column and no facet');

select * from finish();
rollback;
