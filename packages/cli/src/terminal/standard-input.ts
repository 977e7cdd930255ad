import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';

/** Reads stdin to its end, within the limit of a task. */
export async function readText(): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > limits.taskBytes) {
      throw new PawlError('too_large', `The text has more than ${limits.taskBytes} bytes.`, {
        hint: 'Put the material into a file of the repository and name that file; the limit stands.',
      });
    }
  }
  return Buffer.concat(parts).toString('utf8');
}
