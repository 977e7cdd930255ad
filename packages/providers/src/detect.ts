import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { printedBy } from './printed-by.ts';

/** A provider's program on this machine: its path, null if missing, and its version. */
export type Detected = { path: string | null; version: string | null };

const detectLimits = {
  /** Timeouts for `--version`; a slow program, perhaps on a busy machine, is asked again. */
  versionMs: [5_000, 30_000],
  versionBytes: 4_096,
  /** Some of these programs need a gigabyte to print their version. */
  atOnce: 2,
  pathDirectories: 200,
} as const;

/** Known versions by file. A replaced program is another file, or a newer one. */
export type KnownVersions = Map<string, Promise<string | null>>;

/** Looks for the providers' programs on the PATH, and asks them for their versions, unless `known` has them. */
export async function detectProviders(
  presets: ProviderPreset[],
  environment: NodeJS.ProcessEnv,
  known: KnownVersions,
  patienceMs: readonly number[] = detectLimits.versionMs,
): Promise<Map<string, Detected>> {
  const found = new Map<string, Detected>();
  const left = [...presets];
  const work = async () => {
    for (let preset = left.shift(); preset !== undefined; preset = left.shift()) {
      const path = await findProgram(programOf(preset), environment);
      const version =
        path === null || preset.version === null
          ? null
          : await versionOf(path, preset.version, environment, { known, patienceMs });
      found.set(preset.name, { path, version });
    }
  };
  await Promise.all(Array.from({ length: detectLimits.atOnce }, work));
  return found;
}

/**
 * The installed coding agents, one per program. A preset without an installer is a stand-in or a shell: it is used only
 * if named.
 */
export async function installedAgents(
  presets: readonly ProviderPreset[],
  environment: NodeJS.ProcessEnv,
): Promise<ProviderPreset[]> {
  const found = new Map<string, ProviderPreset>();
  for (const preset of presets) {
    if (preset.install === null || found.has(programOf(preset))) continue;
    if ((await findProgram(programOf(preset), environment)) !== null) found.set(programOf(preset), preset);
  }
  return [...found.values()];
}

/** Refuses a provider whose program is missing, with advice. */
export async function requireInstalled(preset: ProviderPreset, environment: NodeJS.ProcessEnv): Promise<void> {
  const program = programOf(preset);
  if ((await findProgram(program, environment)) !== null) return;
  throw new PawlError('unknown_provider', `The provider ${preset.name} needs ${program}, which is not on the PATH.`, {
    hint:
      preset.install === null
        ? 'Install it, or choose another provider: see `pawl providers`.'
        : `Install it: ${preset.install}. If it is installed, run this again from a shell that finds it.`,
    details: { provider: preset.name, program },
  });
}

/** The program that a provider requires. */
export function programOf(preset: ProviderPreset): string {
  return preset.program ?? preset.command[0];
}

/** The path of an executable program, as a shell would find it, or null. */
export async function findProgram(program: string, environment: NodeJS.ProcessEnv): Promise<string | null> {
  if (program.includes('/')) return isAbsolute(program) && (await isProgram(program)) ? program : null;
  const directories = (environment['PATH'] ?? '').split(delimiter).slice(0, detectLimits.pathDirectories);
  for (const directory of directories) {
    // The result must not depend on the working directory, which a repository controls.
    if (isAbsolute(directory) && (await isProgram(join(directory, program)))) return join(directory, program);
  }
  return null;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function versionOf(
  path: string,
  words: string[],
  environment: NodeJS.ProcessEnv,
  { known, patienceMs }: { known: KnownVersions; patienceMs: readonly number[] },
): Promise<string | null> {
  const file = await realpath(path);
  const { mtimeMs, size } = await stat(file);
  const key = JSON.stringify([file, mtimeMs, size, words, environment['PATH']]);
  const asked = known.get(key) ?? askVersion([path, ...words], environment, patienceMs);
  known.set(key, asked);
  const version = await asked;
  // No answer may mean a busy machine; do not cache it.
  if (version === null) known.delete(key);
  return version;
}

async function askVersion(
  command: [string, ...string[]],
  environment: NodeJS.ProcessEnv,
  patienceMs: readonly number[],
): Promise<string | null> {
  for (const timeoutMs of patienceMs) {
    const beganMs = performance.now();
    const said = await printedBy(command, { environment, timeoutMs, bytes: detectLimits.versionBytes });
    const version = /\d+\.\d+[\w.+-]{0,60}/.exec(said)?.[0];
    if (version !== undefined) return version;
    // It ended by itself, so it has no version.
    if (performance.now() - beganMs < timeoutMs) return null;
  }
  return null;
}
