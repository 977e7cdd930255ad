import type { Check } from '@pawl/schema/change';
import type { LaunchSpec } from '@pawl/schema/launch-spec';
import { objectsDirOf } from '@pawl/git/repository/repository';
import { projectById } from '@pawl/store/projects/projects';
import { join } from 'node:path';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { cacheVariables, machineMounts, shows } from '../platform/sandbox-view.ts';
import type { CheckContext } from './check-context.ts';
import { checkLimits } from './check-limit.ts';
import type { CheckOutput } from './check-output.ts';
import type { Verdict } from './check-verdict.ts';

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
    environment: { ...launch.environment, ...cacheVariables(place.temporary) },
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

/** How programs say that they cannot reach a host. */
const unreachable =
  /EAI_AGAIN|ENOTFOUND|ENETUNREACH|getaddrinfo|ould not resolve|emporary failure in name resolution|etwork is unreachable|failed to lookup address|no such host|dial tcp|NameResolutionError|UnknownHostException/;

/** Adds to a failure without network that the step has none, and how the project gives it one. */
export async function withNetworkHint(
  { platform }: CheckContext,
  { steps, step }: Check,
  verdict: Verdict,
  output: CheckOutput,
): Promise<Verdict> {
  if (verdict.outcome !== 'failed' || steps[step]?.network === true) return verdict;
  if ((await platform.sandbox.machine(platform.choices)) === null || !(await says(output, unreachable))) return verdict;
  const hint = 'it has no network: if it needs it, add `network: true` to this check in .pawl/config.yaml';
  return { ...verdict, detail: `${verdict.detail}; ${hint}`.slice(0, checkLimits.detailCharacters) };
}

async function says(output: CheckOutput, pattern: RegExp): Promise<boolean> {
  let before = '';
  for await (const piece of output.text()) {
    if (pattern.test(before + piece)) return true;
    before = piece.slice(-100);
  }
  return false;
}
