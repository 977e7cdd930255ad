import { temporaryDirectory } from '@pawl/testing/temporary';
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { knownPrograms, recogniser } from '../src/agent-program.ts';
import { beginSession } from '../src/anchor/begin-session.ts';
import { surveyOf } from '../src/anchor/survey.ts';
import { lookAround } from '../src/look-around.ts';
import { lookForOthers, systemProbe } from '../src/probe.ts';
import type { HiddenProcess, ProcessView, SeenProcess } from '../src/process-view.ts';
import type { Roster } from '../src/roster.ts';
import { exitCodeOf, isInside, rosterOf } from '../src/roster.ts';
import type { FakeProcess } from './support/fake-proc.ts';
import { bootSeconds, fakeProc } from './support/fake-proc.ts';

/** The one who asks: a shell command of an agent, unless a test says otherwise. */
const self: FakeProcess = { pid: 500, name: 'node', words: ['node', 'roster.ts'], start: 500 };

/** A project on disk, and a roster of a made-up system. */
async function aMachine() {
  const place = await temporaryDirectory('pawl-roster');
  for (const name of ['proj', 'proj/deep', 'proj2', 'home/worktrees/proj/calm-fox'])
    mkdirSync(join(place.path, name), { recursive: true });
  let number = 0;
  return {
    path: place.path,
    at: (name: string) => join(place.path, name),
    look(processes: FakeProcess[], given: { root?: string; worktrees?: string[]; asks?: FakeProcess } = {}): Roster {
      const { asks = self } = given;
      const proc = fakeProc(join(place.path, `proc-${++number}`), [asks, ...processes]);
      const probe = systemProbe({ ROSTER_PROC: proc, ROSTER_SELF_PID: String(asks.pid) });
      return lookForOthers(probe, given.root ?? join(place.path, 'proj'), given.worktrees ?? []);
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

const pids = ({ others }: Roster) => others.map(({ pid }) => pid);

describe('agents in this checkout [S0-03, invariant 15]', () => {
  test('alone, with one, and with four, oldest first [S0-05]', async () => {
    await using machine = await aMachine();
    expect(machine.look([{ pid: 7, name: 'bash', cwd: machine.at('proj') }])).toMatchObject({ others: [], doubts: [] });
    const four = [40, 10, 30, 20].map((pid) => ({ pid, name: 'claude', cwd: machine.at('proj/deep') }));
    const seen = machine.look(four);
    expect(pids(seen)).toEqual([10, 20, 30, 40]);
    expect(exitCodeOf(seen)).toBe(1);
    expect(machine.look(four.slice(0, 1)).others).toEqual([
      {
        pid: 40,
        cwd: machine.at('proj/deep'),
        provider: 'claude',
        start: 'the-boot/40',
        startedAt: bootSeconds * 1_000 + 400,
        agentId: null,
        session: null,
      },
    ]);
  });

  test('a linked root is the same root, and /a/proj2 is not in /a/proj [2.2.1]', async () => {
    await using machine = await aMachine();
    symlinkSync(machine.at('proj'), machine.at('link'));
    const agents = [
      { pid: 10, name: 'claude', cwd: machine.at('proj2') },
      { pid: 11, name: 'claude', cwd: machine.at('link/deep') },
      { pid: 12, name: 'claude', cwd: machine.at('') },
    ];
    expect(pids(machine.look(agents, { root: machine.at('link') }))).toEqual([11]);
    expect(pids(machine.look(agents, { root: machine.at('proj2') }))).toEqual([10]);
    expect(isInside('/a/proj2', '/a/proj')).toBe(false);
    expect(isInside('/a/proj', '/a/proj')).toBe(true);
    expect(isInside('/a', '/')).toBe(true);
  });

  test('an agent started outside the project is not seen, and is no doubt [S0-12]', async () => {
    await using machine = await aMachine();
    // It may well work on the project by full paths: only its directory counts.
    const words = ['claude', '--add-dir', machine.at('proj')];
    const seen = machine.look([{ pid: 10, name: 'claude', cwd: machine.at('home'), words }]);
    expect(seen).toMatchObject({ others: [], skipped: [], doubts: [] });
    expect(exitCodeOf(seen)).toBe(0);
    expect(pids(machine.look([{ pid: 10, name: 'claude', cwd: machine.at('proj'), words }]))).toEqual([10]);
  });

  test('names with spaces and parentheses are read to their end [2.2.3]', async () => {
    await using machine = await aMachine();
    const cwd = machine.at('proj');
    const agents = [
      { pid: 10, name: ') S 1 (claude', cwd },
      { pid: 11, name: 'a (b) c', cwd, words: ['claude'] },
      { pid: 12, name: 'claude) (x', cwd },
    ];
    expect(pids(machine.look(agents))).toEqual([11]);
  });

  test('an interpreter is recognised by its script [2.2.5]', async () => {
    await using machine = await aMachine();
    const cwd = machine.at('proj');
    const node = (pid: number, ...words: string[]) => ({
      pid,
      name: 'MainThread',
      cwd,
      words: ['/usr/bin/node', ...words],
    });
    const seen = machine.look([
      node(10, '/usr/local/bin/codex'),
      node(11, '--max-old-space-size=4096', '/x/node_modules/@google/gemini-cli/bundle/gemini.js'),
      node(12, '-r', './hook.js', '/x/bin/qwen', '--yolo'),
      node(13, 'server.js', 'port', '/usr/local/bin/codex'),
      { pid: 14, name: 'vim', cwd, words: ['vim', '/usr/local/bin/codex'] },
      { pid: 15, name: 'python3', cwd, words: ['/venv/bin/python3', '/venv/bin/aider', '--yes'] },
    ]);
    expect(seen.others.map(({ pid, provider }) => `${pid} ${provider}`)).toEqual([
      '10 codex',
      '11 gemini',
      '12 qwen',
      '15 aider',
    ]);
  });

  test('the dead are not here', async () => {
    await using machine = await aMachine();
    expect(pids(machine.look([{ pid: 10, name: 'claude', cwd: machine.at('proj'), state: 'Z' }]))).toEqual([]);
  });
});

describe('the caller is not another agent [S0-03]', () => {
  test('parents that are agents are the caller, and so are their other children', async () => {
    await using machine = await aMachine();
    const cwd = machine.at('proj');
    const asks = { ...self, parent: 30 };
    const family = [
      { pid: 20, name: 'claude', cwd },
      { pid: 30, name: 'bash', parent: 20, cwd },
      { pid: 31, name: 'codex', parent: 20, cwd },
      { pid: 32, name: 'claude', parent: 31, cwd },
    ];
    expect(pids(machine.look(family, { asks }))).toEqual([]);
    expect(pids(machine.look([...family, { pid: 40, name: 'claude', cwd }], { asks }))).toEqual([40]);
  });

  test('a subagent is not a helper: it finds no other, and its session starts as usual [S0-01]', async () => {
    await using machine = await aMachine();
    const cwd = machine.at('proj');
    const main = { pid: 20, name: 'claude', cwd };
    const subagent = { pid: 31, name: 'claude', parent: 20, cwd };
    const shell = { ...self, parent: 31 };
    const branchOf = (processes: FakeProcess[]) => {
      const proc = fakeProc(machine.at(`proc-of-${processes.length}`), [shell, ...processes]);
      const probe = systemProbe({ ROSTER_PROC: proc, ROSTER_SELF_PID: String(shell.pid) });
      const place = { root: cwd, environment: {}, worktrees: [] };
      return beginSession(place, () => surveyOf(probe, cwd, [])).branch;
    };
    expect(branchOf([main, subagent])).toBe('fresh');
    expect(readdirSync(cwd)).toEqual(['deep']);
    // Beside a second session that a person drives, the same process is a helper.
    expect(branchOf([main, subagent, { pid: 10, name: 'claude', cwd, start: 1 }])).toBe('helper');
  });

  test('a parent that has left, or that is its own parent, ends the chain', async () => {
    await using machine = await aMachine();
    const agent = { pid: 20, name: 'claude', cwd: machine.at('proj') };
    expect(pids(machine.look([agent], { asks: { ...self, parent: 77 } }))).toEqual([20]);
    const circle = [{ pid: 60, parent: 61 }, { pid: 61, parent: 60 }, agent];
    expect(pids(machine.look(circle, { asks: { ...self, parent: 60 } }))).toEqual([20]);
  });

  test('programs that an agent started are part of it', async () => {
    await using machine = await aMachine();
    const cwd = machine.at('proj');
    const wrapper = { pid: 20, name: 'node', words: ['node', '/usr/bin/codex'], cwd };
    expect(pids(machine.look([wrapper, { pid: 21, parent: 20, name: 'codex', cwd }]))).toEqual([20]);
    // But not of one that works elsewhere.
    const elsewhere = { ...wrapper, cwd: '/' };
    expect(pids(machine.look([elsewhere, { pid: 21, parent: 20, name: 'codex', cwd }]))).toEqual([21]);
  });
});

describe('Pawl’s own agents [7.7]', () => {
  test('one with its own worktree is not here; one in the checkout is, with its id [2.2.7]', async () => {
    await using machine = await aMachine();
    const environment = { PAWL_SESSION: 'session-1', PAWL_AGENT_ID: 'agent-1', PAWL_HOME: '/nowhere' };
    const agents = [
      { pid: 10, name: 'claude', cwd: machine.at('home/worktrees/proj/calm-fox'), environment },
      { pid: 11, name: 'claude', cwd: machine.at('proj'), environment },
      { pid: 12, name: 'claude', cwd: machine.at('home/worktrees/proj/calm-fox') },
    ];
    const given = { root: machine.path, worktrees: [machine.at('home/worktrees')] };
    const seen = machine.look(agents, given);
    expect(seen.others.map(({ pid, agentId, session }) => [pid, agentId, session])).toEqual([
      [11, 'agent-1', 'session-1'],
      [12, null, null],
    ]);
    const own = [{ ...agents[0]!, environment: { ...environment, PAWL_HOME: machine.at('home') } }];
    expect(pids(machine.look(own, { root: machine.path }))).toEqual([]);
  });

  test('an invalid id is not repeated', async () => {
    await using machine = await aMachine();
    const environment = { PAWL_AGENT_ID: '\u001B[31mred' };
    expect(machine.look([{ pid: 10, name: 'claude', cwd: machine.at('proj'), environment }]).others[0]?.agentId).toBe(
      null,
    );
  });
});

describe('never a false alone [W0-01]', () => {
  test('an unreadable directory is left out, and is a doubt [2.2.2]', async () => {
    await using machine = await aMachine();
    const hidden = { pid: 10, name: 'claude', cwd: { unreadable: true as const } };
    const seen = machine.look([hidden]);
    expect(seen.skipped.map(({ pid }) => pid)).toEqual([10]);
    expect(seen.doubts).toEqual([expect.stringMatching(/^claude 10: its directory cannot be read/)]);
    expect(exitCodeOf(seen)).toBe(2);
    expect(exitCodeOf(machine.look([hidden, { pid: 11, name: 'claude', cwd: machine.at('proj') }]))).toBe(1);
    expect(exitCodeOf(machine.look([{ ...hidden, name: 'bash' }]))).toBe(0);
  });

  test('a directory that has another name here, as in a container, leaves a doubt', async () => {
    await using machine = await aMachine();
    // A link that the made-up system itself takes elsewhere than its words say.
    const seen = machine.look([{ pid: 10, name: 'claude', cwd: '..' }]);
    expect(seen.doubts).toEqual([expect.stringMatching(/^claude 10: .*it may be in a container/)]);
    expect(exitCodeOf(seen)).toBe(2);
  });

  test('a process that has just left does not count [2.2.2]', async () => {
    await using machine = await aMachine();
    const seen = machine.look([{ pid: 10, name: 'claude', cwd: null }]);
    expect(seen).toMatchObject({ others: [], skipped: [], doubts: [] });
  });

  test('a deleted directory is a doubt only where it was in the project [2.2.2]', async () => {
    await using machine = await aMachine();
    const gone = (name: string) => ({ pid: 10, name: 'claude', cwd: `${machine.at(name)} (deleted)` });
    expect(exitCodeOf(machine.look([gone('proj/gone')]))).toBe(2);
    expect(exitCodeOf(machine.look([gone('elsewhere')]))).toBe(0);
    mkdirSync(machine.at('proj/odd (deleted)'));
    expect(pids(machine.look([gone('proj/odd')]))).toEqual([10]);
  });

  test('another person’s agent is a doubt only where that person may write', async () => {
    await using machine = await aMachine();
    const root = machine.at('proj');
    const other: SeenProcess = { ...seen(10, 'claude'), user: 54_321 };
    const judge = (processes: SeenProcess[], hidden: HiddenProcess[] = []) =>
      exitCodeOf(rosterFrom(viewOf(processes, hidden), root));
    chmodSync(root, 0o755);
    expect(judge([other])).toBe(0);
    expect(judge([{ ...other, user: 0 }])).toBe(2);
    expect(judge([{ ...other, user: null }])).toBe(2);
    expect(
      judge(
        [],
        [
          { pid: 12, user: 54_321 },
          { pid: 13, user: 0 },
        ],
      ),
    ).toBe(0);
    chmodSync(root, 0o775);
    expect(judge([other])).toBe(2);
    expect(judge([], [{ pid: 12, user: 54_321 }])).toBe(2);
    expect(judge([], [{ pid: 13, user: 0 }])).toBe(0);
  });

  test.each([
    ['no /proc', (at: (name: string) => string) => ({ ROSTER_PROC: at('nothing') }), /cannot be read/],
    ['an empty /proc', (at: (name: string) => string) => ({ ROSTER_PROC: at('proj2') }), /no process/],
    ['a pid that is none', () => ({ ROSTER_SELF_PID: 'me' }), /ROSTER_SELF_PID/],
    ['a pid that is not listed', () => ({ ROSTER_SELF_PID: '4194999' }), /our own process/],
    ['a pgrep that does not exist', () => ({ ROSTER_PGREP: '/no/such/pgrep' }), /does not exist/],
  ] as const)('%s: inconclusive', async (_name, environment, reason) => {
    await using machine = await aMachine();
    const ask = () => lookForOthers(systemProbe(environment(machine.at)), machine.at('proj'), []);
    expect(ask).toThrow(expect.objectContaining({ code: 'unavailable', message: expect.stringMatching(reason) }));
  });

  test('a missing project: inconclusive', async () => {
    await using machine = await aMachine();
    expect(() => machine.look([], { root: machine.at('gone') })).toThrow(/does not exist/);
  });
});

describe('one of several agents that start at once is the first [2.2.8]', () => {
  test('the one that started first or, at the same moment, has the lower pid', async () => {
    await using machine = await aMachine();
    const cwd = machine.at('proj');
    const agents = [
      { pid: 20, name: 'claude', cwd, start: 100 },
      { pid: 21, name: 'claude', cwd, start: 100 },
      { pid: 22, name: 'claude', cwd, start: 99 },
    ];
    const firsts = (among: typeof agents) =>
      among.filter(({ pid }) => machine.look(among, { asks: { ...self, parent: pid } }).isEldest).map(({ pid }) => pid);
    expect(firsts(agents)).toEqual([22]);
    expect(firsts(agents.slice(0, 2))).toEqual([20]);
  });

  test('a person at a shell comes after present agents', async () => {
    await using machine = await aMachine();
    const agent = { pid: 20, name: 'claude', cwd: machine.at('proj') };
    expect(machine.look([agent])).toMatchObject({ isEldest: false, own: null });
    expect(machine.look([agent], { asks: { ...self, parent: 20 } }).own).toEqual({ pid: 20, start: 'the-boot/20' });
  });
});

test('ROSTER_PGREP is asked for processes by name [W0-02]', async () => {
  await using machine = await aMachine();
  const proc = fakeProc(machine.at('proc'), [self, { pid: 20, name: 'other', cwd: machine.at('proj') }]);
  const environment = { ROSTER_PROC: proc, ROSTER_SELF_PID: '500' };
  const ask = (pgrep: string) =>
    lookForOthers(systemProbe({ ...environment, ROSTER_PGREP: machine.at(pgrep) }), machine.at('proj'), []);
  writeFileSync(machine.at('finds'), '#!/bin/sh\n[ "$3" = claude ] && echo 20 || exit 1\n', { mode: 0o755 });
  writeFileSync(machine.at('fails'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  expect(pids(ask('finds'))).toEqual([20]);
  expect(() => ask('fails')).toThrow(/ended with 3/);
});

/** A process of a view that a test makes up. */
function seen(pid: number, name: string): SeenProcess {
  return { pid, parent: 1, user: 1, start: `b/${pid}`, startedAt: null, name, words: [name] };
}

function viewOf(processes: SeenProcess[], hidden: HiddenProcess[]): ProcessView {
  return {
    list: () => ({ processes: [...processes, seen(500, 'sh')], hidden }),
    directories: (asked) => new Map(asked.map((pid) => [pid, { state: 'unreadable', reason: 'EACCES' }])),
    variable: () => null,
  };
}

function rosterFrom(view: ProcessView, root: string): Roster {
  return rosterOf({ view, look: lookAround(view, recogniser(knownPrograms())), root, self: 500, worktrees: [] });
}
