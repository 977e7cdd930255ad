import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import { readFileSync } from 'node:fs';
import * as z from 'zod';

const configSchema = z.strictObject({
  /** The port on 127.0.0.1; 0 takes a free one. */
  port: z.number().int().min(0).max(65_535).default(0),
});
export type Config = z.infer<typeof configSchema>;

/** A config file is small; anything larger, or with many aliases, is not one. */
const configBytes = 256 * 1024;
const aliases = 50;

/** Reads `config.yaml`. A file that is not there means the defaults; one that is wrong is refused with the place. */
export async function readConfig(path: string, environment: NodeJS.ProcessEnv = process.env): Promise<Config> {
  const file = await readFile(path);
  const port = environment['PAWL_PORT'];
  const parsed = configSchema.safeParse({ ...file, ...(port ? { port: Number(port) } : {}) });
  if (parsed.success) return parsed.data;
  throw new PawlError('invalid_input', `${path} is not right: ${z.prettifyError(parsed.error)}`, {
    hint: 'Correct it, or move it away to use the defaults.',
  });
}

async function readFile(path: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return {};
    throw error;
  }
  if (text.length > configBytes)
    throw new PawlError('invalid_input', `${path} has more than ${configBytes} characters.`);
  // Few homes have a config file; the others need not carry the parser.
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(text, { maxAliasCount: aliases });
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch (error) {
    throw new PawlError('invalid_input', `${path} is not YAML: ${messageOf(error)}`, { cause: error });
  }
}
