-- What a Supabase project provides before the first migration: roles, the schemas `extensions` and
-- `auth`, default privileges, timeouts. The cluster's superuser runs it once in each new database.
-- Plain SQL in one transaction, so that psql and a driver can both run it. Roles belong to the
-- cluster and may exist already.

begin;

-- In a second database the roles and memberships already exist: no warnings.
set local client_min_messages = warning;

-- Two databases may be prepared concurrently, and they share roles. An advisory lock would be per
-- database; the catalogue of roles is shared.
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
  -- The superuser's hashed password: as in Supabase's local stack, all login roles share one
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
-- PostgREST logs in as this role and becomes one of the three above for each request.
alter role authenticator login noinherit;
-- Migrations run as this role: it owns everything, but is not a superuser.
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

-- A plain owner may create trusted extensions (pg_trgm, unaccent, pgcrypto), and migrations do.
-- pgvector is not trusted, but on Supabase the owner may create it. Here the superuser does, and a
-- migration's `create extension if not exists vector with schema extensions` finds it.
create extension if not exists vector with schema extensions;

-- Auth --------------------------------------------------------------------------------------------
-- The caller, as PostgREST passes it: the claims of the verified token as one JSON object or, in
-- older versions, one setting per claim.

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
