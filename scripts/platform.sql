-- What a Supabase project has around its Postgres before the first migration: roles, the schemas
-- `extensions` and `auth`, default privileges, timeouts. Run once in each new database by the
-- cluster's superuser. Plain SQL in one transaction, so that psql and a driver can both run it.
-- Roles belong to the whole cluster and may exist already.

begin;

-- A second database meets roles and memberships that are there already: no news.
set local client_min_messages = warning;

-- Two databases may be prepared at the same time, and roles are shared by them. An advisory lock
-- would hold in one database only; the catalogue of roles is one for all.
lock table pg_catalog.pg_authid in share row exclusive mode;

do $$
begin
  if exists (select from pg_catalog.pg_roles where rolname = 'postgres' and rolsuper) then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'the role postgres is a superuser in this cluster',
      hint = 'Use a cluster of its own (scripts/postgres start), whose superuser is supabase_admin.';
  end if;
end
$$;

-- Roles -------------------------------------------------------------------------------------------

do $$
declare
  name text;
  -- The superuser's own, in its hashed form: as in Supabase's local stack, all who log in share one
  -- password.
  secret text := (select rolpassword from pg_catalog.pg_authid where rolname = current_user);
begin
  foreach name in array array['anon', 'authenticated', 'service_role', 'authenticator', 'postgres'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = name) then
      execute format('create role %I password %L', name, secret);
    end if;
  end loop;
end
$$;

alter role anon          nologin noinherit;
alter role authenticated nologin noinherit;
alter role service_role  nologin noinherit bypassrls;
-- PostgREST logs in as this one and becomes one of the three above for each request.
alter role authenticator login noinherit;
-- Migrations run as this one: the owner of all there is, but no superuser.
alter role postgres      login createdb createrole bypassrls;

grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role, authenticator to postgres;

alter role anon          set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
alter role postgres      set search_path = "$user", public, extensions;

-- Database ----------------------------------------------------------------------------------------

do $$
begin
  execute format('alter database %I owner to postgres', current_database());
end
$$;

-- The schema public belongs to pg_database_owner, so postgres may create in it.
grant usage on schema public to anon, authenticated, service_role;

alter default privileges for role postgres in schema public
  grant all on tables to anon, authenticated, service_role;
alter default privileges for role postgres in schema public
  grant all on sequences to anon, authenticated, service_role;
alter default privileges for role postgres in schema public
  grant all on functions to anon, authenticated, service_role;

-- Extensions --------------------------------------------------------------------------------------

create schema if not exists extensions authorization postgres;
grant usage on schema extensions to public;

-- A plain owner may create trusted extensions (pg_trgm, unaccent, pgcrypto): migrations do.
-- pgvector is not marked as trusted, Supabase lets its owner create it all the same; here it is
-- made by the superuser, and a migration's `create extension if not exists vector with schema
-- extensions` finds it.
create extension if not exists vector with schema extensions;

-- Auth --------------------------------------------------------------------------------------------
-- Who asks, as PostgREST says: the claims of the verified token as one JSON object, or, as older
-- versions did, one setting a claim.

create schema if not exists auth;
grant usage on schema auth to postgres, anon, authenticated, service_role;

create or replace function auth.uid()
returns uuid
language sql
stable
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
  )::uuid
$$;

create or replace function auth.role()
returns text
language sql
stable
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.role', true), ''),
    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role')
  )::text
$$;

create or replace function auth.jwt()
returns jsonb
language sql
stable
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')
  )::jsonb
$$;

comment on function auth.uid() is 'The id of the signed-in user, or null.';
comment on function auth.role() is 'The role that the caller''s token names, or null.';
comment on function auth.jwt() is 'All claims of the caller''s token, or null.';

commit;
