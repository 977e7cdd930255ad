import type { McpServer } from '@pawl/providers/command';
import type { Machine } from '@pawl/sandbox/bubblewrap';
import type { Mount } from '@pawl/schema/launch-spec';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import type { Platform } from './platform.ts';

/**
 * Toolchains, caches and git settings below a home, shown read-only. No directory is named in which git, uv or another
 * program also keeps passwords.
 */
const toolchains = [
  '.asdf',
  '.bun',
  '.cache/pip',
  '.cache/uv',
  '.cargo/bin',
  '.cargo/registry',
  '.config/git/attributes',
  '.config/git/config',
  '.config/git/ignore',
  '.deno',
  '.fnm',
  '.gitconfig',
  '.local/bin',
  '.local/lib',
  '.local/share/fnm',
  '.local/share/mise',
  '.local/share/pnpm',
  '.local/share/uv/python',
  '.local/share/uv/tools',
  '.npm',
  '.npm-global',
  '.nvm',
  '.pyenv',
  '.rbenv',
  '.rustup',
  '.volta',
  'go/bin',
  'go/pkg',
];

/** Variables that name files with the certificates of servers. */
const certificates = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'];

/**
 * The mounts that every sandbox needs: toolchains and programs that lie in hidden places, Pawl's own programs, and the
 * person's further directories; with an empty Pawl home.
 */
export function machineMounts(
  platform: Pick<Platform, 'home' | 'choices' | 'pawl'>,
  machine: Machine,
  { environment, programs }: { environment: Readonly<Record<string, string>>; programs: readonly string[] },
): Mount[] {
  const home = environment['HOME'] ?? '';
  const search = (environment['PATH'] ?? '').split(delimiter).filter((path) => isAbsolute(path));
  const shown = [
    ...(isAbsolute(home) ? toolchains.map((path) => join(home, path)) : []),
    ...search,
    ...['node', ...programs].flatMap((program) => programPlaces(program, search)),
    ...Object.values(platform.choices.mcpServers).flatMap((server) => serverPlaces(server, search)),
    dirname(platform.pawl),
    dirname(dirname(process.execPath)),
    resolverFile(),
    ...certificates.map((name) => environment[name] ?? ''),
  ];
  return [
    { at: platform.home.root, show: 'empty' },
    ...shown.filter((path) => isHidden(machine, platform.home.root, path)).flatMap((at) => shows(at, 'readable')),
    ...platform.choices.sandbox.readable.flatMap((at) => shows(at, 'readable')),
    ...platform.choices.sandbox.writable.flatMap((at) => shows(at, 'writable')),
  ];
}

/** Caches that their programs write to at each use, in a sandbox that shows the person's own read-only. */
export function cacheVariables(temporary: string): Record<string, string> {
  return { npm_config_cache: join(temporary, 'npm'), UV_CACHE_DIR: join(temporary, 'uv') };
}

/** A mount of an existing path at its own name. */
export function shows(at: string, show: 'readable' | 'writable'): Mount[] {
  return isAbsolute(at) && existsSync(at) ? [{ at, show, from: at }] : [];
}

/** The directories of a program and the files it loads: the one it is found in, and the one that it is linked to. */
function programPlaces(program: string, search: readonly string[]): string[] {
  const path = isAbsolute(program)
    ? program
    : search.map((each) => join(each, program)).find((each) => existsSync(each));
  if (path === undefined || !existsSync(path)) return [];
  const real = realpathSync(path);
  const modules = real.split(`${sep}node_modules${sep}`);
  const container = modules.length > 1 ? join(modules[0] ?? '', 'node_modules') : dirname(real);
  return [dirname(path), container];
}

/** The directories of an MCP server's program, and the files and directories that its arguments name. */
function serverPlaces(server: McpServer, search: readonly string[]): string[] {
  if (!('command' in server)) return [];
  const named = server.args.filter((word) => isAbsolute(word) && existsSync(word));
  // A script loads the files beside it.
  return [...programPlaces(server.command, search), ...named.flatMap(withNeighbours)];
}

function withNeighbours(path: string): string[] {
  return statSync(path).isFile() ? [dirname(path), path] : [path];
}

/** True for a path that a sandbox does not show by itself. A home, or a directory above one, never counts. */
function isHidden({ hidden, temporary }: Machine, root: string, path: string): boolean {
  const places = [...hidden, ...temporary, '/dev', root];
  return (
    places.some((place) => path.startsWith(place + sep)) &&
    !places.some((place) => `${place}${sep}`.startsWith(path + sep))
  );
}

/** The file that names the DNS servers is often in a hidden directory. */
function resolverFile(): string {
  try {
    return realpathSync('/etc/resolv.conf');
  } catch {
    return '';
  }
}
