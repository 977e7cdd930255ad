import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSession } from '../../src/session/start-session.ts';
import { strayProcesses } from '../../src/session/stray.ts';
import { eventually, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

test('finds all processes of a session and no others', async () => {
  const [one, two] = [workspace.spec('sleep 600 & exec sleep 600'), workspace.spec('exec sleep 600')];
  const [identity] = await Promise.all([one, two].map((each) => startSession(host, each)));
  const isSleeper = ({ pid }: { pid: number }) => textOf(`/proc/${pid}`, 'cmdline').startsWith('sleep\0');
  await eventually(() => strayProcesses(one.marker).filter(isSleeper).length === 2);
  // The shim, its holder, the command and the command's child.
  expect(strayProcesses(one.marker, identity)).toHaveLength(4);
  expect(strayProcesses(one.marker).map(({ pid }) => pid)).toContain(identity?.pid);
  expect(strayProcesses(one.marker.slice(0, -1))).toEqual([]);
});

test('the caller is not a stray, even if it has the marker itself', () => {
  const text = execFileSync(process.execPath, [join(import.meta.dirname, '../support/self.ts')], {
    env: { PATH: process.env['PATH'], PAWL_SESSION: `test-${randomUUID()}` },
    cwd: workspace.root,
    encoding: 'utf8',
  });
  const { self, child, before, after } = JSON.parse(text) as Record<string, unknown>;
  expect(before).toEqual([child]);
  expect(after).toEqual([]);
  expect(self).toBeTypeOf('number');
});

test.each(['', 'short', 'has space', 'a=bcdefgh', '-option-like', 'x'.repeat(65)])(
  'refuses the marker %j',
  (marker) => {
    expect(() => strayProcesses(marker)).toThrow(expect.objectContaining({ code: 'invalid_input' }) as Error);
  },
);
