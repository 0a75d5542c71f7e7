-- What the recorded exchanges leave open.
create schema other;
grant usage on schema other to service_role;

create function golden.joined(words text[]) returns text language sql immutable as $$ select array_to_string(words, '+') $$;
create function golden.halves(n int, out low int, out high int) language sql immutable as $$ select n / 2, n - n / 2 $$;
create function golden.one_out(out x int) language sql immutable as $$ select 5 $$;
create function golden."Odd ""name"""("an ""arg"", odd" text, gateway_row char, bits bit) returns text language sql immutable
  as $$ select $1 || $2 || $3::text $$;
create function golden.row_of_nulls() returns golden.note language sql stable as $$ select null::golden.note $$;
create function golden.no_value() returns setof text language sql immutable as $$ values ('x'), (null) $$;
create function golden.clash() returns table (gateway_result int, value text) language sql immutable as $$ values (1, 'v') $$;
create function other.where_am_i() returns text language sql stable as $$ select current_schemas(false)::text $$;

create function golden.settings() returns jsonb language sql stable as $$
  select jsonb_object_agg(name, current_setting(name, true)) from unnest(array[
    'request.method', 'request.path', 'search_path', 'transaction_read_only']) name $$;
create function golden.writing_stable() returns int language plpgsql stable as $$ begin perform nextval('golden.calls'); return 1; end $$;

create sequence golden.calls;
grant all on sequence golden.calls to service_role;

create table golden.late (id int unique deferrable initially deferred);
grant all on golden.late to service_role;
create function golden.fail_late() returns void language sql as $$ insert into golden.late values (1), (1) $$;
create function golden.add_two() returns setof golden.late language sql as $$ insert into golden.late values (7), (8) returning * $$;
create function golden.add_one() returns setof golden.late language sql as $$ insert into golden.late values (9) returning * $$;
create function golden.ids() returns setof int language sql stable as $$ select id from golden.late order by 1 $$;
create function golden.numbers(n int) returns setof int language sql immutable as $$ select generate_series(1, n) $$;
create function golden.count_up(n int) returns table (call bigint) language sql as $$ select nextval('golden.calls') from generate_series(1, n) $$;
create function golden.timeout() returns text language sql stable as $$ select current_setting('statement_timeout') $$;
create function golden.own_timeout() returns text language sql stable set statement_timeout = '5s' as $$ select current_setting('statement_timeout') $$;
