import { printable } from '@pawl/present/text';
import type { RunResult } from '@pawl/protocol/agents/runs/view';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { daemonAway } from './change-wait.ts';
import { commandClient } from '../daemon/client.ts';
import type { CommandContext } from '../context.ts';
import { withDaemon } from '../daemon/launch.ts';

/** Retry interval for an unavailable daemon; it may be restarting. */
const againMs = 200;

/** Failed tries before the daemon counts as down; a restart takes fewer. */
const quietTries = 10;

/** Waits for the end of a run across restarts of the daemon, optionally until a deadline. Returns the latest view. */
export async function waitForRun(
  { home, say, colours }: Pick<CommandContext, 'home' | 'say' | 'colours'>,
  run: string,
  timeoutMs: number | null,
): Promise<RunResult> {
  const deadline = timeoutMs === null ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  let seen = await withDaemon(home, (client) => client.runResult(run));
  let missed = 0;
  while (seen.run.status === 'running' && performance.now() < deadline) {
    const waitMs = Math.min(limits.resultWaitMs, Math.ceil(deadline - performance.now()));
    const answer = await unlessAway(commandClient(home).runResult(run, { waitMs: Math.max(0, waitMs) }));
    missed = answer === null ? missed + 1 : 0;
    if (missed === quietTries) say(colours.dim(daemonAway));
    seen = answer ?? seen;
  }
  return seen;
}

/** The answer, or null after a delay if the daemon was unavailable. */
async function unlessAway<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof PawlError) || error.code !== 'daemon_unreachable') throw error;
    await new Promise((resolve) => setTimeout(resolve, againMs));
    return null;
  }
}

/** Prints the result of a run, also as the exit code. */
export function answerResult(context: CommandContext, found: RunResult): number {
  const { run, agent, result } = found;
  context.answer('result', found, () => {
    if (run.status === 'running') return `${agent.alias} is still at work; wait for it: pawl result ${run.id}`;
    const asked = run.questions?.map(({ question }) => `asks: ${printable(question)}`) ?? [];
    const said = asked.length > 0 ? asked.join('\n') : printable(result ?? '');
    return run.status === 'completed' ? said : `${context.colours.bold(agent.alias)} ${run.status}: ${said}`;
  });
  if (run.status === 'running') return errorCodes.timeout.exit;
  if (run.questions !== null) return errorCodes.needs_input.exit;
  return run.status === 'completed' ? 0 : 1;
}
