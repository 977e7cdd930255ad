import { PawlError } from '@pawl/schema/error';
import { sleepers } from '@pawl/testing/sleeper';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunOptions } from '../../../src/command/agents/run.ts';
import { runHelper } from '../../../src/command/agents/run.ts';
import { runCli } from '../../run-cli.ts';
import { keptContext } from '../kept-context.ts';

/** A project in which helpers are run; each writes down who it was made. */
async function aPlace() {
  const place = await temporaryDirectory('pawl-run');
  const [root, home, note] = ['proj', 'home', 'note'].map((name) => join(place.path, name)) as [string, string, string];
  mkdirSync(join(root, '.git'), { recursive: true });
  mkdirSync(home);
  const agents = sleepers(join(place.path, 'bin'));
  const says = ['sh', '-c', `echo "$PAWL_AGENT_ID $PAWL_HELPER $(pwd)" > '${note}'; exit 3`];
  return {
    root,
    home,
    path: place.path,
    agents,
    says,
    async run(
      options: RunOptions,
      { words = says, environment = {} }: { words?: string[]; environment?: Record<string, string> } = {},
    ) {
      const { context, said } = keptContext(home);
      const env = { PATH: process.env['PATH'], ...environment };
      const code = await runHelper(context, root, words, options, env);
      return { code, note: readFileSync(note, 'utf8'), said: said.join('\n') };
    },
    async [Symbol.asyncDispose]() {
      await agents[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

const helper = { helper: true };

describe.runIf(process.platform === 'linux')('pawl run --helper [S0-18, W0-10]', () => {
  test('with another agent present it gives an id for this run, and exits like the command', async () => {
    await using place = await aPlace();
    await place.agents.start('claude', place.root);
    const first = await place.run(helper);
    expect(first).toMatchObject({ code: 3, said: expect.stringContaining('a helper in') });
    expect(first.note).toMatch(new RegExp(`^helper-[a-z0-9]{4}\\.\\d{10} 1 ${place.root}\n$`));
    // W0-05: no two runs have one id, also when an earlier one left something.
    const second = await place.run(helper, { environment: { PAWL_AGENT_ID: 'earlier', PAWL_HELPER: '0' } });
    expect(second.note.split(' ')[0]).not.toBe(first.note.split(' ')[0]);
  });

  test('without another agent it warns, and runs an ordinary session [S0-19, invariant 16]', async () => {
    await using place = await aPlace();
    const environment = { PAWL_AGENT_ID: 'helper-old', PAWL_HELPER: '1' };
    const { code, note, said } = await place.run(helper, { environment });
    expect([code, note]).toEqual([3, `  ${place.root}\n`]);
    expect(said).toMatch(/warning: no agent is working here/);
  });

  test('if the scan is inconclusive, it is a helper', async () => {
    await using place = await aPlace();
    const { note, said } = await place.run(helper, { environment: { ROSTER_PROC: '/no/such/proc' } });
    expect(note).toMatch(/^helper-/);
    expect(said).toMatch(/warning: Cannot tell/);
  });

  test('without a command it runs the program of the default provider', async () => {
    await using place = await aPlace();
    writeFileSync(join(place.path, 'my-agent'), `#!/bin/sh\necho mine > '${join(place.path, 'note')}'\n`, {
      mode: 0o755,
    });
    const mine = { provider: 'mine', program: join(place.path, 'my-agent'), names: ['my-agent'], commandLine: null };
    writeFileSync(join(place.home, 'programs.json'), JSON.stringify({ provider: 'mine', programs: [mine] }));
    expect(await place.run(helper, { words: [] })).toMatchObject({ code: 0, note: 'mine\n' });
    expect(await place.run({ ...helper, provider: 'mine' }, { words: [] })).toMatchObject({ code: 0 });
  });

  test('in tmux its window is named after project and helper, and restored afterwards [W0-12]', async () => {
    await using place = await aPlace();
    const pid = await place.agents.start('claude', place.root);
    const tools = join(place.path, 'tools');
    mkdirSync(tools);
    writeFileSync(join(tools, 'tmux'), `#!/bin/sh\necho "$@" >> '${tools}/log'\n`, { mode: 0o755 });
    const environment = { PATH: `${tools}:${process.env['PATH']}`, TMUX: 'socket', TMUX_PANE: '%7' };
    await place.run(helper, { environment });
    expect(readFileSync(join(tools, 'log'), 'utf8')).toMatch(
      /^rename-window -t %7 proj:helper-[a-z0-9]{4}\.\d+\nset-window-option -t %7 automatic-rename on\n$/,
    );
    await place.agents.end(pid);
    await place.run(helper, { environment });
    expect(readFileSync(join(tools, 'log'), 'utf8').split('\n').length).toBe(3);
  });

  test('errors are reported before anything runs', async () => {
    await using place = await aPlace();
    const codeOf = (attempt: Promise<unknown>) =>
      attempt.then(
        () => 'done',
        (error: unknown) => (error instanceof PawlError ? error.code : error),
      );
    const { context } = keptContext(place.home);
    expect(await codeOf(place.run({}))).toBe('usage');
    expect(await codeOf(runHelper(context, join(place.root, 'no'), [], helper, {}))).toBe('usage');
    expect(await codeOf(place.run(helper, { words: ['no-such-program'] }))).toBe('not_found');
    expect(await codeOf(place.run({ ...helper, provider: 'nobody' }, { words: [] }))).toBe('unknown_provider');
  });

  test('everything after -- is the command, with or without a project before it', async () => {
    await using place = await aPlace();
    const words = ['run', '--helper', place.root, '--', 'sh', '-c', 'echo "$0 $1 in $(pwd)"; exit 4', '--json', '-p'];
    const answer = await runCli(words, { PAWL_HOME: place.home, TMUX: '' });
    expect(answer).toMatchObject({ code: 4, stdout: `--json -p in ${place.root}\n` });
  });
});
