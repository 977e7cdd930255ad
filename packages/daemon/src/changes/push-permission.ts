import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { projectSettings, updateProjectSettings } from '@pawl/store/projects/project-settings';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { mergeRules } from './merge-rules.ts';

/** Grants or revokes the queue's permission to push automatic merges. A repeated call causes no event. */
export async function allowPush(tx: WriteTransaction, projectId: string, isAllowed: boolean): Promise<void> {
  const { pushAllowedAt } = await projectSettings(tx.db, projectId);
  if ((pushAllowedAt !== null) === isAllowed) return;
  await updateProjectSettings(tx, projectId, { pushAllowedAt: isAllowed ? tx.now : null });
  tx.emit({ type: isAllowed ? 'queue.push_allowed' : 'queue.push_forbidden', projectId, data: { by: 'a person' } });
}

/** Refuses a permission without a remote, since it would apply to one that is added later. */
export async function refuseWithoutRemote(platform: DefinitionPlatform, project: Project): Promise<void> {
  const { branch, remote } = await mergeRules(platform, project);
  if (remote !== null) return;
  throw new PawlError('conflict', `${project.name} has no remote that ${branch} is pushed to.`, {
    hint: 'Add one first: git remote add origin URL',
  });
}
