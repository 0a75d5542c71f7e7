-- What must be there, and that nothing is in the way, before anything is written; then the
-- extensions that search requires, the schema of the helpers, and the records of what is installed.
do $$
declare
  -- All that the migrations create in the schema public, so that nothing else there is taken for
  -- theirs.
  tables constant text[] := '{chunks, comment_entries, comments, document_chunks, document_votes, documents, embeddings, keyword_entries,
    project_members, projects, search_config, status, status_changes, ticket_links, tickets}';
  types constant text[] := '{project_role}';
  functions constant text[] := '{abandon_reembed, attach_tables, begin_import, begin_reembed, caller_role, check_installation,
    claim_embedding_jobs, clear_retired_set, copy_changes, count_tickets,
    data_version, delete_document, detach_tables, embedding_sets, embedding_status, enqueue_missing_embeddings,
    enrichment_stats, explain_query, extend_embedding_leases, fail_embedding_jobs, find_documents_by_entity, find_filter_values,
    find_similar_documents, find_similar_tickets, find_sources, finish_embedding_jobs,
    finish_reembed, get_document, get_ticket, link_imported_tickets, list_dead_embedding_jobs, list_migrations,
    list_projects, list_statuses, list_tickets, list_unenriched_documents, log_queries, may_write_project,
    measure_missing_embeddings, nearest_chunks, probe_statement_timeout, prune_documents, prune_import, rate_document, read_query, read_sources,
    release_embedding_jobs, replay_embedding_jobs, retrieve_chunks, search_by_keyword, search_by_vector,
    search_documents, search_documents_hybrid, search_facets, search_hybrid, set_project_language, similar_tickets,
    store_chunks, store_enrichment, store_match_thresholds, track_document_retrieval, track_document_retrievals,
    unanswered_questions, unreadable_views, upsert_documents, upsert_projects, upsert_tickets,
    user_id_of, visible_texts}';
  problems text;
begin
  if exists (select from pg_tables t where t.schemaname = 'tasklens' and t.tablename = 'migrations') then
    raise exception using errcode = 'duplicate_schema', message = 'tasklens is installed in this database, but the record of the tool that applies this file lacks it',
      hint = case when exists (select from tasklens.migrations) then 'Run supabase/apply, which adds the records of the Supabase CLI, or npx supabase migration repair --status applied VERSION….'
        else 'Its tables are empty: restore the rows of the dump too (docs/upgrade.md).' end;
  end if;
  select string_agg('- ' || p.problem, e'\n' order by p.problem collate "C") into problems
  from (
    select format('Postgres %s is older than 15', current_setting('server_version')) where current_setting('server_version_num')::integer < 150000
    union all
    select format('the role %s is missing: use a Supabase project, or run scripts/platform.sql', r.name)
    from unnest('{anon,authenticated,service_role}'::text[]) r(name) where to_regrole(r.name) is null
    union all
    select 'the function auth.uid() is missing: use a Supabase project, or run scripts/platform.sql' where to_regprocedure('auth.uid()') is null
    union all
    select format('%s may not create schemas in this database: install as its owner, in Supabase the role postgres', current_user)
    where not has_database_privilege(current_database(), 'create')
    union all
    select format('%s may not create in the schema public: its owner %s may', current_user, pg_get_userbyid(n.nspowner))
    from pg_namespace n where n.nspname = 'public' and not has_schema_privilege(n.oid, 'create')
    union all
    select 'there is a schema tasklens that is not of tasklens: rename it' where to_regnamespace('tasklens') is not null
    union all
    select format('public.%s exists: rename it, or install into another schema (supabase/apply --schema NAME)', c.relname)
    from pg_class c where c.relnamespace = to_regnamespace('public') and c.relname = any (tables || types)
    union all
    select format('the type public.%s exists: rename it, or install into another schema (supabase/apply --schema NAME)', t.typname)
    from pg_type t where t.typnamespace = to_regnamespace('public') and t.typname = any (tables || types)
      and not exists (select from pg_class c where c.oid = t.typrelid)
    union all
    select format('the function %s exists: rename it, or install into another schema (supabase/apply --schema NAME)', f.oid::regprocedure)
    from pg_proc f where f.pronamespace = to_regnamespace('public') and f.proname = any (functions)
    union all
    select format('the extension %s is not available: install its package on the server', w.name)
    from unnest('{vector,unaccent,pg_trgm}'::text[]) w(name) where not exists (select from pg_available_extensions a where a.name = w.name)
    union all
    select format('the extension %s is in the schema %s: %s or a superuser runs "alter extension %s set schema extensions;"',
      e.extname, n.nspname, pg_get_userbyid(e.extowner), e.extname)
      || case when to_regnamespace('extensions') is null then ' after "create schema extensions;"' else '' end
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname in ('vector', 'unaccent', 'pg_trgm') and n.nspname <> 'extensions'
    union all
    select format('pgvector %s is older than 0.8: install a later one, then run "alter extension vector update;"', v.version)
    from (select coalesce((select e.extversion from pg_extension e where e.extname = 'vector'),
      (select a.default_version from pg_available_extensions a where a.name = 'vector'))) v(version)
    where string_to_array(substring(v.version from '^[0-9]+(?:\.[0-9]+)*'), '.')::integer[] < '{0,8}'
  ) p(problem);
  if problems is not null then
    raise exception using errcode = 'object_not_in_prerequisite_state',
      message = e'tasklens cannot be installed yet, and nothing has been changed:\n' || problems, hint = 'See docs/adopt.md.';
  end if;

  create schema tasklens;
  comment on schema tasklens is 'Helpers of the search functions; not exposed through the API.';

  create table tasklens.installation (
    api_schema text primary key,
    tables text[] not null,
    types text[] not null,
    functions text[] not null,
    made text[] not null
  );
  comment on table tasklens.installation is
    'One row: the schema of the tables and functions for callers, the names of what is installed there, and which schemas and extensions did not exist before. Read by check_installation and by supabase/remove.sql.';
  insert into tasklens.installation values ('public', tables, types, functions, array(
    select 'schema ' || w.name from unnest('{extensions,public}'::text[]) w(name) where to_regnamespace(w.name) is null
    union all
    select 'extension ' || w.name from unnest('{vector,unaccent,pg_trgm}'::text[]) w(name)
    where not exists (select from pg_extension e where e.extname = w.name)));
  if to_regnamespace('public') is null then
    create schema public;
    grant usage on schema public to anon, authenticated, service_role;
  end if;
  if to_regnamespace('extensions') is null then
    create schema extensions;
    grant usage on schema extensions to anon, authenticated, service_role;
  end if;
end
$$;

create extension if not exists vector with schema extensions;
create extension if not exists unaccent with schema extensions;
create extension if not exists pg_trgm with schema extensions;

-- The one rule for a count, limit or offset out of range.
create function tasklens.clamp(value integer, default_value integer, lowest integer, highest integer) returns integer
language sql immutable security invoker set search_path = ''
as $$ select greatest(clamp.lowest, least(clamp.highest, coalesce(clamp.value, clamp.default_value))) $$;
comment on function tasklens.clamp is
  'value, or default_value for null, raised to lowest and lowered to highest.';

create function tasklens.text_limit() returns integer
language sql immutable security invoker set search_path = ''
as $$ select 200000 $$;
comment on function tasklens.text_limit is
  'How many characters of a text are searched, embedded and returned at once. A text is stored whole.';

-- truncated_at: where the rest of the text begins, null if the piece ends it. It decompresses only
-- as much of a stored text as it returns.
create function tasklens.cut_text(text text, skipped integer, most integer, out piece text, out truncated_at integer)
language sql immutable security invoker set search_path = ''
as $$
  select left(p.more, cut_text.most), case when length(p.more) > cut_text.most then cut_text.skipped + cut_text.most end
  from (select substr(cut_text.text, cut_text.skipped + 1, cut_text.most + 1) as more) p
$$;
comment on function tasklens.cut_text is
  'At most so many characters of a text after the skipped ones, and where the rest begins (null if there is none).';

-- Each migration ends by recording itself here, so that every tool (the Supabase CLI,
-- supabase/apply, psql, the SQL editor) leaves the same record. Tools also keep their own, which
-- nothing here reads.
create table tasklens.migrations (
  version text primary key check (version ~ '^[0-9]{14}$')
);
comment on table tasklens.migrations is 'The migrations applied to this database, by any tool.';

-- Security definer: only the owner may read the table.
create function public.list_migrations()
returns setof text
language sql stable security definer set search_path = ''
as $$
  select m.version from tasklens.migrations m order by m.version
$$;
comment on function public.list_migrations is 'The versions of the migrations applied to this database.';

insert into tasklens.migrations (version) values ('20261127000100');
