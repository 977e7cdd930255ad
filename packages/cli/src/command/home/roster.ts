import { printableLine } from '@pawl/present/text';
import { lookForOthers, systemProbe } from '@pawl/roster/probe';
import { readPrograms } from '@pawl/roster/programs-file';
import { projectRoot } from '@pawl/roster/project-root';
import type { Roster } from '@pawl/roster/roster';
import { exitCodeOf } from '@pawl/roster/roster';
import { messageOf } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';

/** The exit code of a failed survey, which must not be taken for "alone". */
const nothingSeen: Pick<Roster, 'others' | 'skipped'> = { others: [], skipped: [] };

/**
 * Prints the other agents in a project, one per line: pid, tab, directory. Exits with 0 if alone, 1 if not, and 2 if
 * unknown or on any failure.
 */
export function roster(
  context: CommandContext,
  path = '.',
  { environment, warn }: { environment: NodeJS.ProcessEnv; warn: (text: string) => void } = {
    environment: process.env,
    warn: (text) => void process.stderr.write(`${text}\n`),
  },
): 0 | 1 | 2 {
  const seen = look(context, path, environment);
  const code = exitCodeOf(seen);
  const others = seen.others.map(({ pid, cwd, provider, startedAt, agentId }) => {
    return { pid, cwd, provider, startedAt, agentId };
  });
  if (context.json) {
    const alone = code === 2 ? null : code === 0;
    context.answer('roster', { alone, others, skipped: seen.skipped, doubts: seen.doubts }, () => '');
  } else {
    for (const other of others) context.record('agent', other, () => `${other.pid}\t${printableLine(other.cwd)}`);
  }
  if (seen.skipped.length > 0) warn(`roster: ${seen.skipped.length} skipped, whose directory cannot be read`);
  if (code === 2) for (const doubt of seen.doubts) warn(`roster: cannot tell: ${printableLine(doubt)}`);
  return code;
}

function look(
  { home }: CommandContext,
  path: string,
  environment: NodeJS.ProcessEnv,
): Pick<Roster, 'others' | 'skipped' | 'doubts'> {
  try {
    const probe = systemProbe(environment, readPrograms(home.programs).programs);
    return lookForOthers(probe, projectRoot(path), [home.worktrees]);
  } catch (error) {
    return { ...nothingSeen, doubts: [messageOf(error)] };
  }
}
