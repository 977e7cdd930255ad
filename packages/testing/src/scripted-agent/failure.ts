import { errorCodes, messageOf, PawlError } from '@pawl/schema/error';

/** The message of a failure, and the exit code: 2 for a bad command line or scenario, 1 for everything else. */
export function describeFailure(error: unknown): { text: string; code: number } {
  if (!(error instanceof PawlError)) return { text: messageOf(error), code: 1 };
  const text =
    error.hint === undefined
      ? error.message
      : `${error.message}${error.message.includes('\n') ? '\n' : ' '}${error.hint}`;
  return { text, code: errorCodes[error.code].exit === 2 ? 2 : 1 };
}
