import type { Client } from '@pawl/protocol/client';
import type { Home } from '@pawl/protocol/node/home';
import type { Definition } from '@pawl/schema/definition';
import { newId } from '@pawl/schema/id';
import type { Agent } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { listProjects } from '@pawl/store/projects/projects';
import { insertRun } from '@pawl/store/sessions/runs';
import { agentClient } from './agent-client.ts';
import { agentRecord } from './records.ts';
import { withStore } from './stores.ts';

/** An agent with its own client. */
export type RestingAgent = Agent & { client: Client };

const definition: Definition = {
  id: 'reader',
  name: 'reader',
  description: '',
  kind: 'main',
  class: 'persistent',
  role: null,
  provider: null,
  model: null,
  mode: null,
  interaction: null,
  tools: [],
  deniedTools: [],
  toolGate: 'hard',
  access: null,
  policy: { allow: [], delegateTargets: [] },
  workGlobs: [],
  lockGlobs: [],
  nudge: null,
  mail: 'pull',
  notify: [],
  hears: [],
  prompt: '',
  sources: [],
};

/** Finished agents that fetch their mail: rows, without a process. */
export async function restingAgents(home: Home, given: Partial<Agent>[]): Promise<RestingAgent[]> {
  const agents = await addRestingAgents(home, given);
  return agents.map((agent) => ({ ...agent, client: agentClient(home, agent.id) }));
}

/** The same, without a running daemon. */
export async function addRestingAgents(
  home: Home,
  given: Partial<Agent>[],
  defined: Partial<Definition> = {},
): Promise<Agent[]> {
  return withStore(home.root, async (store) => {
    const [project] = await listProjects(store.db);
    const root = await store.db
      .selectFrom('agents')
      .select('id')
      .where('parent_id', 'is', null)
      .executeTakeFirstOrThrow();
    const agents = given.map((fields) => anAgent(project?.id ?? null, root.id, fields));
    await store.write(async (tx) => {
      for (const agent of agents) {
        await insertAgent(tx, agent);
        await insertRun(tx, {
          id: newId(),
          projectId: agent.projectId ?? '',
          agentId: agent.id,
          agentKind: agent.kind,
          parentRunId: null,
          task: 'a task',
          definition: { ...definition, ...defined, kind: agent.kind },
          startedAt: tx.now,
          endedAt: tx.now,
          outcome: 'completed',
          detail: null,
          questions: null,
          resultBefore: null,
          waitUntil: null,
          waitFor: null,
          repoPath: null,
          sessionId: 'default',
          cause: null,
        });
      }
    });
    return agents;
  });
}

function anAgent(projectId: string | null, rootId: string, fields: Partial<Agent>): Agent {
  const family = { projectId, parentId: rootId, supervisorId: rootId };
  return agentRecord({ ...family, definition: 'reader', class: 'persistent', createdAt: Date.now(), ...fields });
}
