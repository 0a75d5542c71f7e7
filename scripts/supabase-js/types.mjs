// Prints the Database types of the schema public, as supabase gen types does, from DATABASE_URL.
import { generateTypescript, sortGeneratorMetadata } from '@supabase/postgrest-typegen/generation';
import { introspect } from '@supabase/postgrest-typegen/introspection';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 1 });
const metadata = await introspect(pool, { includedSchemas: ['public'] });
console.log(await generateTypescript(sortGeneratorMetadata(metadata), { postgrestVersion: '12' }));
await pool.end();
