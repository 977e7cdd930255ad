import { mergeOnForge } from '@pawl/daemon/forge-sync/forge-merge';
import { learningsPath } from '@pawl/daemon/changes/learnings';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { addressComment, insertComment, updateChange } from '@pawl/store/changes/changes';
import { updateProjectSettings } from '@pawl/store/projects/project-settings';
import { git } from '@pawl/testing/sample-repository';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { openForgeHome } from '../support/forge-home.ts';

const remoteTip = (path: string, branch: string) => git(path, ['rev-parse', `refs/heads/${branch}`]);

test('an open change is pushed and becomes a pull request, once', async () => {
  await using place = await openForgeHome();
  const head = await place.commit('work/a', { 'a.txt': 'a\n' });
  const { id } = await place.propose('work/a');
  await place.sync();
  await place.sync();
  expect(await remoteTip(place.server.repository, 'work/a')).toBe(head);
  const [pull, ...others] = place.pulls();
  expect(others).toEqual([]);
  expect(pull).toMatchObject({ number: 1, head, title: 'A change', draft: false, labels: ['pawl'], base: 'main' });
  expect(pull?.body).toContain('What it does.');
  expect(await place.changeOf(id)).toMatchObject({ forgeRef: '1' });
});

test('without a person’s permission nothing is pushed or opened; the permission is for its head only', async () => {
  await using place = await openForgeHome();
  await place.store.write((tx) => updateProjectSettings(tx, place.project.id, { pushAllowedAt: null }));
  const refs = () => git(place.server.repository, ['for-each-ref']);
  const before = await refs();
  const head = await place.commit('work/a', { 'a.txt': 'a\n' });
  const change = await place.propose('work/a');
  await place.sync();
  expect(await refs()).toBe(before);
  expect(place.pulls()).toEqual([]);
  // Nothing there holds it, so it is checked here.
  expect(await place.changeOf(change.id)).toMatchObject({ hold: null, forgeRef: null });
  await place.store.write((tx) => updateChange(tx, change.id, { askedHead: head }));
  await place.sync();
  expect(place.pulls()).toMatchObject([{ head }]);
  await place.commit('work/a', { 'more.txt': 'more\n' });
  await place.repropose(change);
  await place.sync();
  expect(await remoteTip(place.server.repository, 'work/a')).toBe(head);
  expect(await place.changeOf(change.id)).toMatchObject({ hold: null });
});

test('interrupted after the push or after the opening, it is opened once', async () => {
  await using place = await openForgeHome();
  await place.commit('work/a', { 'a.txt': 'a\n' });
  const { id } = await place.propose('work/a');
  place.server.on((state) => (state.trouble = { kind: 'offline', command: 'pr create', times: 1 }));
  await expect(place.sync()).rejects.toMatchObject({ code: 'unavailable' });
  place.server.on((state) => (state.trouble = { kind: 'lost-answer', command: 'pr create', times: 1 }));
  await expect(place.sync(limits.forgeRetryMs)).rejects.toMatchObject({ code: 'unavailable' });
  await place.sync(limits.forgeRetryMs);
  expect(place.pulls()).toHaveLength(1);
  expect(await place.changeOf(id)).toMatchObject({ forgeRef: '1' });
});

test('after an error the forge is paused for a while, and so it is right after a pass', async () => {
  await using place = await openForgeHome();
  place.server.on((state) => (state.trouble = { kind: 'rate-limit', command: 'pr list', times: 1 }));
  await expect(place.sync()).rejects.toMatchObject({ code: 'unavailable' });
  const asked = () => place.server.on(({ log }) => log.length);
  const before = asked();
  expect(await place.sync(limits.forgeMs)).toBe(false);
  expect(asked()).toBe(before);
  expect(await place.sync(limits.forgeRetryMs)).toBe(true);
  expect(await place.sync(1_000)).toBe(false);
});

test('a moved head is pushed, even if rewritten; commits of others are never overwritten', async () => {
  await using place = await openForgeHome();
  await place.commit('work/a', { 'a.txt': 'a\n' });
  const change = await place.propose('work/a');
  await place.sync();
  await place.commit('work/a', { 'a.txt': 'b\n' });
  const second = await place.repropose(change);
  await place.sync();
  expect(await remoteTip(place.server.repository, 'work/a')).toBe(second);
  expect(await place.changeOf(change.id)).toMatchObject({ hold: { by: 'github', reason: /not started/ } });
  await place.commit('work/a', { 'a.txt': 'c\n' }, { amend: true });
  const third = await place.repropose(change);
  await place.sync();
  expect(await remoteTip(place.server.repository, 'work/a')).toBe(third);
  const foreign = await place.server.push('work/a', { 'theirs.txt': 'x\n' }, { from: 'work/a' });
  await place.commit('work/a', { 'a.txt': 'd\n' }, { amend: true });
  await place.repropose(change);
  await place.sync();
  expect(await remoteTip(place.server.repository, 'work/a')).toBe(foreign);
  expect(await place.changeOf(change.id)).toMatchObject({
    hold: { reason: expect.stringContaining('its head is') as string },
  });
});

test('a branch of that name with other commits is left alone, and the change says so', async () => {
  await using place = await openForgeHome();
  const theirs = await place.server.push('work/a', { 'theirs.txt': 'x\n' });
  await place.commit('work/a', { 'a.txt': 'a\n' });
  const { id } = await place.propose('work/a');
  await place.commit('work/b', { 'b.txt': 'b\n' });
  await place.propose('work/b');
  await place.sync();
  expect(await remoteTip(place.server.repository, 'work/a')).toBe(theirs);
  expect(await place.changeOf(id)).toMatchObject({ forgeRef: null, hold: { by: 'github', reason: /other commits/ } });
  expect(place.pulls().map(({ branch }) => branch)).toEqual(['work/b']);
});

test('requested changes and failing checks hold a change, until they are resolved [S4-07]', async () => {
  await using place = await openForgeHome();
  const head = await place.commit('work/a', { 'a.txt': 'a\n' });
  const { id } = await place.propose('work/a');
  await place.sync();
  const hold = async (afterMs?: number) => {
    await place.sync(afterMs);
    return (await place.changeOf(id)).hold?.reason ?? null;
  };
  expect(await hold()).toBe('its checks have not started there');
  place.server.check(head, 'test', 'FAILURE');
  expect(await hold()).toBe('its checks fail there: test');
  place.server.check(head, 'test', 'SUCCESS');
  expect(await hold()).toBeNull();
  place.server.review(1, 'boss', 'CHANGES_REQUESTED');
  expect(await hold()).toBe('boss requested changes');
  expect(await hold()).toBe('boss requested changes');
  place.server.review(1, 'boss', 'APPROVED');
  expect(await hold()).toBeNull();
  const told = await place.events('change.blocked', 'change.unblocked');
  expect(told.map(({ type }) => type)).toEqual([
    'change.blocked',
    'change.blocked',
    'change.unblocked',
    'change.blocked',
    'change.unblocked',
  ]);
});

test('a person’s hold stays, whatever the forge says', async () => {
  await using place = await openForgeHome();
  await place.commit('work/a', { 'a.txt': 'a\n' });
  const mine = { reason: 'not today', by: 'a person', at: 1 };
  const { id } = await place.propose('work/a', { hold: mine });
  await place.sync();
  place.server.review(1, 'boss', 'CHANGES_REQUESTED');
  await place.sync();
  await place.sync(limits.forgeGraceMs);
  expect(await place.changeOf(id)).toMatchObject({ hold: mine });
});

test('a change that is not queued is a draft; it is ready once it is queued', async () => {
  await using place = await openForgeHome();
  await place.commit('work/a', { 'a.txt': 'a\n' });
  const { id } = await place.propose('work/a', { queuedAt: null });
  await place.sync();
  expect(place.pulls()[0]).toMatchObject({ draft: true });
  await place.store.write((tx) => updateChange(tx, id, { queuedAt: tx.now }));
  await place.sync();
  expect(place.pulls()[0]).toMatchObject({ draft: false });
  place.server.on(({ pulls }) => pulls.forEach((pull) => (pull.draft = true)));
  await place.sync(limits.forgeGraceMs);
  expect(place.pulls()[0]).toMatchObject({ draft: true });
  expect(await place.changeOf(id)).toMatchObject({ hold: { reason: 'it is a draft there' } });
});

test('a change that waits for a person is labelled needs-human-input [S4-07]', async () => {
  await using place = await openForgeHome();
  const head = await place.commit('work/a', { 'a.txt': 'a\n' });
  const { id } = await place.propose('work/a', { findings: [{ kind: 'fewer-tests', detail: '3 instead of 5' }] });
  await place.sync();
  await place.sync();
  expect(place.pulls()[0]?.labels).toEqual(['pawl', 'needs-human-input']);
  await place.store.write((tx) => updateChange(tx, id, { approvedHead: head }));
  await place.sync();
  expect(place.pulls()[0]?.labels).toEqual(['pawl']);
});

test('comments are posted there, each once [S4-14]', async () => {
  await using place = await openForgeHome();
  const head = await place.commit('work/a', { 'a.txt': 'a\n' });
  const { id } = await place.propose('work/a');
  await place.sync();
  const say = (kind: 'blocking' | 'note', body: string) =>
    place.store.write(async (tx) => {
      const comment = { id: newId(), changeId: id, agentId: null, kind, body, head, at: tx.now };
      await insertComment(tx, { ...comment, addressedAt: null, addressed: null });
      if (kind === 'note') await addressComment(tx, comment.id, 'a note');
    });
  await say('blocking', 'this leaks');
  await say('note', 'a nice name');
  place.server.on((state) => (state.trouble = { kind: 'lost-answer', command: 'pr comment', times: 1 }));
  await expect(place.sync()).rejects.toMatchObject({ code: 'unavailable' });
  await place.sync(limits.forgeRetryMs);
  await place.sync();
  const said = place.pulls()[0]?.comments.map(({ body }) => body.split('\n')[0]);
  expect(said).toEqual(['[BLOCKING] this leaks', 'a nice name']);
});

test('closing or merging the pull request closes or merges the change', async () => {
  await using place = await openForgeHome();
  for (const name of ['a', 'b']) await place.commit(`work/${name}`, { [`${name}.txt`]: 'x\n' });
  const merged = await place.propose('work/a');
  const closed = await place.propose('work/b');
  await place.sync();
  place.server.gh(['pr', 'merge', '1', '--repo', 'octo/sample', '--squash']);
  place.server.gh(['pr', 'close', '2', '--repo', 'octo/sample']);
  await place.sync();
  await place.sync();
  const main = await remoteTip(place.server.repository, 'main');
  expect(await place.changeOf(merged.id)).toMatchObject({ mergedCommit: main, mergedAt: expect.any(Number) as number });
  expect(await place.changeOf(closed.id)).toMatchObject({ closeReason: 'it was closed on github (#2)' });
  expect(await place.events('change.merged', 'change.closed')).toHaveLength(2);
});

test('closing a change closes its pull request, and its learnings become an issue, once [S4-07]', async () => {
  await using place = await openForgeHome();
  await place.commit('work/a', { 'a.txt': 'a\n' });
  const { id } = await place.propose('work/a');
  await place.sync();
  const path = learningsPath(place.platform.home, place.project, id);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '# A change\n\nIt does not scale.\n');
  await place.store.write((tx) => updateChange(tx, id, { closedAt: tx.now, closeReason: 'a dead end' }));
  place.server.on((state) => (state.trouble = { kind: 'lost-answer', command: 'issue create', times: 1 }));
  await expect(place.sync()).rejects.toMatchObject({ code: 'unavailable' });
  await place.sync(limits.forgeRetryMs);
  await place.sync();
  expect(place.pulls()[0]).toMatchObject({ state: 'CLOSED' });
  expect(place.pulls()[0]?.comments.map(({ body }) => body)).toEqual([expect.stringContaining('Closed: a dead end')]);
  const issues = place.server.on((state) => state.issues);
  expect(issues).toMatchObject([
    { title: 'Learned from: A change', body: expect.stringContaining('not scale') as string },
  ]);
  expect(await place.openChanges()).toEqual([]);
});

test('a pull request with our label becomes a change, and follows its pushes', async () => {
  await using place = await openForgeHome({ server: { labels: ['pawl'] } });
  const head = await place.server.push('feature/x', { 'x.txt': 'x\n' });
  const words = ['pr', 'create', '--repo', 'octo/sample', '--head', 'feature/x', '--label', 'pawl', '--draft'];
  place.server.gh([...words, '--title', 'Feature\u001b[31m x', '--body', 'words']);
  await place.sync();
  const [change] = await place.openChanges();
  expect(change).toMatchObject({ branch: 'feature/x', head, agentId: null, forgeRef: '1', queuedAt: null });
  expect(change?.title).toBe('Feature [31m x');
  place.server.gh(['pr', 'ready', '1', '--repo', 'octo/sample']);
  const later = await place.server.push('feature/x', { 'x.txt': 'y\n' }, { from: 'feature/x' });
  await place.sync();
  expect(await place.openChanges()).toMatchObject([{ head: later, queuedAt: expect.any(Number) as number }]);
  expect(await place.events('change.opened', 'change.moved', 'change.queued')).toHaveLength(3);
  await place.sync();
  expect(await place.openChanges()).toHaveLength(1);
});

test('pull requests from forks, for other branches, or without the label are ignored; any branch name works', async () => {
  await using place = await openForgeHome({ server: { labels: ['pawl'] } });
  const { server } = place;
  const fork = `${server.repository}-fork`;
  await git(server.repository, ['clone', '--quiet', '--bare', server.repository, fork]);
  server.on(({ repositories }) => void (repositories['stranger'] = fork));
  await server.push('evil', { 'evil.txt': 'x\n' }, { owner: 'stranger' });
  await server.push('next', { 'n.txt': 'x\n' });
  await server.push('for-next', { 'm.txt': 'x\n' }, { from: 'next' });
  await server.push('plain', { 'p.txt': 'x\n' });
  await server.push('odd+name#1', { 'o.txt': 'x\n' });
  const open = (head: string, ...more: string[]) =>
    server.gh(['pr', 'create', '--repo', 'octo/sample', '--head', head, '--title', head, '--body', '', ...more]);
  open('stranger:evil', '--label', 'pawl');
  open('for-next', '--base', 'next', '--label', 'pawl');
  open('plain');
  open('odd+name#1', '--label', 'pawl');
  expect(place.pulls()).toHaveLength(4);
  await place.sync();
  expect((await place.openChanges()).map(({ branch }) => branch)).toEqual(['odd+name#1']);
});

test('a main that is red on the forge is reported as long as it is', async () => {
  await using place = await openForgeHome();
  const commit = await remoteTip(place.server.repository, 'main');
  await place.sync();
  expect(place.link.main).toMatchObject({ tip: commit, checks: null });
  place.server.run('main', commit, 'failure');
  const since = place.link.main?.since;
  for (let look = 0; look < 3; look += 1) {
    await place.sync();
    expect(place.link.main).toMatchObject({ tip: commit, since, checks: { commit, state: 'failed' } });
  }
});

test('a change is merged there, pinned to its head, and only while nothing blocks it [S4-06]', async () => {
  await using place = await openForgeHome();
  const head = await place.commit('work/a', { 'a.txt': 'a\n' });
  const { id } = await place.propose('work/a');
  const asked = { ref: '1', message: 'A change\n\nWhat it does.\n' };
  const merge = async () => mergeOnForge(await place.bench(), await place.changeOf(id), asked);
  await place.sync();
  expect(await merge()).toEqual({ is: 'held', reason: 'its checks have not started there' });
  place.server.check(head, 'test', 'SUCCESS');
  place.server.review(1, 'boss', 'CHANGES_REQUESTED');
  expect(await merge()).toEqual({ is: 'held', reason: 'boss requested changes' });
  place.server.review(1, 'boss', 'APPROVED');
  // Main moves between the last poll and the merge.
  const stale = await place.bench();
  await place.server.push('main', { 'm.txt': 'm\n' });
  expect(await mergeOnForge(stale, await place.changeOf(id), asked)).toEqual({ is: 'behind' });
  place.server.on((state) => (state.trouble = { kind: 'lost-answer', command: 'pr merge', times: 1 }));
  await expect(merge()).rejects.toMatchObject({ code: 'unavailable' });
  const main = await remoteTip(place.server.repository, 'main');
  expect(await merge()).toEqual({ is: 'merged', commit: main });
  expect(await git(place.server.repository, ['log', '-1', '--format=%s', 'main'])).toBe('A change');
});

test('with read access only, changes are proposed from the fork and never merged [W4-19]', async () => {
  await using place = await openForgeHome({ server: { permission: 'READ' } });
  const fork = `${place.server.repository}-fork`;
  await git(place.server.repository, ['clone', '--quiet', '--bare', place.server.repository, fork]);
  place.server.on(({ repositories }) => void (repositories['octo-cat'] = fork));
  Object.assign(place.link, { push: { url: fork, fork: 'octo-cat' }, mayMerge: false });
  await place.commit('work/a', { 'a.txt': 'a\n' });
  const change = await place.propose('work/a');
  await place.sync();
  await place.commit('work/a', { 'a.txt': 'b\n' });
  const head = await place.repropose(change);
  await place.sync();
  await place.sync(limits.forgeGraceMs);
  expect(await remoteTip(fork, 'work/a')).toBe(head);
  expect(await place.changeOf(change.id)).toMatchObject({ forgeRef: '1', hold: null });
  const merged = await mergeOnForge(await place.bench(), await place.changeOf(change.id), {
    ref: '1',
    message: 'A change\n',
  });
  expect(merged).toEqual({ is: 'refused', reason: 'you may not merge there; someone with permission must' });
  expect(place.server.on(({ log }) => log.filter((words) => words[1] === 'merge'))).toEqual([]);
});
