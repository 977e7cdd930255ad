import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { printedBy } from './printed-by.ts';

/** What is known of a provider's program on this machine: where it is, null when it is not there, and its version. */
export type Detected = { path: string | null; version: string | null };

/** Bounds of a look at the machine. */
const detectLimits = {
  /** How long a program may take to say its version; one that is slower, on a busy machine perhaps, is asked again. */
  versionMs: [5_000, 30_000],
  versionBytes: 4_096,
  /** Some of these programs take a gigabyte to say who they are. */
  atOnce: 2,
  pathDirectories: 200,
} as const;

/** Versions by the file that said it. A program that was replaced is another file, or a newer one. */
const versions = new Map<string, Promise<string | null>>();

/** Looks for the programs of providers on the PATH, and asks those that are there for their versions. */
export async function detectProviders(
  presets: ProviderPreset[],
  environment: NodeJS.ProcessEnv,
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
          : await versionOf(path, preset.version, environment, patienceMs);
      found.set(preset.name, { path, version });
    }
  };
  await Promise.all(Array.from({ length: detectLimits.atOnce }, work));
  return found;
}

/**
 * The coding agents that are installed, one for each program. A preset that nothing installs is a stand-in, or a shell: it is
 * not chosen unless it is named.
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

/** Refuses a provider whose program is not there, with what a person can do about it. */
export async function requireInstalled(preset: ProviderPreset, environment: NodeJS.ProcessEnv): Promise<void> {
  const program = programOf(preset);
  if ((await findProgram(program, environment)) !== null) return;
  throw new PawlError('unknown_provider', `The provider ${preset.name} needs ${program}, which is not on the PATH.`, {
    hint:
      preset.install === null
        ? 'Install it, or choose another provider: `pawl providers` shows what there is.'
        : `Install it: ${preset.install}. If it is installed, ask again from a shell that finds it.`,
    details: { provider: preset.name, program },
  });
}

/** The program without which a provider does not work. */
export function programOf(preset: ProviderPreset): string {
  return preset.program ?? preset.command[0];
}

/** The path of a program that can be run, as a shell would find it; null when there is none. */
export async function findProgram(program: string, environment: NodeJS.ProcessEnv): Promise<string | null> {
  if (program.includes('/')) return isAbsolute(program) && (await isProgram(program)) ? program : null;
  const directories = (environment['PATH'] ?? '').split(delimiter).slice(0, detectLimits.pathDirectories);
  for (const directory of directories) {
    // What a session finds must not depend on the directory that it works in, which a repository fills.
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
  patienceMs: readonly number[],
): Promise<string | null> {
  const place = await realpath(path);
  const { mtimeMs, size } = await stat(place);
  const key = JSON.stringify([place, mtimeMs, size, words, environment['PATH']]);
  const known = versions.get(key) ?? askVersion([path, ...words], environment, patienceMs);
  versions.set(key, known);
  const version = await known;
  // Whoever did not answer may have been busy.
  if (version === null) versions.delete(key);
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
    // One that ended by itself has no version to tell.
    if (performance.now() - beganMs < timeoutMs) return null;
  }
  return null;
}
