import type { Check } from '@pawl/schema/change';
import type { LaunchSpec } from '@pawl/schema/launch-spec';
import { objectsDirOf } from '@pawl/git/repository/repository';
import { projectById } from '@pawl/store/projects/projects';
import { join } from 'node:path';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { machineMounts, shows } from '../platform/sandbox-view.ts';
import type { CheckContext } from './check-context.ts';

/**
 * The launch of a check's step in a sandbox, if checks run in one: with its clone and the objects that the clone borrows,
 * and without network unless the step asks for it.
 */
export async function sandboxedStep(
  { platform, place }: CheckContext,
  check: Check,
  launch: LaunchSpec,
): Promise<LaunchSpec> {
  const machine = await platform.sandbox.machine(platform.choices);
  if (machine === null) return launch;
  const project = await projectById(platform.store.db, check.projectId);
  const repository = project === null ? null : await repositoryOf(platform, project);
  const lenders = [
    join(ownGitDirectory(platform.home, check.projectId), 'objects'),
    ...(repository === null ? [] : [objectsDirOf(repository), join(repository.commonDir, 'pawl')]),
  ];
  return {
    ...launch,
    sandbox: {
      temporary: place.temporary,
      mounts: [
        ...machineMounts(platform, machine, { environment: launch.environment, programs: [] }),
        ...lenders.flatMap((path) => shows(path, 'readable')),
      ],
      network: check.steps[check.step]?.network === true ? 'host' : 'none',
      limits: platform.choices.sandbox.limits,
    },
  };
}
