import { sleepers } from '@pawl/testing/sleeper';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { roster } from '../../../src/command/home/roster.ts';
import { runCli } from '../../run-cli.ts';
import { keptContext } from '../kept-context.ts';

const bin = join(import.meta.dirname, '..', '..', '..', '..', '..', 'dist', 'agent-roster.mjs');

type Look = { path?: string; environment?: Record<string, string>; json?: boolean };

/** A project, and what the two commands say about it. */
async function aPlace() {
  const place = await temporaryDirectory('pawl-roster');
  const [root, home] = [join(place.path, 'proj'), join(place.path, 'home')];
  mkdirSync(join(root, '.git'), { recursive: true });
  mkdirSync(join(root, 'deep'));
  mkdirSync(home);
  const agents = sleepers(join(place.path, 'bin'));
  return {
    root,
    home,
    agents,
    ask(words: string[] = [root], environment: Record<string, string> = {}) {
      const env = { PATH: process.env['PATH'], PAWL_HOME: home, ...environment };
      const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], { env, encoding: 'utf8' });
      return { code: status, stdout, stderr };
    },
    look({ path = root, environment = {}, json = false }: Look = {}) {
      const { context, texts, data } = keptContext(home, { json });
      const warned: string[] = [];
      const code = roster(context, path, { environment, warn: (text) => void warned.push(text) });
      return { code, texts, data, warned };
    },
    async [Symbol.asyncDispose]() {
      await agents[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

describe.runIf(process.platform === 'linux')('agent-roster [S0-05]', () => {
  test('pid, tab, directory, a line each; 0 alone and 1 not alone; the same as pawl roster', async () => {
    await using place = await aPlace();
    expect(place.ask()).toEqual({ code: 0, stdout: '', stderr: '' });
    const first = await place.agents.start('claude', join(place.root, 'deep'));
    const second = await place.agents.start('codex', place.root);
    const lines = [`${first}\t${join(place.root, 'deep')}`, `${second}\t${place.root}`];
    // A path below the project means the project.
    expect(place.ask([join(place.root, 'deep')])).toEqual({ code: 1, stdout: `${lines.join('\n')}\n`, stderr: '' });
    expect(await runCli(['roster', place.root], { PAWL_HOME: place.home })).toMatchObject({
      code: 1,
      stdout: `${lines.join('\n')}\n`,
    });
  });

  test('it needs no daemon, no home and nothing else of Pawl, and leaves nothing behind [S0-20]', async () => {
    await using place = await aPlace();
    rmSync(place.home, { recursive: true });
    const agents = [await place.agents.start('claude', place.root), await place.agents.start('codex', place.root)];
    const { code, stdout, stderr } = place.ask();
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    // Agents of every provider count, not only those of the one that asks.
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => Number(line.split('\t')[0])),
    ).toEqual(agents);
    expect([existsSync(place.home), readdirSync(place.root).toSorted()]).toEqual([false, ['.git', 'deep']]);
  });

  test('--json has the provider, the start and, if known, the id [7.7]', async () => {
    await using place = await aPlace();
    const pid = await place.agents.start('claude', place.root, { PAWL_AGENT_ID: 'helper-ab12' });
    const { code, data } = place.look({ json: true });
    expect(code).toBe(1);
    expect(data).toEqual([
      {
        alone: false,
        others: [{ pid, cwd: place.root, provider: 'claude', startedAt: expect.any(Number), agentId: 'helper-ab12' }],
        skipped: [],
        doubts: [],
      },
    ]);
  });

  test('exits with 2 and the reason on stderr if the scan is inconclusive, whatever went wrong [W0-01]', async () => {
    await using place = await aPlace();
    const attempts: [string, Record<string, string>][] = [
      [place.root, { ROSTER_PROC: '/no/such/proc' }],
      [join(place.root, 'missing'), {}],
      [place.root, { ROSTER_SELF_PID: 'x' }],
      [place.root, { ROSTER_PGREP: '/no/such/pgrep' }],
    ];
    for (const [path, environment] of attempts) {
      const { code, texts, warned } = place.look({ path, environment });
      expect([code, texts]).toEqual([2, []]);
      expect(warned[0]).toMatch(/^roster: cannot tell: /);
      expect(place.look({ path, environment, json: true }).data).toMatchObject([{ alone: null }]);
    }
    const { code, stderr } = place.ask(['--json', place.root], { ROSTER_PROC: '/no/such/proc' });
    expect([code, stderr.startsWith('roster: cannot tell: ')]).toEqual([2, true]);
    expect(place.ask(['--what']).code).toBe(2);
    // Not even where its home is can be told in a directory that is gone.
    const gone = join(place.root, 'gone');
    const script = `mkdir '${gone}' && cd '${gone}' && rmdir '${gone}' && PAWL_HOME=home exec "$0" "$@"`;
    const { status, stderr: said } = spawnSync('sh', ['-c', script, process.execPath, bin, place.root], {
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    });
    expect([status, said.startsWith('roster: cannot tell: ')]).toEqual([2, true]);
  });

  test('a custom provider is known while the daemon is down [W0-03]', async () => {
    await using place = await aPlace();
    const pid = await place.agents.start('my-agent', place.root);
    expect(place.look().code).toBe(0);
    const mine = { provider: 'mine', program: 'my-agent', names: ['my-agent'], commandLine: null };
    writeFileSync(join(place.home, 'programs.json'), JSON.stringify({ provider: 'mine', programs: [mine] }));
    expect(place.look()).toMatchObject({ code: 1, texts: [`${pid}\t${place.root}`] });
  });

  test('omitted processes are counted on stderr; a name in a path cannot forge a line [2.2.2]', async () => {
    await using place = await aPlace();
    const odd = join(place.root, 'a\n1\tb');
    mkdirSync(odd);
    const pid = await place.agents.start('claude', odd);
    expect(place.look()).toMatchObject({ code: 1, texts: [`${pid}\t${join(place.root, 'a 1 b')}`], warned: [] });
    mkdirSync(join(place.root, 'gone'));
    await place.agents.start('codex', join(place.root, 'gone'));
    rmSync(join(place.root, 'gone'), { recursive: true });
    const { code, warned } = place.look();
    expect([code, warned]).toEqual([1, ['roster: 1 skipped, whose directory cannot be read']]);
  });
});
