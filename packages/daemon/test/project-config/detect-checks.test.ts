import { parseConfigFile } from '@pawl/daemon/project-config/config-file';
import { detectChecks } from '@pawl/daemon/project-config/detect-checks';
import { configText } from '@pawl/daemon/project-config/write-config';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const pkg = (content: object) => JSON.stringify(content);
const tested = { scripts: { test: 'vitest run' } };
const needy = { ...tested, devDependencies: { vitest: '^4.0.0' } };
const placeholder = 'echo "Error: no test specified" && exit 1';

test.each<[string, Record<string, string>, string[]]>([
  ['npm', { 'package.json': pkg(needy), 'package-lock.json': '{}' }, ['npm ci && npm test']],
  ['npm without anything to install', { 'package.json': pkg(tested), 'package-lock.json': '{}' }, ['npm test']],
  ['npm without a lockfile', { 'package.json': pkg(needy) }, ['npm install && npm test']],
  ['npm’s placeholder', { 'package.json': pkg({ scripts: { test: placeholder } }) }, []],
  [
    'a script called check',
    { 'package.json': pkg({ scripts: { test: placeholder, check: 'tsc' } }) },
    ['npm run check'],
  ],
  ['pnpm', { 'package.json': pkg(needy), 'pnpm-lock.yaml': '' }, ['pnpm install --frozen-lockfile && pnpm test']],
  ['yarn', { 'package.json': pkg(needy), 'yarn.lock': '' }, ['yarn install --frozen-lockfile && yarn test']],
  [
    'a newer yarn',
    { 'package.json': pkg({ ...needy, packageManager: 'yarn@4.1.0' }), 'yarn.lock': '' },
    ['yarn install --immutable && yarn test'],
  ],
  ['bun', { 'package.json': pkg(needy), 'bun.lock': '' }, ['bun install --frozen-lockfile && bun run test']],
  [
    'the package manager that is named',
    { 'package.json': pkg({ ...needy, packageManager: 'pnpm@9.0.0+sha512.x' }), 'package-lock.json': '{}' },
    ['pnpm install && pnpm test'],
  ],
  ['a package.json that is none', { 'package.json': '{' }, []],
  ['make test', { Makefile: '.PHONY: test\ntest: build\n\techo\n' }, ['make test']],
  ['make check', { Makefile: 'testing:\n\techo\ncheck:\n\techo\n' }, ['make check']],
  ['a Makefile without tests', { Makefile: 'test = 1\ntest := 2\nall:\n\techo\n' }, []],
  ['cargo', { 'Cargo.toml': '[package]\nname = "a"\n' }, ['cargo test']],
  ['a cargo workspace', { 'Cargo.toml': '[workspace]\nmembers = ["a"]\n' }, ['cargo test --workspace']],
  ['go', { 'go.mod': 'module a\n' }, ['go test ./...']],
  ['pytest, by pyproject.toml', { 'pyproject.toml': '[tool.pytest.ini_options]\n' }, ['python3 -m pytest']],
  ['pytest, by pytest.ini', { 'pytest.ini': '[pytest]\n' }, ['python3 -m pytest']],
  ['pytest, by its tests', { 'tests/test_a.py': '' }, ['python3 -m pytest']],
  ['pytest with uv', { 'pyproject.toml': 'dev = ["pytest"]\n', 'uv.lock': '' }, ['uv run pytest']],
  ['python without tests', { 'pyproject.toml': '[project]\nname = "a"\n', 'a.py': '' }, []],
  ['deno', { 'deno.json': '{}' }, ['deno test']],
  ['a deno task', { 'deno.json': '{"tasks": {"test": "deno test -A"}}' }, ['deno task test']],
  ['composer', { 'composer.json': pkg({ scripts: { test: 'phpunit' } }) }, ['composer install && composer test']],
  ['phpunit', { 'composer.json': '{}', 'phpunit.xml': '' }, ['composer install && vendor/bin/phpunit']],
  ['mix', { 'mix.exs': '' }, ['mix deps.get && mix test']],
  ['gradle', { gradlew: '', 'pom.xml': '' }, ['./gradlew test']],
  ['maven', { 'pom.xml': '', mvnw: '' }, ['./mvnw -B test']],
  ['rspec', { Gemfile: '', 'spec/a_spec.rb': '' }, ['bundle install && bundle exec rspec']],
  ['dotnet', { 'a.sln': '' }, ['dotnet test']],
  [
    'several',
    { 'package.json': pkg(tested), 'go.mod': '', 'Cargo.toml': '' },
    ['npm test', 'cargo test', 'go test ./...'],
  ],
  ['a Makefile that does it itself', { Makefile: 'test:\n\tgo test ./...\n', 'go.mod': '' }, ['make test']],
  ['a Makefile that only calls npm', { Makefile: 'test:\n\tnpm test\n', 'package.json': pkg(tested) }, ['npm test']],
  ['a Makefile with tests of its own', { Makefile: 'test:\n\t./x\n', 'go.mod': '' }, ['make test', 'go test ./...']],
  ['nothing', { 'README.md': '# npm test\n' }, []],
])('%s', async (_, files, expected) => {
  await using directory = await temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory.path, path)), { recursive: true });
    writeFileSync(join(directory.path, path), text);
  }
  const found = await detectChecks(directory.path);
  expect(found.map(({ run }) => run)).toEqual(expected);
  // The written file contains exactly that.
  const { checks } = await parseConfigFile(configText(found), 'config.yaml');
  expect(checks.map(({ run }) => run)).toEqual(expected);
});

test('a command that fetches packages has the network in the written file', async () => {
  const found = ['npm ci && npm test', 'npm test', 'cargo test', 'make check'].map((run) => ({ run, from: 'x' }));
  const { checks } = await parseConfigFile(configText(found), 'config.yaml');
  expect(checks.map(({ network }) => network)).toEqual([true, undefined, true, undefined]);
});

test('a file that is not plain is ignored, and never blocks', async () => {
  await using directory = await temporaryDirectory();
  const at = (name: string) => join(directory.path, name);
  writeFileSync(at('elsewhere'), pkg(tested));
  symlinkSync('elsewhere', at('package.json'));
  execFileSync('mkfifo', [at('Makefile')]);
  mkdirSync(at('pyproject.toml'));
  writeFileSync(at('tox.ini'), 'pytest'.padEnd(2 * 1024 * 1024));
  symlinkSync('/', at('tests'));
  expect(await detectChecks(directory.path)).toEqual([]);
});
