import { newId } from '@pawl/schema/id';
import { noBudget } from '@pawl/schema/record';
import type { Agent } from '@pawl/schema/record';
import { PawlError } from '@pawl/schema/error';
import { agentById, insertAgent } from '@pawl/store/agents/agents';
import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import { appendMessage } from '@pawl/store/sessions/messages';
import type { Store } from '@pawl/store/store';
import type { Database } from '@pawl/store/tables';

/** Agent 0: the person and the daemon act as it, and all other agents descend from it. */
export async function rootAgent(db: Database): Promise<Agent> {
  const { rootAgentId } = await daemonState(db);
  const agent = rootAgentId === null ? null : await agentById(db, rootAgentId);
  if (agent === null) throw new PawlError('internal', 'Agent 0 is missing.');
  return agent;
}

/** Creates agent 0 on the first start; returns its id. */
export async function ensureRootAgent(store: Store): Promise<string> {
  return store.write(async (tx) => {
    const { rootAgentId } = await daemonState(tx.db);
    if (rootAgentId !== null) return rootAgentId;
    const agent: Agent = {
      id: newId(),
      alias: 'root',
      projectId: null,
      parentId: null,
      supervisorId: null,
      forkMessageId: 0,
      forkedConversation: null,
      snapshot: null,
      freshAfter: 0,
      definition: 'root',
      kind: 'main',
      class: 'persistent',
      provider: null,
      model: null,
      options: {},
      mode: 'execute',
      accountId: null,
      environment: {},
      budget: noBudget,
      access: 'full',
      accessNeeds: null,
      keyProxy: null,
      taskId: null,
      assignment: null,
      branch: null,
      baseCommit: null,
      worktree: null,
      workdir: null,
      worktreeReadyAt: null,
      worktreeEnd: null,
      createdAt: tx.now,
      stopRequestedAt: null,
      completion: null,
      adopted: null,
      stuckAt: null,
      stuckReason: null,
      endedAt: null,
      endReason: null,
      reapedAt: null,
    };
    await insertAgent(tx, agent);
    await appendMessage(tx, { agentId: agent.id, kind: 'clear', content: '' });
    await updateDaemonState(tx, { rootAgentId: agent.id });
    tx.emit({
      type: 'agent.forked',
      agentId: agent.id,
      data: {
        alias: agent.alias,
        parentId: null,
        definition: agent.definition,
        provider: null,
        branch: null,
        forkMessageId: 0,
      },
    });
    return agent.id;
  });
}
