// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// node kinds.mjs FOLDER: the tests of http-cache-tests in FOLDER, as JSON: id to kind.
import { pathToFileURL } from 'url';

const root = pathToFileURL(`${process.argv[2]}/`);
const { default: suites } = await import(new URL('tests/index.mjs', root));
const kinds = {};
for (const suite of suites) {
  for (const test of suite.tests) kinds[test.id] = test.kind ?? 'required';
}
console.log(JSON.stringify(kinds));
