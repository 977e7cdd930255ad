import { describeGate, gateReason } from '@pawl/core/guard/gate-files';
import { followGate } from '@pawl/core/guard/gate-reach';
import { expect, test } from 'vitest';

type Files = Record<string, string>;

/** The gate of one command in a repository with these files. */
async function gateOf(run: string, files: Files, guardPaths: string[] = [], links: string[] = []) {
  const gate = describeGate(
    [{ name: 'check', run, timeoutMs: 1, junit: [] }],
    guardPaths,
    files['package.json'] ?? null,
  );
  const read = (paths: readonly string[]) =>
    Promise.resolve(
      new Map(paths.flatMap((path): [string, string][] => (path in files ? [[path, files[path] ?? '']] : []))),
    );
  const names = new Map(Object.keys(files).map((path) => [path, path]));
  return followGate(gate, [run], { files: names, links: new Set(links), read });
}

async function filesOf(run: string, files: Files, guardPaths: string[] = [], links: string[] = []): Promise<string[]> {
  const gate = await gateOf(run, files, guardPaths, links);
  return Object.keys(files).filter((path) => gateReason(path, gate) !== null);
}

const script = (content: Record<string, unknown>) => JSON.stringify(content);

test.each<[string, string, Files, string[]]>([
  [
    'imports, two steps away',
    'node scripts/run.mjs',
    {
      'scripts/run.mjs': "import { run } from './lib/runner.mjs';\nrun();\n",
      'scripts/lib/runner.mjs': "export { run } from '../../tools/core.mjs';\n",
      'tools/core.mjs': 'export const run = () => {};\n',
      'tools/other.mjs': 'export const other = 1;\n',
    },
    ['scripts/run.mjs', 'scripts/lib/runner.mjs', 'tools/core.mjs'],
  ],
  [
    'require without an extension, and a directory',
    'node tools/run',
    {
      'tools/run.js': "const a = require('./a');\nconst b = require('./b');\n",
      'tools/a.js': '',
      'tools/b/index.js': '',
    },
    ['tools/run.js', 'tools/a.js', 'tools/b/index.js'],
  ],
  [
    'TypeScript that imports the name of its output',
    'tsx scripts/run.ts',
    { 'scripts/run.ts': "import { a } from './a.js';\n", 'scripts/a.ts': '' },
    ['scripts/run.ts', 'scripts/a.ts'],
  ],
  [
    'programs that a script starts',
    'node scripts/run.mjs',
    {
      'scripts/run.mjs':
        "execFileSync('node', [join(import.meta.dirname, 'inner.mjs')]);\nexecSync('sh ci/all.sh --fast');\n",
      'scripts/inner.mjs': '',
      'ci/all.sh': 'npm run lint\n',
      'package.json': script({ scripts: { lint: 'node ci/lint.js', deploy: 'node ci/deploy.js' } }),
      'ci/lint.js': '',
      'ci/deploy.js': '',
    },
    ['scripts/run.mjs', 'scripts/inner.mjs', 'ci/all.sh', 'ci/lint.js'],
  ],
  [
    'shell: source, dot, a directory of its own',
    './ci/check.sh',
    {
      'ci/check.sh': '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\nsource ${ROOT}/ci/more.sh\n"$here"/unit\n# sh ci/old.sh\n',
      'ci/lib.sh': 'run() { node tools/run.js; }\n',
      'ci/more.sh': '',
      'ci/unit': '#!/usr/bin/env bash\n',
      'ci/old.sh': '',
      'tools/run.js': '',
    },
    ['ci/check.sh', 'ci/lib.sh', 'ci/more.sh', 'ci/unit', 'tools/run.js'],
  ],
  [
    'Make: the targets that are needed, variables, includes',
    'make test',
    {
      Makefile:
        'NODE = node\ninclude build/common.make\ntest: unit\n\t@$(NODE) tools/all.js\nunit:\n\t$(MAKE) -C sub check\ndeploy:\n\tnode tools/deploy.js\n',
      'build/common.make': '',
      'sub/Makefile': 'check:\n\tpython3 check.py\n',
      'sub/check.py': '',
      'tools/all.js': '',
      'tools/deploy.js': '',
    },
    ['Makefile', 'build/common.make', 'sub/Makefile', 'sub/check.py', 'tools/all.js'],
  ],
  [
    'Python: modules beside the tool, and none of the code under test',
    'python3 tools/check.py',
    {
      'tools/check.py':
        'import json\nfrom helpers import run\nfrom tools.more import (a, b)\nfrom product import core\n',
      'tools/helpers.py': 'from . import deep\n',
      'tools/deep.py': '',
      'tools/more.py': '',
      'product/__init__.py': '',
      'product/core.py': '',
    },
    ['tools/check.py', 'tools/helpers.py', 'tools/deep.py', 'tools/more.py'],
  ],
  [
    'Python: a module as the program',
    'python -m tools.check --all',
    { 'tools/check/__main__.py': 'from .run import run\n', 'tools/check/run.py': '' },
    ['tools/check/__main__.py', 'tools/check/run.py'],
  ],
  [
    'Go, Ruby and PHP',
    'go run ./tools/check && ruby ci/run.rb && php ci/run.php',
    {
      'tools/check/main.go': 'package main\n',
      'tools/check/more.go': 'package main\n',
      'ci/run.rb': "require_relative 'lib'\nrequire_relative 'deep/more'\n",
      'ci/lib.rb': '',
      'ci/deep/more.rb': '',
      'ci/run.php': "require __DIR__ . '/lib.php';\n",
      'ci/lib.php': '',
    },
    [
      'tools/check/main.go',
      'tools/check/more.go',
      'ci/run.rb',
      'ci/lib.rb',
      'ci/deep/more.rb',
      'ci/run.php',
      'ci/lib.php',
    ],
  ],
  [
    'what a configuration of tests uses',
    'npx vitest run',
    {
      'vitest.config.ts':
        "import { base } from './config/base';\nexport default { test: { setupFiles: ['test/setup.ts'] } };\n",
      'config/base.ts': '',
      'test/setup.ts': "import './support/clock.ts';\n",
      'test/support/clock.ts': '',
      'test/support/other.ts': '',
    },
    ['vitest.config.ts', 'config/base.ts', 'test/setup.ts', 'test/support/clock.ts'],
  ],
  [
    'a configuration of the build that configures the tests',
    'npx vitest run',
    {
      'vite.config.ts': "import './config/base';\nexport default { test: { include: ['x'] } };\n",
      'web/vite.config.ts': 'export default { plugins: [react()] };\n',
      'config/base.ts': '',
    },
    ['vite.config.ts', 'config/base.ts'],
  ],
  [
    'JSON that is imported, and none that is read by its name',
    'node ci/run.mjs',
    {
      'ci/run.mjs':
        "import list from './list.json' with { type: 'json' };\nread('package-lock.json', '../package-lock.json', 'ci/data.json');\n",
      'ci/list.json': '[]',
      'ci/data.json': '[]',
      'package-lock.json': '{}',
    },
    ['ci/run.mjs', 'ci/list.json'],
  ],
  [
    'a runner among the tests, and none of the tests',
    'node test/run.js',
    {
      'test/run.js':
        "import { report } from './report.js';\nfor (const name of readdirSync('test')) await import(name);\nimport './a.test.js';\nimport './b.js';\n",
      'test/report.js': '',
      'test/a.test.js': "import { help } from './help.js';\ntest('a', () => {});\n",
      'test/b.js': 'assert.equal(1, 1);\n',
      'test/help.js': '',
    },
    ['test/run.js', 'test/report.js'],
  ],
  [
    'scripts of another package in the same repository',
    'npm test --workspaces',
    {
      'package.json': script({ workspaces: ['packages/*'] }),
      'packages/a/package.json': script({ scripts: { test: 'node scripts/run.js' } }),
      'packages/a/scripts/run.js': "import './more.js';\n",
      'packages/a/scripts/more.js': '',
      'packages/a/src/index.js': '',
    },
    ['packages/a/scripts/run.js', 'packages/a/scripts/more.js'],
  ],
])('%s', async (_, run, files, expected) => {
  expect(await filesOf(run, files)).toEqual(expected);
});

test.each<[string, string, Files]>([
  ['the source directory', 'import { add } from "../src/add.js";', { 'src/add.js': '' }],
  ['what package.json is used by', 'import { add } from "../index.js";', { 'index.js': '', 'package.json': '{}' }],
  [
    'the directory of what package.json is used by',
    'import { add } from "../lib/add.js";',
    { 'lib/add.js': '', 'lib/index.js': '', 'package.json': script({ exports: { '.': './lib/index.js' } }) },
  ],
  [
    'a test',
    'import "../test/a.test.js";',
    { 'test/a.test.js': "import '../tools/x.js';\nit('a', () => {});", 'tools/x.js': '' },
  ],
  ['a document, and data', 'const a = ["README.md", "data/x.csv"];', { 'README.md': '', 'data/x.csv': '' }],
  ['a comment', '// see "tools/x.js"', { 'tools/x.js': '' }],
  ['a package', 'import x from "tools";', { 'tools/index.js': '', 'tools.js': '' }],
])('%s does not join the gate when a runner imports it', async (_, line, files) => {
  const all = { 'scripts/run.mjs': `${line}\n`, ...files };
  expect(await filesOf('node scripts/run.mjs', all)).toEqual(['scripts/run.mjs']);
});

test('a project may exclude files that its checks reach, but not files that a command names', async () => {
  const files = { 'scripts/run.mjs': "import '../lib/a.js';\n", 'lib/a.js': '' };
  expect(await filesOf('node scripts/run.mjs', files)).toEqual(['scripts/run.mjs', 'lib/a.js']);
  expect(await filesOf('node scripts/run.mjs', files, ['!lib/**', '!scripts'])).toEqual(['scripts/run.mjs']);
});

test('a new file that would take precedence over one of the gate belongs to it', async () => {
  const gate = await gateOf('node tools/run.js && python3 ci/check.py', {
    'tools/run.js': "require('./a');\n",
    'tools/a/index.js': '',
    'ci/check.py': 'import json\n',
  });
  expect(gateReason('tools/a.js', gate)).toBe('a check would run it instead of the file that tools/a/index.js names');
  expect(gateReason('ci/json.py', gate)).not.toBeNull();
  expect(gateReason('ci/other.py', gate)).toBeNull();
});

test('a symlink is followed, and the reason names the link', async () => {
  const files = { 'scripts/run.mjs': '../ci/real.mjs', 'ci/real.mjs': "import './x.mjs';\n", 'ci/x.mjs': '' };
  const gate = await gateOf('node scripts/run.mjs', files, [], ['scripts/run.mjs']);
  expect(gateReason('ci/x.mjs', gate)).toBe('a check runs it through ci/real.mjs');
  expect(gateReason('ci/real.mjs', gate)).toBe('a check runs it through scripts/run.mjs');
});

test('circular references, and more files than the limit, terminate', async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, at) => [
      `s/${at}.js`,
      `import './${at + 1}.js';\nimport './${(at * 7) % 2_000}.js';\n`,
    ]),
  );
  const found = await filesOf('node s/0.js', chain);
  expect(found.length).toBeGreaterThan(10);
  expect(found.length).toBeLessThanOrEqual(400);
});

test.each(["'", '"a', '$(', '${', 'import ', 'from . import ', ': ', '\t', 'cd ', '$(a)', 'python -a ', 'go run -x '])(
  'a file full of %j is scanned quickly',
  async (piece) => {
    const text = piece.repeat(Math.ceil((256 * 1024) / piece.length));
    const lines = `${piece.repeat(40)}\n`.repeat(2_000);
    const began = process.cpuUsage();
    for (const each of [text, lines]) {
      await filesOf('node a.mjs && sh b.sh && python3 c.py && make', {
        'a.mjs': each,
        'b.sh': each,
        'c.py': each,
        Makefile: each,
      });
    }
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(4_000);
  },
);
