import type { Project } from '@pawl/schema/record';
import type { Workshop } from '../../platform/workshop.ts';
import { covers } from './path-shape.ts';
import type { JudgedSettings } from './repository-settings.ts';
import { judgeSettings } from './repository-settings.ts';

/** All that any provider would read as settings in a work tree of a project. */
export function settingsOfAll(shop: Workshop, project: Project, root: string): Promise<JudgedSettings[]> {
  const paths = shop.providers.list().flatMap(({ repositorySettings }) => repositorySettings.paths);
  return judgeSettings(shop, project.id, root, paths);
}

/** The settings at the root of a project that nobody has trusted, for those who look for what is wrong. */
export async function untrustedSettings(shop: Workshop, project: Project): Promise<JudgedSettings[]> {
  return (await settingsOfAll(shop, project, project.root)).filter(({ trusted }) => !trusted);
}

/** The providers that would read a file as settings. */
export function providersOf(shop: Pick<Workshop, 'providers'>, file: string): string[] {
  const reading = shop.providers
    .list()
    .filter(({ repositorySettings: { paths } }) => paths.some((path) => covers(path, file)));
  return reading.map(({ name }) => name);
}
