import { defaultSandboxLimits } from '@pawl/schema/home-config';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { checksOf, openCheckHome } from '../support/check-home.ts';
import { sandboxTest } from './machine.ts';

const choices = { sandbox: { mode: 'required', readable: [], writable: [], limits: defaultSandboxLimits } } as const;

/** Runs these commands as the checks of a project, in a sandbox. */
async function checked(place: string, run: string, network?: true) {
  const home = await openCheckHome(place, { choices });
  const config = checksOf([run]);
  const steps = config.checks.map((step) => (network === undefined ? step : { ...step, network }));
  const { id } = await home.start(home.checker(), { ...config, checks: steps });
  const check = await home.result(id);
  return { check, home, output: (await home.output(id)).toString() };
}

sandboxTest('a check sees its clone and its history, and has no network', async () => {
  await using place = await temporaryDirectory();
  const run =
    'git log --oneline | wc -l; git status --porcelain; echo x >made; tail -n +3 /proc/net/dev | cut -d: -f1; echo "$PAWL_SANDBOX"';
  const { check, output, home } = await checked(place.path, run);
  expect({ outcome: check.outcome, words: output.split(/\s+/).filter((word) => word !== '') }).toEqual({
    outcome: 'passed',
    words: ['1', 'lo', '1'],
  });
  await home[Symbol.asyncDispose]();
});

sandboxTest('a check has the network if the project says so', async () => {
  await using place = await temporaryDirectory();
  const { check, home } = await checked(place.path, 'readlink /proc/self/ns/net >net; cat net', true);
  expect(check.outcome).toBe('passed');
  expect((await home.output(check.id)).toString().trim()).toBe(readlinkSync('/proc/self/ns/net'));
  await home[Symbol.asyncDispose]();
});

sandboxTest('a check neither writes outside nor leaves a process', async () => {
  await using place = await temporaryDirectory();
  const outside = join(place.path, 'sample', 'evil');
  const { check, home, output } = await checked(
    place.path,
    `env -i setsid sleep 600 >/dev/null 2>&1 &\n(echo x >'${outside}') 2>/dev/null || true; ! cat '${join(place.path, 'home', 'token')}' 2>/dev/null; echo end`,
  );
  expect({ outcome: check.outcome, detail: check.detail, output }).toEqual({
    outcome: 'passed',
    detail: 'passed',
    output: 'end\n',
  });
  expect(existsSync(outside)).toBe(false);
  await home[Symbol.asyncDispose]();
});
