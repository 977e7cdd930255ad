import type { InboxKind } from '@pawl/schema/inbox';
import type { Tone } from './tone.ts';

const words: Record<InboxKind, [word: string, tone: Tone]> = {
  emergency: ['main is red', 'bad'],
  questions: ['questions', 'attention'],
  question: ['question', 'attention'],
  permission: ['permission', 'attention'],
  'over-budget': ['over budget', 'attention'],
  'held-up': ['held up', 'attention'],
  conflict: ['conflict', 'bad'],
  ejected: ['ejected', 'bad'],
  'needs-human-input': ['needs approval', 'attention'],
  ready: ['ready to merge', 'good'],
  'no-checks': ['no checks', 'attention'],
  'queue-paused': ['queue paused', 'muted'],
  configuration: ['configuration', 'bad'],
  'queue-stuck': ['queue stuck', 'bad'],
  diverged: ['diverged', 'attention'],
  withheld: ['commits withheld', 'attention'],
};

/** The kind of an inbox entry, in one or two words. */
export function inboxWord(kind: InboxKind): string {
  return words[kind][0];
}

export function inboxTone(kind: InboxKind): Tone {
  return words[kind][1];
}
