import { PawlError } from '@pawl/schema/error';
import type * as z from 'zod';
import type { Gh } from './gh.ts';
import { ghFailed } from './gh-failure.ts';

/** Runs a command that must succeed, and returns its output. */
export async function say(gh: Gh, words: readonly string[], input?: string): Promise<string> {
  const output = await gh(words, input);
  if (output.exitCode !== 0) throw ghFailed(words, output);
  return output.stdout;
}

/** Runs a command that must succeed and print JSON of this shape. */
export async function ask<Schema extends z.ZodType>(
  gh: Gh,
  words: readonly string[],
  schema: Schema,
): Promise<z.infer<Schema>> {
  const text = await say(gh, words);
  const parsed = schema.safeParse(readJson(text));
  if (parsed.success) return parsed.data;
  throw new PawlError('unavailable', `The answer of \`gh ${words.slice(0, 2).join(' ')}\` cannot be read.`, {
    hint: 'Install gh 2.23 or newer from https://cli.github.com.',
    cause: parsed.error,
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
