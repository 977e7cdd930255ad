import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { engineCrew } from './engine-crew.ts';
import { fiveTasks } from './five-tasks.ts';
import { colours, demoEnvironment, program, say } from './workplace.ts';

/** Stops the daemon and removes all files in any case. */
function cleanUp(workplace: string): void {
  try {
    execFileSync(program, ['down', '--quiet'], { env: demoEnvironment(workplace), stdio: 'ignore' });
  } catch {
    // The daemon never started, or could not be stopped; the failure is printed below.
  }
  rmSync(workplace, { recursive: true, force: true, maxRetries: 3 });
}

/** The first line of a failure: a command's stderr, if there is some. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const text = said || (error instanceof Error ? error.message : String(error));
  return text.split('\n', 1)[0] ?? '';
}

const { values } = parseArgs({ options: { engine: { type: 'boolean', default: false } } });
const place = mkdtempSync(join(tmpdir(), 'pawl-demo-'));
let failure: string | null = 'it was interrupted';
try {
  failure = await (values.engine ? engineCrew(place) : fiveTasks(place));
} catch (error) {
  failure = reasonOf(error);
} finally {
  cleanUp(place);
}
say();
say(failure === null ? colours.green('demo passed') : colours.red(`demo failed: ${failure}`));
process.exitCode = failure === null ? 0 : 1;
