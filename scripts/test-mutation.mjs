// Mutation tests: changes each condition, operator and value of the modules in stryker.config.mjs once, and counts the changes that no test notices.
//   npm run test:mutation -- [part of a module's path …]
import { Stryker } from '@stryker-mutator/core';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import config from '../stryker.config.mjs';

const root = join(import.meta.dirname, '..');
const words = process.argv.slice(2);
const modules = globSync(config.mutate, { cwd: root });
const mutate = modules.filter((path) => words.length === 0 || words.some((word) => path.includes(word)));
if (mutate.length === 0) {
  process.stderr.write(`error: no module matches ${words.join(' ')}. Modules are: ${config.mutate.join(', ')}.\n`);
  process.exit(2);
}
process.chdir(root);
const only = words.length > 0;
const results = await new Stryker({
  mutate,
  // Some modules alone may have a lower score than all, and few enough survivors to read.
  ...(only ? { thresholds: { ...config.thresholds, break: null } } : {}),
  clearTextReporter: { ...config.clearTextReporter, reportMutants: only },
}).runMutationTest();
const count = (...statuses) => results.filter(({ status }) => statuses.includes(status)).length;
const [killed, survived, uncovered] = [count('Killed', 'Timeout'), count('Survived'), count('NoCoverage')];
const score = ((100 * killed) / (killed + survived + uncovered)).toFixed(1);
process.stdout.write(
  `Mutation score ${score} %: ${killed} killed, ${survived} survived, ${uncovered} not covered, in ${mutate.length} modules. ` +
    `The survivors are in ${config.htmlReporter.fileName}.\n`,
);
