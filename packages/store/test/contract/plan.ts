import { newId } from '@pawl/schema/id';
import type { Decision, Initiative, Page, Phase, Proposal } from '@pawl/schema/plan/plan';
import { noBudget } from '@pawl/schema/record';
import {
  findInitiatives,
  initiativeById,
  insertInitiative,
  insertPlanVersion,
  listInitiatives,
  planVersion,
  updateInitiative,
} from '@pawl/store/plan/initiatives';
import { insertAgent } from '@pawl/store/agents/agents';
import { deletePlanRecord, planContent, putDecision, putPage, putPhase } from '@pawl/store/plan/plan-records';
import {
  agentsOfPlan,
  findProposals,
  insertPlanAgent,
  insertProposal,
  listProposals,
  planAgentOf,
  proposalById,
  updateProposal,
} from '@pawl/store/plan/proposals';
import { deleteTask, insertTask, taskById, tasksOfInitiative } from '@pawl/store/projects/tasks';
import { expect, test } from 'vitest';
import { addTeam, agentRecord, fixedTime } from '../fixture.ts';
import { openFresh } from './engines.ts';
import { taskRecord } from './tasks.ts';
import type { EngineUnderTest } from './engines.ts';

const hostile = 'a\0b \ud800 \u202e 😀 \r\n';

function initiativeRecord(projectId: string, fields: Partial<Initiative> = {}): Initiative {
  return {
    id: newId(),
    projectId,
    name: 'cancel orders',
    mode: 'review',
    budget: noBudget,
    createdBy: null,
    createdAt: fixedTime,
    approvedVersion: null,
    approvedAt: null,
    launch: null,
    launchedAt: null,
    pausedAt: null,
    archivedAt: null,
    branch: null,
    ...fields,
  };
}

/** The contract of plans, on every engine. */
export function planContract(engine: EngineUnderTest): void {
  test('an initiative round-trips with any text, changes, and is found by id, start of it, or name', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const first = initiativeRecord(project.id, { name: hostile, budget: { ...noBudget, usd: 2.5 } });
    const second = initiativeRecord(project.id);
    await store.write(async (tx) => {
      await insertInitiative(tx, first);
      await insertInitiative(tx, second);
    });
    expect(await initiativeById(store.db, first.id)).toEqual(first);
    expect(await findInitiatives(store.db, hostile)).toEqual([first]);
    expect(await findInitiatives(store.db, second.id.slice(0, 8), project.id)).toEqual([second]);
    expect(await findInitiatives(store.db, second.id, newId())).toEqual([]);
    const launch = {
      definition: null,
      provider: 'scripted',
      model: null,
      options: { a: 'b' },
      accountId: null,
      environment: { A_URL: 'x' },
      agents: 2,
    };
    const patch = { approvedVersion: 1, approvedAt: 3, launch, launchedAt: 4, archivedAt: 5 };
    await store.write((tx) => updateInitiative(tx, first.id, patch));
    expect(await initiativeById(store.db, first.id)).toEqual({ ...first, ...patch });
    expect(await listInitiatives(store.db, { projectId: project.id })).toEqual([second]);
    expect(await listInitiatives(store.db, { includeArchived: true })).toEqual([{ ...first, ...patch }, second]);
    await expect(store.write((tx) => updateInitiative(tx, newId(), patch))).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('the content of a plan round-trips, is replaced by id, and removed', async () => {
    const store = await openFresh(engine);
    const { project } = await addTeam(store);
    const { id: initiativeId } = initiativeRecord(project.id);
    const page: Page = { id: newId(), initiativeId, parentId: null, title: hostile, text: hostile };
    const decision: Decision = { id: newId(), initiativeId, topic: 'store', decision: hostile, text: 'why' };
    const phase: Phase = {
      id: newId(),
      initiativeId,
      name: 'one',
      text: '',
      files: ['src/**'],
      dependsOn: [newId()],
      isIntegration: true,
      approvedAt: null,
      reviewed: [{ taskId: newId(), from: 'a', to: 'b' }],
    };
    const task = taskRecord(project.id, {
      phase: 'one',
      initiativeId,
      phaseId: phase.id,
      priority: 'high',
      files: ['a.ts'],
      ifFailed: [newId()],
      foundWhile: newId(),
      failedAt: 4,
      cancelledAt: 5,
    });
    await store.write(async (tx) => {
      await putPage(tx, page);
      await putDecision(tx, decision);
      await putPhase(tx, { ...phase, name: 'earlier' });
      await putPhase(tx, phase);
      await insertTask(tx, task);
    });
    const whole = { pages: [page], decisions: [decision], phases: [phase], tasks: [task] };
    expect(await planContent(store.db, initiativeId)).toEqual(whole);
    expect(await planContent(store.db, newId())).toEqual({ pages: [], decisions: [], phases: [], tasks: [] });
    await store.write(async (tx) => {
      await deletePlanRecord(tx, 'pages', page.id);
      await deleteTask(tx, task.id);
    });
    expect(await planContent(store.db, initiativeId)).toEqual({ ...whole, pages: [], tasks: [] });
    expect(await taskById(store.db, task.id)).toBeNull();
    expect(await tasksOfInitiative(store.db, initiativeId)).toEqual([]);
  });

  test('the newest version of a plan is found, and each by its number', async () => {
    const store = await openFresh(engine);
    const initiativeId = newId();
    const versions = [1, 2, 10].map((number) => ({
      initiativeId,
      number,
      hash: `h${number}`,
      taskIds: [newId()],
      createdAt: fixedTime,
      createdBy: 'person',
    }));
    await store.write(async (tx) => {
      for (const version of versions) await insertPlanVersion(tx, version);
    });
    expect(await planVersion(store.db, initiativeId)).toEqual(versions[2]);
    expect(await planVersion(store.db, initiativeId, 2)).toEqual(versions[1]);
    expect(await planVersion(store.db, newId())).toBeNull();
  });

  test('a proposal round-trips, and is listed while it waits for a decision', async () => {
    const store = await openFresh(engine);
    const { project, agent } = await addTeam(store);
    const proposal: Proposal = {
      id: newId(),
      projectId: project.id,
      initiativeId: null,
      agentId: agent.id,
      mode: 'plan',
      summary: hostile,
      items: [
        {
          kind: 'phase',
          action: 'create',
          id: newId(),
          name: 'one',
          text: hostile,
          decision: '',
          parentId: null,
          dependsOn: [],
          ifFailed: [],
          files: [],
          priority: 'medium',
          isIntegration: false,
        },
      ],
      complaints: [],
      createdAt: fixedTime,
      acceptedAt: null,
      undo: null,
      dismissedAt: null,
      dismissReason: null,
      revertedAt: null,
      decidedBy: null,
    };
    await store.write((tx) => insertProposal(tx, proposal));
    expect(await proposalById(store.db, proposal.id)).toEqual(proposal);
    expect(await findProposals(store.db, proposal.id.slice(0, 8))).toEqual([proposal]);
    expect(await listProposals(store.db, { open: true, agentId: agent.id })).toEqual([proposal]);
    const patch = {
      initiativeId: newId(),
      acceptedAt: 4,
      undo: [{ kind: 'phase' as const, id: newId(), before: null, after: { name: 'one' } }],
      decidedBy: 'person',
    };
    await store.write((tx) => updateProposal(tx, proposal.id, patch));
    const accepted = { ...proposal, ...patch };
    expect(await listProposals(store.db, { open: true })).toEqual([]);
    expect(await listProposals(store.db, { initiativeId: patch.initiativeId, projectId: project.id })).toEqual([
      accepted,
    ]);
    const planAgent = { agentId: agent.id, initiativeId: patch.initiativeId, phaseId: null };
    await store.write((tx) => insertPlanAgent(tx, planAgent));
    expect(await planAgentOf(store.db, agent.id)).toEqual(planAgent);
    expect(await planAgentOf(store.db, newId())).toBeNull();
    expect(await agentsOfPlan(store.db, patch.initiativeId)).toEqual([{ id: agent.id, taskId: null }]);
    const task = taskRecord(project.id, { initiativeId: patch.initiativeId });
    await store.write((tx) => insertTask(tx, task));
    const worker = agentRecord({ projectId: project.id, taskId: task.id });
    await store.write((tx) => insertAgent(tx, worker));
    const found = await agentsOfPlan(store.db, patch.initiativeId);
    expect(found).toHaveLength(2);
    expect(found).toEqual(
      expect.arrayContaining([
        { id: agent.id, taskId: null },
        { id: worker.id, taskId: worker.taskId },
      ]),
    );
    expect(await agentsOfPlan(store.db, newId())).toEqual([]);
  });
}
