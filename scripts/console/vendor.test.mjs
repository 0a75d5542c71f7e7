// The vendored renderer equals npm's at the version in package.json, except for one import path.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const wanted = JSON.parse(read('../../package.json')).devDependencies;

for (const [ours, theirs, change = (text) => text] of [
  ['preact.js', 'preact/dist/preact.mjs'],
  ['hooks.js', 'preact/hooks/dist/hooks.mjs', (text) => text.replace('from"preact"', 'from"./preact.js"')],
  ['htm.js', 'htm/dist/htm.module.js'],
]) {
  test(`${ours} equals ${theirs}`, () => {
    assert.equal(read(`../../server/console/static/${ours}`), change(read(`../../node_modules/${theirs}`)));
  });
}

test('the licences and versions of vendored files are listed', () => {
  const told = read('../../server/console/VENDORED.md');
  for (const name of ['preact', 'htm']) {
    const { version } = JSON.parse(read(`../../node_modules/${name}/package.json`));
    assert.equal(version, wanted[name]);
    assert.ok(told.includes(`${name} ${version}`), `${name} ${version}`);
    assert.ok(told.includes(read(`../../node_modules/${name}/LICENSE`).trim().slice(-400)), `the licence of ${name}`);
  }
});
