import type { Agent, Run } from '@pawl/schema/record';
import { fillPlaceholders } from './input-files.ts';

const signalFormat = `<signal_format>
When you have finished, write the file .pawl/output/signal.json as your very last act:
{"status":"done","result":"one paragraph on what you did"}
If you cannot go on without a person: {"status":"questions","questions":[{"id":"q1","question":"…"}]}
If the task cannot be done: {"status":"error","error":"why"}
</signal_format>`;

/** The first prompt of a worker: its task, where it is, and how it says that it is done. */
export function workPrompt(agent: Agent, run: Run): string {
  const workspace = `<workspace>
You are ${agent.alias}. You work alone in your own git worktree, on the branch ${agent.branch ?? '(none)'}.
Commit your work there in small steps. Your assignment is also in .pawl/input/ (see manifest.json).
</workspace>`;
  return fillPlaceholders(`<task>\n${run.task.trim()}\n</task>\n\n${signalFormat}\n\n${workspace}\n`, agent);
}

/** What an agent is told that ended its turn without a signal. */
export function missingSignalPrompt(): string {
  return `You ended your turn without writing .pawl/output/signal.json, so nobody can tell whether the work is done.
Finish what is left, commit it, and then write the signal.

${signalFormat}
`;
}
