import type { Client } from '@pawl/protocol/client';
import type { Home } from '@pawl/protocol/node/home';
import { PawlError } from '@pawl/schema/error';
import { names } from '@pawl/present/amount';
import { withDaemon } from '../daemon/launch.ts';
import { ownAgentId } from './own-agent.ts';

/** The default agent of a command: the caller itself, or the one that the person acts as. */
export async function agentOrCurrent(home: Home, reference: string | undefined): Promise<string> {
  return (await meantAgent(home, reference)).reference;
}

/** The agent, with the name to print for it. */
export async function meantAgent(home: Home, given: string | undefined): Promise<{ reference: string; name: string }> {
  const own = given ?? ownAgentId();
  if (own !== undefined) return { reference: own, name: own };
  return withDaemon(home, async (client) => {
    const { current } = await client.selection();
    if (current.parentId !== null) return { reference: current.id, name: current.alias };
    throw await noAgentMeant(client);
  });
}

/** Agent 0 is the person: it has no conversation, output or budget to show or resume. */
async function noAgentMeant(client: Client): Promise<PawlError> {
  const living = (await client.listAgents({})).agents.map(({ alias }) => alias);
  const which = living.length === 0 ? 'There are none; start one: pawl work "…"' : `Living agents: ${names(living)}.`;
  const next = living.length === 0 ? '' : ' Name one, or switch to it first: pawl switch <agent>';
  return new PawlError('usage', 'No agent given, and you act as agent 0.', { hint: `${which}${next}` });
}

/** Parses `[agent] [text]`: a single word with white space, which no agent's name has, is the text. */
export function agentAndText(words: readonly string[]): { reference: string | undefined; text: string | undefined } {
  const [first, second] = words;
  if (second === undefined && first !== undefined && /\s/.test(first)) return { reference: undefined, text: first };
  return { reference: first, text: second };
}
