-- The extensions that search stands on, the schema for what no client calls, and the record of
-- migrations.
create schema if not exists extensions;
create extension if not exists vector with schema extensions;
create extension if not exists unaccent with schema extensions;
create extension if not exists pg_trgm with schema extensions;

-- Helpers of the functions in public. PostgREST does not expose this schema; whoever may run a
-- public function of ours that is "security invoker" also needs to reach its helpers.
create schema private;
comment on schema private is 'Helpers of the search functions; not exposed through the API.';
revoke all on schema private from public;
grant usage on schema private to authenticated, service_role;

-- Each migration ends by recording itself here, so that whatever applies it (the Supabase CLI, `lab
-- migrate`, psql, the SQL editor) leaves the same record. Tools keep records of their own as well;
-- nothing but those tools reads them.
create table private.migrations (
  version text primary key check (version ~ '^[0-9]{14}$')
);
comment on table private.migrations is 'The migrations that this database has applied, whatever applied them.';
alter table private.migrations enable row level security;

-- "Security definer": the record is the owner's alone.
create function public.list_migrations()
returns setof text
language sql stable security definer set search_path = ''
as $$
  select m.version from private.migrations m order by m.version
$$;
comment on function public.list_migrations() is 'The versions of the migrations that this database has applied.';
revoke execute on function public.list_migrations() from public, anon, authenticated;
grant execute on function public.list_migrations() to service_role;

insert into private.migrations (version) values ('20260101000100');
