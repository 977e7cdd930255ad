import { describe, expect, test } from 'vitest';
import { archiveName } from '../../src/anchor/archive.ts';
import { endSession } from '../../src/anchor/end-session.ts';
import { aProject, surveyed } from '../support/project.ts';

const now = new Date(2026, 10, 5, 9, 7);
const request = { description: 'the login test', onHelpers: null, now };
const helper = { PAWL_AGENT_ID: 'helper-ab12', PAWL_HELPER: '1' };
const own = '.pawl/session-context.d/helper-ab12.md';

describe('a helper ends [W0-09]', () => {
  test('with others still working it archives its notes, and does no more', async () => {
    await using project = await aProject();
    project.put('.pawl/session-context.md', 'the primary’s');
    project.put(own, 'helper-ab12\nnotes\n');
    const ended = endSession(project.place(helper), surveyed('beside'), request);
    expect(ended).toMatchObject({
      outcome: 'helped',
      role: 'helper',
      archived: '.pawl/sessions/2026-11-05-09-07-helper-ab12-the-login-test.md',
    });
    expect(ended.duties.join(' ')).toMatch(/do not commit/);
    expect(project.files()).toEqual([
      '.pawl/session-context.md',
      '.pawl/sessions/2026-11-05-09-07-helper-ab12-the-login-test.md',
    ]);
    expect(project.read(ended.archived ?? '')).toBe('helper-ab12\nnotes\n');
  });

  test('alone by now, it closes: all duties are its own, including git [2.3.6]', async () => {
    await using project = await aProject();
    project.put(own, 'helper-ab12\n');
    project.put('.pawl/session-context.d/helper-gone.md', 'helper-gone\n<!-- process 9 b/9 -->\n');
    const ended = endSession(project.place(helper), surveyed('alone'), request);
    expect(ended).toMatchObject({ outcome: 'closed', role: 'helper' });
    expect(ended.duties.join('\n')).toMatch(/yours now[^]*helper-gone\.md[^]*Commit/);
  });

  test('an inconclusive scan counts as others present', async () => {
    await using project = await aProject();
    expect(endSession(project.place(helper), surveyed('unknown'), request).outcome).toBe('helped');
  });

  test('a shell that has lost its identity finds its file by its process', async () => {
    await using project = await aProject();
    project.put(own, 'helper-ab12\n<!-- process 40 b/40 -->\n');
    const ended = endSession(project.place(), surveyed('beside', { own: { pid: 40, start: 'b/40' } }), request);
    expect(ended).toMatchObject({ outcome: 'helped', archived: expect.stringContaining('helper-ab12') });
  });
});

describe('the primary ends [W0-09]', () => {
  test('alone it closes, and its archive carries no id', async () => {
    await using project = await aProject();
    project.put('.pawl/session-context.md', 'notes');
    const ended = endSession(project.place(), surveyed('alone'), request);
    expect(ended).toMatchObject({
      outcome: 'closed',
      role: 'primary',
      archived: '.pawl/sessions/2026-11-05-09-07-the-login-test.md',
    });
    expect(project.has('.pawl/session-context.md')).toBe(false);
    expect(ended.duties.join(' ')).toMatch(/Commit/);
  });

  test.each(['first', 'beside', 'unknown'] as const)(
    '%s: it stops before the commit and asks [2.3.7]',
    async (standing) => {
      await using project = await aProject();
      project.put('.pawl/session-context.md', 'notes');
      expect(endSession(project.place(), surveyed(standing), request)).toMatchObject({
        outcome: 'asked',
        archived: null,
      });
      expect(project.files()).toEqual(['.pawl/session-context.md']);
    },
  );

  test.each([
    ['commit', 'closed', true, /in a commit of its own/],
    ['wait', 'waiting', false, /Wait until/],
    ['leave', 'left', true, /Do not commit/],
  ] as const)('told to %s: %s', async (onHelpers, outcome, isArchived, words) => {
    await using project = await aProject();
    project.put('.pawl/session-context.md', 'notes');
    project.put(own, 'helper-ab12\n');
    const ended = endSession(project.place(), surveyed('first'), { ...request, onHelpers });
    expect(ended.outcome).toBe(outcome);
    expect(project.has('.pawl/session-context.md')).toBe(!isArchived);
    expect(ended.duties.join('\n')).toMatch(words);
    expect(project.has(own)).toBe(true);
  });
});

test('an archive is never written over [W0-06]', async () => {
  await using project = await aProject();
  for (const words of ['one', 'two', 'three']) {
    project.put('.pawl/session-context.md', words);
    endSession(project.place(), surveyed('alone'), request);
  }
  const name = '.pawl/sessions/2026-11-05-09-07-the-login-test';
  expect([`${name}.md`, `${name}-2.md`, `${name}-3.md`].map(project.read)).toEqual(['one', 'two', 'three']);
});

test('with nothing to archive it still lists what is left to do', async () => {
  await using project = await aProject();
  const ended = endSession(project.place(), surveyed('alone'), request);
  expect(ended).toMatchObject({ outcome: 'closed', archived: null });
  expect(project.files()).toEqual([]);
});

test('an isolated session has nothing to settle [7.7]', async () => {
  await using project = await aProject();
  const environment = { PAWL_SESSION: 'session-1', PAWL_AGENT_ID: 'agent-1' };
  const place = { ...project.place(environment), worktrees: [project.outside] };
  expect(endSession(place, surveyed('beside'), request)).toMatchObject({ outcome: 'isolated', archived: null });
});

test.each([
  [null, null, '2026-11-05-09-07-session'],
  ['helper-ab12', 'a/../b  c\n', '2026-11-05-09-07-helper-ab12-a-..-b-c'],
  [null, '../..', '2026-11-05-09-07-session'],
  [null, 'x'.repeat(300), `2026-11-05-09-07-${'x'.repeat(60)}`],
])('%j with %j is archived as %s [W0-06]', (id, description, name) => {
  expect(archiveName({ id, description, now })).toBe(name);
});
