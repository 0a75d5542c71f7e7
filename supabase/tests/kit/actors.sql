-- Callers with different rights. A test includes this file (\ir) in its transaction after inserting
-- projects 1 and 2. The viewer, member and admin belong to project 1, the outsider is admin of
-- project 2, and the stranger belongs to none.

create temporary table actors (place integer, name text, user_id uuid);
insert into actors values (1, 'anon', null);
insert into actors select 1 + i, (array['stranger', 'outsider', 'viewer', 'member', 'admin']) [i], gen_random_uuid() from generate_series(1, 5) i;
insert into actors values (7, 'service', null);
insert into public.project_members (project_id, user_id, role)
select case a.name when 'outsider' then 2 else 1 end, a.user_id, case a.name when 'outsider' then 'admin' else a.name end::public.project_role
from actors a where a.name in ('outsider', 'viewer', 'member', 'admin');

-- Switches to a caller's role and JWT claims, as PostgREST does, until "reset role".
create function pg_temp.act(actor text) returns void
language plpgsql as $$
declare
  a actors;
begin
  perform set_config('role', 'none', true);
  select x.* into strict a from actors x where x.name = actor;
  perform set_config('request.jwt.claims', case when a.user_id is not null then jsonb_build_object('sub', a.user_id) else '{}' end::text, true),
    set_config('role', case actor when 'anon' then 'anon' when 'service' then 'service_role' else 'authenticated' end, true);
end
$$;

-- Runs a statement and rolls it back. Returns the number of rows, a dash if a privilege or policy
-- denies it, or the SQLSTATE of another error.
create function pg_temp.attempt(actor text, statement text) returns text
language plpgsql as $$
declare
  rows integer;
begin
  perform pg_temp.act(actor);
  execute statement;
  get diagnostics rows = row_count;
  raise exception 'undone' using errcode = 'UNDO0';
exception
  when sqlstate 'UNDO0' then return rows;
  when insufficient_privilege then return '-';
  when others then return sqlstate;
end
$$;

-- Results for anon, stranger, outsider, viewer, member, admin, service, in this order.
create function pg_temp.outcomes(statement text) returns text
language sql as $$
  select string_agg(pg_temp.attempt(a.name, statement), ' ' order by a.place) from actors a
$$;
