// Writes the code of docs/frontend.md and the database's types into a folder as a new project has them:
// with what tsc --init writes, and with what the page presumes as global names.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const [folder] = process.argv.slice(2);
const root = new URL('../../../', import.meta.url);
const page = ['docs/frontend.md', 'docs/examples/frontend/index.html'].map((file) => readFileSync(new URL(file, root), 'utf8')).join('\n');
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/package.json`, '{"type": "module"}');
writeFileSync(`${folder}/presumed.d.ts`, `
  declare const supabase: import('@supabase/supabase-js').SupabaseClient;
  declare const tasklens: import('tasklens-client').Tasklens;
  declare const question: string;
  declare const ask: () => void, show: (text: string) => void;`);
cpSync(new URL('supabase/database.types.ts', root), `${folder}/database.types.ts`);
const blocks = [...page.matchAll(/```ts\n(.*?)```|<script type="module">\n(.*?)<\/script>/gs)];
if (blocks.length < 4) throw new Error(`docs/frontend.md has ${blocks.length} blocks of code`);
blocks.forEach(([, code, script], i) => writeFileSync(`${folder}/block${i}.ts`, code ?? script));
