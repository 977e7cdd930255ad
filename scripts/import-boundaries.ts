import { isBuiltin } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import type { Import, SourceFile } from './find-imports.ts';
import { findImports } from './find-imports.ts';
import { judgeRooms } from './rooms.ts';

/** The parts of a package.json that matter for imports. `path` is its folder, '' for the root. */
export type Manifest = { path: string; modules: string[] };

export type Violation = { file: string; line: number; imports: string; why: string };

/**
 * Which of our packages each one may import. Arrows point one way only:
 * schema → protocol / core / wire → store / git / host / sandbox / providers / forge → roster / mcp → daemon; the command line reaches the
 * daemon by the protocol, and so does the page in the browser; both show what `present` makes of the answers.
 */
const allowed: Record<string, string[]> = {
  schema: [],
  core: ['schema'],
  protocol: ['schema'],
  wire: ['schema'],
  store: ['schema'],
  git: ['schema', 'core'],
  host: ['schema', 'core'],
  sandbox: ['schema'],
  providers: ['schema', 'core', 'wire'],
  forge: ['schema', 'core'],
  present: ['schema', 'protocol'],
  testing: ['schema', 'protocol', 'wire'],
  bridge: ['schema', 'wire'],
  engine: ['schema', 'wire'],
  proxy: ['schema', 'store'],
  roster: ['schema', 'core', 'host', 'providers'],
  mcp: ['schema', 'protocol'],
  daemon: [
    'schema',
    'core',
    'protocol',
    'store',
    'git',
    'host',
    'sandbox',
    'providers',
    'forge',
    'roster',
    'mcp',
    'wire',
  ],
  cli: ['schema', 'protocol', 'present', 'roster', 'mcp'],
  web: ['schema', 'protocol', 'present'],
};

/** Pure packages: no Node module, so that no effect can slip in. */
const pure = ['core', 'wire'];

/** Sources that browsers load, by the start of their paths, except those in `needsNode`. */
const forBrowsers = ['packages/schema/src/', 'packages/protocol/src/', 'packages/present/src/', 'packages/web/src/'];
const needsNode = ['packages/schema/src/crash-point', 'packages/protocol/src/node/'];

function runsInBrowsers(path: string): boolean {
  return startsWithAny(path, forBrowsers) && !startsWithAny(path, needsNode);
}

const startsWithAny = (path: string, starts: string[]) => starts.some((start) => path.startsWith(start));

/** The only file above a package that its sources may read: it has the version. */
const rootManifest = 'package.json';

/** All violations of the import rule, by file and line. */
export function importViolations(files: SourceFile[], manifests: Manifest[]): Violation[] {
  const imports = files.flatMap(findImports);
  const wrong = imports.flatMap((each) => {
    const why = each.home.packageName === null ? judgeLoose(each, manifests) : judge(each, manifests);
    return why === null ? [] : [{ file: each.file, line: each.line, imports: each.module, why }];
  });
  return [...wrong, ...cycles(imports)];
}

/** Why a package's import is wrong, or null. Its tests may also use `testing` and the root's tools. */
function judge({ file, module, home: { packageName, part } }: Import, manifests: Manifest[]): string | null {
  const name = packageName ?? '';
  const isSource = part === 'src';
  if (runsInBrowsers(file) && startsWithAny(sourceOf(file, module), needsNode))
    return 'browsers load this file, so it imports nothing that needs Node';
  if (module.startsWith('.')) return judgeRelative(file, module, `packages/${name}`);
  if (isBuiltin(module)) {
    if (!module.startsWith('node:')) return 'a module of Node is imported with its node: prefix';
    if (isSource && pure.includes(name)) return `${name} decides and never acts, so it uses no module of Node`;
    return runsInBrowsers(file) ? 'browsers load this file, so it uses no module of Node' : null;
  }
  const ours = packageOf(module);
  if (ours === null) return judgeThirdParty(module, manifests, [`packages/${name}`, ...(isSource ? [] : [''])]);
  const rule = allowed[name];
  if (rule === undefined) return `the package ${name} has no rule yet; add one to scripts/import-boundaries.ts`;
  if (!(ours in allowed)) return 'there is no such package';
  if (!isSource && (ours === name || ours === 'testing')) return null;
  if (ours === name) return 'a package imports its own files by a relative path';
  if (rule.includes(ours))
    return judgeThirdParty(`@pawl/${ours}`, manifests, [`packages/${name}`, ...(isSource ? [] : [''])]);
  return `${name} may import ${rule.length === 0 ? 'none of our packages' : `only ${rule.join(', ')}`}`;
}

/** Why an import of the root's demo, bench, scripts or tests is wrong: they may use every package, by its name. */
function judgeLoose({ file, module }: Import, manifests: Manifest[]): string | null {
  if (module.startsWith('.')) {
    const target = posix.normalize(posix.join(posix.dirname(file), module));
    return target.startsWith('packages/') ? 'a package is imported by its name, not by a path' : null;
  }
  if (isBuiltin(module))
    return module.startsWith('node:') ? null : 'a module of Node is imported with its node: prefix';
  const ours = packageOf(module);
  if (ours !== null) return ours in allowed ? null : 'there is no such package';
  return judgeThirdParty(module, manifests, ['']);
}

function judgeRelative(file: string, module: string, folder: string): string | null {
  const target = posix.normalize(posix.join(posix.dirname(file), module));
  if (target.startsWith(`${folder}/`)) return judgeRooms(file, target);
  if (target === rootManifest) return null;
  return target.startsWith('packages/')
    ? 'another package is imported by its name, not by a path'
    : 'a package imports nothing outside its folder by a path';
}

function judgeThirdParty(module: string, manifests: Manifest[], folders: string[]): string | null {
  const name = module.split('/', module.startsWith('@') ? 2 : 1).join('/');
  const known = manifests.some((manifest) => folders.includes(manifest.path) && manifest.modules.includes(name));
  return known ? null : `${name} is not named in ${posix.join(folders[0] ?? '', 'package.json')}`;
}

/** The path of one of our own files that is imported, without a check that it exists. */
function sourceOf(file: string, module: string): string {
  if (module.startsWith('.')) return posix.normalize(posix.join(posix.dirname(file), module));
  const [name = '', ...rest] = module.replace('@pawl/', '').split('/');
  return ['packages', name, 'src', ...rest].join('/');
}

/** Our package's name in `@pawl/name/file`, or null for a foreign module. */
function packageOf(module: string): string | null {
  const [scope, name] = module.split('/');
  return scope === '@pawl' ? (name ?? '') : null;
}

/** One violation for each package that imports itself through others. */
function cycles(imports: Import[]): Violation[] {
  const edges = new Map<string, Map<string, Import>>();
  for (const each of imports) {
    const { packageName, part } = each.home;
    const target = packageOf(each.module);
    if (packageName === null || part !== 'src' || target === null || target === packageName) continue;
    const known = edges.get(packageName) ?? new Map<string, Import>();
    if (!known.has(target)) known.set(target, each);
    edges.set(packageName, known);
  }
  return [...edges.keys()].flatMap((start) => {
    const way = wayBack(start, start, edges, new Set());
    const first = way === null ? undefined : edges.get(start)?.get(way[0] ?? '');
    if (way === null || first === undefined) return [];
    return [
      { file: first.file, line: first.line, imports: first.module, why: `a cycle: ${[start, ...way].join(' → ')}` },
    ];
  });
}

/** The path of packages from `from` back to `goal`, or null. */
function wayBack(
  from: string,
  goal: string,
  edges: Map<string, Map<string, Import>>,
  seen: Set<string>,
): string[] | null {
  for (const next of edges.get(from)?.keys() ?? []) {
    if (next === goal) return [next];
    if (seen.has(next)) continue;
    seen.add(next);
    const rest = wayBack(next, goal, edges, seen);
    if (rest !== null) return [next, ...rest];
  }
  return null;
}

/** Reads the sources and manifests of a workspace: every package's src and test, and the root's own folders. */
export function readWorkspace(root: string): { files: SourceFile[]; manifests: Manifest[] } {
  const packages = readdirSync(join(root, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `packages/${entry.name}`);
  const folders = [...packages.flatMap((path) => [`${path}/src`, `${path}/test`]), 'bench', 'demo', 'scripts', 'test'];
  return {
    files: folders.flatMap((folder) => filesBelow(root, folder)),
    manifests: ['', ...packages].map((path) => readManifest(root, path)),
  };
}

function filesBelow(root: string, folder: string): SourceFile[] {
  let names: string[];
  try {
    names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
  return names
    .filter((name) => /\.tsx?$/.test(name))
    .sort()
    .map((name) => join(root, folder, name))
    .map((path) => ({ path: relative(root, path).split(sep).join('/'), text: readFileSync(path, 'utf8') }));
}

function readManifest(root: string, path: string): Manifest {
  const text = readFileSync(join(root, path, 'package.json'), 'utf8');
  const { dependencies = {}, devDependencies = {} } = JSON.parse(text) as Record<string, Record<string, string>>;
  return { path, modules: [...Object.keys(dependencies), ...Object.keys(devDependencies)] };
}

/** The root of this workspace. */
export const workspaceRoot = dirname(import.meta.dirname);
