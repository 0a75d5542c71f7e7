-- What moves the version of the documents, which counts as that of project -1: texts, what is archived, and vectors.
-- Retrievals, votes and enrichments change nothing that is remembered.

create function private.version_documents() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op <> 'UPDATE' then
    perform private.change_data_version(array[-1]);
  elsif exists (
    select from new_rows n full join old_rows o using (id)
    where (n.title, n.content, n.archived, n.embedding_status) is distinct from (o.title, o.content, o.archived, o.embedding_status)) then
    perform private.change_data_version(array[-1]);
  end if;
  return null;
end
$$;
comment on function private.version_documents() is 'Trigger: moves the version of documents when one is new, gone, or other than it was.';

create function private.version_document_vectors() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.change_data_version(array[-1]);
  return null;
end
$$;
comment on function private.version_document_vectors() is 'Trigger: moves the version of documents when their vectors change.';

revoke execute on function private.version_documents() from public;
revoke execute on function private.version_document_vectors() from public;

create trigger version_new_documents after insert on public.documents
  for each statement execute function private.version_documents();
create trigger version_updated_documents after update on public.documents
  referencing old table as old_rows new table as new_rows for each statement execute function private.version_documents();
create trigger version_deleted_documents after delete on public.documents
  for each statement execute function private.version_documents();
create trigger version_document_vectors after insert or update or delete on public.embeddings
  for each statement execute function private.version_document_vectors();
create trigger version_emptied_documents after truncate on public.documents for each statement execute function private.version_truncated();
create trigger version_emptied_document_vectors after truncate on public.embeddings for each statement execute function private.version_truncated();
