import { spawnSync } from 'node:child_process';
import { hasErrno } from '@pawl/schema/error';
import { cannotTell } from './process-view.ts';
import { rosterLimits } from './roster-limit.ts';

/**
 * Runs a short command in a fixed locale and time zone. Throws if it cannot run, since that says nothing about others.
 */
export function printed(program: string, words: readonly string[]): { status: number; stdout: string } {
  const { error, status, stdout } = spawnSync(program, words, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC0' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: rosterLimits.commandMs,
    maxBuffer: rosterLimits.commandBytes,
  });
  if (error !== undefined || status === null) {
    const reason = hasErrno(error, 'ENOENT') ? 'does not exist' : 'did not run';
    throw cannotTell(`${program} ${reason}`, error);
  }
  return { status, stdout };
}
