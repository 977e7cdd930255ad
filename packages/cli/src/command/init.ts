import type { ChecksFound } from '@pawl/protocol/view/checks';
import { resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { reachDaemon } from '../launch.ts';
import { printableLine } from '../terminal.ts';

/**
 * Puts the repository around the given path under Pawl's care, and writes down what its checks are when nobody has said so yet.
 * Nothing else in it is changed.
 */
export async function init(
  context: CommandContext,
  path: string,
  options: { name?: string; checks?: boolean; provider?: string; autoMerge?: boolean },
): Promise<number> {
  const client = await reachDaemon(context.home);
  const { project, created, checks } = await client.addProject({
    path: resolve(path),
    checks: options.checks !== false,
    ...(options.autoMerge === true ? { autoMerge: true } : {}),
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.provider === undefined ? {} : { provider: options.provider }),
  });
  const root = printableLine(project.root);
  context.answer('project', { ...project, created, checks }, () =>
    [
      `${context.colours.bold(project.name)} is ${created ? 'now a project' : 'a project already'} (${root})`,
      ...(checks === null ? [] : tellChecks(checks)),
      ...(created ? ['next: pawl work "what to do"', hooksOffer].map(context.colours.dim) : []),
    ].join('\n'),
  );
  return 0;
}

const hooksOffer = 'do you start agents here yourself? pawl hooks install lets them notice each other';

/** What was found, and what the person has to do about it. */
function tellChecks({ file, found, outcome, reason }: ChecksFound): string[] {
  const place = printableLine(file);
  const commands = found.map(({ run, from }) => `  ${printableLine(run)}  (${printableLine(from)})`);
  if (outcome === 'kept') return [`its checks are named in ${place}`];
  if (outcome === 'written') {
    return ['a change is merged when this passes:', ...commands, `written to ${place}; look at it, and commit it`];
  }
  const open = 'nothing is merged without checks: name them there, as in `checks: [make test]`';
  if (outcome === 'not-found') return [`nothing was found that checks it, so there is no ${place}`, open];
  return [`${place} could not be written: ${printableLine(reason ?? '')}`, ...commands, open];
}
