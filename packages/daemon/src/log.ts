import type { Logger } from 'pino';
import { pino } from 'pino';

/** The daemon's log, and the way to mask its lines once the secrets of the home can be told. */
export type MaskedLog = { log: Logger; maskWith(mask: (line: string) => string): void };

/** Opens a log file. A disk that is full, or a log that cannot be written, must not take the daemon with it. */
export function openLog(path: string): MaskedLog {
  const sink = pino.destination({ dest: path, sync: true, mode: 0o600 });
  sink.on('error', () => {});
  let mask = (line: string) => line;
  const log = pino({ base: { pid: process.pid }, hooks: { streamWrite: (line) => mask(line) } }, sink);
  return { log, maskWith: (given) => (mask = given) };
}
