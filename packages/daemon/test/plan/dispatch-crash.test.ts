import { waitUntil } from '@pawl/testing/wait-until';
import { newId } from '@pawl/schema/id';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { crashLife } from '../support/crash-life.ts';
import { runEnded, writeScenario } from '../support/daemon.ts';

test(
  'a kill -9 while a plan is approved, launched or dispatched loses nothing and starts nothing twice [planner 2, 8, 15]',
  { timeout: 300_000 },
  async () => {
    await using life = await crashLife();
    let { client } = await life.armed('approve.after_version');
    const ids = [newId(), newId(), newId()];
    const steps = ids.map((id) => ({
      write: { path: `.pawl/output/tasks/${id}.md`, content: `---\nid: ${id}\nname: task ${id}\n---\ntext\n` },
    }));
    const scenario = await writeScenario(life.path, [...steps, { complete: { summary: 'three tasks' } }]);
    const body = { path: life.repository, task: 'plan', mode: 'detail' as const, provider: 'scripted' };
    const { agent } = await client.work({ ...body, options: { scenario } }, randomUUID());
    await runEnded(client, agent.id);
    const [proposal] = (await client.listProposals()).proposals;
    const accepted = await client.decideProposal(proposal?.id ?? '', 'accept');
    const plan = accepted.proposal.plan?.id ?? '';
    await client.editPlan(plan, { mode: 'auto' });

    await expect(client.changePlan(plan, 'approve', { acceptWarnings: true })).rejects.toThrow();
    ({ client } = await life.next());
    expect((await client.showPlan(plan)).plan).toMatchObject({ state: 'planned', approvedVersion: null });
    await client.changePlan(plan, 'approve', { acceptWarnings: true });

    ({ client } = await life.armed('launch.after_record'));
    const options = { scenario: await writeScenario(life.path, ['complete']) };
    const launch = { provider: 'scripted', options, agents: 1 };
    await client.changePlan(plan, 'launch', launch).catch(() => undefined);
    ({ client } = await life.next());
    // It was launched; the next daemon dispatches it, and is killed after its first start.
    ({ client } = await life.armed('dispatch.after_start'));
    await client.changePlan(plan, 'pause').catch(() => undefined);
    await client.changePlan(plan, 'resume').catch(() => undefined);
    ({ client } = await life.next());
    await waitUntil(async () => (await client.showPlan(plan)).plan.state === 'completed', { what: 'the plan to end' });
    const { events } = await client.events({ limit: 1000 });
    const taken = events.filter(({ type }) => type === 'task.taken').map(({ data }) => String(data['taskId']));
    expect(taken.toSorted()).toEqual(ids.toSorted());
  },
);
