-- Building an index takes a fifth of the time of growing it. A test includes this file (\ir) in its
-- transaction.

-- Runs a statement without an index, and builds the index then.
create function pg_temp.fill(index text, statement text) returns void
language plpgsql as $$
declare
  definition text := pg_get_indexdef(index::regclass);
begin
  execute 'drop index ' || index;
  execute statement;
  execute definition;
end
$$;
