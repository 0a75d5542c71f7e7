-- What LangChain's documentation of SupabaseHybridSearch creates, over the chunks of the bench.

create or replace view public.recipe_documents as
  select c.chunk_id as id, c.text as content, '{}'::jsonb as metadata, c.embedding from public.chunks c where c.embedding_set = 1;
grant select on public.recipe_documents to service_role;

create or replace function public.match_documents(query_embedding extensions.vector(1536), match_count integer default null, filter jsonb default '{}')
returns table (id uuid, content text, metadata jsonb, similarity double precision)
language plpgsql set search_path = public, extensions
as $$
begin
  return query select d.id, d.content, d.metadata, 1 - (d.embedding <=> query_embedding)
    from recipe_documents d where d.metadata @> filter order by d.embedding <=> query_embedding limit match_count;
end
$$;

create or replace function public.kw_match_documents(query_text text, match_count integer)
returns table (id uuid, content text, metadata jsonb, similarity real)
language plpgsql set search_path = public, extensions
as $$
begin
  return query execute format('select id, content, metadata, ts_rank(to_tsvector(content), plainto_tsquery($1)) as similarity
    from recipe_documents where to_tsvector(content) @@ plainto_tsquery($1) order by similarity desc limit $2') using query_text, match_count;
end
$$;

-- Supabase ends a statement after 8 seconds. Here each may take as long as it takes.
alter role service_role set statement_timeout = '1h';
notify pgrst, 'reload schema';
notify pgrst, 'reload config';
