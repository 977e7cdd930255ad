import { findMark, remembered, summaryStart } from '@pawl/core/agents/history';
import type { HistoryPage } from '@pawl/protocol/agents/history/view';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { countHistory, hasSummary, replay, wholeHistory } from '@pawl/store/sessions/history';
import { appendMessage } from '@pawl/store/sessions/messages';
import type { Store } from '@pawl/store/store';
import type { WriteTransaction } from '@pawl/store/write-transaction';

/** A page of an agent's history: inherited messages first, then its own. */
export async function historyPage(
  store: Store,
  agentId: string,
  query: { after?: number | undefined; limit?: number | undefined; all?: boolean },
): Promise<HistoryPage> {
  const limit = Math.min(query.limit ?? limits.pageRows, limits.pageRows);
  const { all: whole = false } = query;
  const start = whole ? 0 : await summarisedUntil(store, agentId);
  const afterId = Math.max(query.after ?? 0, start);
  const messages = await replay(store.db, agentId, { afterId, limit: limit + 1, whole });
  const forgotten = whole ? await forgottenIn(store, agentId) : null;
  const agent = await agentById(store.db, agentId);
  if (agent === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
  return {
    agentId,
    alias: agent.alias,
    assignment: agent.assignment,
    ...(await countHistory(store.db, agentId)),
    messages: messages.slice(0, limit).map((message) => ({
      ...message,
      inherited: message.agentId !== agentId,
      ...(forgotten === null ? {} : { forgotten: forgotten(message.id) }),
    })),
    more: messages.length > limit,
  };
}

/** The id of the last message that an agent's last summary covers; 0 without a summary. */
async function summarisedUntil(store: Store, agentId: string): Promise<number> {
  if (!(await hasSummary(store.db, agentId))) return 0;
  const kept = remembered(await wholeHistory(store.db, agentId));
  const summary = kept[summaryStart(kept)];
  return summary?.kind === 'summary' ? summary.id - 1 : 0;
}

type Forgotten = HistoryPage['messages'][number]['forgotten'];

/** Marks each message that is still in the agent's context. */
async function forgottenIn(store: Store, agentId: string): Promise<(id: number) => Forgotten> {
  const visible = await wholeHistory(store.db, agentId);
  const seen = new Set(visible.map(({ id }) => id));
  const kept = remembered(visible);
  const start = summaryStart(kept);
  const why = new Map(kept.map(({ id }, index) => [id, index < start ? ('summarised' as const) : null]));
  return (id) => (why.has(id) ? (why.get(id) ?? null) : seen.has(id) ? 'rewound' : 'cleared');
}

/** Makes the agent, and its later children, forget everything so far. */
export function clearHistory(store: Store, agentId: string): Promise<number> {
  return store.write(async (tx) => {
    const agent = await restingAgent(tx, agentId);
    const messageId = await appendMessage(tx, { agentId, kind: 'clear', content: '' });
    tx.emit({ type: 'history.cleared', projectId: agent.projectId, agentId, data: { messageId } });
    return messageId;
  });
}

/** Sets a mark to rewind to. Agents may do so while they work. */
export function markHistory(store: Store, agentId: string, label: string): Promise<number> {
  return store.write(async (tx) => {
    const agent = await livingAgent(tx, agentId);
    const messageId = await appendMessage(tx, { agentId, kind: 'mark', content: label });
    tx.emit({ type: 'history.marked', projectId: agent.projectId, agentId, data: { messageId, label } });
    return messageId;
  });
}

/** Rewinds to a mark: later messages stay on record but are not remembered. */
export function rewindHistory(store: Store, agentId: string, label: string | null): Promise<number> {
  return store.write(async (tx) => {
    const agent = await restingAgent(tx, agentId);
    const { id: to } = findMark(await wholeHistory(tx.db, agentId), label);
    const messageId = await appendMessage(tx, { agentId, kind: 'rewind', content: label ?? '', data: { to } });
    tx.emit({ type: 'history.rewound', projectId: agent.projectId, agentId, data: { messageId, to } });
    return messageId;
  });
}

/** Requires an agent whose history may be cut: no process continues the old one, and none will. */
async function restingAgent(tx: WriteTransaction, agentId: string): Promise<Agent> {
  const agent = await livingAgent(tx, agentId);
  const { run = null, session = null } = (await agentView(tx.db, agentId)) ?? {};
  if (run?.outcome === null || session?.endedAt === null) {
    throw new PawlError('busy', `${agent.alias} is working; its history cannot be cut now.`, {
      hint: `Stop it first: pawl stop ${agent.alias}`,
    });
  }
  await updateAgent(tx, agentId, { freshAfter: session?.no ?? 0, forkedConversation: null });
  return agent;
}

async function livingAgent(tx: WriteTransaction, agentId: string): Promise<Agent> {
  const agent = (await agentView(tx.db, agentId))?.agent ?? null;
  if (agent === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
  if (agent.endedAt === null) return agent;
  throw new PawlError('conflict', `The agent ${agent.alias} is dead; its history stays as it is.`);
}
