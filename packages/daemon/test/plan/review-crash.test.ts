import type { Client } from '@pawl/protocol/client';
import { newId } from '@pawl/schema/id';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { crashLife } from '../support/crash-life.ts';
import { runEnded, writeScenario } from '../support/daemon.ts';
import { committing } from '../support/errand.ts';
import { checkScript, commitFiles, configWith } from '../support/merge-queue.ts';

/** Waits until a plan with a branch is in review, with this many completed tasks. */
async function inReview(client: Client, plan: string, tasks: number): Promise<void> {
  await waitUntil(
    async () => {
      const detail = await client.showPlan(plan);
      const done = detail.tasks.filter(({ state }) => state === 'completed').length;
      if (detail.plan.state === 'in_review' && done === tasks) return true;
      throw new Error(
        `${detail.plan.state}: ${detail.tasks.map(({ state, detail: why }) => `${state} ${why}`).join('; ')}`,
      );
    },
    { what: 'the plan to be in review' },
  );
}

test(
  'a kill -9 while a phase is reviewed, its work landed or reverted leaves all or nothing [planner 2, 19]',
  { timeout: 400_000 },
  async () => {
    await using life = await crashLife();
    await commitFiles(life.repository, {
      'check.sh': checkScript(),
      '.pawl/config.yaml': configWith('sh check.sh', 'fixer: false\n'),
    });
    let { client } = await life.armed('land.after_record');
    const { plan } = await client.newPlan({ path: life.repository, text: 'one file', branch: true });
    const [phase, task] = [newId(), newId()];
    const planned = async (mode: 'plan' | 'detail', folder: string, id: string) => {
      const write = {
        path: `.pawl/output/${folder}/${id}.md`,
        content: `---\nid: ${id}\nname: ${folder}\n---\ntext\n`,
      };
      const options = { scenario: await writeScenario(life.path, [{ write }, { complete: { summary: 'planned' } }]) };
      const body = { path: life.repository, task: 'plan', mode, plan: plan.id, provider: 'scripted', options };
      const { agent } = await client.work(body, randomUUID());
      await runEnded(client, agent.id);
      const { proposals } = await client.listProposals();
      await client.decideProposal(proposals.at(-1)?.id ?? '', 'accept');
    };
    await planned('plan', 'phases', phase);
    await planned('detail', 'tasks', task);
    await client.changePlan(plan.id, 'approve', { acceptWarnings: true });
    const launch = async (file: string) => {
      const steps = [
        ...committing(file, 'work\n'),
        { complete: { summary: 'did it' } },
        { complete: { summary: 'did it' } },
      ];
      const options = { scenario: await writeScenario(life.path, steps) };
      await client.changePlan(plan.id, 'launch', { provider: 'scripted', options });
    };
    await launch('one.txt');
    ({ client } = await life.next());
    await inReview(client, plan.id, 1);
    const works = (await client.showReview(plan.id)).works;
    expect(works).toHaveLength(1);

    // Requested once, although the first request died half-way; landed once, although the second landing did.
    ({ client } = await life.armed('review.after_revision'));
    await client.requestChanges(plan.id, { body: 'more' }).catch(() => undefined);
    ({ client } = await life.next());
    expect((await client.showPlan(plan.id)).tasks).toHaveLength(1);
    expect((await client.showReview(plan.id)).threads).toEqual([]);
    ({ client } = await life.armed('land.after_branch'));
    await launch('two.txt');
    await client.requestChanges(plan.id, { body: 'more' });
    ({ client } = await life.next());
    await inReview(client, plan.id, 2);
    expect((await client.showReview(plan.id)).works).toHaveLength(2);

    ({ client } = await life.armed('review.after_threads'));
    await client.approvePhase(plan.id).catch(() => undefined);
    ({ client } = await life.next());
    const { threads } = await client.showReview(plan.id);
    expect(threads.map(({ state }) => state)).toEqual(['answered']);
    await client.approvePhase(plan.id);

    ({ client } = await life.armed('land.after_change'));
    await client.landPlan(plan.id).catch(() => undefined);
    ({ client } = await life.next());
    await client.landPlan(plan.id).catch(() => undefined);
    await waitUntil(async () => (await client.showPlan(plan.id)).plan.state === 'completed', { what: 'it to land' });
    expect(await git(life.repository, ['ls-tree', '--name-only', 'main', 'one.txt', 'two.txt'])).toBe(
      'one.txt\ntwo.txt',
    );

    ({ client } = await life.armed('revert.after_branch'));
    await client.revertPlan(plan.id).catch(() => undefined);
    ({ client } = await life.next());
    await client.revertPlan(plan.id);
    await waitUntil(async () => (await git(life.repository, ['ls-tree', '--name-only', 'main', 'one.txt'])) === '', {
      what: 'it to be reverted',
    });
    // Main moves before the change is recorded as merged.
    await waitUntil(
      async () => {
        const { changes } = await client.listChanges({ path: life.repository, all: true });
        return changes.length === 2 && changes.every(({ state }) => state === 'merged');
      },
      { what: 'two merged changes, one for each verb' },
    );
  },
);
