import { describeGate, gateReason, hasParts } from '@pawl/core/guard/gate-files';
import { changedPart } from '@pawl/core/guard/gate-parts';
import { usedScripts } from '@pawl/core/guard/package-scripts';
import { expect, test } from 'vitest';

const gateOf = (run: string, scripts: Record<string, string> = {}, guardPaths: string[] = []) =>
  describeGate([{ name: 'check', run, timeoutMs: 1, junit: [] }], guardPaths, JSON.stringify({ scripts }));

test.each([
  ['.pawl/config.yaml', 'true'],
  ['.github/workflows/ci.yml', 'true'],
  ['.gitlab-ci.yml', 'true'],
  ['packages/a/vitest.config.ts', 'npm test'],
  ['jest.config.json', 'npm test'],
  ['.mocharc.yml', 'npm test'],
  ['playwright.config.mts', 'npm test'],
  ['pytest.ini', 'pytest'],
  ['.cargo/config.toml', 'cargo test'],
  ['Makefile', 'make test'],
  ['build/rules.mk', 'make test'],
  ['justfile', 'just test'],
  ['.npmrc', 'npm test'],
  ['scripts/ci.sh', './scripts/ci.sh --all'],
  ['scripts/ci.sh', 'cd scripts && ./ci.sh'],
  ['tools/check.py', 'python3 tools/check.py'],
])('%s belongs to the gate of `%s`', (path, run) => {
  expect(gateReason(path, gateOf(run))).not.toBeNull();
});

test.each([
  ['src/index.ts', 'npm test'],
  ['Makefile', 'npm test'],
  ['.npmrc', 'cargo test'],
  ['docs/Makefile.md', 'make test'],
  ['test/a.test.js', 'node --test test/a.test.js'],
  ['package.json', 'node package.json'],
  ['config.yaml', 'npm test'],
  ['test', 'npm test'],
  ['vite.config.ts', 'npm test'],
])('%s does not belong to the gate of `%s`', (path, run) => {
  expect(gateReason(path, gateOf(run))).toBeNull();
});

test('the gate includes what package.json scripts call and what guard_paths name', () => {
  const gate = gateOf(
    'npm test',
    { test: 'npm run unit', unit: 'node scripts/unit.mjs', docs: 'node scripts/docs.mjs' },
    ['ci', '*.lock'],
  );
  expect(gateReason('scripts/unit.mjs', gate)).toBe('a check runs it');
  expect(gateReason('scripts/docs.mjs', gate)).toBeNull();
  expect(gateReason('ci/deep/x', gate)).toBe('guard_paths names it');
  expect(gateReason('a.lock', gate)).toBe('guard_paths names it');
});

test('the scripts a command uses: named, pre and post, called, and by wildcard', () => {
  const scripts = new Map(
    Object.entries({
      test: 'run-s test:* && npm run lint',
      pretest: 'npm run build',
      build: 'tsc',
      'test:unit': 'vitest run',
      lint: 'oxlint',
      prepare: 'husky',
      deploy: 'sh deploy.sh',
    }),
  );
  const used = usedScripts(scripts, new Set(['npm', 'test']));
  expect([...used].toSorted()).toEqual(['build', 'lint', 'prepare', 'pretest', 'test', 'test:unit']);
});

const pkg = (content: Record<string, unknown>) => JSON.stringify(content);
const scripts = { test: 'vitest run', dev: 'vite' };

test.each([
  ['a script that checks use', { scripts: { ...scripts, test: 'true' } }, 'the script test changed'],
  ['one before it', { scripts: { ...scripts, pretest: 'rm -r test' } }, 'the script pretest changed'],
  ['one that installs', { scripts: { ...scripts, postinstall: 'x' } }, 'the script postinstall changed'],
  ['a script that is gone', { scripts: { dev: 'vite' } }, 'the script test changed'],
  ['another script', { scripts: { ...scripts, dev: 'vite --open', docs: 'x' } }, null],
  ['the runner’s own key', { scripts, jest: { testPathIgnorePatterns: ['.'] } }, 'jest changed'],
  ['the package manager', { scripts, packageManager: 'npm@1.0.0' }, 'packageManager changed'],
  ['dependencies', { scripts, dependencies: { a: '1' } }, null],
])('package.json: %s', (_, after, words) => {
  const gate = gateOf('npm test', scripts);
  const before = { name: 'x', scripts };
  expect(changedPart('package.json', pkg(before), pkg({ name: 'x', ...after }), gate)).toBe(words);
  expect(changedPart('packages/a/package.json', pkg(before), pkg(after), gate)).toBe(words);
});

test('package.json: a new one is no edit; a missing or invalid one is', () => {
  const gate = gateOf('npm test', scripts);
  expect(changedPart('package.json', null, pkg({ scripts }), gate)).toBeNull();
  expect(changedPart('package.json', pkg({ scripts }), null, gate)).toBe('the script test changed');
  expect(changedPart('package.json', pkg({ scripts }), '{', gate)).toBe('it is not valid JSON');
  expect(changedPart('package.json', pkg({ scripts }), '['.repeat(100_000), gate)).toBe('it is not valid JSON');
  expect(changedPart('package.json', pkg({}), '{"scripts": {"__proto__": {"test": "x"}}}', gate)).toBeNull();
});

const pyproject =
  '[project]\nname = "x"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.ruff]\nline-length = 88\n';

test.each([
  ['pyproject.toml', pyproject, pyproject.replace('88', '100'), false],
  ['pyproject.toml', pyproject, `# more\n${pyproject}`, false],
  ['pyproject.toml', pyproject, pyproject.replace('-q', '-q --ignore=tests'), true],
  ['pyproject.toml', pyproject, `tool.pytest.ini_options.addopts = "-k x"\n${pyproject}`, true],
  ['pyproject.toml', '[tool]\n', '[tool]\npytest.ini_options.addopts = "-k x"\n', true],
  ['setup.cfg', '[metadata]\nname = x\n', '[metadata]\nname = y\n', false],
  ['setup.cfg', '[tool:pytest]\nx = 1\n', '', true],
  ['tox.ini', '[testenv]\ncommands = pytest\n', '[testenv]\ncommands = true\n', true],
  ['tox.ini', '[flake8]\na = 1\n', '[flake8]\na = 2\n', false],
  ['deno.json', '{"tasks": {"test": "deno test"}}', '{"tasks": {"test": "true"}}', true],
  ['deno.json', '{"imports": {}}', '{"imports": {"a": "b"}}', false],
])('%s, case %#: parts of it belong to the gate', (path, before, after, isChanged) => {
  expect(hasParts(path)).toBe(true);
  expect(changedPart(path, before, after, gateOf('deno task test')) !== null).toBe(isChanged);
});
