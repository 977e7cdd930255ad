import { findSession } from '@pawl/host/session/find-session';
import type { ProcessIdentity } from '@pawl/host/process/identity';
import { isAlive } from '@pawl/host/process/identity';
import { exists, sessionFile } from '@pawl/host/session/session-files';
import { startSession } from '@pawl/host/session/start-session';
import { stopSession } from '@pawl/host/session/stop-session';
import { watchFiles } from '@pawl/host/output/watch';
import type { Check } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { CheckBench } from './check-bench.ts';
import { LeftToNext, note } from './check-bench.ts';
import { stepLaunch } from './check-launch.ts';
import { checkLimits } from './check-limit.ts';
import type { CheckOutput } from './check-output.ts';
import { outputSize } from './check-output.ts';
import type { Ending } from './check-place.ts';
import { durationInWords, failed } from './check-verdict.ts';

/**
 * Starts the process of the step that a check is at, or finds the one that an earlier daemon has started; then it is on
 * record. Once a process is on record, no other is ever started for that step.
 */
export async function beginStep(bench: CheckBench, check: Check): Promise<Check> {
  if (check.pid !== null) return check;
  const { identity } = await findSession(bench.place.step(check.step));
  const started = identity ?? (await startStep(bench, check));
  crashPoint('check.after_process');
  return note(bench, check, () => ({ pid: started.pid, processStart: started.start }));
}

async function startStep(bench: CheckBench, check: Check): Promise<ProcessIdentity> {
  const { platform, place } = bench;
  const dir = place.step(check.step);
  // An earlier daemon may have begun just this, and been killed: its shim claims the directory, or ends here.
  if (exists(dir)) await stopSession(platform.host, { identity: null, dir, marker: check.id, graceMs: 0 });
  return startSession(platform.host, {
    dir,
    launch: stepLaunch(bench, check),
    marker: check.id,
    prompt: '',
    stdin: 'file',
  });
}

/**
 * Waits until a step has left, storing what it prints. Returns why it has to be ended when it does not leave by itself:
 * it takes too long, prints too much, or nobody needs it any more. The time goes by a clock that nobody can set.
 */
export async function watchStep(bench: CheckBench, check: Check, output: CheckOutput): Promise<Ending | null> {
  const { platform, bounds, place, bell } = bench;
  const dir = place.step(check.step);
  const { timeoutMs } = check.steps[check.step] ?? { timeoutMs: 0 };
  const ranMs = Math.max(0, platform.clock() - (check.stepStartedAt ?? platform.clock()));
  const dueMs = performance.now() + Math.max(0, timeoutMs - ranMs);
  let storeMs = 0;
  let aliveMs = 0;
  const watch = watchFiles({ onWake: bell.ring, pollMs: bounds.pollMs });
  watch.add(dir, ['exit']);
  try {
    for (;;) {
      if (bench.isClosed()) throw new LeftToNext();
      if (bench.ending !== null) return bench.ending;
      if (exists(sessionFile(dir, 'exit'))) return null;
      const now = performance.now();
      if (now >= aliveMs && !isRunning(check)) return null;
      if (now >= aliveMs) aliveMs = now + bounds.livenessMs;
      if (now >= dueMs) return failed(check, `ended after ${durationInWords(timeoutMs)}`);
      if (printedBytes(bench, check) > bounds.printBytes) return failed(check, loudly(bounds.printBytes));
      if (now >= storeMs) {
        await storeQuietly(bench, output);
        storeMs = performance.now() + bounds.pollMs;
      }
      await bell.wait(Math.min(bounds.pollMs, Math.max(1, dueMs - performance.now())));
    }
  } finally {
    watch.close();
  }
}

function loudly(printBytes: number): string {
  return `ended: it printed more than ${Math.round(printBytes / (1024 * 1024))} MB`;
}

/** The process on record lives. Its end is looked for first, so that one that left in between is not taken for lost. */
function isRunning({ pid, processStart }: Check): boolean {
  return pid !== null && processStart !== null && isAlive({ pid, start: processStart });
}

/** What all steps have printed so far. */
export function printedBytes({ place }: CheckBench, { step }: Check): number {
  let sum = 0;
  for (let no = 0; no <= step; no += 1) sum += outputSize(place.step(no));
  return sum;
}

/** A store that has no room does not keep a step from being ended in time; what was printed is stored later. */
async function storeQuietly({ platform }: CheckBench, output: CheckOutput): Promise<void> {
  try {
    await output.takeIn({ final: false });
  } catch (error) {
    if (!isPassing(error)) throw error;
    platform.log.warn({ error: messageOf(error) }, 'output of a check could not be stored; it is tried again');
  }
}

/** Ends every process of a step, whatever it has forked; what remains after the grace is killed. */
export async function endStep(bench: CheckBench, check: Check, graceMs: number): Promise<void> {
  const { pid, processStart } = check;
  const identity = pid === null || processStart === null ? null : { pid, start: processStart };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await stopSession(bench.platform.host, {
        identity,
        dir: bench.place.step(check.step),
        marker: check.id,
        graceMs,
      });
      return;
    } catch (error) {
      if (attempt >= checkLimits.stopAttempts || bench.isClosed()) throw error;
      bench.platform.log.warn({ check: check.id, error: messageOf(error) }, 'processes of a check do not leave');
    }
  }
}
