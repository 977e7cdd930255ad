import type { Check } from '@pawl/schema/change';
import { constants } from 'node:os';
import { checkLimits } from './check-limit.ts';
import type { Ending } from './check-place.ts';

/** The facts of a step when nothing of it runs any more. */
type StepFacts = {
  /** We ended it. */
  ending: Ending | null;
  /** Its exit code; null if none was recorded. */
  exitCode: number | null;
  hasClone: boolean;
  /** Bytes that this and the earlier steps have printed. */
  printedBytes: number;
};

export type Verdict = { outcome: NonNullable<Check['outcome']>; detail: string } | { outcome: null };

/** The consequence of the end of a step; an outcome of null means that the next one runs. */
export function judgeStep(check: Check, facts: StepFacts): Verdict {
  const { ending, exitCode, hasClone, printedBytes } = facts;
  if (ending !== null) return ending;
  if (exitCode === null) return failed(check, 'its process was lost: it is gone and has left no exit code');
  if (exitCode !== 0) return failed(check, exitInWords(exitCode));
  if (!hasClone) return failed(check, 'the clone is gone: the check has deleted it');
  if (check.step < check.steps.length - 1) return { outcome: null };
  // A gate without any output has most likely not run.
  if (printedBytes === 0) return { outcome: 'failed', detail: 'printed nothing' };
  return { outcome: 'passed', detail: 'passed' };
}

/** A failure of a check's current step. */
export function failed({ steps, step }: Pick<Check, 'steps' | 'step'>, reason: string): Ending {
  const name = steps.length > 1 ? `${steps[step]?.name ?? step}: ` : '';
  return { outcome: 'failed', detail: `${name}${reason}`.slice(0, checkLimits.detailCharacters) };
}

function exitInWords(code: number): string {
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  if (signal !== undefined) return `killed by ${signal} (exit code ${code})`;
  if (code === 127) return 'exit code 127: a command was not found';
  if (code === 126) return 'exit code 126: a command could not be run';
  return `exit code ${code}`;
}

export function durationInWords(durationMs: number): string {
  if (durationMs < 1_000) return `${durationMs} ms`;
  if (durationMs < 60_000) return `${Math.round(durationMs / 100) / 10} s`;
  if (durationMs < 60 * 60_000) return `${Math.round(durationMs / 6_000) / 10} min`;
  return `${Math.round(durationMs / 360_000) / 10} h`;
}
