import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Manifest } from '../scripts/import-boundaries.ts';
import { importViolations, readWorkspace, workspaceRoot } from '../scripts/import-boundaries.ts';

const manifests: Manifest[] = [
  { path: '', modules: ['vitest', 'fast-check'] },
  { path: 'packages/schema', modules: ['zod'] },
  { path: 'packages/core', modules: ['@pawl/schema'] },
  { path: 'packages/protocol', modules: ['@pawl/schema', 'zod', '@hono/zod-openapi'] },
  { path: 'packages/store', modules: ['@pawl/schema', 'kysely'] },
  { path: 'packages/git', modules: ['@pawl/schema', '@pawl/core', 'execa'] },
  { path: 'packages/daemon', modules: ['@pawl/store', '@pawl/schema'] },
  { path: 'packages/cli', modules: ['@pawl/schema', '@pawl/protocol', 'commander'] },
];

/** The problems of one file, as `line: reason`. */
function complaints(path: string, ...lines: string[]): string[] {
  return importViolations([{ path, text: lines.join('\n') }], manifests).map(({ line, why }) => `${line}: ${why}`);
}

describe('the real tree', () => {
  const { files, manifests: real } = readWorkspace(workspaceRoot);

  test('it has no violation', () => {
    expect(importViolations(files, real)).toEqual([]);
  });

  test('all of it is read', () => {
    const paths = files.map((file) => file.path);
    for (const { path } of real.slice(1)) expect(paths.some((each) => each.startsWith(`${path}/src/`))).toBe(true);
    expect(paths).toContain('packages/cli/src/command/agents/work.ts');
    expect(paths).toContain('test/import-boundaries.test.ts');
    expect(paths.some((path) => path.includes('node_modules'))).toBe(false);
  });

  test.each([
    ['packages/core/src/agents/status.ts', "import { readFileSync } from 'node:fs';"],
    ['packages/cli/src/main.ts', "import { openStore } from '@pawl/store/store';"],
    ['packages/git/src/command/command.ts', "import { Kysely } from 'kysely';"],
  ])('one more import in %s would be found', (path, line) => {
    const planted = files.map((file) => (file.path === path ? { path, text: `${line}\n${file.text}` } : file));
    expect(importViolations(planted, real)).toContainEqual(expect.objectContaining({ file: path, line: 1 }));
  });
});

describe('packages', () => {
  test.each([
    ['schema imports nothing of ours', 'schema', "import { x } from '@pawl/core/x';", 'none of our packages'],
    ['core imports schema only', 'core', "import { x } from '@pawl/protocol/x';", 'only schema'],
    ['protocol does not reach core', 'protocol', "import { x } from '@pawl/core/x';", 'only schema'],
    ['store does not reach core', 'store', "import { x } from '@pawl/core/x';", 'only schema'],
    ['git does not reach the store', 'git', "import { x } from '@pawl/store/x';", 'only schema, core'],
    ['the daemon does not reach the command line', 'daemon', "import { x } from '@pawl/cli/x';", 'only schema, core'],
    ['the daemon does not reach testing', 'daemon', "import { x } from '@pawl/testing/x';", 'only schema, core'],
    [
      'the command line does not reach the daemon',
      'cli',
      "import { x } from '@pawl/daemon/x';",
      'only schema, protocol',
    ],
    ['types count as well', 'cli', "import type { X } from '@pawl/store/x';", 'only schema, protocol'],
    ['so do exports', 'cli', "export { x } from '@pawl/store/x';", 'only schema, protocol'],
    ['so do whole exports', 'cli', "export * from '@pawl/store/x';", 'only schema, protocol'],
    ['so do imports for their effect', 'cli', "import '@pawl/store/x';", 'only schema, protocol'],
    ['so do late imports', 'cli', "  const x = await import('@pawl/store/x');", 'only schema, protocol'],
    ['so do types in place', 'cli', "type X = import('@pawl/store/x').X;", 'only schema, protocol'],
    ['a package that does not exist', 'cli', "import { x } from '@pawl/core2/x';", 'no such package'],
    ['a package without a rule', 'novel', "import { x } from '@pawl/schema/x';", 'has no rule yet'],
    ['itself by its name', 'core', "import { x } from '@pawl/core/x';", 'by a relative path'],
    ['core uses no module of Node', 'core', "import { join } from 'node:path';", 'never acts'],
    ['not by a call either', 'core', "const fs = process.getBuiltinModule('node:fs');", 'never acts'],
    ['protocol uses no module of Node', 'protocol', "import { request } from 'node:http';", 'browsers load this file'],
    [
      'nor does it reach its own part for Node',
      'protocol',
      "import { x } from './node/x.ts';",
      'nothing that needs Node',
    ],
    [
      'nor that of another package',
      'protocol',
      "import { x } from '@pawl/schema/crash-point';",
      'nothing that needs Node',
    ],
    ['present uses no module of Node', 'present', "import { join } from 'node:path';", 'browsers load this file'],
    [
      'nor protocol’s part for Node',
      'present',
      "import { x } from '@pawl/protocol/node/home';",
      'nothing that needs Node',
    ],
    ['present does not reach core', 'present', "import { x } from '@pawl/core/x';", 'only schema, protocol'],
    ['schema uses no module of Node', 'schema', "import { join } from 'node:path';", 'browsers load this file'],
    ['Node’s modules have their prefix', 'git', "import { join } from 'path';", 'node: prefix'],
    ['another package by a path', 'cli', "import { x } from '../../daemon/src/x.ts';", 'by its name'],
    ['a file outside by a path', 'cli', "import { x } from '../../../scripts/x.ts';", 'outside its folder'],
    ['a module it does not name', 'git', "import { z } from 'zod';", 'zod is not named in packages/git/package.json'],
    ['a module that only the root names', 'git', "import * as fc from 'fast-check';", 'fast-check is not named'],
    ['a part of a module in a scope', 'git', "import x from '@hono/zod-openapi/y';", '@hono/zod-openapi is not named'],
    [
      'a package of ours that it may use but does not name',
      'daemon',
      "import { x } from '@pawl/host/x';",
      '@pawl/host is not named',
    ],
  ])('%s', (_name, home, line, why) => {
    const found = complaints(`packages/${home}/src/file.ts`, '', line);
    expect(found).toEqual([expect.stringContaining(`2: `)]);
    expect(found[0]).toContain(why);
  });

  test.each([
    ['core', "import { x } from '@pawl/schema/x';"],
    ['git', "import { x } from '@pawl/core/x';"],
    ['daemon', "import { x } from '@pawl/store/x';"],
    ['git', "import { join } from 'node:path';"],
    ['protocol', "import x from '@hono/zod-openapi';"],
    ['protocol', "import manifest from '../../../package.json' with { type: 'json' };"],
    ['cli', "import { x } from './command/x.ts';"],
    ['cli', "// import { x } from '@pawl/store/x';"],
    ['cli', " * import('@pawl/store/x')"],
    ['cli', '  say(\'import("@pawl/store/x")\');'],
    ['cli', "export const from = '@pawl/store/x';"],
  ])('%s may: %s', (home, line) => {
    expect(complaints(`packages/${home}/src/file.ts`, line)).toEqual([]);
  });

  test('the part of protocol for Node uses its modules, and the rest of protocol', () => {
    const lines = ["import { request } from 'node:http';", "import { x } from '../client.ts';"];
    expect(complaints('packages/protocol/src/node/file.ts', ...lines)).toEqual([]);
  });

  test('an import over several lines is found at its first', () => {
    const lines = [
      'const a = 1;',
      'import {',
      '  x,',
      '  type Y,',
      "} from '@pawl/store/x';",
      "import { join } from 'path';",
    ];
    expect(complaints('packages/cli/src/file.ts', ...lines)).toEqual([
      '2: cli may import only schema, protocol, present, roster, mcp',
      '6: a module of Node is imported with its node: prefix',
    ]);
  });
});

describe('tests and the root’s own files', () => {
  test.each([
    ['packages/core/test/x.test.ts', "import { join } from 'node:path';"],
    ['packages/core/test/x.test.ts', "import { test } from 'vitest';"],
    ['packages/core/test/x.test.ts', "import { x } from '@pawl/testing/x';"],
    ['packages/core/test/x.test.ts', "import { x } from '../src/x.ts';"],
    ['packages/core/test/x.test.ts', "import { x } from '@pawl/core/x';"],
    ['demo/demo.ts', "import { x } from '@pawl/cli/x';"],
    ['test/x.test.ts', "import { x } from '../scripts/x.ts';"],
  ])('%s may: %s', (path, line) => {
    expect(complaints(path, line)).toEqual([]);
  });

  test.each([
    ['packages/core/test/x.test.ts', "import { x } from '@pawl/store/x';", 'core may import only schema'],
    ['packages/core/test/x.test.ts', "import { x } from '../../store/src/x.ts';", 'by its name'],
    ['packages/core/test/x.test.ts', "import { z } from 'zod';", 'zod is not named'],
    ['demo/demo.ts', "import { x } from '../packages/cli/src/x.ts';", 'by its name'],
    ['bench/bench.ts', "import { z } from 'zod';", 'zod is not named'],
    ['test/x.test.ts', "import { join } from 'path';", 'node: prefix'],
    ['scripts/x.ts', "import { x } from '@pawl/nothing/x';", 'no such package'],
  ])('%s may not: %s', (path, line, why) => {
    expect(complaints(path, line)).toEqual([expect.stringContaining(why)]);
  });
});

test('a cycle between packages is shown with its path', () => {
  const files = [
    { path: 'packages/schema/src/a.ts', text: "import { x } from '@pawl/store/x';" },
    { path: 'packages/store/src/a.ts', text: "import { x } from '@pawl/core/x';" },
    { path: 'packages/core/src/a.ts', text: "import { x } from '@pawl/schema/x';" },
    { path: 'packages/store/test/a.ts', text: "import { x } from '@pawl/testing/x';" },
  ];
  const ways = importViolations(files, manifests).flatMap(({ why }) => /^a cycle: (.*)$/.exec(why)?.[1] ?? []);
  expect(ways).toEqual([
    'schema → store → core → schema',
    'store → core → schema → store',
    'core → schema → store → core',
  ]);
});

test('the command prints file, line and reason, and fails', async () => {
  await using root = await temporaryDirectory('pawl-boundaries');
  const tree = {
    'package.json': '{}',
    'packages/core/package.json': '{}',
    'packages/core/src/deep/a.ts': "\nimport { join } from 'node:path';\n",
  };
  const check = () =>
    spawnSync(process.execPath, [join(workspaceRoot, 'scripts', 'check-boundaries.ts'), root.path], {
      encoding: 'utf8',
    });
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(root.path, path)), { recursive: true });
    writeFileSync(join(root.path, path), text);
  }
  expect(check()).toMatchObject({
    status: 1,
    stdout:
      'packages/core/src/deep/a.ts:2 imports node:path: core decides and never acts, so it uses no module of Node\n',
  });
  writeFileSync(join(root.path, 'packages/core/src/deep/a.ts'), '');
  expect(check()).toMatchObject({ status: 0, stdout: '' });
});
