// What supabase-js's script defines, with the types of this database: the page's calls are checked against them.
import type { SupabaseClient } from '@supabase/supabase-js';
import type { Database } from '../../supabase/database.types.js';

declare global {
  const supabase: { createClient(url: string, key: string): SupabaseClient<Database> };
}
