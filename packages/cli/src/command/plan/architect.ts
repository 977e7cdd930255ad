import type { WorkBody } from '@pawl/protocol/agents/verb-view';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import type { WorkOptions } from '../agents/work.ts';
import { work } from '../agents/work.ts';
import { projectPath } from '../../project/project-option.ts';

/** The words of `pawl plan` that start an architect, their mode, and its task unless a message says more. */
export const architects = {
  discuss: {
    mode: 'discuss',
    task: 'Turn the wish of this plan into decisions. Ask what only a person can decide.',
  },
  draft: { mode: 'plan', task: 'Divide this plan into phases.' },
  detail: { mode: 'detail', task: 'Turn the phase in phase.md into tasks.' },
  refine: { mode: 'refine', task: 'Improve the pages of this plan.' },
  chat: { mode: 'refine-chat', task: 'Work on this plan with me. Ask what to change first.' },
} as const satisfies Record<string, { mode: WorkBody['mode']; task: string }>;

export type ArchitectOptions = Omit<WorkOptions, 'project' | 'mode' | 'plan' | 'phase'> & { project?: string };

/** Starts an agent that plans; its output becomes a proposal. */
export async function startArchitect(
  context: CommandContext,
  verb: keyof typeof architects,
  reference: string,
  { message, phase, options }: { message: string[]; phase?: string | undefined; options: ArchitectOptions },
): Promise<number> {
  const { plan } = await withDaemon(context.home, (client) => client.showPlan(reference, projectPath(options)));
  const { mode, task } = architects[verb];
  const { project: _, ...rest } = options;
  return work(context, message.length === 0 ? [task] : message, {
    ...rest,
    as: options.as ?? 'architect',
    project: plan.project === null ? ['.'] : [plan.project.name],
    mode,
    plan: plan.id,
    ...(phase === undefined ? {} : { phase }),
  });
}
