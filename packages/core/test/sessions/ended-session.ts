import type { EndedSession } from '../../src/sessions/completion.ts';

/** A clean end without further facts. */
export const cleanEnd: EndedSession = {
  began: true,
  signal: null,
  result: null,
  exitCode: 0,
  limitUntil: null,
  stopRequested: false,
  interrupted: false,
  lost: false,
  paused: false,
  interruptions: 0,
  failure: null,
  worktreeMissing: false,
  resumable: true,
  endsByResult: false,
  signalRequests: 0,
  fault: null,
  retries: 0,
  limitWaits: 0,
  hung: false,
  hasAccount: false,
  uncommitted: 0,
  complaints: 0,
  outcomeBefore: null,
  breach: null,
};
export const done = { status: 'done', result: 'fixed it' } as const;
export const gaveUp = { status: 'error', error: 'no such file' } as const;
export const asked = { status: 'questions', questions: [{ id: 'db', question: 'Which database?' }] } as const;
export const okay = { ok: true, text: 'All done.', fault: null };
export const refused = { ok: false, text: 'API Error: 500', fault: null };
