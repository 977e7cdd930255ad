import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { beginSession } from '../../src/anchor/begin-session.ts';
import { aProject, surveyed } from '../support/project.ts';

const singleton = '.pawl/session-context.md';

/** Gives these words one after the other. */
const inTurn =
  (...words: string[]) =>
  () =>
    words.shift() ?? 'last';

describe('the start of a session [S0-22, invariant 16]', () => {
  test('alone without an anchor it is fresh, and nothing is written [S0-07]', async () => {
    await using project = await aProject();
    expect(beginSession(project.place(), surveyed('alone'))).toMatchObject({
      branch: 'fresh',
      id: null,
      file: singleton,
      notes: null,
      isOrphan: false,
    });
    expect(project.files()).toEqual([]);
  });

  test('the scan comes first: nothing was read or written before it [S0-06]', async () => {
    await using project = await aProject();
    // Notes that appear during the scan are found, so they were not read before.
    const look = () => {
      expect(project.files()).toEqual([]);
      project.put(singleton, 'written meanwhile');
      return surveyed('alone')();
    };
    expect(beginSession(project.place(), look)).toMatchObject({ branch: 'recover', notes: 'written meanwhile' });
    const failing = () => {
      throw new Error('no look is possible');
    };
    expect(() => beginSession(project.place({ PAWL_HELPER: '1' }), failing)).toThrow('no look is possible');
    expect(project.files()).toEqual([singleton]);
  });

  test('alone with an anchor the last one has crashed, and its leftovers are reported [S0-08]', async () => {
    await using project = await aProject();
    project.put(singleton, '# where I was\n');
    expect(beginSession(project.place(), surveyed('alone'))).toMatchObject({
      branch: 'recover',
      file: singleton,
      notes: '# where I was\n',
    });
    expect(project.read(singleton)).toBe('# where I was\n');
  });

  test('beside another agent the same anchor is not a crash; a helper has its own file [S0-09, S0-10]', async () => {
    await using project = await aProject();
    project.put(singleton, 'alive');
    const begun = beginSession(
      project.place(),
      surveyed('beside', { own: { pid: 40, start: 'b/40' } }),
      inTurn('ab12'),
    );
    expect(begun).toMatchObject({
      branch: 'helper',
      id: 'helper-ab12',
      file: '.pawl/session-context.d/helper-ab12.md',
      notes: null,
      others: [{ pid: 7 }],
    });
    // S0-15: its id is the first line, and S0-14: the singleton is not touched.
    expect(project.read('.pawl/session-context.d/helper-ab12.md')).toBe('helper-ab12\n<!-- process 40 b/40 -->\n');
    expect(project.read(singleton)).toBe('alive');
  });

  test('if the scan is inconclusive, nothing is recovered, and it is restricted like a helper [2.2.6, W0-11]', async () => {
    await using project = await aProject();
    project.put(singleton, 'from before');
    const begun = beginSession(project.place(), surveyed('unknown'), inTurn('zz99'));
    expect(begun).toMatchObject({
      branch: 'restricted',
      id: 'helper-zz99',
      notes: null,
      doubts: ['there is no /proc'],
    });
  });

  test('the first of several has the duties, and is told of the others [2.2.8]', async () => {
    await using project = await aProject();
    expect(beginSession(project.place(), surveyed('first'))).toMatchObject({ branch: 'fresh', others: [{ pid: 7 }] });
  });

  test('a taken id is not used again [2.2.9]', async () => {
    await using project = await aProject();
    project.put('.pawl/session-context.d/helper-aaaa.md', 'somebody else');
    const begun = beginSession(project.place(), surveyed('beside'), inTurn('aaaa', 'aaaa', 'bbbb'));
    expect(begun.id).toBe('helper-bbbb');
    expect(project.read('.pawl/session-context.d/helper-aaaa.md')).toBe('somebody else');
    const stuck = () => beginSession(project.place(), surveyed('beside'), () => 'aaaa');
    expect(stuck).toThrow(expect.objectContaining({ code: 'busy' }));
  });

  test('two concurrent helpers have two files, and each is told of the other [S0-24]', async () => {
    await using project = await aProject();
    const living = [40, 41];
    const one = beginSession(project.place(), surveyed('beside', { own: { pid: 40, start: 'b/1' }, living }));
    const two = beginSession(project.place(), surveyed('beside', { own: { pid: 41, start: 'b/2' }, living }));
    expect(one.file).not.toBe(two.file);
    expect(two.helpers).toEqual([{ id: one.id, file: one.file, live: true }]);
    // Asked again, each keeps its identity.
    const again = beginSession(project.place(), surveyed('beside', { own: { pid: 40, start: 'b/1' }, living }));
    expect(again.id).toBe(one.id);
  });

  test('a given id is used unchanged [W0-05, S0-18]', async () => {
    await using project = await aProject();
    const environment = { PAWL_AGENT_ID: 'helper-ab12.1763251200', PAWL_HELPER: '1' };
    const begun = beginSession(project.place(environment), surveyed('beside'));
    expect(begun).toMatchObject({ branch: 'helper', id: 'helper-ab12.1763251200' });
    expect(project.read('.pawl/session-context.d/helper-ab12.1763251200.md')).toBe('helper-ab12.1763251200\n');
    expect(beginSession(project.place(environment), surveyed('beside')).id).toBe('helper-ab12.1763251200');
  });

  test('a helper without others is an ordinary session [S0-19]', async () => {
    await using project = await aProject();
    const environment = { PAWL_AGENT_ID: 'helper-ab12', PAWL_HELPER: '1' };
    const begun = beginSession(project.place(environment), surveyed('alone'));
    expect(begun).toMatchObject({ branch: 'fresh', id: null, file: singleton, isOrphan: true });
  });

  test('a session with its own id recovers only its own notes [2.3.3]', async () => {
    await using project = await aProject();
    project.put(singleton, 'somebody’s');
    project.put('.pawl/session-context.d/host.p.1.md', 'an earlier run');
    const begin = (id: string) => beginSession(project.place({ PAWL_AGENT_ID: id }), surveyed('alone'));
    expect(begin('host.p.1')).toMatchObject({ branch: 'recover', notes: 'an earlier run' });
    expect(begin('host.p.2')).toMatchObject({ branch: 'fresh', notes: null });
  });
});

describe('the files of helpers [W0-08]', () => {
  test('live by their process; empty, half-written and orphaned ones are stale, and never the primary’s [2.2.10, W0-11]', async () => {
    await using project = await aProject();
    project.put('.pawl/session-context.d/helper-live.md', 'helper-live\n<!-- process 40 b/40 -->\nnotes');
    project.put('.pawl/session-context.d/helper-dead.md', 'helper-dead\n<!-- process 41 b/41 -->\n');
    project.put('.pawl/session-context.d/helper-none.md', '');
    project.put('.pawl/session-context.d/helper-half.md', 'hel');
    project.put('.pawl/session-context.d/helper-hand.md', 'helper-hand\nwritten by hand\n');
    project.put('.pawl/session-context.d/notes.txt', 'no anchor');
    const states = (look: ReturnType<typeof surveyed>) =>
      Object.fromEntries(beginSession(project.place(), look).helpers.map(({ id, live }) => [id.slice(7), live]));
    expect(states(surveyed('alone', { living: [40] }))).toEqual({
      dead: false,
      half: false,
      hand: false,
      live: true,
      none: false,
    });
    expect(states(surveyed('first', { living: [40] }))).toMatchObject({ hand: true, half: false, none: false });
    expect(beginSession(project.place(), surveyed('alone')).branch).toBe('fresh');
  });

  test('a file that is a link is not read or written through', async () => {
    await using project = await aProject();
    writeFileSync(join(project.outside, 'secret'), 'secret');
    mkdirSync(join(project.root, '.pawl'));
    symlinkSync(join(project.outside, 'secret'), join(project.root, singleton));
    expect(beginSession(project.place(), surveyed('alone'))).toMatchObject({ branch: 'fresh', notes: null });
    mkdirSync(join(project.outside, 'elsewhere'));
    symlinkSync(join(project.outside, 'elsewhere'), join(project.root, '.pawl/session-context.d'));
    const begin = () => beginSession(project.place(), surveyed('beside'));
    expect(begin).toThrow(expect.objectContaining({ code: 'conflict' }));
    rmSync(join(project.root, '.pawl'), { recursive: true });
    symlinkSync('/dev/zero', join(project.root, '.pawl'));
    expect(beginSession(project.place(), surveyed('alone')).branch).toBe('fresh');
  });
});

test('an agent in its own worktree is isolated, scans nothing and writes nothing [7.7]', async () => {
  await using project = await aProject();
  const environment = { PAWL_SESSION: 'session-1', PAWL_AGENT_ID: 'agent-1' };
  const place = { ...project.place(environment), worktrees: [project.outside] };
  const look = () => {
    throw new Error('nobody was to look');
  };
  expect(beginSession(place, look)).toMatchObject({ branch: 'isolated', id: 'agent-1' });
  expect(project.files()).toEqual([]);
  // In a checkout that it shares it is one of several.
  expect(beginSession(project.place(environment), surveyed('beside')).branch).toBe('helper');
});

test('in the older layout a helper’s file is an org file [section 0]', async () => {
  await using project = await aProject();
  project.put('.ai/session-context.org', 'alive');
  const begun = beginSession(project.place(), surveyed('beside', { own: { pid: 4, start: 'b/4' } }), inTurn('ab12'));
  expect(begun.file).toBe('.ai/session-context.d/helper-ab12.org');
  expect(project.read('.ai/session-context.d/helper-ab12.org')).toBe('helper-ab12\n# process 4 b/4\n');
  expect(project.has('.pawl')).toBe(false);
});
