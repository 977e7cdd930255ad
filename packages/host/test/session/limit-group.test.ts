import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { canGroup, groupBase, groupFor, makeGroup, removeGroup } from '../../src/session/control-group.ts';
import { startSession } from '../../src/session/start-session.ts';
import { stopSession } from '../../src/session/stop-session.ts';
import type { SessionSpec } from '../../src/session/start-session.ts';
import { exitCode, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();
const hasGroups = await canGroup();
const base = groupBase() ?? '';

/** Root may limit processes at the top of the v1 hierarchy for them. */
const isLinux = process.platform === 'linux';
const canLimit =
  isLinux && process.getuid?.() === 0 && /^\d+:pids:\/$/m.test(readFileSync('/proc/self/cgroup', 'latin1'));

function limited(script: string, processes: number): SessionSpec {
  const spec = workspace.spec(script, { stdin: 'file' });
  const limits = { memoryBytes: null, processes, fileBytes: null };
  return {
    ...spec,
    launch: { ...spec.launch, sandbox: { temporary: '/tmp', mounts: [], network: 'host', limits } },
  };
}

test.runIf(canLimit)(
  'the processes of a session are limited together, also those of root, and its group ends with it [sandbox limits]',
  async () => {
    const session = limited(
      'count=0; while [ $count -lt 60 ]; do sleep 5 & count=$((count + 1)); echo $count; done',
      30,
    );
    const identity = await startSession(host, session);
    expect(await exitCode(session.dir)).not.toBe(0);
    expect(Number(textOf(session.dir, 'out').trim().split('\n').at(-1))).toBeLessThan(30);
    const [group = ''] = textOf(session.dir, 'limits').split('\n');
    expect(existsSync(group)).toBe(true);
    await stopSession(host, { identity, dir: session.dir, marker: session.marker, graceMs: 0 });
    expect(existsSync(group)).toBe(false);
  },
);

/** A controller that the groups in ours can have: any serves to try how one is switched on. */
const controller = hasGroups ? (readFileSync(`${base}/cgroup.controllers`, 'latin1').trim().split(' ')[0] ?? '') : '';

/** A group of its own with the controller, in which node runs this code; it prints JSON. */
async function inGroup(code: string, beside = ''): Promise<unknown> {
  const group = join(base, `pawl-limit-test-${randomUUID()}`);
  const switches = `${base}/cgroup.subtree_control`;
  const wasOn = readFileSync(switches, 'latin1').split(/\s/).includes(controller);
  if (!wasOn) writeFileSync(switches, `+${controller}`);
  makeGroup(group);
  onTestFinished(() => {
    removeGroup(group);
    if (!wasOn) writeFileSync(switches, `-${controller}`);
  });
  const source = (name: string) => join(import.meta.dirname, `../../src/session/${name}.ts`);
  const script = `Promise.all([import('${source('limit-group')}'), import('${source('control-group')}')]).then(([limits, groups]) => {
    const own = () => require('node:fs').readFileSync('/proc/self/cgroup', 'latin1').match(/^0::(.*)$/m)[1].split('/').slice(-1)[0];
    const base = groups.groupBase();
    console.log(JSON.stringify((() => { ${code} })()));
  })`;
  const enter = `echo $$ >"$1/cgroup.procs"; ${beside} "$2" -e "$3"`;
  const child = spawn('/bin/sh', ['-c', enter, 'sh', group, process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let text = '';
  for await (const part of child.stdout) text += String(part);
  await ended;
  return JSON.parse(text);
}

const enable = `const enabled = limits.enableControllers(base, ['${controller}']); return { enabled, own: own() };`;

test.runIf(controller !== '')('groups get limits after the daemon has moved to one of its own', async () => {
  // `exec` leaves only node in the group.
  expect(await inGroup(enable, 'exec')).toEqual({ enabled: [controller], own: 'pawl.daemon' });
});

test.runIf(controller !== '')('with other processes in the group nothing moves, and nothing is limited', async () => {
  const { enabled, own } = (await inGroup(enable)) as { enabled: string[]; own: string };
  expect(enabled).toEqual([]);
  expect(own).toMatch(/^pawl-limit-test-/);
});

test.runIf(controller !== '')(
  'a daemon that an agent starts leaves its session although groups have limits',
  async () => {
    const code = `limits.enableControllers(base, ['${controller}']);
    const session = groups.groupFor(base, 'a-session');
    groups.makeGroup(session);
    require('node:fs').writeFileSync(session + '/cgroup.procs', String(process.pid));
    const before = own();
    groups.leaveSessionGroup();
    return [before, own()];`;
    expect(await inGroup(code, 'exec')).toEqual([groupFor('', 'a-session').slice(1), 'pawl.daemon']);
  },
);
