import type { Project } from '@pawl/schema/record';
import type { Platform } from '../../platform/platform.ts';
import { covers } from './path-shape.ts';
import type { JudgedSettings } from './repository-settings.ts';
import { judgeSettings } from './repository-settings.ts';

/** All files in a work tree that any provider would read as settings. */
export function settingsOfAll(platform: Platform, project: Project, root: string): Promise<JudgedSettings[]> {
  const paths = platform.providers.list().flatMap(({ repositorySettings }) => repositorySettings.paths);
  return judgeSettings(platform, project.id, root, paths);
}

/** The untrusted settings at a project's root. */
export async function untrustedSettings(platform: Platform, project: Project): Promise<JudgedSettings[]> {
  return (await settingsOfAll(platform, project, project.root)).filter(({ trusted }) => !trusted);
}

/** The providers that would read a file as settings. */
export function providersOf(platform: Pick<Platform, 'providers'>, file: string): string[] {
  const reading = platform.providers
    .list()
    .filter(({ repositorySettings: { paths } }) => paths.some((path) => covers(path, file)));
  return reading.map(({ name }) => name);
}
