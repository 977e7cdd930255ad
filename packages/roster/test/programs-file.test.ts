import { temporaryDirectory } from '@pawl/testing/temporary';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { knownPrograms } from '../src/agent-program.ts';
import { readPrograms } from '../src/programs-file.ts';

test('the daemon’s file takes precedence over built-in knowledge, and removes nothing [W0-03]', async () => {
  await using place = await temporaryDirectory();
  const path = join(place.path, 'programs.json');
  const mine = { provider: 'mine', program: 'mine', names: ['mine'], commandLine: null };
  const claude = { provider: 'claude', program: '/opt/claude', names: ['clod'], commandLine: null };
  writeFileSync(
    path,
    JSON.stringify({ provider: 'mine', programs: [mine, claude, { provider: 7 }, null], variables: ['MY_KEY', 7] }),
  );
  const { provider, programs, variables } = readPrograms(path);
  expect(variables).toEqual(['MY_KEY']);
  expect(provider).toBe('mine');
  expect(programs.slice(0, 2)).toEqual([mine, claude]);
  expect(programs.length).toBe(knownPrograms().length + 1);
});

test.each(['', '{', '7', 'null', '{"programs":7,"variables":"X"}', '{"programs":[{"provider":"x","names":"y"}]}'])(
  'a file that is %j is ignored',
  async (text) => {
    await using place = await temporaryDirectory();
    writeFileSync(join(place.path, 'programs.json'), text);
    const nothing = { provider: null, programs: knownPrograms(), variables: [] };
    expect(readPrograms(join(place.path, 'programs.json'))).toEqual(nothing);
    expect(readPrograms(join(place.path, 'missing'))).toEqual(nothing);
  },
);
