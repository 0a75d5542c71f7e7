-- Vectors worked out by hand: for a test to include (\ir) within its transaction.

-- A chunk's vector that begins with these numbers, and has zeros behind them.
create function pg_temp.unit(variadic numbers double precision[]) returns extensions.vector
language sql as $$ select (numbers || array_fill(0::double precision, array[1536 - cardinality(numbers)]))::extensions.vector $$;
