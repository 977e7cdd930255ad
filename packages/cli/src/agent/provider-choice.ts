import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../context.ts';
import { withDaemon } from '../daemon/launch.ts';
import type { Person } from './person.ts';
import { agrees, atTerminal } from './person.ts';

type Send<T> = (provider: string | undefined) => Promise<T>;

/**
 * Sends a request for a new agent. If several coding agents are installed and none is chosen, asks the person at the
 * terminal for one, and whether to keep it for the project; without a terminal, the error stands.
 */
export async function withProvider<T>(
  context: CommandContext,
  given: { provider: string | undefined; path: string | undefined },
  send: Send<T>,
  person: Person = atTerminal(),
): Promise<T> {
  try {
    return await send(given.provider);
  } catch (error) {
    const names = installedIn(error);
    if (names.length < 2 || !person.present || context.json || context.quiet) throw error;
    const provider = pick(names, await person.ask(`Which coding agent? ${listed(names)}: `));
    if (provider === null) throw error;
    const answer = await send(provider);
    const { path } = given;
    if (path !== undefined && agrees(await person.ask(`Use ${provider} for all new agents of this project? [y/N] `)))
      await withDaemon(context.home, (client) => client.changeProjectSettings({ path, provider }));
    return answer;
  }
}

function listed(names: readonly string[]): string {
  return names.map((name, index) => `${index + 1} ${name}`).join(', ');
}

/** The typed name, or the one with the typed number. */
function pick(names: readonly string[], answer: string): string | null {
  const word = answer.trim();
  return names.find((name, index) => word === name || word === String(index + 1)) ?? null;
}

function installedIn(error: unknown): string[] {
  if (!(error instanceof PawlError) || error.code !== 'no_provider') return [];
  const { installed } = error.details;
  return Array.isArray(installed) ? installed.filter((name) => typeof name === 'string') : [];
}
