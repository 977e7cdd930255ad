import type { Sleepers } from '@pawl/testing/sleeper';
import { sleepers } from '@pawl/testing/sleeper';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { surveyOf } from '../src/anchor/survey.ts';
import { lookForOthers, systemProbe } from '../src/probe.ts';
import { exitCodeOf } from '../src/roster.ts';
import { psView } from '../src/view-ps.ts';

/** A place with a project, one beside it, and programs that are called like agents. */
async function aPlace() {
  const place = await temporaryDirectory('pawl-sleepers');
  const at = (name: string) => join(place.path, name);
  for (const name of ['proj/deep', 'proj2', 'home/worktrees/proj/calm-fox']) mkdirSync(at(name), { recursive: true });
  const agents: Sleepers = sleepers(at('bin'));
  return {
    at,
    agents,
    look: (root = at('proj'), worktrees: string[] = []) => lookForOthers(systemProbe({}), root, worktrees),
    async [Symbol.asyncDispose]() {
      await agents[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** Whether this machine lets anybody have a tree of mounts of their own. */
const hasNamespaces = process.platform === 'linux' && spawnSync('unshare', ['-rm', 'true']).status === 0;

test.runIf(hasNamespaces)('an agent in a tree of mounts of its own is a doubt where names differ [W0-01]', async () => {
  await using place = await aPlace();
  const program = place.agents.program('claude', '/bin/sleep');
  const inside = (script: string) =>
    place.agents.startCommand(['unshare', '-rm', 'sh', '-c', `${script} && exec '${program}' 300`], place.at(''));
  const isThere = (pid: number) =>
    waitUntil(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'claude', { what: 'it to run' });
  const same = inside(`cd '${place.at('proj')}'`);
  await isThere(same);
  expect(place.look()).toMatchObject({ others: [{ pid: same, cwd: place.at('proj') }], doubts: [] });
  await place.agents.end(same);
  const other = inside(`mount --bind '${place.at('proj')}' '${place.at('proj2')}' && cd '${place.at('proj2')}'`);
  await isThere(other);
  expect(exitCodeOf(place.look())).toBe(2);
});

describe.runIf(process.platform === 'linux')('S0-21, invariant 15: real processes', () => {
  test('one and four agents, here and below, not beside; they leave one after the other [S0-04]', async () => {
    await using place = await aPlace();
    expect(exitCodeOf(place.look())).toBe(0);
    await place.agents.start('claude', place.at('proj2'));
    expect(exitCodeOf(place.look())).toBe(0);
    const first = await place.agents.start('claude', place.at('proj'));
    expect(place.look().others).toMatchObject([{ pid: first, cwd: place.at('proj'), provider: 'claude' }]);
    const more: number[] = [];
    for (const name of ['codex', 'gemini', 'opencode'])
      more.push(await place.agents.start(name, place.at('proj/deep')));
    const seen = place.look();
    expect(new Set(seen.others.map(({ pid }) => pid))).toEqual(new Set([first, ...more]));
    expect(exitCodeOf(seen)).toBe(1);
    const startedAt = seen.others[0]?.startedAt ?? 0;
    expect(Math.abs(Date.now() - startedAt)).toBeLessThan(60_000);
    for (const pid of [first, ...more]) await place.agents.end(pid);
    expect(exitCodeOf(place.look())).toBe(0);
  });

  test('the project by a link, and a name with spaces and parentheses [2.2.1]', async () => {
    await using place = await aPlace();
    symlinkSync(place.at('proj'), place.at('link'));
    await place.agents.start('a) S 1 (claude', place.at('proj'));
    expect(place.look(place.at('link')).others).toEqual([]);
    const pid = await place.agents.start('claude', place.at('link/deep'));
    expect(place.look(place.at('link')).others).toMatchObject([{ pid, cwd: place.at('proj/deep') }]);
  });

  test('a directory that is deleted under an agent leaves a doubt [2.2.2]', async () => {
    await using place = await aPlace();
    const pid = await place.agents.start('claude', place.at('proj/deep'));
    rmSync(place.at('proj/deep'), { recursive: true });
    const seen = place.look();
    expect(seen).toMatchObject({ others: [], skipped: [{ pid }] });
    expect(exitCodeOf(seen)).toBe(2);
  });

  test('Pawl’s agent in a worktree below the project is not here [7.7]', async () => {
    await using place = await aPlace();
    const environment = { PAWL_SESSION: 'session-1', PAWL_AGENT_ID: 'agent-1', PAWL_HOME: place.at('home') };
    await place.agents.start('claude', place.at('home/worktrees/proj/calm-fox'), environment);
    expect(exitCodeOf(place.look(place.at('')))).toBe(0);
    const pid = await place.agents.start('claude', place.at('proj'), environment);
    expect(place.look(place.at('')).others).toMatchObject([{ pid, agentId: 'agent-1', session: 'session-1' }]);
  });

  test('exactly one of two present agents is the first [2.2.8]', async () => {
    await using place = await aPlace();
    const pids = [
      await place.agents.start('claude', place.at('proj')),
      await place.agents.start('codex', place.at('proj')),
    ];
    const standing = pids.map((pid) => {
      const probe = systemProbe({ ROSTER_SELF_PID: String(pid) });
      return surveyOf(probe, place.at('proj'), []).standing;
    });
    expect(standing).toEqual(['first', 'beside']);
  });

  test('an agent that asks through its shell sees neither itself nor its subagents [S0-03, 2.2.4]', async () => {
    await using place = await aPlace();
    const shell = place.agents.program('claude', '/bin/sh');
    const subagent = place.agents.program('codex', '/bin/sleep');
    const bin = join(import.meta.dirname, '..', '..', '..', 'dist', 'agent-roster.mjs');
    const script = `
      "${subagent}" 300 & child=$!
      "${process.execPath}" "${bin}"; code=$?
      kill -9 $child
      exit $code`;
    const ask = () =>
      spawnSync(shell, ['-c', script], {
        cwd: place.at('proj/deep'),
        env: { PATH: process.env['PATH'], PAWL_HOME: place.at('home') },
        encoding: 'utf8',
      });
    // There is no repository here, so that the directory itself is the project.
    expect(ask()).toMatchObject({ status: 0, stdout: '' });
    const pid = await place.agents.start('gemini', place.at('proj/deep'));
    expect(ask()).toMatchObject({ status: 1, stdout: `${pid}\t${place.at('proj/deep')}\n` });
  });

  test('an agent that node runs is seen by its script [2.2.5]', async () => {
    await using place = await aPlace();
    writeFileSync(place.at('codex'), 'setInterval(() => {}, 1000);\n');
    const pid = place.agents.startCommand([process.execPath, place.at('codex')], place.at('proj'));
    await waitUntil(() => place.look().others.length > 0, { what: 'node to run the script' });
    expect(readFileSync(`/proc/${pid}/comm`, 'utf8')).not.toContain('codex');
    expect(place.look().others).toMatchObject([{ pid, provider: 'codex' }]);
  });

  test.runIf(spawnSync('lsof', ['-v']).error === undefined)('ps and lsof see the same as /proc [2.2.6]', async () => {
    await using place = await aPlace();
    const pid = await place.agents.start('claude', place.at('proj'));
    const probe = { ...systemProbe({}), view: psView() };
    expect(lookForOthers(probe, place.at('proj'), []).others.map((other) => other.pid)).toEqual([pid]);
  });
});
