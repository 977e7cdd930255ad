import { strayProcesses } from '@pawl/host/session/stray';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { canIsolate, namesAskedFor } from '../isolation.ts';
import { secrets } from '../workshop.ts';
import { environmentOf, toolRuns } from './observe.ts';
import type { Trial } from './trial.ts';

const run = promisify(execFile);

/** Keys and names that stay inside. */
export function trySecrets({ name, cli, preset, shop, capability }: Trial): void {
  const shell = cli.shell('');
  const unshared = canIsolate() ? true : 'no network namespace can be made here: not tried';

  capability('no outside name with a shell key', typeof shell === 'string' ? shell : unshared, async () => {
    const told = await namesAskedFor(name);
    expect(told).toMatchObject({ status: 'completed', account: expect.stringMatching(/^shell-/) as string });
    expect(told.calls).toBeGreaterThan(0);
    expect(told.key).toMatchObject({ at: cli.shellKeyAt });
    expect(told.keyIn).toEqual(cli.shellKeyAt === 'proxy' ? [] : [expect.stringMatching(/env\.txt$/)]);
    expect(told.names.filter((name) => cli.asks?.names.test(name) !== true)).toEqual([]);
    return cli.asks === null ? undefined : `but for ${cli.asks.what}: ${cli.asks.why}`;
  });

  capability('no key in the environment of a session', cli.proxied || 'it takes no base URL for one run', async () => {
    const agent = await shop().work('[[session:sleeper]] Sleep.');
    await toolRuns(shop(), agent.id);
    const { sessions } = await shop().client().inspectAgent(agent.id);
    const environments = strayProcesses(sessions[0]?.id ?? '').map(({ pid }) => environmentOf(pid));
    expect(environments.filter((text) => text.includes('pawl-')).length).toBeGreaterThan(0);
    expect(environments.filter((text) => text.includes('sk-test'))).toEqual([]);
    await shop().client().stopAgent(agent.id);
  });

  capability('no secret outside of the accounts', preset.account !== null, async () => {
    const agent = await shop().work(`[[steps:[{"shell":"env"},{"signal":{"status":"done"}},{"say":"Done."}]]]`);
    await shop().ended(agent.id);
    const { stdout } = await run('sh', [
      '-c',
      `grep -rlaF ${Object.values(secrets)
        .map((secret) => `-e '${secret}'`)
        .join(' ')} '${shop().home}' --exclude-dir=accounts || true`,
    ]);
    expect(stdout).toBe('');
  });
}
