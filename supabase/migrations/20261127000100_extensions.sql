-- The extensions that search requires, the private schema, and the record of migrations.
create schema if not exists extensions;
create extension if not exists vector with schema extensions;
create extension if not exists unaccent with schema extensions;
create extension if not exists pg_trgm with schema extensions;

-- Helpers of the functions in public. PostgREST does not expose this schema. Callers of a public
-- "security invoker" function also need access to its helpers.
create schema private;
comment on schema private is 'Helpers of the search functions; not exposed through the API.';
revoke all on schema private from public;
grant usage on schema private to authenticated, service_role;

-- The one rule for a count, limit or offset out of range.
create function private.clamp(value integer, default_value integer, lowest integer, highest integer) returns integer
language sql immutable security invoker set search_path = ''
as $$ select greatest(clamp.lowest, least(clamp.highest, coalesce(clamp.value, clamp.default_value))) $$;
comment on function private.clamp is
  'value, or default_value for null, raised to lowest and lowered to highest.';

create function private.text_limit() returns integer
language sql immutable security invoker set search_path = ''
as $$ select 200000 $$;
comment on function private.text_limit is
  'How many characters of a text are searched, embedded and returned at once. A text is stored whole.';

-- truncated_at: where the rest of the text begins, null if the piece ends it. It decompresses only
-- as much of a stored text as it returns.
create function private.cut_text(text text, skipped integer, most integer, out piece text, out truncated_at integer)
language sql immutable security invoker set search_path = ''
as $$
  select left(p.more, cut_text.most), case when length(p.more) > cut_text.most then cut_text.skipped + cut_text.most end
  from (select substr(cut_text.text, cut_text.skipped + 1, cut_text.most + 1) as more) p
$$;
comment on function private.cut_text is
  'At most so many characters of a text after the skipped ones, and where the rest begins (null if there is none).';

-- Each migration ends by recording itself here, so that every tool (the Supabase CLI, `lab
-- migrate`, psql, the SQL editor) leaves the same record. Tools also keep their own records, which
-- nothing here reads.
create table private.migrations (
  version text primary key check (version ~ '^[0-9]{14}$')
);
comment on table private.migrations is 'The migrations applied to this database, by any tool.';
alter table private.migrations enable row level security;

-- Security definer: only the owner may read the table.
create function public.list_migrations()
returns setof text
language sql stable security definer set search_path = ''
as $$
  select m.version from private.migrations m order by m.version
$$;
comment on function public.list_migrations is 'The versions of the migrations applied to this database.';

insert into private.migrations (version) values ('20261127000100');
