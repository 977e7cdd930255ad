import { PawlError } from '@pawl/schema/error';
import type { Terminal } from './screen.ts';

/** The longest secret that is read. */
const secretBytes = 64 * 1024;

/** Reads a secret: all of a pipe, or one line typed without echo. */
export async function readSecret(
  question: string,
  input: NodeJS.ReadableStream | Terminal['input'] = process.stdin,
  output: Pick<Terminal['output'], 'write'> = process.stderr,
): Promise<string> {
  const text = isTerminal(input) ? await typed(question, input, output) : await piped(input);
  const secret = text.trim();
  if (secret === '') throw new PawlError('usage', 'There is no secret.', { hint: 'Nothing was given on stdin.' });
  return secret;
}

function isTerminal(input: NodeJS.ReadableStream | Terminal['input']): input is Terminal['input'] {
  return 'isTTY' in input && input.isTTY === true;
}

function piped(input: NodeJS.ReadableStream): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  input.on('data', (part: Buffer | string) => {
    text += String(part);
    if (text.length > secretBytes) reject(tooLong());
  });
  input.on('end', () => resolve(text));
  input.on('error', reject);
  input.resume();
  return promise.finally(() => input.pause());
}

/** Keys in raw mode. */
const keys = { interrupt: '\u0003', end: '\u0004', backspace: '\u0008', deletion: '\u007F' };

async function typed(
  question: string,
  input: Terminal['input'],
  output: Pick<Terminal['output'], 'write'>,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const listen = (part: Buffer | string) => {
    for (const character of String(part)) {
      if (character === '\r' || character === '\n' || character === keys.end) return resolve(text);
      if (character === keys.interrupt) return reject(new PawlError('needs_input', 'Nothing was added.'));
      if (character === keys.backspace || character === keys.deletion) text = text.slice(0, -1);
      else text += character;
      if (text.length > secretBytes) return reject(tooLong());
    }
  };
  output.write(question);
  input.setRawMode?.(true);
  input.on('data', listen);
  input.resume();
  try {
    return await promise;
  } finally {
    input.off('data', listen);
    input.setRawMode?.(false);
    input.pause();
    output.write('\n');
  }
}

function tooLong(): PawlError {
  return new PawlError('too_large', `A secret has at most ${secretBytes} characters.`);
}
