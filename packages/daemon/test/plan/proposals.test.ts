import type { PlanItem } from '@pawl/schema/plan/plan';
import { newId } from '@pawl/schema/id';
import { updateTask } from '@pawl/store/projects/tasks';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { mcpOverHttp } from '../support/mcp.ts';
import { storeOf } from '../support/stores.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const start = async () =>
  (await daemon.client.newPlan({ path: daemon.repository, text: 'a wish', name: `plan ${randomUUID()}` })).plan;

/** A step that writes an output file. */
function writes(folder: string, id: string, fields: string, text = 'text') {
  return { write: { path: `.pawl/output/${folder}/${id}.md`, content: `---\nid: ${id}\n${fields}\n---\n${text}\n` } };
}

const done = { complete: { summary: 'planned it' } };

/** Lets an architect work to its end. */
async function architect(plan: { id: string }, mode: 'plan' | 'detail' | 'discuss', steps: unknown[]) {
  const agent = await daemon.work(steps, { task: 'plan it', mode, plan: plan.id, definition: 'architect' });
  await daemon.ended(agent.id);
  return agent;
}

/** The proposals for a plan, decided ones included. */
async function proposalsFor(plan: { id: string }) {
  const { proposals } = await daemon.client.listProposals({ all: true });
  return proposals.filter((each) => each.plan?.id === plan.id);
}

/** A plan with one proposal of two phases in a row. */
async function proposed() {
  const plan = await start();
  const [one, two] = [newId(), newId()];
  const agent = await architect(plan, 'plan', [
    writes('phases', one, 'name: design'),
    writes('phases', two, `name: build\ndependencies: [${one}]`),
    done,
  ]);
  const [proposal] = await proposalsFor(plan);
  if (proposal === undefined) throw new Error('there is no proposal');
  return { plan, one, two, agent, proposal };
}

describe('an architect', () => {
  test('makes a proposal of its output; no phase or task exists before it is accepted [S3-32, planner 1]', async () => {
    const { plan, one, two, agent, proposal } = await proposed();
    expect(proposal).toMatchObject({ state: 'open', mode: 'plan', summary: 'planned it', agent: { id: agent.id } });
    expect(proposal.items.map(({ id, name }: PlanItem) => [id, name])).toEqual([
      [one, 'design'],
      [two, 'build'],
    ]);
    expect((await daemon.client.showPlan(plan.id)).phases).toEqual([]);
    const { problems } = await daemon.client.showProposal(proposal.id.slice(0, 8));
    expect(problems).toEqual([]);
    const accepted = await daemon.client.decideProposal(proposal.id, 'accept');
    expect(accepted.proposal).toMatchObject({ state: 'accepted', decidedBy: 'person' });
    const { phases } = await daemon.client.showPlan(plan.id);
    expect(phases.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
      ['design', []],
      ['build', [one]],
    ]);
    await expect(daemon.client.decideProposal(proposal.id, 'accept')).rejects.toMatchObject({ code: 'conflict' });
    const task = newId();
    await architect(plan, 'detail', [writes('tasks', task, 'name: draw it\nfiles: [a.ts]'), done]);
    const [, tasks] = await proposalsFor(plan);
    expect((await daemon.client.listTasks({ path: daemon.repository })).tasks.map(({ id }) => id)).not.toContain(task);
    await daemon.client.decideProposal(tasks?.id ?? '', 'accept');
    const shown = (await daemon.client.showTask(task)).task;
    // The first phase without tasks was detailed; the plan is not approved, so nothing takes the task.
    expect(shown).toMatchObject({ phase: 'design', phaseId: one, state: 'pending', createdBy: expect.any(String) });
    expect(shown.detail).toContain('its plan is not approved');
    await expect(daemon.work(['complete'], { task: '', planned: task })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('gets its plan as input files [S3-18]', async () => {
    const { plan, proposal, one } = await proposed();
    await daemon.client.decideProposal(proposal.id, 'accept');
    const agent = await daemon.work(['read_inputs', { say: 'standing by' }, 'hang'], {
      task: 'detail it',
      mode: 'detail',
      plan: plan.id,
      definition: 'architect',
    });
    const inputs = await waitUntil(
      async () => {
        const shown = await daemon.client.agentInputs(agent.id).catch(() => null);
        // The manifest is written last.
        return shown?.files.some(({ path }) => path === 'manifest.json') ? shown : null;
      },
      { what: 'the input files' },
    );
    const paths = inputs.files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['initiative.md', 'phase.md', `context/phases/${one}.md`]));
    expect(paths.some((path) => path.startsWith('pages/'))).toBe(true);
    expect(inputs.files.find(({ path }) => path === 'phase.md')?.content).toContain('"design"');
    await daemon.client.killAgent(agent.id, {});
  });

  test('is told once what is wrong with its output, and may correct it', async () => {
    const plan = await start();
    const id = newId();
    const agent = await daemon.work(
      [writes('phases', id, 'name: x\nsize: 3'), done, 'echo_prompt', writes('phases', id, 'name: x'), done],
      { task: 'plan it', mode: 'plan', plan: plan.id, definition: 'architect' },
    );
    await daemon.ended(agent.id);
    expect(await proposalsFor(plan)).toMatchObject([{ state: 'open', complaints: [], items: [{ name: 'x' }] }]);
    const { sessions } = await inspect(agent.id);
    expect(sessions).toBe(2);
  });

  test('that leaves bad output twice, or writes elsewhere, makes a refused proposal that nobody can accept [planner 25]', async () => {
    const plan = await start();
    const id = newId();
    const wrong = [
      { write: { path: 'src.txt', content: 'not mine\n' } },
      { commit: 'feat: not mine' },
      writes('phases', id, 'name: x'),
      done,
    ];
    const agent = await architect(plan, 'plan', [...wrong, done]);
    const [proposal] = await proposalsFor(plan);
    expect(proposal).toMatchObject({ state: 'refused' });
    expect(proposal?.complaints.join(' ')).toContain('planning makes no commits');
    const accepted = daemon.client.decideProposal(proposal?.id ?? '', 'accept');
    await expect(accepted).rejects.toMatchObject({ code: 'conflict' });
    expect((await daemon.client.showPlan(plan.id)).phases).toEqual([]);
    // Its commit never becomes a change.
    const { changes } = await daemon.client.listChanges({ path: daemon.repository, all: true });
    expect(changes.filter(({ author }) => author?.id === agent.id)).toEqual([]);
  });

  test('may not propose a branch, whatever its definition allows [planner 25]', async () => {
    const agent = await daemon.work([{ say: 'standing by' }, 'hang'], { task: 'plan it', mode: 'plan' });
    const opened = agentClient(daemon.home, agent.id).openChange({});
    await expect(opened).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('plans') });
    await daemon.client.killAgent(agent.id, {});
  });

  test('without a plan makes a proposal that starts one', async () => {
    const id = newId();
    const agent = await daemon.work([writes('tasks', id, 'name: count it'), done], { task: 'count', mode: 'detail' });
    await daemon.ended(agent.id);
    const { proposals } = await daemon.client.listProposals({ path: daemon.repository });
    const own = proposals.find((each) => each.agent?.id === agent.id);
    expect(own).toMatchObject({ plan: null, state: 'open' });
    const { proposal } = await daemon.client.decideProposal(own?.id ?? '', 'accept');
    expect(proposal.plan).toMatchObject({ name: 'planned it' });
    expect((await daemon.client.showTask(id)).task).toMatchObject({
      name: 'count it',
      initiativeId: proposal.plan?.id,
    });
  });
});

async function inspect(agentId: string): Promise<{ sessions: number }> {
  const { events } = await daemon.client.events({ limit: 1000, agent: agentId });
  return { sessions: events.filter(({ type }) => type === 'session.planned').length };
}

describe('a proposal', () => {
  test('is accepted in part, if the part is whole', async () => {
    const { plan, one, two, proposal } = await proposed();
    const half = daemon.client.decideProposal(proposal.id, 'accept', { items: [two] });
    await expect(half).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('which is no phase'),
    });
    const nothing = daemon.client.decideProposal(proposal.id, 'accept', { items: ['nothing'] });
    await expect(nothing).rejects.toMatchObject({ code: 'invalid_input' });
    await daemon.client.decideProposal(proposal.id, 'accept', { items: ['design'] });
    expect((await daemon.client.showPlan(plan.id)).phases.map(({ id }) => id)).toEqual([one]);
  });

  test('is dismissed with a reason, and changes nothing', async () => {
    const { plan, proposal } = await proposed();
    const { proposal: after } = await daemon.client.decideProposal(proposal.id, 'dismiss', { reason: 'too large' });
    expect(after).toMatchObject({ state: 'dismissed', dismissReason: 'too large' });
    expect((await daemon.client.showPlan(plan.id)).phases).toEqual([]);
    await expect(daemon.client.decideProposal(proposal.id, 'accept')).rejects.toMatchObject({ code: 'conflict' });
  });

  test('is reverted to the exact plan before, and not if a touched task has started [planner 3]', async () => {
    const { plan, one, proposal } = await proposed();
    const before = await daemon.client.showPlan(plan.id);
    await daemon.client.decideProposal(proposal.id, 'accept');
    await daemon.client.decideProposal(proposal.id, 'revert');
    expect(await daemon.client.showPlan(plan.id)).toEqual(before);
    await expect(daemon.client.decideProposal(proposal.id, 'revert')).rejects.toMatchObject({ code: 'conflict' });

    const again = await proposed();
    await daemon.client.decideProposal(again.proposal.id, 'accept');
    const task = newId();
    await architect(again.plan, 'detail', [writes('tasks', task, 'name: draw it'), done]);
    const tasks = (await proposalsFor(again.plan)).at(-1);
    await daemon.client.decideProposal(tasks?.id ?? '', 'accept');
    // What came later needs these phases.
    await expect(daemon.client.decideProposal(again.proposal.id, 'revert')).rejects.toMatchObject({
      message: expect.stringContaining('would lose its phase'),
    });
    await storeOf(daemon.home.root).write((tx) => updateTask(tx, task, { crashes: 1 }));
    await expect(daemon.client.decideProposal(tasks?.id ?? '', 'revert')).rejects.toMatchObject({
      message: expect.stringContaining('has started'),
    });
    expect(one).not.toBe(again.one);
  });

  test('is decided by people and definitions with Finalize, and never by its own agent', async () => {
    const { proposal } = await proposed();
    const worker = agentClient(daemon.home, (await daemon.rested()).id);
    await expect(worker.decideProposal(proposal.id, 'accept')).rejects.toMatchObject({ code: 'forbidden' });
    expect((await worker.showProposal(proposal.id)).proposal.id).toBe(proposal.id);
    daemon.define('decider', { kind: 'main', tools: ['*'], policy: ['Finalize'] });
    const decider = await daemon.work([{ say: 'standing by' }, 'hang'], { definition: 'decider' });
    await using mcp = await mcpOverHttp(daemon, decider.id);
    const listed = (await mcp.call('proposal_list', {})) as { proposals: { id: string }[] };
    expect(listed.proposals.map(({ id }) => id)).toContain(proposal.id);
    expect(await mcp.call('proposal_accept', { proposal: proposal.id, items: ['design'] })).toMatchObject({
      proposal: { id: proposal.id, state: 'accepted' },
    });
    expect((await daemon.client.showProposal(proposal.id)).proposal.decidedBy).toBe(decider.alias);
    const other = (await proposed()).proposal;
    expect(await mcp.call('proposal_dismiss', { proposal: other.id, reason: 'no' })).toMatchObject({
      proposal: { state: 'dismissed' },
    });
    await daemon.client.killAgent(decider.id, {});
  });
});
