import { printable } from '@pawl/present/text';
import { errorCodes, messageOf, PawlError } from '@pawl/schema/error';
import { palette } from './terminal/palette.ts';

/** Prints the error and its hint on stderr, and returns the exit code. */
export function reportFailure(error: unknown, json: boolean): number {
  const known = error instanceof PawlError ? error : new PawlError('internal', messageOf(error), { cause: error });
  if (json) {
    const { code, message, hint, details } = known;
    process.stderr.write(`${JSON.stringify({ pawl: 1, kind: 'error', error: { code, message, hint, details } })}\n`);
  } else {
    const colours = palette(process.stderr);
    process.stderr.write(`${colours.red('error:')} ${printable(known.message)}\n`);
    if (known.hint !== undefined) process.stderr.write(`${colours.dim('  →')} ${printable(known.hint)}\n`);
    if (known.code === 'internal' && process.env['PAWL_DEBUG']) {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? '') : ''}\n`);
    }
  }
  return errorCodes[known.code].exit;
}
