-- A role of the application that the owner is a member of, as Supabase grants it, never has its
-- code run with the owner's rights: neither when its view is attached, nor when rows are copied.

begin;
select plan(22);

create schema shop;
create table shop.orders (id integer primary key, title text);
insert into shop.orders values (1, 'First'), (2, 'Second');
create schema shown;
create view shown.projects as select 1 as project_id, 'SHOP' as key, 'Shop' as name;
create view shown.orders as select id as ticket_id, 1 as project_id, title as name from shop.orders;
create role shop_dev;
grant shop_dev to current_user;
grant usage, create on schema shop, shown to shop_dev;
grant all on shop.orders to shop_dev;
create function pg_temp.attach(view text, more text[] default '{}') returns bigint
language sql as $$ select count(*) from public.attach_tables(jsonb_build_object('projects', '{"view": "shown.projects", "tables": {}}'::jsonb,
  'tickets', jsonb_build_object('view', view, 'tables', '{"shop.orders": {"id": "ticket_id"}}'::jsonb || coalesce((select jsonb_object_agg(t, '{}'::jsonb) from unnest(more) t), '{}')))) $$;
-- What is left in the queue, and why.
create function pg_temp.settle() returns text
language plpgsql as $$
begin
  perform public.copy_changes() from generate_series(1, 5);
  return (select string_agg(r.reason, '; ') from tasklens.attached_rows r where r.refused_at is not null);
end
$$;

create function shop.whoami(text) returns text language sql as $$ select current_user || $1 $$;
create view shown.called as select id as ticket_id, 1 as project_id, shop.whoami(title) as name from shop.orders;
alter function shop.whoami owner to shop_dev;
select throws_ok($$ select pg_temp.attach('shown.called') $$, '42501', 'the view shown.called calls shop.whoami(text) of shop_dev', 'a function of a role that the owner is a member of');
create view shown.lent as select * from shown.orders;
alter view shown.lent owner to shop_dev;
grant select on shown.orders to shop_dev;
select throws_ok($$ select pg_temp.attach('shown.lent') $$, '42501', 'the view shown.lent calls shown.lent of shop_dev', 'a view, whose owner can replace it');
create view shown.over as select * from shown.lent;
select throws_ok($$ select pg_temp.attach('shown.over') $$, '42501', 'the view shown.over calls shown.lent of shop_dev', 'a view beneath another');
create function shop.same(text, text) returns boolean language sql as 'select $1 = $2';
create operator shop.=== (leftarg = text, rightarg = text, function = shop.same);
create view shown.compared as select id as ticket_id, 1 as project_id from shop.orders where title operator(shop.===) 'First';
alter function shop.same owner to shop_dev;
select throws_ok($$ select pg_temp.attach('shown.compared') $$, '42501', 'the view shown.compared calls shop.same(text,text) of shop_dev', 'the function of an operator');
create function shop.good(text) returns boolean language sql as 'select true';
create domain shop.name as text check (shop.good(value));
create view shown.cast_to as select id as ticket_id, 1 as project_id, title::shop.name as name from shop.orders;
alter function shop.good owner to shop_dev;
select throws_ok($$ select pg_temp.attach('shown.cast_to') $$, '42501', 'the view shown.cast_to calls shop.good(text) of shop_dev', 'the function of a domain''s check');
create aggregate shop.longest(text) (sfunc = textcat, stype = text);
create view shown.aggregated as select id as ticket_id, 1 as project_id, shop.longest(title) as name from shop.orders group by id;
alter aggregate shop.longest(text) owner to shop_dev;
select throws_ok($$ select pg_temp.attach('shown.aggregated') $$, '42501', 'the view shown.aggregated calls shop.longest(text) of shop_dev', 'an aggregate');
create type shop.mood as enum ('calm');
create table shop.moods (id integer primary key, mood shop.mood);
insert into shop.moods values (1, 'calm');
create view shown.moods as select m.id as ticket_id, 1 as project_id, m.mood as name from shop.moods m join shop.orders using (id);
create function shop.mood(shop.mood) returns json language sql as $$ select to_json(current_user) $$;
create cast (shop.mood as json) with function shop.mood;
alter function shop.mood owner to shop_dev;
select throws_ok($$ select pg_temp.attach('shown.moods', '{shop.moods}') $$, '42501', 'the view shown.moods calls shop.mood(shop.mood) of shop_dev', 'a cast to JSON');
drop cast (shop.mood as json);
set local role shop_dev;
create function shop.planned(integer) returns integer language sql immutable as 'select $1';
create table shop.parcels (id integer primary key);
create index on shop.parcels ((shop.planned(1) + id));
grant select on shop.parcels to public;
reset role;
create view shown.parcels as select o.id as ticket_id, 1 as project_id from shop.orders o join shop.parcels p on p.id = o.id;
select throws_ok($$ select pg_temp.attach('shown.parcels', '{shop.parcels}') $$, '42501', 'the view shown.parcels calls shop.planned(integer) of shop_dev', 'an index whose constants are computed to plan the read');
drop index shop.parcels_expr_idx;
select lives_ok($$ select pg_temp.attach('shown.parcels', '{shop.parcels}') $$, 'a table of theirs is only data');
-- Who has the owner's rights may own the view; policies apply to that role nonetheless. From
-- Postgres 16 on, a role cannot grant itself.
create role shop_boss;
grant shop_boss to current_user;
grant usage, create on schema shown to shop_boss;
grant usage on schema shop to shop_boss;
grant select on shop.orders, shop.parcels to shop_boss;
grant select on shown.parcels to public;
alter view shown.parcels owner to shop_boss;
revoke shop_boss from current_user;
do $$ begin if current_setting('server_version_num')::integer < 160000 then execute format('grant %I to shop_boss', current_user); end if; end $$;
create function pg_temp.before_16(test text) returns text
language plpgsql as $$
declare
  said text;
begin
  if current_setting('server_version_num')::integer >= 160000 then
    return skip('a role cannot grant itself');
  end if;
  execute test into said;
  return said;
end
$$;
select pg_temp.before_16($test$ select lives_ok($$ select pg_temp.attach('shown.parcels', '{shop.parcels}') $$, 'nor is a view of who has the owner''s rights refused') $test$);
alter table shop.parcels enable row level security, force row level security;
select pg_temp.before_16($test$ select throws_ok($$ select pg_temp.attach('shown.parcels', '{shop.parcels}') $$, '42501', 'query would be affected by row-level security policy for table "parcels"', 'the policies of a table are not run') $test$);

-- What changes hands after it was attached.
select pg_temp.attach('shown.orders');
select is(pg_temp.settle(), null, 'own views are copied');
create table shop.log (runs_as text);
grant insert on shop.log to public;
set local role shop_dev;
create function shop.note(text) returns text language plpgsql as $$ begin insert into shop.log values (current_user); return $1; end $$;
reset role;
create or replace view shown.orders as select id as ticket_id, 1 as project_id, shop.note(title) as name from shop.orders;
update shop.orders set title = title || '!';
select is(pg_temp.settle(), 'the view shown.orders calls shop.note(text) of shop_dev', 'when it is copied, it is asked again');
insert into tasklens.changed_rows (kind, by_column) values ('tickets', '*');
select is(pg_temp.settle() || (select count(*) from shop.log), 'the view shown.orders calls shop.note(text) of shop_dev0', 'also when all are compared: nothing has run');
select is((select string_agg(name, ',' order by name) from public.tickets), 'First,Second', 'and the copies stay');
create or replace view shown.orders as select id as ticket_id, 1 as project_id, title as name from shop.orders;
select is(pg_temp.settle(), null, 'until the view is the owner''s alone');
-- A trigger makes text of values.
alter table shop.orders add mood shop.mood default 'calm';
create function shop.spy(shop.mood) returns json language plpgsql as $$ begin insert into shop.log values (current_user); return '1'; end $$;
select from public.attach_tables('{"projects": {"view": "shown.projects", "tables": {}}, "tickets": {"view": "shown.orders", "tables": {"shop.orders": {"id": "ticket_id", "mood": "name"}}}}');
select pg_temp.settle();
create cast (shop.mood as json) with function shop.spy;
alter function shop.spy owner to shop_dev;
update shop.orders set title = title || '?';
select is((select count(*) from shop.log), 0::bigint, 'a trigger does not run the cast of a type either');
select is((select string_agg(kind || by_column, ',') from tasklens.changed_rows), 'tickets*', 'all rows are compared instead');

-- A table that changes hands.
alter table shop.orders drop column mood;
select from public.attach_tables('{"projects": {"view": "shown.projects", "tables": {}}, "tickets": {"view": "shown.orders", "tables": {"shop.orders": {"id": "ticket_id"}}}}');
create role "shop keeper";
grant "shop keeper" to current_user;
grant usage, create on schema shop to "shop keeper";
alter table shop.orders owner to "shop keeper";
revoke "shop keeper" from current_user;
create function pg_temp.fails(statement text) returns text
language plpgsql as $$
declare
  hint text;
begin
  execute statement;
  return 'done';
exception when insufficient_privilege then
  get stacked diagnostics hint = pg_exception_hint;
  return replace(sqlerrm || '. ' || hint, quote_ident(current_user), 'us');
end
$$;
create temporary table said as select 'the table shop.orders belongs to "shop keeper", whose rights us lacks. A superuser, or who administers that role, runs "grant "shop keeper" to us;". Then repeat this.'::text as what;
select is(pg_temp.fails($$ select pg_temp.attach('shown.orders') $$), (select what from said), 'before tables are attached again, it says what to grant');
select is(pg_temp.fails('select from public.detach_tables()'), (select what from said), 'and before they are detached');
grant "shop keeper" to current_user;
select is(pg_temp.fails('select from public.detach_tables()'), 'done', 'with which they are');
revoke all on shop.orders from shop_dev, public;
revoke "shop keeper" from current_user;
select is(pg_temp.fails($$ select pg_temp.attach('shown.orders') $$), (select what from said), 'a table that was not followed before, too');

select * from finish();
rollback;
