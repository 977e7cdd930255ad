import { planLines, planMermaid, waveLines } from '@pawl/present/plan/plan-text';
import type { PlanDetail } from '@pawl/protocol/plan/plan-view';
import { noInitiative } from '@pawl/schema/record';
import { idOf } from '@pawl/testing/agent-view';
import { expect, test } from 'vitest';

const task = (index: number, name: string, given: object) => ({
  ...noInitiative,
  id: idOf(index),
  phase: 'build',
  name,
  state: 'pending',
  detail: '',
  agent: null,
  dependsOn: [],
  spent: null,
  ...given,
});

const detail = {
  plan: {
    id: idOf(1),
    name: 'cancel\u001b[31m orders',
    state: 'working',
    detail: '',
    mode: 'auto',
    spent: { inputTokens: 1_200, outputTokens: 34, cachedTokens: 0, costUsd: 0.5, turns: 1 },
    counts: { phases: 1, tasks: 3, settled: 0 },
  },
  pages: [],
  decisions: [],
  phases: [{ id: idOf(2), name: 'build "it"', state: 'in_progress', detail: '', dependsOn: [] }],
  tasks: [
    task(3, 'write', {
      phaseId: idOf(2),
      state: 'in_progress',
      agent: { id: idOf(9), alias: 'brave-otter' },
      spent: { inputTokens: 900, outputTokens: 0, cachedTokens: 0, costUsd: 0.25, turns: 1 },
    }),
    task(4, 'test', {
      phaseId: idOf(2),
      state: 'blocked',
      detail: 'waits for write',
      dependsOn: [idOf(3)],
      priority: 'high',
    }),
    task(5, 'repair', { state: 'skipped', detail: 'it runs only if test fails', ifFailed: [idOf(4)], phase: '' }),
  ],
  stage: { errors: [], warnings: ['The phase build has 1 task; 2 to 5 are usual.'], waves: [[idOf(3)], [idOf(4)]] },
} as unknown as PlanDetail;

const short = (index: number) => idOf(index).slice(0, 6);

test('a plan is shown as a tree with states, causes and waves', () => {
  expect(planLines(detail).map((line) => line.map(({ text }) => text).join(''))).toEqual([
    `cancel orders  ${idOf(1)}`,
    'working',
    '0 of 3 tasks done · mode auto · 0 pages · 0 decisions · 1.2k tokens · $0.50',
    `├─ ${short(2)} in_progress phase build "it"`,
    `│  ├─ ${short(3)} in_progress write  (wave 1, brave-otter, 900 tokens, $0.25)`,
    `│  └─ ${short(4)} blocked test: waits for write  (wave 2, high)`,
    `└─ ${short(5)} skipped repair: it runs only if test fails`,
    'warning: The phase build has 1 task; 2 to 5 are usual.',
  ]);
});

test('a plan is shown as waves, and as a Mermaid graph', () => {
  expect(waveLines(detail)).toEqual(['wave 1', `  ${short(3)} write [build]`, 'wave 2', `  ${short(4)} test [build]`]);
  expect(planMermaid(detail)).toBe(
    [
      'graph TD',
      '  subgraph n1["build #quot;it#quot;"]',
      '    n2["write"]',
      '    n3["test"]',
      '  end',
      '  n4["repair"]',
      '  n2 --> n3',
      '  n3 -. if it fails .-> n4',
    ].join('\n'),
  );
});
