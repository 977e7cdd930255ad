import type { OpenAPIHono } from '@hono/zod-openapi';
import { runRoutes } from '@pawl/protocol/agents/runs/routes';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { projectById } from '@pawl/store/projects/projects';
import { runsOf } from '@pawl/store/sessions/runs';
import { placesOf } from '../platform/places.ts';
import { forkAndExec } from './fork.ts';
import { createRunResults, refuseResult, viewRun } from '../sessions/run-result.ts';
import { projectOf } from '../platform/platform.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Agents } from './agents.ts';
import type { DoorVariables } from '../platform/http/door.ts';

type RunRouteParts = {
  platform: SessionPlatform;
  agents: Agents;
  /** Opens the changes for finished work in a project. */
  openFinished(project: Project): Promise<void>;
};

export function addRunRoutes(app: OpenAPIHono<DoorVariables>, { platform, agents, openFinished }: RunRouteParts): void {
  const { store } = platform;
  const results = createRunResults(platform);

  app.openapi(runRoutes.delegate, async (context) => {
    const { target, ...body } = context.req.valid('json');
    const caller = context.get('caller');
    if (caller.kind === 'person') {
      throw new PawlError('invalid_input', 'Only agents delegate; a person starts work.', {
        hint: `Start it yourself: pawl work "…" --as ${target}; or ask one of your agents to delegate.`,
      });
    }
    const agent = await agentById(store.db, caller.agentId);
    if (agent === null) throw new PawlError('agent_not_found', 'The caller is not in the registry.');
    const { root } = await projectOf(store, agent);
    const given = context.req.valid('header')['idempotency-key'];
    const key = given === undefined ? undefined : `${agent.id}:delegate:${given}`;
    const child = await forkAndExec(
      platform,
      { agent, isPerson: false },
      { ...body, path: root, definition: target },
      key,
    );
    const [run] = await runsOf(store.db, child.id);
    if (run === undefined) throw new PawlError('not_found', `${child.alias} has no run.`);
    return context.json({ agent: await agents.view(child.id), run: viewRun(run, child).run }, 200);
  });
  app.openapi(runRoutes.runResult, async (context) => {
    const { run } = context.req.valid('param');
    const caller = context.get('caller');
    if (caller.kind === 'agent') await refuseResult(platform, caller.agentId, run);
    const { waitMs = 0 } = context.req.valid('query');
    const found = await results.wait(run, waitMs, context.req.raw.signal);
    if (found.run.status === 'completed') await proposeWorkOf(found.agent.id);
    return context.json(found, 200);
  });

  /**
   * Proposes an agent's finished work, so that a caller who waited for the result finds the change. A failure does not
   * affect the result.
   */
  async function proposeWorkOf(agentId: string): Promise<void> {
    try {
      const agent = await agentById(store.db, agentId);
      for (const place of agent === null ? [] : await placesOf(store.db, agent)) {
        const project = await projectById(store.db, place.agent.projectId ?? '');
        if (project !== null) await openFinished(project);
      }
    } catch (error) {
      platform.log.warn({ agent: agentId, error: messageOf(error) }, 'failed to propose finished work');
    }
  }
}
