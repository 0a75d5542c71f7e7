-- The extensions that search stands on, and the schema for what no client calls.
create schema if not exists extensions;
create extension if not exists vector with schema extensions;
create extension if not exists unaccent with schema extensions;
create extension if not exists pg_trgm with schema extensions;

-- Helpers of the functions in public. PostgREST does not expose this schema; whoever may run a public function
-- of ours that is "security invoker" also needs to reach its helpers.
create schema private;
comment on schema private is 'Helpers of the search functions; not exposed through the API.';
revoke all on schema private from public;
grant usage on schema private to authenticated, service_role;
