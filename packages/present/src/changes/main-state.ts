import type { CheckView } from '@pawl/protocol/checks/view';
import type { QueueView } from '@pawl/protocol/queue/view';
import type { Tone } from '../tone.ts';

export type MainState = { is: 'green' | 'red' | 'checking' | 'unknown'; word: string; tone: Tone };

/** The state of the current target branch. */
export function mainState({ main, green, emergency, running, checks }: QueueView): MainState {
  const isOwn = ({ changes, commit }: CheckView) => changes.length === 0 && commit === main;
  if (running.some(isOwn)) return { is: 'checking', word: 'being checked', tone: 'active' };
  const [latest] = checks.filter(isOwn);
  if ((emergency !== null && emergency.commit === main) || latest?.outcome === 'failed')
    return { is: 'red', word: 'red', tone: 'bad' };
  return main !== null && green === main
    ? { is: 'green', word: 'green', tone: 'good' }
    : { is: 'unknown', word: 'not checked yet', tone: 'attention' };
}
