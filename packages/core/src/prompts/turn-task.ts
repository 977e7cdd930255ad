import type { WorkMode } from '@pawl/schema/record';
import { endsTurnByResult } from '../agents/work-mode.ts';

/** The prompt of a turn that mail starts; the mail itself is added separately. */
export function taskOfMail({ mode }: { mode: WorkMode }, hasQuestion: boolean): string {
  const end = endsTurnByResult(mode) ? 'end your turn' : 'say that you are done';
  return hasQuestion
    ? `Another agent waits for your answer; its question stands below. Answer it with \`pawl answer\`, look with
\`pawl listen\` whether more questions wait for you and answer those too, and then ${end}.`
    : `Mail has come for you; it stands below. Do what it needs of you, answer with \`pawl send\` where that helps its sender, and
then ${end}. If there is nothing to do, ${end}.`;
}
