import type { AddProjectBody, ProjectAdded } from '@pawl/protocol/projects/view';
import { openRepository } from '@pawl/git/repository/repository';
import { newId, nameSchema } from '@pawl/schema/id';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { insertProject, projectByName, projectByRoot } from '@pawl/store/projects/projects';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { basename } from 'node:path';
import { mergingOf } from '../changes/merge-rules.ts';
import { proposeConfig } from '../project-config/write-config.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { changeProjectSettings } from '../platform/project-settings.ts';
import { followMove, movedProject } from './moved-project.ts';
import { trackAgain } from './untrack.ts';

/** Registers the repository around a path; repeating it changes nothing. A moved repository stays the same project. */
export async function addProject(platform: DefinitionPlatform, body: AddProjectBody): Promise<ProjectAdded> {
  if (body.provider !== undefined) platform.providers.get(body.provider);
  const repository = await openRepository(body.path);
  const { root } = repository;
  const moved =
    (await projectByRoot(platform.store.db, root)) === null ? await movedProject(platform, repository) : null;
  if (moved !== null) await followMove(platform, moved, root);
  const added = await platform.store.write(async (tx) => {
    const known = await projectByRoot(tx.db, root);
    if (known !== null) {
      return { project: known, created: false, trackedAgain: await trackAgain(tx, known) };
    }
    const project: Project = { id: newId(), name: await freeName(tx, body.name, root), root, createdAt: tx.now };
    await insertProject(tx, project);
    tx.emit({ type: 'project.added', projectId: project.id, data: { name: project.name, root } });
    return { project, created: true, trackedAgain: false };
  });
  if (body.provider !== undefined) await changeProjectSettings(platform, added.project, { provider: body.provider });
  const { autoMerge = false } = body;
  const checks = body.checks === true ? await proposeConfig(platform, added.project, { autoMerge }) : null;
  return { ...added, checks, merging: await mergingOf(platform, added.project) };
}

async function freeName(tx: WriteTransaction, wanted: string | undefined, root: string): Promise<string> {
  if (wanted !== undefined) {
    if ((await projectByName(tx.db, wanted)) === null) return wanted;
    throw new PawlError('conflict', `There is a project ${wanted} already.`, { hint: 'Choose another --name.' });
  }
  const name = nameFrom(root);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name.slice(0, 56)}-${number}`;
    if ((await projectByName(tx.db, candidate)) === null) return candidate;
  }
}

/** Derives a project's name from its directory; characters outside our alphabet become dashes. */
function nameFrom(root: string): string {
  const name = basename(root)
    .replace(/\.git$/, '')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .replace(/^[^a-z0-9]+/, '')
    .replace(/(?:\.lock)?[^a-z0-9]*$/, '')
    .slice(0, 60);
  return nameSchema.safeParse(name).success ? name : 'project';
}
