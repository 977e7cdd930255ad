import type { Agent } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { replay } from '@pawl/store/sessions/history';
import { appendMessage, lastMessageId } from '@pawl/store/sessions/messages';
import type { Store } from '@pawl/store/store';
import { agentRecord } from './fixture.ts';

/** More messages than a test writes. */
export const everything = 1_000_000;

/** Adds an agent without a parent. */
export async function addRoot(store: Store): Promise<Agent> {
  const agent = agentRecord();
  await store.write((tx) => insertAgent(tx, agent));
  return agent;
}

/** Adds a child of an agent, forked at its latest own message by default. */
export async function addChild(store: Store, parent: Agent, fields: Partial<Agent> = {}): Promise<Agent> {
  return store.write(async (tx) => {
    const forkMessageId = fields.forkMessageId ?? (await lastMessageId(tx.db, parent.id));
    const child = agentRecord({ parentId: parent.id, supervisorId: parent.id, ...fields, forkMessageId });
    await insertAgent(tx, child);
    return child;
  });
}

/** Adds messages to an agent's own history and returns their ids. */
export async function say(store: Store, agent: Agent, ...contents: string[]): Promise<number[]> {
  return store.write(async (tx) => {
    const ids: number[] = [];
    for (const content of contents) ids.push(await appendMessage(tx, { agentId: agent.id, kind: 'user', content }));
    return ids;
  });
}

/** Adds a `clear` to an agent's own history. */
export async function clear(store: Store, agent: Agent): Promise<number> {
  return store.write((tx) => appendMessage(tx, { agentId: agent.id, kind: 'clear', content: '' }));
}

/** The texts of an agent's history, inherited and own. */
export async function told(store: Store, agent: Agent): Promise<string[]> {
  return (await replay(store.db, agent.id, { limit: everything })).map(({ content }) => content);
}
