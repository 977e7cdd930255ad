import type { ProviderPreset } from '@pawl/core/port/provider';
import { findProgram, programOf } from '@pawl/providers/detect';
import type { Agent } from '@pawl/schema/record';
import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import { delimiter, isAbsolute } from 'node:path';
import { inheritedEnvironment } from './agent-environment.ts';
import type { Platform } from './platform.ts';

/** The maximum number of PATH directories that are kept. */
const mostDirectories = 200;

type PathContext = Pick<Platform, 'store' | 'environment'>;

/** A caller's PATH without relative directories, so that lookups do not depend on the repository. */
function cleanPath(path: string | undefined): string | null {
  const directories = new Set((path ?? '').split(delimiter).filter((directory) => isAbsolute(directory)));
  return directories.size === 0 ? null : [...directories].slice(0, mostDirectories).join(delimiter);
}

/**
 * The PATH of a person's request. Remembers it for agents that the daemon starts by itself, since the daemon's own PATH
 * may come from a service or an old shell.
 */
export async function personPath(platform: PathContext, given: string | undefined): Promise<string> {
  const path = await callerPath(platform, given);
  if (given !== undefined && path !== (await rememberedPath(platform)))
    await platform.store.write((tx) => updateDaemonState(tx, { searchPath: path }));
  return path;
}

/** The PATH for looking up programs for a person. */
export async function callerPath(platform: PathContext, given: string | undefined): Promise<string> {
  return cleanPath(given) ?? (await agentPath(platform, null));
}

/** The PATH of an agent: the one it was created with, else the person's last one, else the daemon's. */
export async function agentPath(platform: PathContext, agent: Pick<Agent, 'environment'> | null): Promise<string> {
  return agent?.environment['PATH'] ?? (await rememberedPath(platform)) ?? daemonPath(platform);
}

/**
 * The PATH to start an agent's program with. If the program has moved, falls back to the person's or the daemon's PATH.
 */
export async function startPath(platform: PathContext, agent: Agent, preset: ProviderPreset): Promise<string> {
  const program = programOf(preset);
  const own = preset.env['PATH'] ?? (await agentPath(platform, agent));
  for (const path of [own, await rememberedPath(platform), daemonPath(platform)])
    if (path !== null && (await findProgram(program, { PATH: path })) !== null) return path;
  return own;
}

async function rememberedPath({ store }: PathContext): Promise<string | null> {
  return (await daemonState(store.db)).searchPath;
}

function daemonPath({ environment }: PathContext): string {
  return inheritedEnvironment(environment)['PATH'] ?? '';
}
