import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { join, relative } from 'node:path';
import { placesOf, workingDirectory } from '../../platform/places.ts';
import type { Platform } from '../../platform/platform.ts';
import { projectOf } from '../../platform/platform.ts';
import { judgeSettings, settingsFor } from './repository-settings.ts';

/**
 * Decides if a session must ignore the settings in its directories, and lists untrusted files. Each worktree is judged
 * by its own project's trust, and one untrusted worktree blocks them all. A directory outside any repository, such as
 * the parent of several worktrees, is never trusted, since agents write there.
 */
export async function settingsOfPlaces(
  platform: Platform,
  { agent, preset, limited }: { agent: Agent; preset: ProviderPreset; limited: boolean },
): Promise<{ block: boolean; files: string[] }> {
  const top = workingDirectory(agent);
  const found = { block: false, files: [] as string[] };
  const places = await placesOf(platform.store.db, agent);
  for (const { agent: there } of places) {
    const worktree = there.worktree ?? top;
    const project = await projectOf(platform.store, there);
    const { block, files } = await settingsFor(platform, { project, worktree, preset, limited });
    found.block ||= block;
    found.files.push(...files.map((file) => relative(top, join(worktree, file))));
  }
  if (places.every(({ agent: there }) => there.worktree !== top)) {
    const loose = (await judgeSettings(platform, '', top, preset.repositorySettings.paths)).filter(
      ({ trusted }) => !trusted,
    );
    const canBlock = preset.repositorySettings.block !== null;
    if (loose.length > 0 && !canBlock) throw looseSettings(preset, top, loose);
    found.block ||= canBlock && (limited || loose.length > 0);
    found.files.push(...loose.map(({ path }) => path));
  }
  return found;
}

function looseSettings({ name }: ProviderPreset, top: string, files: readonly { path: string }[]): PawlError {
  const named = files.map(({ path }) => path).join(', ');
  return new PawlError('forbidden', `${name} would read settings in ${top}, which belongs to no project: ${named}.`, {
    hint: 'Remove them there, or use a provider that can ignore them.',
  });
}
