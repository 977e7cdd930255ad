import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import { nameSchema } from '@pawl/schema/id';
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { usualChoices } from './workshop.ts';

const configSchema = z.strictObject({
  /** The port on 127.0.0.1; 0 takes a free one. */
  port: z.number().int().min(0).max(65_535).default(0),
  /** The provider of work whose definition names none. */
  provider: nameSchema.default(usualChoices.provider),
  /** Whether a person goes on as the child after a fork. */
  switch_on_fork: z.boolean().default(usualChoices.switchOnFork),
  /** Sessions that may run at once; the others wait their turn. */
  max_sessions: z.number().int().min(1).max(10_000).default(usualChoices.maxSessions),
  /** Agents that may be at work at once; the others wait their turn. */
  max_agents: z.number().int().min(1).max(100_000).default(usualChoices.maxAgents),
});
export type Config = z.infer<typeof configSchema>;

/** A config file is small; anything larger, or with many aliases, is not one. */
const configBytes = 256 * 1024;
const aliases = 50;

/** Reads `config.yaml`. A file that is not there means the defaults; one that is wrong is refused with the place. */
export async function readConfig(path: string, environment: NodeJS.ProcessEnv = process.env): Promise<Config> {
  const parsed = configSchema.safeParse(await readFile(path));
  if (!parsed.success) {
    throw new PawlError('invalid_input', `${path} is not right: ${z.prettifyError(parsed.error)}`, {
      hint: 'Correct it, or move it away to use the defaults.',
    });
  }
  const port = environment['PAWL_PORT'];
  if (!port) return parsed.data;
  if (/^\d{1,5}$/.test(port) && Number(port) < 65_536) return { ...parsed.data, port: Number(port) };
  throw new PawlError('invalid_input', `PAWL_PORT is ${JSON.stringify(port)}, which is no port.`, {
    hint: 'Set it to a number from 0 to 65535, or unset it.',
  });
}

async function readFile(path: string): Promise<unknown> {
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
    return value ?? {};
  } catch (error) {
    throw new PawlError('invalid_input', `${path} is not YAML: ${messageOf(error)}`, { cause: error });
  }
}
