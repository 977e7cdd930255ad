import type { Client } from '@pawl/protocol/client';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { newId } from '@pawl/schema/id';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { CrashLife } from '../support/crash-life.ts';
import { crashLife } from '../support/crash-life.ts';
import { runEnded, writeScenario } from '../support/daemon.ts';

const acceptPoints: CrashPoint[] = ['plan.after_initiative', 'plan.after_record', 'plan.before_commit'];

/** Lets an architect without a plan propose two phases; returns the proposal. */
async function propose(life: CrashLife, client: Client): Promise<string> {
  const [one, two] = [newId(), newId()];
  const file = (id: string, fields: string) => ({
    write: { path: `.pawl/output/phases/${id}.md`, content: `---\nid: ${id}\n${fields}\n---\ntext\n` },
  });
  const steps = [
    file(one, 'name: design'),
    file(two, `name: build\ndependencies: [${one}]`),
    { complete: { summary: `plan ${one}` } },
  ];
  const options = { scenario: await writeScenario(life.path, steps) };
  const body = { path: life.repository, task: 'plan it', mode: 'plan' as const, provider: 'scripted', options };
  const { agent } = await client.work(body, randomUUID());
  await runEnded(client, agent.id);
  const { proposals } = await client.listProposals();
  return proposals.find((each) => each.agent?.id === agent.id)?.id ?? '';
}

test(
  'a kill -9 at any step of an accept or a revert leaves all of it or nothing [planner 2]',
  { timeout: 300_000 },
  async () => {
    await using life = await crashLife();
    let { client } = await life.armed('plan.after_initiative');
    const id = await propose(life, client);
    for (const point of acceptPoints) {
      ({ client } = await life.armed(point));
      await expect(client.decideProposal(id, 'accept')).rejects.toThrow();
      ({ client } = await life.next());
      expect((await client.showProposal(id)).proposal).toMatchObject({ state: 'open', plan: null });
      expect((await client.listPlans()).plans).toEqual([]);
    }
    const { proposal } = await client.decideProposal(id, 'accept');
    const plan = proposal.plan?.id ?? '';
    const accepted = await client.showPlan(plan);
    expect(accepted.phases.map(({ name }) => name)).toEqual(['design', 'build']);
    ({ client } = await life.armed('plan.after_undo'));
    await expect(client.decideProposal(id, 'revert')).rejects.toThrow();
    ({ client } = await life.next());
    expect(await client.showPlan(plan)).toEqual(accepted);
    await client.decideProposal(id, 'revert');
    expect((await client.showPlan(plan)).phases).toEqual([]);
    const { events } = await client.events({ limit: 1000 });
    const types = events.filter(({ data }) => data['proposalId'] === id).map(({ type }) => type);
    expect(types).toEqual(['proposal.made', 'proposal.accepted', 'proposal.reverted']);
  },
);
