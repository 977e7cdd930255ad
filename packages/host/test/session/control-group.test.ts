import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canGroup, groupBase, groupFor, groupOf, pidsInGroup, removeGroup } from '../../src/session/control-group.ts';
import { findSession } from '../../src/session/find-session.ts';
import { continueSession, haltSession } from '../../src/session/halt-session.ts';
import { processTable } from '../../src/process/process-table.ts';
import { startSession } from '../../src/session/start-session.ts';
import { stopSession } from '../../src/session/stop-session.ts';
import { strayProcesses } from '../../src/session/stray.ts';
import { eventually, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();
const hasGroups = await canGroup();
const isLinux = process.platform === 'linux';

/** Leaves a process behind that has no environment, no parent and no session in common with the command; it says its pid. */
const leaves = (output: string) =>
  `(env -i setsid /bin/sh -c 'echo $$ >left.new; mv left.new left; exec sleep 600' </dev/null ${output} &)\n`;

async function leftBehind(): Promise<number> {
  const pid = await eventually(() => textOf(workspace.root, 'left').trim() || null);
  await eventually(() => textOf(`/proc/${pid}`, 'cmdline').startsWith('sleep\0'));
  return Number(pid);
}

const isLeft = (pid: number) => processTable.read(pid)?.defunct === false;

test.runIf(hasGroups)(
  'a process left behind by `env -i setsid` is in the session’s group, and ends with it',
  async () => {
    const session = workspace.spec(`${leaves('>/dev/null 2>&1')}exit 0`, { stdin: 'file' });
    const identity = await startSession(host, session);
    const pid = await leftBehind();
    await eventually(async () => (await findSession(session.dir)).exit);
    expect(strayProcesses(session.marker).map((entry) => entry.pid)).not.toContain(pid);
    const { dir, marker } = session;
    const group = groupOf(dir, marker) ?? '';
    expect(pidsInGroup(group)).toContain(pid);
    await stopSession(host, { identity, dir, marker, graceMs: 1_000 });
    expect(isLeft(pid)).toBe(false);
    expect(existsSync(group)).toBe(false);
  },
);

test.runIf(hasGroups)('it is paused and continued with the session, and found after the shim was killed', async () => {
  const session = workspace.spec(`${leaves('>/dev/null 2>&1')}exec sleep 600`);
  const identity = await startSession(host, session);
  const pid = await leftBehind();
  const { dir, marker } = session;
  await haltSession(host, { identity, dir, marker });
  expect(processTable.read(pid)?.stopped).toBe(true);
  await continueSession(host, { identity, dir, marker });
  await eventually(() => processTable.read(pid)?.stopped === false);
  process.kill(identity.pid, 'SIGKILL');
  await stopSession(host, { identity, dir, marker, graceMs: 1_000 });
  expect(isLeft(pid)).toBe(false);
});

test.runIf(isLinux)('without groups it is found by its open output file', async () => {
  const session = workspace.spec(`${leaves('')}exit 0`, { stdin: 'file', groupBase: null });
  const identity = await startSession(host, session);
  const pid = await leftBehind();
  await eventually(async () => (await findSession(session.dir)).exit);
  const { dir, marker } = session;
  expect(groupOf(dir, marker)).toBeNull();
  await stopSession(host, { identity, dir, marker, graceMs: 1_000 });
  expect(isLeft(pid)).toBe(false);
});

test('a group that cannot be joined does not prevent a start', async () => {
  const session = workspace.spec('echo ready', { stdin: 'file', groupBase: join(workspace.root, 'file') });
  writeFileSync(join(workspace.root, 'file'), '');
  const identity = await startSession(host, session);
  await eventually(async () => (await findSession(session.dir)).exit);
  expect(textOf(session.dir, 'out')).toBe('ready\n');
  expect(textOf(session.dir, 'group')).toBe('');
  await stopSession(host, { identity, dir: session.dir, marker: session.marker });
});

test.runIf(hasGroups)('only a session’s own group counts, whatever its record says', async () => {
  const [one, two] = [workspace.spec('exec sleep 600'), workspace.spec('exec sleep 600')];
  await startSession(host, one);
  const identity = await startSession(host, two);
  const other = groupOf(two.dir, two.marker) ?? '';
  for (const path of [other, `${other}/../`, groupFor(workspace.root, one.marker), '/', 'pawl.x']) {
    writeFileSync(join(one.dir, 'group'), `${path}\n`);
    expect(groupOf(one.dir, one.marker)).toBeNull();
  }
  // The shim joins its group after it is on record.
  await eventually(() => pidsInGroup(other).includes(identity.pid));
  // A group that still has processes is not removed.
  removeGroup(other);
  expect(pidsInGroup(other)).toContain(identity.pid);
  writeFileSync(join(one.dir, 'group'), `${groupFor(groupBase() ?? '', one.marker)}\n`);
});

test.runIf(hasGroups)('a session started by a session has a group beside it, not below', async () => {
  const script = `import('${join(import.meta.dirname, '../../src/session/control-group.ts')}').then((it) => {
    const before = it.groupBase();
    it.leaveSessionGroup();
    const own = require('node:fs').readFileSync('/proc/self/cgroup', 'latin1');
    require('node:fs').writeFileSync('told', JSON.stringify({ before, isOut: !own.includes('/pawl.') }));
  })`;
  const session = workspace.spec('', { command: process.execPath, args: ['-e', script], stdin: 'file' });
  await startSession(host, session);
  const told = await eventually(() =>
    existsSync(join(workspace.root, 'told')) ? textOf(workspace.root, 'told') : null,
  );
  expect(JSON.parse(told)).toEqual({ before: groupBase(), isOut: true });
  expect(readFileSync('/proc/self/cgroup', 'latin1')).toContain('0::');
});
