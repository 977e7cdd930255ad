import { errorCodes, messageOf, PawlError } from '@pawl/schema/error';
import { parseArguments, usageText } from './arguments.ts';
import { report } from './output.ts';
import { runSession } from './session.ts';

/** Runs the bridge and returns its exit code; the caller must exit with it, because stdin may still be open. */
export async function main(argv: string[]): Promise<number> {
  try {
    const options = parseArguments(argv);
    if (options !== null) return await runSession(options);
    process.stdout.write(usageText);
    return 0;
  } catch (error) {
    report(messageOf(error));
    if (!(error instanceof PawlError)) throw error;
    if (error.hint !== undefined) report(error.hint);
    return errorCodes[error.code].exit;
  }
}
