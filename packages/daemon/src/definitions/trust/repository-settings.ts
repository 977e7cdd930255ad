import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import type { Platform } from '../../platform/platform.ts';
import type { SettingsFile } from './settings-files.ts';
import { findSettings } from './settings-files.ts';
import { trustedSettings } from './trusted-files.ts';

/** The parts of the daemon that judging settings needs. */
export type TrustContext = {
  store: Pick<Platform['store'], 'db'>;
  choices: Pick<Platform['choices'], 'trustRepositorySettings'>;
};

export type JudgedSettings = SettingsFile & { trusted: boolean };

/** The settings files of a work tree under these paths, each with whether the person trusts its exact content. */
export async function judgeSettings(
  platform: TrustContext,
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

/** The files in a worktree that a provider would read as settings now. */
export function repositorySettings(
  platform: TrustContext,
  project: Pick<Project, 'id'>,
  worktree: string,
  preset: Pick<ProviderPreset, 'repositorySettings'>,
): Promise<JudgedSettings[]> {
  return judgeSettings(platform, project.id, worktree, preset.repositorySettings.paths);
}

/**
 * Decides if a session must ignore the settings in its worktree, and lists untrusted files. Runs before every start,
 * since an agent may have written such a file. An agent with tool limits always ignores them where the provider
 * supports it: CLIs reread settings while they run, so an agent could lift its limits by writing a file. A provider
 * that cannot ignore settings is not started on untrusted ones.
 */
export async function settingsFor(
  platform: TrustContext,
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
    `${name} would read untrusted settings of the repository, and cannot be told to ignore them: ${named.join(', ')}.`,
    {
      hint: untrusted.some(({ content }) => content === null)
        ? 'These files cannot be trusted: replace them with plain files, or use another provider.'
        : `Review them; to accept them: pawl trust ${quoted(place)}`,
      details: { files: untrusted.map(({ path }) => path), place },
    },
  );
}

/** Quotes a path for a shell. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
