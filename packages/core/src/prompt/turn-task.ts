import type { WorkMode } from '@pawl/schema/record';
import { endsTurnByResult } from '../work-mode.ts';

const mailComes = 'Mail has come for you; it stands below.';
const questionComes = 'Another agent waits for your answer; its question stands below.';

/** The prompt of a turn that mail begins; the mail itself stands beside it. */
export function taskOfMail({ mode }: { mode: WorkMode }, hasQuestion: boolean): string {
  const end = endsTurnByResult(mode) ? 'end your turn' : 'say that you are done';
  return hasQuestion
    ? `${questionComes} Answer it with \`pawl answer\`, look with
\`pawl listen\` whether more questions wait for you and answer those too, and then ${end}.`
    : `${mailComes} Do what it needs of you, answer with \`pawl send\` where that helps its sender, and
then ${end}. If there is nothing to do, ${end}.`;
}

/** Whether a run's task is a prompt that mail began it with, and so says nothing about the work. */
export function isMailTask(task: string): boolean {
  return task.startsWith(mailComes) || task.startsWith(questionComes);
}
