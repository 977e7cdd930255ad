import { defaultSandboxLimits } from '@pawl/schema/home-config';
import { createSandboxing } from '@pawl/daemon/platform/sandboxing';
import { defaultChoices } from '@pawl/daemon/platform/platform';
import { sandboxFindings } from '@pawl/daemon/door/sandbox-finding';
import { expect, test } from 'vitest';
import { limited, sandboxTest } from './machine.ts';

const findings = (mode: 'auto' | 'off' | 'required') => {
  const sandbox = { mode, readable: [], writable: [], limits: defaultSandboxLimits };
  return sandboxFindings({ sandbox: createSandboxing(process.env), choices: { ...defaultChoices, sandbox } });
};

sandboxTest('doctor attacks the sandbox, and reports what does not hold [sandbox limits]', async () => {
  const [first, ...others] = await findings('auto');
  expect(first).toMatchObject({ level: 'ok', message: expect.stringMatching(/withstood \d+ of \d+ attacks/) });
  // Only control groups limit the memory of all processes together, and the processes of root.
  expect(others.map(({ message, hint }) => ({ message, hint }))).toEqual([
    ...(limited.memory
      ? []
      : [
          {
            message: expect.stringContaining('all processes together'),
            hint: expect.stringContaining('control group'),
          },
        ]),
    ...(limited.processes
      ? []
      : [{ message: expect.stringContaining('number of processes'), hint: expect.stringContaining('control group') }]),
  ]);
});

test('doctor says that there is no sandbox if it is switched off', async () => {
  expect(await findings('off')).toMatchObject([{ level: 'ok', message: expect.stringContaining('without a sandbox') }]);
});
