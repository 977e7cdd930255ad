import { newId } from '@pawl/schema/id';
import { noBudget } from '@pawl/schema/record';
import type { Agent } from '@pawl/schema/record';
import { PawlError } from '@pawl/schema/error';
import { agentById, insertAgent } from '@pawl/store/agents/agents';
import { appendMessage } from '@pawl/store/sessions/messages';
import { getSetting, setSetting } from '@pawl/store/settings';
import type { Store } from '@pawl/store/store';
import type { Database } from '@pawl/store/tables';

const settingKey = 'root_agent';

/** Agent 0: the person and the daemon act as it, and all other agents descend from it. */
export async function rootAgent(db: Database): Promise<Agent> {
  const id = await getSetting(db, settingKey);
  const agent = typeof id === 'string' ? await agentById(db, id) : null;
  if (agent === null) throw new PawlError('internal', 'Agent 0 is missing.');
  return agent;
}

/** Creates agent 0 on the first start; returns its id. */
export async function ensureRootAgent(store: Store): Promise<string> {
  return store.write(async (tx) => {
    const known = await getSetting(tx.db, settingKey);
    if (typeof known === 'string') return known;
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
    await setSetting(tx, settingKey, agent.id);
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
