import { processFinding } from '@pawl/daemon/agents/process-finding';
import { canGroup, groupBase } from '@pawl/host/session/control-group';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';

test('doctor reports how processes are found, and which are missed', async () => {
  await using daemon = await startTestDaemon();
  const { findings } = await daemon.client.doctor();
  const [told] = findings.filter(({ check }) => check === 'processes');
  expect(told).toMatchObject({ level: 'ok' });
  expect(told?.message).toContain((await canGroup()) ? `below ${groupBase()}` : 'a marker in the environment');
});

test('without a control group it reports what is missed, and what would help', async () => {
  for (const base of [null, '/nonexistent', '/proc']) {
    const told = await processFinding(base, true);
    expect(told.message).toContain(
      'one that clears its environment and leaves its parents and its output is not found',
    );
    expect(told.hint).toContain('systemd-run --user --scope');
  }
  const elsewhere = await processFinding(null, false);
  expect(elsewhere.message).toContain('one that clears its environment and leaves its parents is not found');
  expect(elsewhere.hint).toBeUndefined();
});
