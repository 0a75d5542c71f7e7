-- Documents with short names, and their vectors: for a test to include (\ir) within its
-- transaction.

create function pg_temp.doc(digit integer) returns uuid
language sql as $$ select ('00000000-0000-4000-8000-00000000000' || digit)::uuid $$;

-- A document's vector that begins with these numbers, and has zeros behind them.
create function pg_temp.unit(variadic numbers double precision[]) returns extensions.vector
language sql as $$ select (numbers || array_fill(0::double precision, array[768 - cardinality(numbers)]))::extensions.vector $$;
