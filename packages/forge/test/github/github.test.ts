import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Forge, Track } from '@pawl/core/port/forge';
import { createGh } from '@pawl/forge/github/gh';
import { createGithub } from '@pawl/forge/github/github';
import type { ErrorCode } from '@pawl/schema/error';
import type { FakeGithub } from '@pawl/testing/fake-gh/fake-github';
import { createFakeGithub } from '@pawl/testing/fake-gh/fake-github';
import type { FakeState, FakeTrouble } from '@pawl/testing/fake-gh/state';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { expect, test } from 'vitest';

const repository = { host: 'github.com', owner: 'octo', name: 'sample' };
const change = { branch: 'work/a', fork: null, base: 'main', title: 'A change', body: 'why', draft: false };

/** A server, and the port to it. The same fake is a program of its own elsewhere. */
async function openForge(given: Partial<FakeState> = {}, track: Track = 'all') {
  const place = await temporaryDirectory();
  const server = await createFakeGithub(place.path, given);
  const forge = createGithub({ gh: async (words, input) => server.gh(words, input), repository, track });
  const calls = (command: string) => server.on(({ log }) => log.filter((words) => words.join(' ').startsWith(command)));
  return { server, forge, calls, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

const squash = (head: string) => ({ head, method: 'squash', subject: 'A subject', body: 'a body' }) as const;
const mainOf = (server: FakeGithub) => git(server.repository, ['rev-parse', 'refs/heads/main']);

test('a change is opened once, labelled, and listed [S4-06]', async () => {
  await using place = await openForge();
  const { server, forge } = place;
  const head = await server.push('work/a', { 'a.txt': 'a\n' });
  const opened = await forge.open({ ...change, draft: true });
  expect(opened).toMatchObject({
    ref: '1',
    url: 'https://github.com/octo/sample/pull/1',
    branch: 'work/a',
    fork: null,
    head,
    base: 'main',
    state: 'open',
    draft: true,
    labels: ['pawl'],
    review: 'none',
    mergeable: 'yes',
    checks: { state: 'none' },
    mergedCommit: null,
  });
  // The search that lists labelled ones does not know it yet; a second attempt finds it all the same.
  server.on((state) => (state.unindexed = [1]));
  expect(await forge.open(change)).toEqual(opened);
  expect(place.calls('pr create')).toHaveLength(1);
  expect(await forge.list()).toEqual([]);
  server.on((state) => (state.unindexed = []));
  expect(await forge.list()).toEqual([opened]);
  expect(server.on(({ labels }) => labels)).toContain('pawl');
});

test('a lost response opens nothing twice', async () => {
  await using place = await openForge();
  await place.server.push('work/a', { 'a.txt': 'a\n' });
  place.server.on((state) => (state.trouble = { kind: 'lost-answer', command: 'pr create', times: 1 }));
  await expect(place.forge.open(change)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await place.forge.open(change)).toMatchObject({ ref: '1' });
  expect(place.server.on(({ pulls }) => pulls)).toHaveLength(1);
});

test.each<[Track, string[]]>([
  ['all', ['1', '2', '3']],
  ['author', ['1', '3']],
  ['assigned', ['2']],
])('it tracks %s [W4-19]', async (track, refs) => {
  await using place = await openForge({}, track);
  for (const name of ['a', 'b', 'c']) {
    await place.server.push(`work/${name}`, { [`${name}.txt`]: 'x\n' });
    await place.forge.open({ ...change, branch: `work/${name}` });
  }
  place.server.on(({ pulls }) => {
    const [, second] = pulls;
    if (second !== undefined) Object.assign(second, { author: 'somebody', assignees: ['octo-cat'] });
  });
  expect((await place.forge.list()).map(({ ref }) => ref).toSorted()).toEqual(refs);
});

test('a merge is pinned to the head that was checked [S4-06]', async () => {
  await using place = await openForge();
  const { server, forge } = place;
  const head = await server.push('work/a', { 'a.txt': 'a\n' });
  const { ref } = await forge.open(change);
  const before = await mainOf(server);
  const later = await server.push('work/a', { 'a.txt': 'b\n' }, { from: 'work/a' });
  expect(await forge.merge(ref, squash(head))).toMatchObject({ do: 'refused', why: 'head-moved' });
  expect(await mainOf(server)).toBe(before);
  const merged = await forge.merge(ref, squash(later));
  expect(merged).toEqual({ do: 'merged', commit: await mainOf(server) });
  expect(await git(server.repository, ['log', '-1', '--format=%P%n%s%n%b', 'main'])).toBe(
    `${before}\nA subject\na body`,
  );
  expect(await forge.view(ref)).toMatchObject({ state: 'merged', mergedCommit: await mainOf(server) });
  // Once more: it is done, and nothing happens twice; at another head it is not what was asked for.
  expect(await forge.merge(ref, squash(later))).toEqual(merged);
  expect(await forge.merge(ref, squash(head))).toMatchObject({ do: 'refused', why: 'head-moved' });
});

test('a merge whose response was lost is found done', async () => {
  await using place = await openForge();
  const head = await place.server.push('work/a', { 'a.txt': 'a\n' });
  const { ref } = await place.forge.open(change);
  place.server.on((state) => (state.trouble = { kind: 'lost-answer', command: 'pr merge', times: 1 }));
  await expect(place.forge.merge(ref, squash(head))).rejects.toMatchObject({ code: 'unavailable' });
  const main = await mainOf(place.server);
  expect(await place.forge.merge(ref, squash(head))).toEqual({ do: 'merged', commit: main });
  expect(await mainOf(place.server)).toBe(main);
});

test('a refusal of the forge is a result with the reason; its protection is never bypassed', async () => {
  await using place = await openForge();
  const { server, forge } = place;
  const head = await server.push('work/a', { 'README.md': 'mine\n' });
  const { ref } = await forge.open({ ...change, draft: true });
  expect(await forge.merge(ref, squash(head))).toMatchObject({ do: 'refused', why: 'draft' });
  await forge.mark(ref, { ready: true });
  server.on((state) => (state.protection = { checks: ['test'], reviews: 0, upToDate: false }));
  expect(await forge.merge(ref, squash(head))).toMatchObject({ do: 'refused', why: 'policy' });
  server.on((state) => Object.assign(state, { protection: null, methods: ['merge'] }));
  expect(await forge.merge(ref, squash(head))).toMatchObject({ do: 'refused', why: 'policy' });
  server.on((state) => (state.mergeQueue = true));
  expect(await forge.merge(ref, squash(head))).toEqual({ do: 'queued' });
  server.on((state) => (state.mergeQueue = false));
  await server.push('main', { 'README.md': 'theirs\n' });
  expect(await forge.merge(ref, squash(head))).toMatchObject({ do: 'refused', why: 'conflict' });
  expect(await forge.view(ref)).toMatchObject({ mergeable: 'no' });
  expect(place.calls('pr merge').flat()).not.toContain('--admin');
});

test.each(['merge', 'rebase'] as const)('it merges by %s', async (method) => {
  await using place = await openForge();
  const head = await place.server.push('work/a', { 'a.txt': 'a\n' });
  const { ref } = await place.forge.open(change);
  const done = await place.forge.merge(ref, { head, method, subject: 'A subject', body: '' });
  expect(done).toEqual({ do: 'merged', commit: await mainOf(place.server) });
});

test('an objection counts until it is dismissed, whether or not reviews are required [S4-07]', async () => {
  await using place = await openForge();
  const { server, forge } = place;
  await server.push('work/a', { 'a.txt': 'a\n' });
  const { ref } = await forge.open(change);
  const review = async () => {
    const { review: verdict, objectors } = await forge.view(ref);
    return [verdict, ...objectors];
  };
  server.review(1, 'stranger', 'CHANGES_REQUESTED', 'NONE');
  expect(await review()).toEqual(['none']);
  server.review(1, 'boss', 'CHANGES_REQUESTED');
  server.review(1, 'boss', 'COMMENTED');
  expect(await review()).toEqual(['changes_requested', 'boss']);
  server.review(1, 'boss', 'APPROVED');
  expect(await review()).toEqual(['none']);
  server.on((state) => (state.protection = { checks: [], reviews: 2, upToDate: false }));
  expect(await review()).toEqual(['required']);
  server.review(1, 'chief', 'APPROVED', 'OWNER');
  expect(await review()).toEqual(['approved']);
});

test('checks are those of exactly the head [S4-06]', async () => {
  await using place = await openForge();
  const { server, forge } = place;
  const head = await server.push('work/a', { 'a.txt': 'a\n' });
  const { ref } = await forge.open(change);
  server.check(head, 'test', 'IN_PROGRESS');
  expect((await forge.view(ref)).checks).toMatchObject({
    state: 'pending',
    checks: [{ name: 'test', state: 'pending' }],
  });
  server.check(head, 'test', 'SUCCESS');
  expect((await forge.view(ref)).checks.state).toBe('passed');
  await server.push('work/a', { 'a.txt': 'b\n' }, { from: 'work/a' });
  expect((await forge.view(ref)).checks.state).toBe('none');
});

test('main on the forge is red when a run of its newest commit has failed [S4-06]', async () => {
  await using place = await openForge();
  const { server, forge } = place;
  expect(await forge.branchChecks('main')).toBeNull();
  const first = await mainOf(server);
  server.run('main', first, 'success');
  const commit = await server.push('main', { 'b.txt': 'b\n' });
  server.run('main', commit, 'failure');
  expect(await forge.branchChecks('main')).toMatchObject({ commit, state: 'failed' });
});

test('labels, comments, closing and issues happen once', async () => {
  await using place = await openForge();
  const { server, forge } = place;
  await server.push('work/a', { 'a.txt': 'a\n' });
  const { ref } = await forge.open(change);
  await forge.mark(ref, { add: ['needs-human-input'] });
  await forge.mark(ref, { add: ['needs-human-input'] });
  expect((await forge.view(ref)).labels).toEqual(['pawl', 'needs-human-input']);
  await forge.mark(ref, { remove: ['needs-human-input'] });
  await forge.mark(ref, { remove: ['needs-human-input'] });
  expect((await forge.view(ref)).labels).toEqual(['pawl']);
  const hostile = '--body=x\n`$(touch /tmp/never)`\n';
  await forge.comment(ref, hostile, 'k1');
  await forge.comment(ref, hostile, 'k1');
  await forge.comment(ref, 'another', 'k2');
  const bodies = server.on(({ pulls }) => pulls[0]?.comments.map(({ body }) => body) ?? []);
  expect(bodies).toHaveLength(2);
  expect(bodies[0]).toContain(hostile.trim());
  await forge.close(ref);
  await forge.close(ref);
  expect(await forge.view(ref)).toMatchObject({ state: 'closed' });
  const url = await forge.openIssue({ title: '--repo=evil/place', body: 'learned', key: 'k3' });
  expect(await forge.openIssue({ title: '--repo=evil/place', body: 'learned', key: 'k3' })).toBe(url);
  expect(server.on(({ issues }) => issues.map(({ title }) => title))).toEqual(['--repo=evil/place']);
});

test('with read access only, proposes from a fork, without labels [W4-19]', async () => {
  await using place = await openForge({ permission: 'READ' });
  const { server, forge } = place;
  const fork = `${server.repository}-fork`;
  await git(server.repository, ['clone', '--quiet', '--bare', server.repository, fork]);
  server.on(({ repositories }) => void (repositories['Octo-Cat'] = fork));
  const head = await server.push('work/a', { 'a.txt': 'a\n' }, { owner: 'Octo-Cat' });
  expect(await forge.mayWrite()).toBe(false);
  const opened = await forge.open({ ...change, fork: 'Octo-Cat' });
  expect(opened).toMatchObject({ fork: 'Octo-Cat', head, labels: [] });
  expect(await forge.open({ ...change, fork: 'octo-cat' })).toEqual(opened);
  await forge.mark(opened.ref, { add: ['needs-human-input'] });
  expect((await forge.view(opened.ref)).labels).toEqual([]);
  await expect(forge.merge(opened.ref, squash(head))).rejects.toMatchObject({ code: 'forbidden' });
});

test.each<[FakeTrouble['kind'], ErrorCode, string]>([
  ['auth', 'unauthorized', 'gh auth login'],
  ['bad-credentials', 'unauthorized', 'gh auth login'],
  ['rate-limit', 'unavailable', 'gh api rate_limit'],
  ['offline', 'unavailable', 'githubstatus.com'],
  ['forbidden', 'forbidden', 'repo'],
  ['garbage', 'unavailable', 'gh 2.23'],
])('%s is explained', async (kind, code, hint) => {
  await using place = await openForge();
  place.server.on((state) => (state.trouble = { kind, command: 'pr list', times: 1 }));
  const error = await place.forge.list().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code, hint: expect.stringContaining(hint) as string });
});

test('a missing change is not found, and a reference is a number', async () => {
  await using place = await openForge();
  await expect(place.forge.view('99')).rejects.toMatchObject({ code: 'not_found' });
  for (const ref of ['--web', '1 2', '0', '', '../1']) {
    await expect(place.forge.view(ref)).rejects.toMatchObject({ code: 'invalid_input' });
  }
});

test('the program itself: found in PATH, run outside repositories, with a minimal environment', async () => {
  await using place = await temporaryDirectory();
  const server = await createFakeGithub(place.path);
  await server.push('work/a', { 'a.txt': 'a\n' });
  const environment = { ...process.env, PATH: `${server.bin}:${process.env['PATH']}` };
  const forge: Forge = createGithub({ gh: createGh({ cwd: place.path, environment }), repository, track: 'all' });
  expect(await forge.open({ ...change, body: 'from standard input' })).toMatchObject({ body: 'from standard input' });
  await expect(forge.view('9')).rejects.toMatchObject({ code: 'not_found' });
  const nowhere = createGh({ cwd: place.path, environment: { PATH: place.path } });
  await expect(nowhere(['pr', 'list'])).rejects.toMatchObject({ code: 'unavailable', message: /gh was not found/ });

  const bin = join(place.path, 'spy');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gh'), `#!/bin/sh\n/usr/bin/env > '${place.path}/seen'\n`);
  chmodSync(join(bin, 'gh'), 0o755);
  const secrets = {
    PATH: bin,
    GH_TOKEN: 'wanted',
    GH_REPO: 'evil/place',
    ANTHROPIC_API_KEY: 'not-wanted',
    GIT_DIR: '/x',
  };
  await createGh({ cwd: place.path, environment: secrets })(['pr', 'list']);
  const seen = readFileSync(join(place.path, 'seen'), 'utf8');
  expect(seen).toContain('GH_TOKEN=wanted');
  expect(seen).toContain('GH_PROMPT_DISABLED=1');
  expect(seen).toContain('GIT_DIR=/dev/null');
  expect(seen).not.toMatch(/not-wanted|evil/);
  expect(existsSync('/tmp/never')).toBe(false);
});
