import { mainState } from '@pawl/present/changes/main-state';
import type { QueueAnswer, QueueView } from '@pawl/protocol/queue/view';
import { errorCodes } from '@pawl/schema/error';
import { resolve } from 'node:path';
import { logText } from '../../view/change-text.ts';
import type { Look } from '../../agent/change-wait.ts';
import { usualLookMs, watch } from '../../agent/change-wait.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { describeQueue } from '../../view/queue-text.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import type { ProjectOption } from '../../project/project-option.ts';
import { projectPath } from '../../project/project-option.ts';

/** Shows the merge queue of a project, or all of them. */
export async function showQueues(context: CommandContext, options: ProjectOption): Promise<number> {
  const list = await withDaemon(context.home, (client) => client.listQueues(projectPath(options)));
  const now = Date.now();
  context.answer('queues', list, () => {
    if (list.queues.length === 0)
      return 'no project has a merge queue yet; it starts with the first change: pawl change open';
    return list.queues.map((queue) => describeQueue(queue, context, now)).join('\n\n');
  });
  return 0;
}

/** Shows the output of the target branch's latest check, or of the named one. */
export async function logQueue(context: CommandContext, options: ProjectOption & { check?: string }): Promise<number> {
  const query = {
    path: resolve(options.project ?? '.'),
    ...(options.check === undefined ? {} : { check: options.check }),
  };
  const log = await withDaemon(context.home, (client) => client.queueLog(query));
  context.answer('log', log, () => logText(log, context.colours, Date.now()));
  return 0;
}

/** Requests a check of the target branch, and optionally waits for the result. */
export async function checkQueue(
  context: CommandContext,
  options: ProjectOption & { wait?: boolean; timeout?: number },
  lookMs = usualLookMs,
): Promise<number> {
  const path = resolve(options.project ?? '.');
  const { queue } = await withDaemon(context.home, (client) => client.checkQueue({ path }));
  if (!options.wait) return answerWith(context, { queue });
  const before = new Set(queue.checks.map(({ id }) => id));
  const look: Look<QueueView> = {
    read: async (client) => (await client.listQueues({ project: queue.project.id })).queues[0] ?? queue,
    words: (seen) =>
      mainState(seen).is === 'checking' ? `${seen.branch} is being checked` : 'the check has not started',
    verdict: (seen) => verdictOn(seen, before),
  };
  const { seen, code } = await watch(context, queue, look, { timeoutMs: options.timeout ?? null, lookMs });
  answerWith(context, { queue: seen });
  return code;
}

/** As for the queue, a failure counts when seen twice: one may be flaky. */
const failuresThatCount = 2;

/** The exit code from the target branch's checks since then; null while undecided. */
function verdictOn(queue: QueueView, before: ReadonlySet<string>): number | null {
  const own = queue.checks.filter(
    ({ id, changes, commit }) => !before.has(id) && changes.length === 0 && commit === queue.main,
  );
  if (own.some(({ outcome }) => outcome === 'passed')) return 0;
  if (own.filter(({ outcome }) => outcome === 'failed').length >= failuresThatCount) return 1;
  const { pausedAt, trouble, config } = queue;
  const isStopped = pausedAt !== null || trouble !== null || !config.enabled || config.checks.length === 0;
  return isStopped && queue.running.length === 0 ? errorCodes.needs_input.exit : null;
}

const queueVerbs = {
  pause: 'pauseQueue',
  resume: 'resumeQueue',
  'allow-push': 'allowPush',
  'forbid-push': 'forbidPush',
} as const;

/** Pauses or resumes a queue; allows or forbids it to push automatic merges. */
export async function turnQueue(
  context: CommandContext,
  verb: keyof typeof queueVerbs,
  options: ProjectOption,
): Promise<number> {
  const body = { path: resolve(options.project ?? '.') };
  const answer = await untilAnswered(context.home, (client) => client[queueVerbs[verb]](body));
  return answerWith(context, answer);
}

function answerWith(context: CommandContext, answer: QueueAnswer): number {
  context.answer('queue', answer, () => describeQueue(answer.queue, context, Date.now()));
  return 0;
}
