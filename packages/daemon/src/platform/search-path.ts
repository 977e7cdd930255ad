import type { ProviderPreset } from '@pawl/core/port/provider';
import { findProgram, programOf } from '@pawl/providers/detect';
import type { Agent } from '@pawl/schema/record';
import { getSetting, setSetting } from '@pawl/store/settings';
import { delimiter, isAbsolute } from 'node:path';
import { inheritedEnvironment } from './agent-environment.ts';
import type { Platform } from './platform.ts';

const settingKey = 'search_path';
/** The most directories of a PATH that are kept. */
const mostDirectories = 200;

type PathShop = Pick<Platform, 'store' | 'environment'>;

/** A caller's PATH without relative directories: what a session finds must not depend on the repository it works in. */
function cleanPath(path: string | undefined): string | null {
  const directories = new Set((path ?? '').split(delimiter).filter((directory) => isAbsolute(directory)));
  return directories.size === 0 ? null : [...directories].slice(0, mostDirectories).join(delimiter);
}

/**
 * The PATH of a person's request. The last one is remembered, for agents that the daemon starts by itself: its own PATH may be
 * that of a service, or of a shell from long ago.
 */
export async function personPath(platform: PathShop, given: string | undefined): Promise<string> {
  const path = await callerPath(platform, given);
  if (given !== undefined && path !== (await rememberedPath(platform)))
    await platform.store.write((tx) => setSetting(tx, settingKey, path));
  return path;
}

/** The PATH to look programs up for a person, who may have sent one. */
export async function callerPath(platform: PathShop, given: string | undefined): Promise<string> {
  return cleanPath(given) ?? (await agentPath(platform, null));
}

/** The PATH of an agent: as it was when the agent was made, else the last one of a person, else the daemon's. */
export async function agentPath(platform: PathShop, agent: Pick<Agent, 'environment'> | null): Promise<string> {
  return agent?.environment['PATH'] ?? (await rememberedPath(platform)) ?? daemonPath(platform);
}

/** The PATH to start an agent's program with. A program that has moved is looked up where a person or the daemon would find it. */
export async function startPath(platform: PathShop, agent: Agent, preset: ProviderPreset): Promise<string> {
  const program = programOf(preset);
  const own = preset.env['PATH'] ?? (await agentPath(platform, agent));
  for (const path of [own, await rememberedPath(platform), daemonPath(platform)])
    if (path !== null && (await findProgram(program, { PATH: path })) !== null) return path;
  return own;
}

async function rememberedPath({ store }: PathShop): Promise<string | null> {
  const path = await getSetting(store.db, settingKey);
  return typeof path === 'string' ? path : null;
}

function daemonPath({ environment }: PathShop): string {
  return inheritedEnvironment(environment)['PATH'] ?? '';
}
