import type { Json } from './json.ts';
import { textOf } from './json.ts';

type Call = { name: string; input: Json };

const pollMs = 60_000;

/** True for a call that only waits: it belongs to the step before it. */
export function isPoll({ name, input }: Call): boolean {
  return (name === 'write_stdin' && textOf(input['chars']) === '') || (name === 'wait' && 'cell_id' in input);
}

/** The call that continues to wait for a command or script, or null if that has ended. */
export function pollFor(result: string): Call | null {
  // The command's own output follows these lines, and may say anything.
  const report = result.split(/^Output:/m)[0] ?? '';
  const session = /^Process running with session ID (\d{1,9})$/m.exec(report)?.[1];
  if (session !== undefined) {
    return { name: 'write_stdin', input: { session_id: Number(session), yield_time_ms: pollMs } };
  }
  const cell = /^Script running with cell ID ([\w-]{1,80})/m.exec(report)?.[1];
  return cell === undefined ? null : { name: 'wait', input: { cell_id: cell, yield_time_ms: pollMs } };
}
