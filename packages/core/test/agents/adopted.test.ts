import { refuseAdopted } from '@pawl/core/agents/adopted';
import { refuseParent } from '@pawl/core/agents/fork';
import { refuseKill } from '@pawl/core/agents/kill';
import { nextStep } from '@pawl/core/sessions/next-step';
import { deriveStatus } from '@pawl/core/agents/status';
import { expect, test } from 'vitest';
import { anAgent } from '../fixture.ts';

const adopted = anAgent({
  alias: 'claude-41',
  adopted: { pid: 41, start: 'b/1', cwd: '/code/shop' },
  worktree: null,
  branch: null,
});

test('Pawl never acts on a process that it did not start [7.1]', () => {
  expect(nextStep({ agent: adopted, run: null, session: null })).toEqual({ do: 'rest' });
  expect(deriveStatus({ agent: adopted, run: null, session: null })).toMatchObject({
    status: 'running',
    activity: 'running',
    detail: 'adopted: pid 41',
  });
  for (const refuse of [refuseAdopted, refuseKill, refuseParent]) {
    expect(() => refuse(adopted)).toThrow(
      expect.objectContaining({
        code: 'conflict',
        message: expect.stringMatching(/not started by Pawl; end it in its own/),
      }),
    );
  }
});

test('once its process exits, it is as dead as any agent', () => {
  const left = { ...adopted, endedAt: 1, endReason: 'left' };
  expect(deriveStatus({ agent: left, run: null, session: null })).toMatchObject({ status: 'dead', detail: 'left' });
  expect(nextStep({ agent: left, run: null, session: null })).toEqual({ do: 'rest' });
  expect(() => refuseAdopted(left)).not.toThrow();
});
