import { examineChange } from '@pawl/daemon/changes/guard/examine';
import { openRepository } from '@pawl/git/repository/repository';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const tests = (names: string[]) => names.map((name) => `test('${name}', () => {});\n`).join('');

const files = {
  'package.json': JSON.stringify({ scripts: { test: 'node scripts/run.mjs', dev: 'vite' } }),
  'scripts/run.mjs': 'run();\n',
  'src/index.ts': 'export const one = 1;\n',
  'src/skip.ts': 'export const skip = 1;\n',
  'README.md': 'words\n',
  'test/one.test.js': tests(['a', 'b', 'c', 'd', 'e', 'f']),
  'test/two.test.js': `${tests(['g', 'h'])}test.skip('i', () => {});\n`,
  '.github/workflows/ci.yml': 'run: npm test\n',
  'ci/run.sh': 'npm test\n',
};

let place: Awaited<ReturnType<typeof aPlace>>;
beforeAll(async () => {
  place = await aPlace();
});
afterAll(() => place[Symbol.asyncDispose]());

/** A repository, and a function that examines a change of it. All changes start at its one commit. */
async function aPlace() {
  const directory = await temporaryDirectory();
  const root = join(directory.path, 'repository');
  await sampleRepository(root, { files });
  const repository = await openRepository(root);
  const base = await git(root, ['rev-parse', 'HEAD']);
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid'];
  return {
    examine: async (change: (at: (path: string) => string) => void, guardPaths: string[] = []) => {
      await git(root, ['checkout', '--quiet', '--detach', '--force', base]);
      change((path) => {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        return join(root, path);
      });
      await git(root, ['add', '--all']);
      await git(root, [...identity, 'commit', '--quiet', '--allow-empty', '-m', 'a change']);
      const head = await git(root, ['rev-parse', 'HEAD']);
      const config = {
        checks: [{ name: 'npm test', run: 'npm test', timeoutMs: 1, junit: [] }],
        guard: { enabled: true, paths: guardPaths },
      };
      const ownDir = join(directory.path, 'own.git');
      const { findings, removesTests } = await examineChange(repository, {
        ownDir,
        change: { head },
        base,
        config,
        isCounted: true,
      });
      return { found: findings.map(({ kind, detail }) => `${kind} ${detail}`), removesTests };
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

type At = (path: string) => string;
const write = (path: string, text: string | Buffer) => (at: At) => writeFileSync(at(path), text);
const nothing = { found: [], removesTests: false };

test('a change without effect on the gate has no findings', async () => {
  expect(await place.examine(() => {})).toEqual(nothing);
  const changes: ((at: At) => void)[] = [
    write('src/index.ts', 'export const one = 2;\nexport const skip = rows.skip(1);\n'),
    write('README.md', "Use `test.skip('x')`, and `npm test || true`.\n"),
    write('package.json', JSON.stringify({ scripts: { test: 'node scripts/run.mjs', dev: 'another' } })),
    write('scripts/deploy.sh', 'set +e\n'),
    // More tests, a skip that moved, and a test file that did.
    write('test/three.test.js', tests(['x'])),
    write('test/two.test.js', `test.skip('i', () => {});\n${tests(['g', 'h'])}`),
    (at) => renameSync(at('test/one.test.js'), at('test/sub/one.test.js')),
  ];
  expect(
    await place.examine((at) => {
      for (const change of changes) change(at);
    }),
  ).toEqual(nothing);
});

test.each<[string, (at: At) => void, string[]]>([
  [
    'the config',
    write('.pawl/config.yaml', 'checks: "true"\n'),
    ['check-edited .pawl/config.yaml: it names the checks'],
  ],
  [
    'the script behind the check',
    write('scripts/run.mjs', 'process.exit(0);\n'),
    ['check-edited scripts/run.mjs: a check runs it'],
  ],
  [
    'its right to be executed',
    (at) => chmodSync(at('scripts/run.mjs'), 0o755),
    ['check-edited scripts/run.mjs: a check runs it'],
  ],
  [
    'the script’s name',
    write('package.json', JSON.stringify({ scripts: { test: 'true', dev: 'vite' } })),
    ['check-edited package.json: the script test changed'],
  ],
  [
    'CI',
    write('.github/workflows/ci.yml', 'run: npm test || true\n'),
    [
      'check-edited .github/workflows/ci.yml: CI uses it',
      'skip-added .github/workflows/ci.yml:1: run: npm test || true',
    ],
  ],
  [
    'CI, renamed away',
    (at) => renameSync(at('.github/workflows/ci.yml'), at('old.yml')),
    ['check-edited .github/workflows/ci.yml: CI uses it'],
  ],
  [
    'a new skip',
    write('test/two.test.js', `${tests(['g'])}test.skip('h', () => {});\ntest.skip('i', () => {});\n`),
    ["skip-added test/two.test.js:2: test.skip('h', () => {});"],
  ],
  [
    'a test that stands alone',
    write('test/new.test.js', "test.only('x', () => {});\n"),
    ["skip-added test/new.test.js:1: test.only('x', () => {});"],
  ],
  [
    'a test file without tests',
    write('test/one.test.js', tests(['a', 'b', 'c', 'd', 'e', 'f']).replaceAll(/^/gm, '// ')),
    ['test-emptied test/one.test.js: no test is left in it'],
  ],
  [
    'a test file that became a link',
    (at) => {
      rmSync(at('test/one.test.js'));
      symlinkSync('../src/index.ts', at('test/one.test.js'));
    },
    ['test-replaced test/one.test.js: tests became a link'],
  ],
  [
    'a directory of tests that became a link',
    (at) => {
      rmSync(at('test'), { recursive: true });
      symlinkSync('src', at('test'));
    },
    ['test-replaced test: tests became a link'],
  ],
  [
    'a test file that is too large to look at',
    write('test/one.test.js', `${tests(['a', 'b', 'c', 'd', 'e', 'f'])}// ${'x'.repeat(600_000)}\n`),
    ['check-edited test/one.test.js: a test file that is too large to look at'],
  ],
  [
    'a test file that is no text',
    write('test/one.test.js', Buffer.from(`\0${tests(['a'])}`)),
    ['check-edited test/one.test.js: it is not text, so its tests cannot be examined'],
  ],
  [
    'a skip in a file that git is told not to compare',
    (at) => {
      write('.gitattributes', '* -diff\n')(at);
      write('test/new.test.js', "test.skip('x', () => {});\n")(at);
    },
    ["skip-added test/new.test.js:1: test.skip('x', () => {});"],
  ],
  [
    'a name that speaks to terminals',
    write('test/\u001b[2J\n.test.js', "test.skip('\u202ex', () => {});\n"),
    ["skip-added test/?[2J?.test.js:1: test.skip('?x', () => {});"],
  ],
])('%s is found', async (_, change, found) => {
  expect((await place.examine(change)).found).toEqual(found);
});

test('files that a project guards are found', async () => {
  const { found } = await place.examine(write('ci/run.sh', 'exit 0\n'), ['ci/**']);
  expect(found).toEqual(['check-edited ci/run.sh: guard_paths names it', 'skip-added ci/run.sh:1: exit 0']);
  expect(await place.examine(write('ci/run.sh', 'exit 0\n'))).toEqual(nothing);
});

test.each<[string, (at: At) => void]>([
  ['half of the tests', write('test/one.test.js', tests(['a', 'b', 'c']))],
  ['a test file', (at) => rmSync(at('test/two.test.js'))],
  ['a test file, by its name', (at) => renameSync(at('test/one.test.js'), at('one.txt'))],
  [
    'tests, by comments',
    write('test/one.test.js', tests(['a', 'b', 'c', 'd', 'e', 'f']).replaceAll(/^(?=.*[b-d]')/gm, '// ')),
  ],
])('%s removed: the change is checked alone', async (_, change) => {
  expect(await place.examine(change)).toEqual({ found: [], removesTests: true });
});

test('a change too large to examine needs a person', async () => {
  const { found, removesTests } = await place.examine(write('data.txt', 'x'.repeat(99).concat('\n').repeat(25_000)));
  expect(found).toEqual(['check-edited the change is too large to look at']);
  expect(removesTests).toBe(true);
});

test('findings are limited to a few', async () => {
  const skips = Array.from({ length: 50 }, (_, at) => `test.skip('${at}', () => {});\n`).join('');
  const { found } = await place.examine(write('test/many.test.js', skips));
  expect(found).toHaveLength(20);
  expect(found.at(-1)).toBe('skip-added and 31 more of that kind');
});
