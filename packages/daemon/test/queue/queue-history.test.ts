import type { ChangeView } from '@pawl/protocol/changes/view';
import { endurance, seed } from '@pawl/testing/endurance';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { checkScript, commitFiles, commitOn, configWith, everyTip } from '../support/merge-queue.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const kinds = ['good', 'bad', 'pair-a', 'pair-b', 'conflict', 'flaky'] as const;
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('open' as const), kind: fc.constantFrom(...kinds) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const), which: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), which: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('push' as const) }) },
);

type Proposal = { kind: (typeof kinds)[number]; branch: string; files: Record<string, string>; isWithdrawn: boolean };

function filesOf(kind: Proposal['kind'], number: number): Record<string, string> {
  const own = { [`file-${number}.txt`]: `${number}\n` };
  switch (kind) {
    case 'good':
      return own;
    case 'bad':
      return { [`bad-${number}`]: 'x\n' };
    case 'pair-a':
    case 'pair-b':
      return { ...own, [`${kind}-${number}`]: 'x\n' };
    case 'conflict':
      return { ...own, 'shared.txt': `as number ${number} wants it\n` };
    case 'flaky':
      return { ...own, [`first-time-${number}`]: 'x\n' };
  }
}

/** Runs the sample's check at every commit that main has ever pointed to. */
async function expectAllPass(repository: string, since: string): Promise<void> {
  const tips = await everyTip(repository);
  const clone = `${repository}-replay`;
  await git(repository, ['clone', '--quiet', '--no-checkout', repository, clone]);
  for (const tip of tips.slice(tips.indexOf(since))) {
    await git(clone, ['checkout', '--quiet', '--detach', tip]);
    expect(execFileSync('sh', ['check.sh'], { cwd: clone, encoding: 'utf8' })).toContain('passed');
  }
}

let rounds = 0;

test(
  'whatever is opened, moved, withdrawn and pushed, main passes at every step, and good changes are merged once [section 7]',
  { timeout: 300_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 9 }), async (operations) => {
        const { client } = daemon;
        const repository = join(daemon.repository, '..', `history-${++rounds}`);
        await sampleRepository(repository, { files: { 'README.md': 'x\n', 'shared.txt': 'as it was\n' } });
        const runs = `${repository}-runs`;
        const base = await commitFiles(repository, {
          'check.sh': checkScript(runs),
          '.pawl/config.yaml': configWith('sh check.sh', 'fixer: false\nqueue: { batch: 4 }\n'),
        });
        await client.addProject({ path: repository });
        const proposals: Proposal[] = [];
        for (const [number, step] of operations.entries()) {
          if (step.do === 'push') {
            // The person commits on main, where it is checked out; a change that lands at this moment wins.
            await commitFiles(repository, { [`by-hand-${number}`]: 'x\n' }).catch(() => undefined);
            continue;
          }
          if (step.do === 'open') {
            const proposal = {
              kind: step.kind,
              branch: `work/${step.kind}-${number}`,
              files: filesOf(step.kind, number),
              isWithdrawn: false,
            };
            proposals.push(proposal);
            await commitOn(repository, proposal.branch, proposal.files, base);
            await client.openChange({ path: repository, branch: proposal.branch });
            continue;
          }
          const chosen = proposals[step.which];
          if (chosen === undefined) continue;
          if (step.do === 'withdraw') {
            chosen.isWithdrawn = true;
            await client.closeChange(chosen.branch, { reason: 'withdrawn' }, { path: repository }).catch(() => null);
          } else if (!chosen.isWithdrawn) {
            const more = { [`moved-${number}.txt`]: 'y\n' };
            await commitOn(repository, chosen.branch, more, chosen.branch);
            const opened = await client.openChange({ path: repository, branch: chosen.branch }).catch(() => null);
            if (opened !== null) Object.assign(chosen.files, more);
          }
        }
        const settled = await waitUntil(
          async () => {
            const { changes } = await client.listChanges({ path: repository, all: true });
            const isOver = changes.every(({ state }) => ['merged', 'ejected', 'closed'].includes(state));
            if (isOver) return changes;
            throw new Error(changes.map(({ branch, state, detail }) => `${branch} ${state} ${detail}`).join('; '));
          },
          { what: 'the queue to be empty' },
        );
        await expectAllPass(repository, base);
        await expectFair(repository, proposals, settled);
      }),
      { numRuns: endurance({ whole: 10, small: 1 }), seed },
    );
  },
);

/** Checks that nothing good is left out, nothing is merged twice, and no merged file is missing. */
async function expectFair(repository: string, proposals: Proposal[], changes: readonly ChangeView[]): Promise<void> {
  const tree = new Set((await git(repository, ['ls-tree', '-r', '--name-only', 'main'])).split('\n'));
  const log = await git(repository, ['log', '--format=%B', 'main']);
  for (const { branch, kind, files } of proposals) {
    const all = changes.filter((change) => change.branch === branch);
    const merged = all.filter(({ state }) => state === 'merged');
    for (const { id } of merged) expect(log.split(`Pawl-Change: ${id}`)).toHaveLength(2);
    const last = all.toSorted((a, b) => a.openedAt - b.openedAt).at(-1);
    if (kind === 'bad') expect(merged).toEqual([]);
    if (merged.length > 0 && last?.state === 'merged')
      for (const path of Object.keys(files)) expect(tree.has(path), `${path} of ${branch}`).toBe(true);
    const isWanted = !proposals.some((other) => other.branch === branch && other.isWithdrawn);
    if (isWanted && ['good', 'flaky'].includes(kind)) expect(last?.state, `${branch}: ${last?.detail}`).toBe('merged');
    if (last?.state !== 'ejected') continue;
    const others = proposals.filter((other) => other.kind === kind && other.branch !== branch);
    const isMerged = (other: Proposal) =>
      changes.some((change) => change.branch === other.branch && change.state === 'merged');
    expect(['bad', 'pair-a', 'pair-b', 'conflict'], `${branch}: ${last.detail}`).toContain(kind);
    if (kind !== 'bad') expect(others.some(isMerged), `${branch}: ${last.detail}`).toBe(true);
  }
}
