// Times LangChain's SupabaseHybridSearch and search_hybrid in turn, through the same REST interface,
// and prints a table. Reads vegeta's targets, a line each, from standard input.
import { SupabaseHybridSearch } from '@langchain/community/retrievers/supabase'
import { createClient } from '@supabase/supabase-js'
import { text } from 'node:stream/consumers'

const model = 'words-1'

async function embedQuery(input) {
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/embeddings`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model, input }),
  })
  return (await response.json()).data[0].embedding
}

const client = createClient(process.env.SUPABASE_URL, process.env.SUPABASE_SERVICE_ROLE_KEY, {
  auth: { persistSession: false }, realtime: { transport: class {} }, // Node 20 has no WebSocket
})
let embedding // of the current query, so that the model is not timed
const recipe = new SupabaseHybridSearch({ embedQuery: () => embedding }, { client, similarityK: 10, keywordK: 10, tableName: 'documents' })
const ways = {
  'LangChain, SupabaseHybridSearch': query => recipe.invoke(query),
  'of this, its vector search': query => recipe.similaritySearch(query, 10),
  search_hybrid: async query => {
    const { data, error } = await client.rpc('search_hybrid', { query_text: query, query_embedding: embedding, embedding_model: model, match_threshold: 0.7, match_count: 10 })
    if (error) throw new Error(error.message)
    return data
  },
}

const queries = (await text(process.stdin)).trim().split('\n').map(line => JSON.parse(atob(JSON.parse(line).body)).query)
const took = Object.fromEntries(Object.keys(ways).map(name => [name, []]))
for (const [i, query] of queries.entries()) {
  embedding = await embedQuery(query)
  for (const [name, search] of Object.entries(ways)) {
    const started = performance.now()
    await search(query)
    if (i > 0) took[name].push(performance.now() - started) // the first warms up
  }
}

const quantile = (all, p) => all.toSorted((a, b) => a - b)[Math.floor(p * (all.length - 1))].toFixed(0)
console.log(`\n#### The recipe, ms, ${queries.length - 1} queries in turn\n\n| search | p50 | p95 |\n| :-- | --: | --: |`)
for (const [name, all] of Object.entries(took)) console.log(`| ${name} | ${quantile(all, 0.5)} | ${quantile(all, 0.95)} |`)
