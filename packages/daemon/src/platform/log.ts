import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { renameSync, statSync } from 'node:fs';
import type { Logger } from 'pino';
import { pino } from 'pino';

/** The daemon's log, and a way to mask its lines once the secrets of the home are known. */
export type MaskedLog = {
  log: Logger;
  maskWith(mask: (line: string) => string): void;
  /** Starts a new file when this one is too large, and keeps the previous one as `.1`. */
  rotate(): void;
};

/** Opens a log file. A full disk or an unwritable log must not crash the daemon. */
export function openLog(path: string, maxBytes: number = limits.logBytes): MaskedLog {
  const isLarge = () => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes;
  if (isLarge()) renameSync(path, `${path}.1`);
  const sink = pino.destination({ dest: path, sync: true, mode: 0o600 });
  sink.on('error', () => {});
  let mask = (line: string) => line;
  const log = pino({ base: { pid: process.pid }, hooks: { streamWrite: (line) => mask(line) } }, sink);
  return {
    log,
    maskWith: (given) => (mask = given),
    rotate() {
      try {
        if (!isLarge()) return;
        renameSync(path, `${path}.1`);
        sink.reopen();
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'failed to rotate the log');
      }
    },
  };
}
