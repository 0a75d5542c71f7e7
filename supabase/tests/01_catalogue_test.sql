-- All functions and who may execute them. A new function fails here until it is listed.

begin;
select plan(5);

create temporary view functions as
select p.oid, n.nspname as schema, p.proname as name,
  format('%s.%s(', n.nspname, p.proname) || coalesce((
    select string_agg(a.type::regtype::text, ', ' order by a.place)
    from unnest(p.proargtypes::oid[]) with ordinality as a(type, place)), '') || ')' as signature,
  case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end as volatility,
  case when p.prosecdef then 'definer' else 'invoker' end as security,
  -- All roles except the owner. PUBLIC is included, to show a privilege that was not revoked.
  coalesce((
    select string_agg(coalesce(r.rolname::text, 'PUBLIC'), ' ' order by r.rolname nulls first)
    from pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
    left join pg_catalog.pg_roles r on r.oid = a.grantee
    where a.grantee <> p.proowner), '') as callers,
  p.proconfig as settings,
  pg_catalog.pg_get_function_arguments(p.oid) as arguments,
  pg_catalog.pg_get_function_result(p.oid) as result
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where n.nspname in ('public', 'tasklens');

select bag_eq( -- Columns of type name, and text computed from them, have the collation "C".
  $$ select signature collate "default", volatility, security, callers collate "default" from functions $$,
  $$ values
    ('tasklens.add_missing_sources()', 'volatile', 'invoker', 'service_role'),
    ('tasklens.are_names(jsonb)', 'immutable', 'invoker', 'PUBLIC'),
    ('tasklens.attached_kinds()', 'immutable', 'invoker', ''),
    ('tasklens.begin_search(text, jsonb, vector, text, double precision)', 'stable', 'invoker', ''),
    ('tasklens.beginning_of(text, text)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.best_chunk_by_words(bigint, bigint, tsquery)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.change_data_version(bigint[])', 'volatile', 'definer', ''),
    ('tasklens.check_arguments(jsonb, vector, text, integer, text, text, bigint, text)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.check_batch(integer)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.check_platform()', 'stable', 'invoker', 'service_role'),
    ('tasklens.check_rows(text, jsonb)', 'volatile', 'invoker', ''),
    ('tasklens.check_view(text, regclass, jsonb)', 'stable', 'invoker', ''),
    ('tasklens.clamp(integer, integer, integer, integer)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.combine_items(jsonb, jsonb, jsonb)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.combine_keywords(text[], text[], text[])', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.comment_candidates(tasklens.search, integer, integer, text)', 'stable', 'invoker', ''),
    ('tasklens.comment_frequencies(bigint[], tsquery[], double precision)', 'stable', 'invoker', ''),
    ('tasklens.compose_text(text)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.copy_lists(text, text[], jsonb)', 'volatile', 'invoker', ''),
    ('tasklens.copy_rows(text, text[], jsonb)', 'volatile', 'invoker', ''),
    ('tasklens.count_chunks(bigint[])', 'volatile', 'invoker', 'service_role'),
    ('tasklens.count_entry_words()', 'volatile', 'definer', ''),
    ('tasklens.count_tickets(text, jsonb, text, text, text, text, boolean, integer)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.count_votes()', 'volatile', 'definer', ''),
    ('tasklens.cut_text(text, integer, integer)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.describe_chunks(tasklens.retrieved[], text, integer)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.document_candidates(text[], integer)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.document_queries(uuid)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.documents_are_few()', 'stable', 'invoker', ''),
    ('tasklens.dotted_names(text)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.drop_unused_states()', 'volatile', 'invoker', ''),
    ('tasklens.enqueue_sources(bigint[], boolean, boolean)', 'volatile', 'definer', 'service_role'),
    ('tasklens.entity_names(jsonb)', 'immutable', 'invoker', 'service_role'),
    ('tasklens.expand_changes(text, text, text[], jsonb, integer)', 'volatile', 'invoker', ''),
    ('tasklens.few_entries(tasklens.scope, tsquery)', 'stable', 'invoker', ''),
    ('tasklens.fill_project_key()', 'volatile', 'definer', ''),
    ('tasklens.fill_status_category()', 'volatile', 'definer', ''),
    ('tasklens.fill_ticket_key()', 'volatile', 'definer', ''),
    ('tasklens.filter_list(jsonb, text, text[])', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.filter_range(jsonb, text, text)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.filter_text(text)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.find_candidates(text, vector, text, double precision, jsonb, double precision, double precision, text, integer, integer)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.find_chunks(text, vector, text, double precision, jsonb, integer, integer)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.find_entities(text, text, integer)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.find_filter_values(jsonb, boolean)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.find_matches(text, vector, text, double precision, jsonb[], integer)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.find_page(text, vector, text, double precision, jsonb, double precision, double precision, text, text, integer, integer)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.find_similar(text, vector, text, bigint[], integer, jsonb)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.find_sources(bigint[], bigint[], bigint[], uuid[])', 'volatile', 'definer', 'service_role'),
    ('tasklens.find_ticket(text)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.fold_labels(text[])', 'immutable', 'invoker', 'PUBLIC'),
    ('tasklens.follow_comments()', 'volatile', 'definer', ''),
    ('tasklens.follow_documents()', 'volatile', 'definer', ''),
    ('tasklens.follow_notes()', 'volatile', 'definer', ''),
    ('tasklens.follow_projects()', 'volatile', 'definer', ''),
    ('tasklens.follow_rows()', 'volatile', 'definer', ''),
    ('tasklens.follow_sources()', 'volatile', 'definer', ''),
    ('tasklens.follow_tables()', 'volatile', 'definer', ''),
    ('tasklens.follow_tickets()', 'volatile', 'definer', ''),
    ('tasklens.fuse_searches(tasklens.search, double precision, double precision, text, integer)', 'stable', 'invoker', ''),
    ('tasklens.highlight(text, tsquery)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.identifier_holders(tasklens.search)', 'stable', 'invoker', ''),
    ('tasklens.index_words(text, text, text)', 'stable', 'invoker', ''),
    ('tasklens.insert_chunks(bigint[], smallint, tasklens.given_chunk[], vector[])', 'volatile', 'invoker', 'service_role'),
    ('tasklens.is_unrestricted()', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.keep_member()', 'volatile', 'invoker', ''),
    ('tasklens.keyword_candidates(tasklens.search, integer, integer, text)', 'stable', 'invoker', ''),
    ('tasklens.links_of(bigint)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.list_matches(tasklens.search, integer, text)', 'stable', 'invoker', ''),
    ('tasklens.list_passing(jsonb, text, integer, integer)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.lock_sources(bigint[], boolean)', 'volatile', 'invoker', 'service_role'),
    ('tasklens.mapped_columns(jsonb)', 'stable', 'invoker', ''),
    ('tasklens.mark_data(text)', 'immutable', 'invoker', ''),
    ('tasklens.mark_documents(bigint[], text, text)', 'volatile', 'invoker', 'service_role'),
    ('tasklens.mark_imported(jsonb, bigint, text, boolean)', 'volatile', 'invoker', 'service_role'),
    ('tasklens.may_merge(text)', 'volatile', 'invoker', ''),
    ('tasklens.membership_version(uuid)', 'immutable', 'invoker', ''),
    ('tasklens.merge_word_counts()', 'volatile', 'definer', ''),
    ('tasklens.missing_sources(text, boolean, smallint)', 'stable', 'invoker', 'service_role'),
    ('tasklens.name_words(text)', 'immutable', 'definer', 'PUBLIC'),
    ('tasklens.named_chunks(tasklens.search, text)', 'stable', 'invoker', ''),
    ('tasklens.named_projects(tasklens.scope, text)', 'stable', 'invoker', ''),
    ('tasklens.nearest_sources(tasklens.search, integer)', 'stable', 'invoker', ''),
    ('tasklens.nearest_words(text, bigint[])', 'stable', 'invoker', ''),
    ('tasklens.note_rows(text, text[], jsonb)', 'volatile', 'invoker', ''),
    ('tasklens.occurs(tsquery, bigint[], bigint)', 'stable', 'invoker', ''),
    ('tasklens.parse_query(text)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.part_names(text, text, text, text)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.particles()', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.passing_tickets(tasklens.scope, bigint[])', 'stable', 'invoker', ''),
    ('tasklens.phrase(text)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.pieces(text[], integer)', 'immutable', 'invoker', 'service_role'),
    ('tasklens.plain_text(text)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.plan_scan(tasklens.search)', 'stable', 'invoker', ''),
    ('tasklens.plan_text(text, integer)', 'stable', 'invoker', ''),
    ('tasklens.plan_words(text, bigint[])', 'stable', 'invoker', ''),
    ('tasklens.prepare_document()', 'volatile', 'invoker', ''),
    ('tasklens.present_parts()', 'stable', 'invoker', 'service_role'),
    ('tasklens.projects_as(project_role)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.rank_by_text(tasklens.search, tasklens.text_plan, bigint[])', 'stable', 'invoker', ''),
    ('tasklens.rank_documents(vector, text[], integer, double precision, integer, text)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.rank_entries(tasklens.search, integer, integer, integer, integer, integer)', 'stable', 'invoker', ''),
    ('tasklens.read_data_version(bigint)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.read_filters(jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.read_names(tasklens.scope, text)', 'stable', 'invoker', ''),
    ('tasklens.recount_sources()', 'volatile', 'definer', ''),
    ('tasklens.refresh_comment_entries(bigint[])', 'volatile', 'definer', ''),
    ('tasklens.refresh_ticket_entries(bigint[])', 'volatile', 'definer', ''),
    ('tasklens.resolve_scope(jsonb)', 'stable', 'invoker', ''),
    ('tasklens.scan_chunks(tasklens.search, integer, integer)', 'stable', 'invoker', ''),
    ('tasklens.scan_documents(vector, text, double precision, integer)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.score_entries(bigint[], bigint[], tasklens.words, text, integer, integer)', 'stable', 'invoker', ''),
    ('tasklens.searched_set(text)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.serving_model()', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.source_texts(bigint[])', 'stable', 'invoker', 'service_role'),
    ('tasklens.specifics(text)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.split_words(text, bigint[])', 'stable', 'invoker', ''),
    ('tasklens.store_document_vectors(bigint[])', 'volatile', 'invoker', 'service_role'),
    ('tasklens.text_limit()', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.ticket_members()', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.tickets_named(tasklens.query, bigint[])', 'stable', 'invoker', ''),
    ('tasklens.to_words(text)', 'stable', 'invoker', 'authenticated service_role'),
    ('tasklens.touch_updated_at()', 'volatile', 'invoker', ''),
    ('tasklens.unlisted_rows(bigint, integer)', 'stable', 'invoker', 'service_role'),
    ('tasklens.unrelated_similarity(text)', 'stable', 'definer', 'authenticated service_role'),
    ('tasklens.unspaced_scripts()', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.upsert_comments(jsonb)', 'volatile', 'invoker', 'service_role'),
    ('tasklens.visible_text(text)', 'immutable', 'definer', 'PUBLIC'),
    ('tasklens.without_form(text)', 'immutable', 'invoker', 'authenticated service_role'),
    ('tasklens.word_entries(text[])', 'stable', 'invoker', ''),
    ('tasklens.word_runs(text)', 'immutable', 'invoker', ''),
    ('tasklens.write_tickets(jsonb)', 'volatile', 'invoker', 'service_role'),
    ('public.abandon_reembed()', 'volatile', 'invoker', 'service_role'),
    ('public.attach_tables(jsonb)', 'volatile', 'invoker', ''),
    ('public.begin_import(text, text, text[])', 'volatile', 'invoker', 'service_role'),
    ('public.begin_reembed(text, integer)', 'volatile', 'invoker', 'service_role'),
    ('public.caller_role()', 'stable', 'invoker', 'authenticated service_role'),
    ('public.check_installation(text)', 'volatile', 'invoker', 'service_role'),
    ('public.claim_embedding_jobs(integer, double precision, integer)', 'volatile', 'invoker', 'service_role'),
    ('public.claim_enrichments(integer, double precision, integer)', 'volatile', 'invoker', 'service_role'),
    ('public.clear_retired_set(uuid, integer)', 'volatile', 'invoker', 'service_role'),
    ('public.copy_changes(integer)', 'volatile', 'definer', 'service_role'),
    ('public.count_tickets(text, jsonb, text, text, text, text, boolean, integer)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.count_unlisted(bigint)', 'stable', 'invoker', 'service_role'),
    ('public.data_version(bigint)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.delete_document(uuid)', 'volatile', 'invoker', 'service_role'),
    ('public.detach_tables(boolean)', 'volatile', 'invoker', ''),
    ('public.embedding_sets()', 'stable', 'definer', 'service_role'),
    ('public.embedding_status(text)', 'stable', 'invoker', 'service_role'),
    ('public.enqueue_missing_embeddings(text, boolean, smallint)', 'volatile', 'invoker', 'service_role'),
    ('public.enrichment_stats()', 'stable', 'invoker', 'service_role'),
    ('public.extend_embedding_leases(uuid[], double precision)', 'volatile', 'invoker', 'service_role'),
    ('public.fail_embedding_jobs(uuid, bigint[], text, integer, double precision)', 'volatile', 'invoker', 'service_role'),
    ('public.find_documents_by_entity(text, text, integer)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.find_filter_values(jsonb, boolean)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.find_similar_documents(uuid, integer)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.find_similar_tickets(bigint, text, integer, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.find_similar_tickets_batch(text[], text, integer, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.find_sources(jsonb)', 'volatile', 'invoker', 'service_role'),
    ('public.finish_embedding_jobs(uuid, bigint[])', 'volatile', 'invoker', 'service_role'),
    ('public.finish_reembed()', 'volatile', 'invoker', 'service_role'),
    ('public.get_document(uuid, boolean)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.get_ticket(bigint, text, integer, integer, bigint, integer, boolean)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.link_imported_tickets(bigint, bigint, integer)', 'volatile', 'invoker', 'service_role'),
    ('public.list_dead_embedding_jobs(integer)', 'stable', 'invoker', 'service_role'),
    ('public.list_migrations()', 'stable', 'definer', 'service_role'),
    ('public.list_projects(text, integer)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.list_statuses(bigint, integer)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.list_tickets(integer, integer, bigint, text, text, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.list_unenriched_documents(uuid, integer)', 'stable', 'invoker', 'service_role'),
    ('public.log_queries(jsonb, integer)', 'volatile', 'invoker', 'service_role'),
    ('public.may_write_project(bigint)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.measure_missing_embeddings(text, boolean, integer, smallint)', 'volatile', 'invoker', 'service_role'),
    ('public.nearest_chunks(vector, integer, bigint, text, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.probe_statement_timeout()', 'volatile', 'invoker', 'service_role'),
    ('public.prune_documents(text, uuid[], integer)', 'volatile', 'invoker', 'service_role'),
    ('public.prune_import(bigint, integer)', 'volatile', 'invoker', 'service_role'),
    ('public.rate_document(uuid, boolean)', 'volatile', 'invoker', 'authenticated service_role'),
    ('public.read_sources(bigint[], smallint)', 'stable', 'invoker', 'service_role'),
    ('public.release_embedding_jobs(uuid, bigint[], double precision)', 'volatile', 'invoker', 'service_role'),
    ('public.replay_embedding_jobs(bigint[])', 'volatile', 'invoker', 'service_role'),
    ('public.retrieve_all_chunks(vector, text, double precision, integer, bigint, text, integer, text, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.retrieve_chunks(vector, text, double precision, integer, bigint, text, integer, text, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.retrieve_chunks_hybrid(text, vector, text, double precision, integer, bigint, text, double precision, double precision, integer, text, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.retrieve_document_chunks(vector, text, double precision, integer)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.retry_enrichments()', 'volatile', 'invoker', 'service_role'),
    ('public.return_enrichments(uuid[], text, double precision)', 'volatile', 'invoker', 'service_role'),
    ('public.search_by_keyword(text, integer, bigint, text, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.search_by_vector(vector, text, double precision, integer, bigint, text, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.search_documents(vector, integer, double precision, text)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.search_documents_hybrid(vector, text[], integer, double precision, boolean, integer, text)', 'volatile', 'invoker', 'authenticated service_role'),
    ('public.search_facets(text, vector, text, double precision, bigint, text, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.search_hybrid(text, vector, text, double precision, integer, integer, bigint, text, double precision, double precision, text, text, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.similar_tickets(vector, text, integer, bigint, bigint, jsonb, text)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.similar_tickets_batch(jsonb, text, integer, jsonb)', 'stable', 'invoker', 'authenticated service_role'),
    ('public.store_chunks(jsonb, jsonb, vector[], smallint)', 'volatile', 'invoker', 'service_role'),
    ('public.store_enrichment(uuid, uuid, text[], jsonb, text, text)', 'volatile', 'invoker', 'service_role'),
    ('public.store_match_thresholds(jsonb)', 'volatile', 'invoker', 'service_role'),
    ('public.track_document_retrieval(uuid, text)', 'volatile', 'invoker', 'service_role'),
    ('public.track_document_retrievals(uuid[], text)', 'volatile', 'invoker', 'service_role'),
    ('public.unanswered_questions(integer, integer)', 'stable', 'invoker', 'service_role'),
    ('public.upsert_documents(jsonb)', 'volatile', 'invoker', 'service_role'),
    ('public.upsert_projects(jsonb, bigint, boolean)', 'volatile', 'invoker', 'service_role'),
    ('public.upsert_tickets(jsonb, bigint, boolean)', 'volatile', 'invoker', 'service_role'),
    ('public.visible_texts(text[])', 'immutable', 'invoker', 'authenticated service_role') $$,
  'exactly these functions exist, with their volatility, security and callers');

-- Names of arguments and result columns are JSON keys in requests and responses.
select results_eq(
  $$ select name::text collate "default", arguments, result from functions where schema = 'public' order by functions.name $$,
  $$ values
    ('abandon_reembed', '', 'boolean'),
    ('attach_tables', 'views jsonb', 'TABLE(kind text, view text, tables text, rows bigint)'),
    ('begin_import', 'origin text DEFAULT NULL::text, format text DEFAULT NULL::text, project_keys text[] DEFAULT ''{}''::text[]', 'TABLE(import_id bigint, import_origin text)'),
    ('begin_reembed', 'embedding_model text, chunking integer', 'bigint'),
    ('caller_role', '', 'text'),
    ('check_installation', 'embedding_model text DEFAULT NULL::text', 'TABLE(severity text, subject text, finding text, remedy text)'),
    ('claim_embedding_jobs', 'job_limit integer DEFAULT 100, lease_seconds double precision DEFAULT 60, attempt_limit integer DEFAULT 10',
      'TABLE(lease_id uuid, jobs jsonb, next_due_seconds double precision)'),
    ('claim_enrichments', 'batch_size integer DEFAULT 10, lease_seconds double precision DEFAULT 60, attempt_limit integer DEFAULT 5',
      'TABLE(id uuid, title text, content text, attempt integer, lease_id uuid)'),
    ('clear_retired_set', 'after uuid DEFAULT NULL::uuid, row_limit integer DEFAULT 1000', 'uuid'),
    ('copy_changes', 'row_limit integer DEFAULT 1000', 'bigint'),
    ('count_tickets', 'query_text text DEFAULT NULL::text, filters jsonb DEFAULT NULL::jsonb, group_by text DEFAULT NULL::text, period text DEFAULT ''month''::text, time_zone text DEFAULT ''UTC''::text, sort text DEFAULT ''created''::text, ascending boolean DEFAULT false, match_count integer DEFAULT 10',
      'TABLE(count bigint, capped boolean, groups jsonb, tickets jsonb)'),
    ('count_unlisted', 'import_id bigint', 'TABLE(all_tickets integer, listed_tickets integer, tickets integer, comments integer, ticket_links integer, examples text[])'),
    ('data_version', 'project_filter bigint DEFAULT NULL::bigint', 'text'),
    ('delete_document', 'doc_id uuid', 'boolean'),
    ('detach_tables', 'keep_rows boolean DEFAULT false', 'TABLE(what text, rows bigint)'),
    ('embedding_sets', '',
      'TABLE(serving smallint, model text, chunking integer, other_state text, other_model text, other_chunking integer, match_thresholds jsonb)'),
    ('embedding_status', 'embedding_model text',
      'TABLE(pending bigint, running bigint, failed bigint, dead bigint, oldest_pending_seconds double precision, chunks bigint, sources_without_chunks bigint, truncated bigint, refused_rows bigint, waiting_copies bigint)'),
    ('enqueue_missing_embeddings', 'embedding_model text, everything boolean DEFAULT false, embedding_set smallint DEFAULT NULL::smallint',
      'bigint'),
    ('enrichment_stats', '', 'TABLE(total bigint, enriched bigint, unenriched bigint, failed bigint)'),
    ('extend_embedding_leases', 'lease_ids uuid[], lease_seconds double precision DEFAULT 60',
      'bigint'),
    ('fail_embedding_jobs', 'lease_id uuid, job_ids bigint[], error text, attempt_limit integer DEFAULT 10, retry_seconds double precision DEFAULT 5',
      'bigint'),
    ('find_documents_by_entity', 'entity_name text, entity_type text DEFAULT NULL::text, match_limit integer DEFAULT 10',
      'TABLE(id uuid, title text, matched_entity text, matched_type text)'),
    ('find_filter_values', 'filters jsonb, close boolean DEFAULT true', 'TABLE(member text, spelling text, value text, exact boolean)'),
    ('find_similar_documents', 'doc_id uuid, match_count integer DEFAULT 5', 'TABLE(id uuid, title text, similarity double precision)'),
    ('find_similar_tickets', 'ticket_id bigint, embedding_model text, match_count integer DEFAULT 5, filters jsonb DEFAULT NULL::jsonb',
      'TABLE(project_name text, ticket_name text, text text, embedded boolean, results jsonb)'),
    ('find_similar_tickets_batch', 'ticket_keys text[], embedding_model text, match_count integer DEFAULT 5, filters jsonb DEFAULT NULL::jsonb',
      'TABLE(place bigint, ticket_id bigint, project_name text, ticket_name text, text text, embedded boolean, results jsonb)'),
    ('find_sources', 'sources jsonb',
      'TABLE(place bigint, source_id bigint)'),
    ('finish_embedding_jobs', 'lease_id uuid, job_ids bigint[]',
      'bigint'),
    ('finish_reembed', '', 'boolean'),
    ('get_document', 'doc_id uuid, visible boolean DEFAULT false',
      'TABLE(id uuid, title text, content text, keywords text[], named_entities jsonb, temporal_class text, archived boolean, embedding_status text, truncated boolean, utility_score double precision, retrieval_count bigint, last_retrieved_at timestamp with time zone, retrieval_queries text[], enriched_at timestamp with time zone, enrichment_model text, enrichment_error text, created_at timestamp with time zone, updated_at timestamp with time zone)'),
    ('get_ticket', 'ticket_id bigint DEFAULT NULL::bigint, ticket_key text DEFAULT NULL::text, comment_limit integer DEFAULT 20, comment_offset integer DEFAULT 0, comment_id bigint DEFAULT NULL::bigint, text_offset integer DEFAULT 0, visible boolean DEFAULT false',
      'TABLE(ticket_id bigint, ticket_key text, ticket_name text, project_id bigint, project_key text, project_name text, status text, status_category text, '
        || 'description text, description_truncated_at integer, assignee text, reporter text, ticket_type text, priority text, labels text[], due_date date, resolved_at timestamp with time zone, '
        || 'created_at timestamp with time zone, updated_at timestamp with time zone, links jsonb, status_changes jsonb, comment_count bigint, comments jsonb)'),
    ('link_imported_tickets', 'import_id bigint, after bigint DEFAULT 0, match_count integer DEFAULT 100', 'TABLE(last_ticket_id bigint, links integer, unknown integer, examples text[])'),
    ('list_dead_embedding_jobs', 'match_count integer DEFAULT 100',
      'TABLE(job_id bigint, project_id bigint, ticket_id bigint, ticket_key text, document_id uuid, title text, attempts integer, dead_at timestamp with time zone, last_error text, comment_id bigint)'),
    ('list_migrations', '', 'SETOF text'),
    ('list_projects', 'after text DEFAULT ''''::text, match_count integer DEFAULT 1000', 'TABLE(project_id bigint, key text, name text, tickets bigint)'),
    ('list_statuses', 'after bigint DEFAULT 0, match_count integer DEFAULT 1000', 'TABLE(status_id bigint, name text)'),
    ('list_tickets', 'match_count integer DEFAULT 10, match_offset integer DEFAULT 0, project_filter bigint DEFAULT NULL::bigint, '
        || 'status_filter text DEFAULT NULL::text, sort text DEFAULT ''newest''::text, filters jsonb DEFAULT NULL::jsonb',
      'TABLE(ticket_id bigint, text text, project_id bigint, project_name text, ticket_key text, ticket_name text, status text, highlight text, has_more boolean, '
        || 'assignee text, reporter text, ticket_type text, priority text, labels text[], due_date date, created_at timestamp with time zone, '
        || 'updated_at timestamp with time zone, status_category text, links jsonb)'),
    ('list_unenriched_documents', 'after uuid DEFAULT NULL::uuid, match_limit integer DEFAULT 1000', 'TABLE(id uuid, title text, attempts integer, last_error text)'),
    ('log_queries', 'entries jsonb, retention_days integer DEFAULT 30', 'TABLE(logged bigint, deleted bigint)'),
    ('may_write_project', 'project_id bigint', 'boolean'),
    ('measure_missing_embeddings', 'embedding_model text, everything boolean DEFAULT false, sample_count integer DEFAULT 100, embedding_set smallint DEFAULT NULL::smallint',
      'TABLE(sources bigint, characters bigint, sample bigint[])'),
    ('nearest_chunks', 'query_embedding vector, match_count integer DEFAULT 10, project_filter bigint DEFAULT NULL::bigint, status_filter text DEFAULT NULL::text, filters jsonb DEFAULT NULL::jsonb',
      'TABLE(similarity double precision, project_id bigint, ticket_id bigint, ticket_key text, kind text, text text, chunk_id uuid)'),
    ('probe_statement_timeout', '', 'void'),
    ('prune_documents', 'origin text, listed uuid[], match_count integer DEFAULT 0', 'TABLE(stored bigint, unlisted bigint, removed bigint, examples text[])'),
    ('prune_import', 'import_id bigint, match_count integer DEFAULT 100', 'TABLE(tickets integer, comments integer, ticket_links integer)'),
    ('rate_document', 'doc_id uuid, helpful boolean', 'double precision'),
    ('read_sources', 'source_ids bigint[], embedding_set smallint DEFAULT NULL::smallint',
      'TABLE(source_id bigint, names text[], texts jsonb, truncated boolean, source_hash text, chunks jsonb, stored_truncated boolean, embedding_set smallint, embedding_model text, building_set smallint, building_chunking integer, sources_read integer)'),
    ('release_embedding_jobs', 'lease_id uuid, job_ids bigint[], delay_seconds double precision DEFAULT NULL::double precision',
      'bigint'),
    ('replay_embedding_jobs', 'job_ids bigint[] DEFAULT NULL::bigint[]',
      'bigint'),
    ('retrieve_all_chunks', 'query_embedding vector, embedding_model text, match_threshold double precision DEFAULT 0.7, '
        || 'match_count integer DEFAULT 20, project_filter bigint DEFAULT NULL::bigint, status_filter text DEFAULT NULL::text, '
        || 'source_chunk_limit integer DEFAULT NULL::integer, question text DEFAULT NULL::text, filters jsonb DEFAULT NULL::jsonb',
      'TABLE(chunk_id uuid, ticket_id bigint, project_id bigint, project_name text, ticket_key text, ticket_name text, status text, '
        || 'document_id uuid, title text, kind text, text text, tokens integer, similarity double precision, over_threshold boolean, '
        || 'similarities real[], '
        || 'named boolean, project_key text, '
        || 'comment_id bigint, comment_author text, comment_created_at timestamp with time zone, fields jsonb)'),
    ('retrieve_chunks', 'query_embedding vector, embedding_model text, match_threshold double precision DEFAULT 0.7, '
        || 'match_count integer DEFAULT 20, project_filter bigint DEFAULT NULL::bigint, status_filter text DEFAULT NULL::text, '
        || 'source_chunk_limit integer DEFAULT NULL::integer, question text DEFAULT NULL::text, filters jsonb DEFAULT NULL::jsonb',
      'TABLE(chunk_id uuid, ticket_id bigint, project_id bigint, project_name text, ticket_key text, ticket_name text, status text, '
        || 'kind text, text text, tokens integer, similarity double precision, over_threshold boolean, similarities real[], '
        || 'named boolean, project_key text, '
        || 'comment_id bigint, comment_author text, comment_created_at timestamp with time zone, fields jsonb)'),
    ('retrieve_chunks_hybrid', 'query_text text, query_embedding vector, embedding_model text, match_threshold double precision DEFAULT 0.7, '
        || 'match_count integer DEFAULT 20, project_filter bigint DEFAULT NULL::bigint, status_filter text DEFAULT NULL::text, '
        || 'vector_weight double precision DEFAULT 1, keyword_weight double precision DEFAULT 1, '
        || 'source_chunk_limit integer DEFAULT NULL::integer, fusion text DEFAULT ''rrf''::text, '
        || 'filters jsonb DEFAULT NULL::jsonb',
      'TABLE(chunk_id uuid, ticket_id bigint, project_id bigint, project_name text, ticket_key text, ticket_name text, status text, '
        || 'kind text, text text, tokens integer, similarity double precision, over_threshold boolean, relevance double precision, '
        || 'similarities real[], named boolean, project_key text, '
        || 'comment_id bigint, comment_author text, comment_created_at timestamp with time zone, fields jsonb)'),
    ('retrieve_document_chunks', 'query_embedding vector, embedding_model text, match_threshold double precision DEFAULT 0.7, '
        || 'match_count integer DEFAULT 20',
      'TABLE(chunk_id uuid, document_id uuid, title text, text text, tokens integer, similarity double precision, '
        || 'over_threshold boolean, similarities real[])'),
    ('retry_enrichments', '', 'bigint'),
    ('return_enrichments', 'lease_ids uuid[], error text DEFAULT NULL::text, retry_seconds double precision DEFAULT 0', 'bigint'),
    ('search_by_keyword', 'query_text text, match_count integer DEFAULT 10, project_filter bigint DEFAULT NULL::bigint, '
        || 'status_filter text DEFAULT NULL::text, filters jsonb DEFAULT NULL::jsonb',
      'TABLE(rank bigint, project_id bigint, ticket_id bigint, keyword_score double precision, exact boolean, ticket_key text, ticket_name text)'),
    ('search_by_vector', 'query_embedding vector, embedding_model text, match_threshold double precision DEFAULT 0.7, '
        || 'match_count integer DEFAULT 10, project_filter bigint DEFAULT NULL::bigint, status_filter text DEFAULT NULL::text, '
        || 'filters jsonb DEFAULT NULL::jsonb',
      'TABLE(rank bigint, project_id bigint, ticket_id bigint, chunk_id uuid, similarity double precision, ticket_key text, ticket_name text)'),
    ('search_documents', 'query_embedding vector, match_count integer DEFAULT 10, match_threshold double precision DEFAULT 0.3, '
        || 'embedding_model text DEFAULT NULL::text',
      'TABLE(id uuid, title text, content text, similarity double precision)'),
    ('search_documents_hybrid', 'query_embedding vector, query_keywords text[], match_count integer DEFAULT 10, '
        || 'match_threshold double precision DEFAULT 0.3, track_retrievals boolean DEFAULT true, '
        || 'freshness_decay_days integer DEFAULT 30, embedding_model text DEFAULT NULL::text',
      'TABLE(id uuid, title text, content text, similarity double precision, keyword_score double precision, '
        || 'utility_boost double precision, freshness_boost double precision, temporal_weight double precision, '
        || 'final_score double precision, keywords text[], temporal_class text)'),
    ('search_facets', 'query_text text, query_embedding vector DEFAULT NULL::vector, embedding_model text DEFAULT NULL::text, '
        || 'match_threshold double precision DEFAULT 0.7, project_filter bigint DEFAULT NULL::bigint, status_filter text DEFAULT NULL::text, '
        || 'filters jsonb DEFAULT NULL::jsonb',
      'TABLE(facet text, value bigint, label text, count bigint, capped boolean)'),
    ('search_hybrid', 'query_text text, query_embedding vector DEFAULT NULL::vector, embedding_model text DEFAULT NULL::text, '
        || 'match_threshold double precision DEFAULT 0.7, match_count integer DEFAULT 10, match_offset integer DEFAULT 0, '
        || 'project_filter bigint DEFAULT NULL::bigint, status_filter text DEFAULT NULL::text, '
        || 'vector_weight double precision DEFAULT 1, keyword_weight double precision DEFAULT 1, '
        || 'fusion text DEFAULT ''rrf''::text, sort text DEFAULT ''relevance''::text, filters jsonb DEFAULT NULL::jsonb',
      'TABLE(ticket_id bigint, text text, similarity double precision, source text, rrf_score double precision, fused_score double precision, '
        || 'project_id bigint, project_name text, ticket_key text, ticket_name text, status text, '
        || 'vector_rank bigint, keyword_rank bigint, keyword_score double precision, '
        || 'vector_contribution double precision, keyword_contribution double precision, '
        || 'matched_by text[], exact boolean, highlight text, chunk_id uuid, has_more boolean, relaxed boolean, '
        || 'assignee text, reporter text, ticket_type text, priority text, labels text[], due_date date, '
        || 'created_at timestamp with time zone, updated_at timestamp with time zone, status_category text, '
        || 'comment_id bigint, comment_author text, comment_created_at timestamp with time zone, links jsonb)'),
    ('similar_tickets', 'query_embedding vector, embedding_model text, match_count integer DEFAULT 5, exclude_ticket bigint DEFAULT NULL::bigint, '
        || 'project_filter bigint DEFAULT NULL::bigint, filters jsonb DEFAULT NULL::jsonb, query_text text DEFAULT NULL::text',
      'TABLE(ticket_id bigint, ticket_key text, similarity double precision, ticket_name text, project_id bigint, status text, '
        || 'vector_rank bigint, keyword_rank bigint, keyword_score double precision, vector_contribution double precision, '
        || 'keyword_contribution double precision, fused_score double precision, duplicate_score double precision, likely_duplicate boolean)'),
    ('similar_tickets_batch', 'drafts jsonb, embedding_model text, match_count integer DEFAULT 5, filters jsonb DEFAULT NULL::jsonb',
      'TABLE(place bigint, results jsonb)'),
    ('store_chunks', 'sources jsonb, chunks jsonb, embeddings vector[], embedding_set smallint DEFAULT NULL::smallint',
      'TABLE(source_id bigint, stored boolean, embedding_ids uuid[])'),
    ('store_enrichment', 'doc_id uuid, lease_id uuid, keywords text[], named_entities jsonb, temporal_class text, model text', 'boolean'),
    ('store_match_thresholds', 'thresholds jsonb', 'void'),
    ('track_document_retrieval', 'doc_id uuid, query_text text', 'void'),
    ('track_document_retrievals', 'doc_ids uuid[], query_text text', 'void'),
    ('unanswered_questions', 'days integer DEFAULT 7, match_count integer DEFAULT 50',
      'TABLE(question text, times bigint, last_asked_at timestamp with time zone, best_similarity double precision)'),
    ('upsert_documents', 'documents jsonb', 'TABLE(id uuid, created boolean, embedding_status text)'),
    ('upsert_projects', 'projects jsonb, import_id bigint DEFAULT NULL::bigint, take_over boolean DEFAULT false', 'TABLE(key text, project_id bigint, held_by text)'),
    ('upsert_tickets', 'tickets jsonb, import_id bigint DEFAULT NULL::bigint, take_over boolean DEFAULT false', 'TABLE(key text, ticket_id bigint, project_id bigint, comment_ids bigint[], held_by text)'),
    ('visible_texts', 'texts text[]', 'text[]') $$,
  'the public functions have the arguments and results that callers rely on');

select is_empty(
  $$ select signature from functions where not coalesce(settings, '{}') @> array['search_path=""'] $$,
  'every function sets an empty search_path: without any SET, one could be inlined for callers who may not execute it');
select is_empty(
  $$ select signature from functions where obj_description(oid, 'pg_proc') is null $$,
  'every function has a comment');
-- A scan that cannot be avoided then counts as so expensive that it would be compiled each time.
select is_empty(
  $$ select signature from functions where settings @> array['enable_seqscan=off'] and not settings @> array['jit=off'] $$,
  'a function without sequential scans has no JIT');

select * from finish();
rollback;
