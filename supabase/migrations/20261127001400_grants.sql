-- All grants: the list of them, what sets them, and what compares them. Nothing else grants.

-- What is not listed is its owner's alone: triggers, internal tables, helpers of "security definer"
-- functions, and sequences, which tell how many rows there were. An expression of an index is
-- evaluated with the rights of the writer, hence "PUBLIC".
create view tasklens.listed_grants with (security_invoker = on) as
  select l.kind, concat_ws('.', l.place, n.name) as name, g.grantee, upper(p.privilege collate "C") as privilege
  from (values
    ('schema', 'tasklens', 'authenticated service_role', 'usage', '{null}'),
    ('schema', 'public', 'authenticated service_role', 'usage', '{null}'),
    ('table', 'public', 'service_role', 'select insert update delete', '{chunks, comments, document_chunks, document_votes, documents,
      embeddings, project_members, projects, status, status_changes, ticket_links, tickets}'),
    -- Rows of the query log are never updated, but locking them for deletion requires the right.
    ('table', 'tasklens', 'service_role', 'select insert update delete', '{embedding_jobs, query_log, sources}'),
    ('table', 'tasklens', 'service_role', 'select insert update', '{former_keys, imported_links, imported_projects, imported_tickets, match_thresholds}'),
    ('table', 'tasklens', 'service_role', 'select insert', '{imports}'),
    ('table', 'tasklens', 'service_role', 'select update', '{embedding_sets}'),
    ('table', 'public', 'service_role', 'select update', '{search_config}'),
    ('table', 'tasklens', 'service_role', 'select', '{attached_rows, attached_views, changed_rows, former_languages, installation,
      installed_parts, word_count_changes, word_counts}'),
    ('view', 'tasklens', 'authenticated service_role', 'select', '{ticket_members}'),
    ('view', 'tasklens', 'service_role', 'select', '{source_chunks, source_owners, source_parts, stored_chunks}'),
    ('table', 'public', 'authenticated service_role', 'select', '{comment_entries, keyword_entries}'),
    ('table', 'public', 'authenticated', 'select', '{chunks, document_chunks, embeddings, search_config, status}'),
    ('table', 'public', 'authenticated', 'select delete', '{comments, document_votes, project_members, projects, status_changes, ticket_links, tickets}'),
    -- Not ids, keys, times or the tracker's page. To choose a key would tell whether it is taken.
    ('column', 'public.tickets', 'authenticated', 'insert update', '{
      project_id, status_id, name, description, assignee, reporter, ticket_type, priority, labels, due_date}'),
    ('column', 'public.projects', 'authenticated', 'update', '{name, description, language}'),
    ('column', 'public.comments', 'authenticated', 'insert', '{ticket_id, author, body}'),
    ('column', 'public.comments', 'authenticated', 'update', '{author, body}'),
    ('column', 'public.ticket_links', 'authenticated', 'insert', '{ticket_id, kind, other_ticket_id}'),
    ('column', 'public.status_changes', 'authenticated', 'insert update', '{ticket_id, status_id, note}'),
    -- An upsert through PostgREST sets every column that it sends, so updating the key must be granted.
    ('column', 'public.project_members', 'authenticated', 'insert update', '{project_id, user_id, role}'),
    ('column', 'public.document_votes', 'authenticated', 'insert', '{document_id, user_id, helpful}'),
    ('column', 'public.document_votes', 'authenticated', 'update', '{helpful}'),
    -- Every member of any project can read documents, but not the queries of other users.
    ('column', 'public.documents', 'authenticated', 'select', '{id, title, content, keywords, upserted_keywords, enriched_keywords, named_entities,
      enriched_entities, temporal_class, given_temporal_class, archived, embedding_status, utility_score, utility_base, helpful_votes,
      unhelpful_votes, retrieval_count, last_retrieved_at, enriched_at, enrichment_model, enrichment_error, created_at, updated_at, visible_text, origin}'),
    ('sequence', 'public', null, null, '{comments_comment_id_seq, document_votes_vote_id_seq, embeddings_embedding_id_seq, projects_project_id_seq,
      status_changes_status_change_id_seq, status_status_id_seq, tickets_ticket_id_seq}'),
    ('function', 'public', 'authenticated service_role', 'execute', '{caller_role, count_tickets, data_version, find_documents_by_entity,
      explain_query, find_filter_values, find_similar_documents, find_similar_tickets, get_document, get_ticket, list_projects,
      list_statuses, list_tickets, may_write_project, nearest_chunks, rate_document, read_query, retrieve_chunks, search_by_keyword, search_by_vector,
      search_documents, search_documents_hybrid, search_facets, search_hybrid, set_project_language, similar_tickets, user_id_of, visible_texts}'),
    ('function', 'public', 'service_role', 'execute', '{abandon_reembed, begin_import, begin_reembed, check_installation, claim_embedding_jobs,
      clear_retired_set, copy_changes, delete_document, embedding_sets, embedding_status, enqueue_missing_embeddings,
      enrichment_stats, extend_embedding_leases, fail_embedding_jobs, find_sources, finish_embedding_jobs, finish_reembed, link_imported_tickets,
      list_dead_embedding_jobs, list_migrations, list_unenriched_documents, log_queries, measure_missing_embeddings, probe_statement_timeout,
      prune_documents, prune_import, read_sources, release_embedding_jobs, replay_embedding_jobs, store_chunks, store_enrichment,
      store_match_thresholds, track_document_retrieval, track_document_retrievals, unanswered_questions, unreadable_views, upsert_documents, upsert_projects, upsert_tickets}'),
    -- They run what they are given with the owner's rights.
    ('function', 'public', null, null, '{attach_tables, detach_tables}'),
    ('function', 'tasklens', 'authenticated service_role', 'execute', '{add_typed_filter, check_arguments, clamp, combine_items, combine_keywords,
      compose_text, cut_text, document_queries, explain_query, filter_range, filter_text, find_chunks, find_entities, find_matches, find_page,
      find_similar, find_ticket, highlight, is_unrestricted, leading_words, match_names, other_words, part_names, plain_text, projects_as, quotes,
      rank_documents, read_data_version, read_dates, read_foreign_filter, read_filters, read_operator, read_order, read_period, read_search,
      read_typed_filter, read_typed_project, read_typed_query, read_values, read_words, resolve_names, scan_embeddings, searched_set,
      serving_model, specifics, tally_tickets, text_limit, ticket_fields, unrelated_similarity, unspaced_scripts, user_id, without_form, word_mark}'),
    ('function', 'tasklens', 'service_role', 'execute', '{add_missing_sources, add_states, count_chunks, enqueue_sources, ensure_sources, entity_names,
      import_batch, import_rows, index_former_languages, judge_import, judge_rows, keyed_tickets, language_of, lock_sources, mark_documents,
      missing_sources, pieces, source_texts, sourced_ticket, unlisted_rows, write_links, write_parts, write_rows}'),
    ('function', 'tasklens', 'PUBLIC', 'execute', '{are_names, fold_labels, is_page, name_words, page_names, text_of_html, visible_text}')
  ) l(kind, place, grantees, privileges, names)
  cross join unnest(l.names::text[]) as n(name)
  left join unnest(string_to_array(l.grantees, ' ')) as g(grantee) on true
  left join unnest(string_to_array(l.privileges, ' ')) as p(privilege) on true;
comment on view tasklens.listed_grants is
  'Which privilege each role has on each schema, table, column and function of tasklens, besides the owner.';

create table tasklens.installed_parts (
  kind text not null check (kind in ('schema', 'table', 'view', 'sequence', 'column', 'policy', 'trigger', 'index', 'function')),
  part text not null,
  on_table text not null,
  definition text,
  primary key (kind, part)
);
comment on table tasklens.installed_parts is 'What the migrations created of these kinds. definition creates a trigger or index again.';

create function tasklens.present_parts()
returns table (kind text, part text, on_table text, definition text, fault text, remedy text, id oid, owner oid, acl aclitem[])
language sql stable security invoker set search_path = '' set jit = off
as $$
  with tables as (
    select c.*, n.nspname || '.' || c.relname as name, case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end as kind
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'S')
      and (n.nspname = 'tasklens' or n.nspname || '.' || c.relname in (select l.name from tasklens.listed_grants l where l.kind in ('table', 'sequence')))
  )
  select 'schema', n.nspname, n.nspname, null, null, null, n.oid, n.nspowner, n.nspacl
  from pg_catalog.pg_namespace n where n.nspname in ('tasklens', 'public')
  union all
  select t.kind, t.name, t.name, null,
    case when t.kind <> 'table' then null
      when not t.relrowsecurity then 'row-level security is off: any role with a privilege on it sees every row'
      when t.relforcerowsecurity then 'row-level security is forced on its owner: the search functions, which run as the owner, find nothing' end,
    format('alter table %s %s row level security;', t.name, case when t.relrowsecurity then 'no force' else 'enable' end), t.oid, t.relowner, t.relacl
  from tables t
  union all
  select 'column', t.name || '.' || a.attname, t.name, null, null, null, t.oid, t.relowner, a.attacl
  from pg_catalog.pg_attribute a join tables t on t.oid = a.attrelid
  where a.attnum > 0 and not a.attisdropped and t.kind <> 'sequence'
  union all
  select 'policy', p.polname || ' on ' || t.name, t.name, null, null, null, p.oid, null, null
  from pg_catalog.pg_policy p join tables t on t.oid = p.polrelid
  union all
  select 'trigger', g.tgname || ' on ' || t.name, t.name, pg_catalog.pg_get_triggerdef(g.oid) || ';',
    case when g.tgenabled not in ('O', 'A') then 'it is disabled: writes skip what it does' end,
    format('alter table %s enable trigger %I;', t.name, g.tgname), g.oid, null, null
  from pg_catalog.pg_trigger g join tables t on t.oid = g.tgrelid
  where not g.tgisinternal
  union all
  select 'index', x.relname || ' on ' || t.name, t.name, pg_catalog.pg_get_indexdef(i.indexrelid) || ';',
    case when not (i.indisvalid and i.indisready) then 'it is invalid: no search uses it' end,
    format('reindex index concurrently %I.%I;', split_part(t.name, '.', 1), x.relname), x.oid, null, null
  from pg_catalog.pg_index i join pg_catalog.pg_class x on x.oid = i.indexrelid join tables t on t.oid = i.indrelid
  union all
  -- Without the schemas of types: vector may have been moved.
  select 'function', s.signature, s.signature, null, null, null, f.oid, f.proowner, f.proacl
  from pg_catalog.pg_proc f join pg_catalog.pg_namespace n on n.oid = f.pronamespace
  cross join lateral (select format('%s.%s(%s)', n.nspname, f.proname, regexp_replace(oidvectortypes(f.proargtypes), '[^ ]*\.', '', 'g')) as signature) s
  where n.nspname = 'tasklens' or n.nspname || '.' || f.proname in (select l.name from tasklens.listed_grants l where l.kind = 'function')
$$;
comment on function tasklens.present_parts is
  'What there is in tasklens or has a listed name, with what is wrong with each and the statement that repairs it. Functions by signature: one may be an application''s of the same name.';

-- A dump of the schema alone has no rows in installed_parts: then all that has a listed name is
-- ours.
create function tasklens.compare_grants()
returns table (object text, columns text, grantee text, privilege text, missing boolean, theirs boolean, statement text)
language sql stable security invoker set search_path = '' set jit = off
as $$
  with objects as materialized (
    select kind, split_part(part, '(', 1) as name, p.owner, p.acl, i.part is not null or not exists (select from tasklens.installed_parts) as ours,
      case kind when 'schema' then 'schema ' || p.id::regnamespace when 'function' then 'function ' || p.id::regprocedure
        when 'sequence' then 'sequence ' || p.id::regclass else 'table ' || p.id::regclass end as object,
      case kind when 'column' then format(' (%I)', substr(part, length(p.on_table) + 2)) else '' end as columns,
      case kind when 'schema' then 'n' when 'function' then 'f' when 'sequence' then 's' when 'column' then 'c' else 'r' end::"char" as type
    from tasklens.present_parts() p left join tasklens.installed_parts i using (kind, part)
    where p.owner is not null
  ), present as (
    select o.object, o.columns, case a.grantee when 0 then 'PUBLIC' else quote_ident(pg_get_userbyid(a.grantee)) end as grantee,
      a.privilege_type as privilege, case when a.is_grantable and a.grantee <> o.owner then ' with grant option' else '' end as clause,
      not o.ours or a.grantee not in (0, o.owner) and pg_get_userbyid(a.grantee) not in ('anon', 'authenticated', 'service_role') as theirs
    from objects o cross join aclexplode(coalesce(o.acl, acldefault(o.type, o.owner))) a
    where o.ours or o.kind = 'column'
  ), wanted as (
    select o.object, o.columns, l.grantee, l.privilege, '' as clause, true as is_wanted
    from objects o join tasklens.listed_grants l using (kind, name) where o.ours and l.privilege is not null
    union all
    select o.object, o.columns, quote_ident(pg_get_userbyid(o.owner)), a.privilege_type, '', true
    from objects o cross join aclexplode(acldefault(o.type, o.owner)) a where o.ours and a.grantee = o.owner
  )
  select object, columns, grantee, privilege || clause, p.theirs is null, coalesce(p.theirs, false),
    case when coalesce(p.theirs, true) then format('grant %s%s on %s to %s%s', privilege, columns, object, grantee, clause)
      else format('revoke %s%s on %s from %s cascade', privilege, columns, object, grantee) end
  from present p full join wanted w using (object, columns, grantee, privilege, clause)
  where (p.theirs is null or w.is_wanted is null) and (object <> 'schema public' or w.is_wanted and grantee in ('authenticated', 'service_role'))
$$;
comment on function tasklens.compare_grants is
  'Where grants differ from listed_grants: missing, there although not listed, or theirs: an application''s, to its roles or on its columns. statement repairs what is ours, and repeats what is theirs. Of a shared schema, only what is missing.';

create function tasklens.set_grants() returns setof text
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  -- Who loses a privilege on a table loses it on all columns, also on an application's.
  kept constant text[] := array(select c.statement from tasklens.compare_grants() c where c.theirs and c.columns <> '');
  revoked constant text[] := array(select c.statement from tasklens.compare_grants() c where not c.missing and not c.theirs);
  granted text[];
begin
  execute array_to_string(revoked, '; ');
  granted := array(select unnest(kept) union select c.statement from tasklens.compare_grants() c where c.missing
    except select c.statement from tasklens.compare_grants() c where c.theirs);
  execute array_to_string(granted, '; ');
  return query select unnest(revoked || granted);
end
$$;
comment on function tasklens.set_grants is
  'Makes all grants as they should be, whatever they are, and returns the statements that did it. The owner calls it, after a restore for example.';

insert into tasklens.migrations (version) values ('20261127001400');
