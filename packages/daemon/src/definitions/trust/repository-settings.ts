import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import type { Platform } from '../../platform/platform.ts';
import type { SettingsFile } from './settings-files.ts';
import { findSettings } from './settings-files.ts';
import { trustedSettings } from './trusted-files.ts';

/** What is needed of the daemon to judge settings. */
export type TrustShop = {
  store: Pick<Platform['store'], 'db'>;
  choices: Pick<Platform['choices'], 'trustRepositorySettings'>;
};

export type JudgedSettings = SettingsFile & { trusted: boolean };

/** The settings files of a work tree that these paths name, each with whether a person trusts exactly its content. */
export async function judgeSettings(
  platform: TrustShop,
  projectId: string,
  place: string,
  paths: string[],
): Promise<JudgedSettings[]> {
  const files = await findSettings(place, paths);
  if (files.length === 0) return [];
  const known = new Map(Object.entries(await trustedSettings(platform.store.db, projectId)));
  return files.map((file) => ({
    ...file,
    trusted:
      platform.choices.trustRepositorySettings ||
      (file.content !== null && (known.get(file.path) ?? []).includes(file.content.sha256)),
  }));
}

/** What a provider would read as settings in a worktree, as it is now. */
export function repositorySettings(
  platform: TrustShop,
  project: Pick<Project, 'id'>,
  worktree: string,
  preset: Pick<ProviderPreset, 'repositorySettings'>,
): Promise<JudgedSettings[]> {
  return judgeSettings(platform, project.id, worktree, preset.repositorySettings.paths);
}

/**
 * Whether a session has to be kept from the settings in its worktree, and which files nobody has trusted. It is asked
 * before every start, for an agent may have written such a file since the last one. An agent whose tools are limited
 * is always kept from them where that can be done: CLIs read their settings again while they run, so with a file that it
 * writes it could run what it must not. A provider that cannot be kept from them is not started on untrusted ones.
 */
export async function settingsFor(
  platform: TrustShop,
  given: {
    project: Pick<Project, 'id' | 'root'>;
    worktree: string;
    preset: Pick<ProviderPreset, 'name' | 'repositorySettings'>;
    limited: boolean;
  },
): Promise<{ block: boolean; files: string[] }> {
  const { project, worktree, preset, limited } = given;
  const files = await repositorySettings(platform, project, worktree, preset);
  const untrusted = files.filter(({ trusted }) => !trusted);
  const canBlock = preset.repositorySettings.block !== null;
  if (untrusted.length > 0 && !canBlock) throw await refusal(project, worktree, preset, untrusted);
  return { block: canBlock && (limited || untrusted.length > 0), files: untrusted.map(({ path }) => path) };
}

async function refusal(
  project: Pick<Project, 'root'>,
  worktree: string,
  { name, repositorySettings: { paths } }: Pick<ProviderPreset, 'name' | 'repositorySettings'>,
  untrusted: SettingsFile[],
): Promise<PawlError> {
  const named = untrusted.map(({ path, reason }) => (reason === null ? path : `${path} (${reason})`));
  const atRoot = new Map((await findSettings(project.root, paths)).map((file) => [file.path, file.content?.sha256]));
  const isAsAtRoot = untrusted.every(({ path, content }) => content !== null && atRoot.get(path) === content.sha256);
  const place = isAsAtRoot ? project.root : worktree;
  return new PawlError(
    'forbidden',
    `${name} would read settings that the repository brings and nobody has trusted, and it cannot be kept from them: ${named.join(', ')}.`,
    {
      hint: untrusted.some(({ content }) => content === null)
        ? 'What cannot be judged cannot be trusted: replace it by a plain file, or use another provider.'
        : `Read them; if you agree with what they do: pawl trust ${quoted(place)}`,
      details: { files: untrusted.map(({ path }) => path), place },
    },
  );
}

/** A path as one word of a shell. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
