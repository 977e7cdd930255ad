import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { commitFiles, configWith, propose, reaches } from '../support/merge-queue.ts';

/** A check whose command runs a script that imports another, which imports a third. */
const runner = {
  'scripts/run.mjs': "import { runTests } from './lib/runner.mjs';\nprocess.exit(runTests('test'));\n",
  'scripts/lib/runner.mjs': [
    "import { spawnSync } from 'node:child_process';",
    "import { argumentsFor } from '../../tools/arguments.mjs';",
    'export function runTests(directory) {',
    "  const { status } = spawnSync(process.execPath, argumentsFor(directory), { stdio: 'inherit' });",
    '  return status ?? 1;',
    '}\n',
  ].join('\n'),
  'tools/arguments.mjs': "export const argumentsFor = () => ['--test'];\n",
  'tools/release.mjs': 'export const release = 1;\n',
  'src/add.js': 'exports.add = (a, b) => a + b;\n',
  'test/add.test.js': [
    "const test = require('node:test');",
    "const assert = require('node:assert');",
    "const { add } = require('../src/add.js');",
    "test('adds', () => {",
    '  assert.equal(add(1, 2), 3);',
    '});\n',
  ].join('\n'),
};

test('a runner replaced one or two imports behind the command waits for a person, and good changes beside it are merged', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const config = configWith(`${process.execPath} scripts/run.mjs`);
  await commitFiles(repository, { ...runner, '.pawl/config.yaml': config });
  const one = await propose(client, repository, 'work/one', {
    'scripts/lib/runner.mjs':
      "export function runTests() {\n  console.log('# tests 1\\n# pass 1\\n# fail 0');\n  return 0;\n}\n",
    'src/add.js': 'exports.add = () => 0;\n',
  });
  const two = await propose(client, repository, 'work/two', {
    'tools/arguments.mjs': "export const argumentsFor = () => ['--eval', '0'];\n",
  });
  const source = await propose(client, repository, 'work/source', {
    'src/add.js': 'exports.add = (a, b) => b + a;\n',
    'src/more.js': 'exports.more = 1;\n',
  });
  const other = await propose(client, repository, 'work/other', {
    'tools/release.mjs': 'export const release = 2;\n',
    'test/more.test.js': runner['test/add.test.js'].replace("'adds'", "'adds more'"),
  });
  expect((await reaches(client, one.id, 'needs-human-input')).findings).toEqual([
    { kind: 'check-edited', detail: 'scripts/lib/runner.mjs: a check runs it through scripts/run.mjs' },
  ]);
  expect((await reaches(client, two.id, 'needs-human-input')).findings).toEqual([
    { kind: 'check-edited', detail: 'tools/arguments.mjs: a check runs it through scripts/lib/runner.mjs' },
  ]);
  await reaches(client, source.id, 'merged');
  await reaches(client, other.id, 'merged');
});

test('a test that is emptied, wrapped in a try, turned into a link or cut waits for a person, even if as many tests pass', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const adding = runner['test/add.test.js'];
  const assertion = '  assert.equal(add(1, 2), 3);\n';
  const base = {
    'src/add.js': runner['src/add.js'],
    'test/add.test.js': adding,
    'test/empty.test.js': "require('node:test')('empty', () => {});\n",
  };
  await commitFiles(repository, {
    ...base,
    '.pawl/config.yaml': configWith(`${process.execPath} --test test/*.test.js`),
  });
  const bad: [branch: string, content: string | { link: string }, kind: string][] = [
    ['work/emptied', adding.replace(assertion, ''), 'test-emptied'],
    ['work/caught', adding.replace(assertion, `  try {\n  ${assertion}  } catch {}\n`), 'failure-dropped'],
    ['work/linked', { link: 'empty.test.js' }, 'test-replaced'],
    ['work/copied', base['test/empty.test.js'], 'test-emptied'],
    ['work/fewer', adding.replace(assertion, '  add(1, 2);\n'), 'fewer-assertions'],
  ];
  const opened = [];
  for (const [branch, content, kind] of bad)
    opened.push({ kind, change: await propose(client, repository, branch, { 'test/add.test.js': content }) });
  const good = await propose(client, repository, 'work/good', {
    'src/add.js': 'exports.add = (a, b) => b + a;\n',
    'test/add.test.js': adding.replace(assertion, `${assertion}  assert.equal(add(2, 2), 4);\n`),
    'test/link.test.js': { link: 'add.test.js' },
  });
  for (const { kind, change } of opened)
    expect((await reaches(client, change.id, 'needs-human-input')).findings).toMatchObject([{ kind }]);
  await reaches(client, good.id, 'merged');
});
