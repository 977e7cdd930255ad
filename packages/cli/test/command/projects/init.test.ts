import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import type { InitOptions } from '../../../src/command/projects/init.ts';
import { init } from '../../../src/command/projects/init.ts';
import { listProjects } from '../../../src/command/projects/project.ts';
import type { Person } from '../../../src/agent/person.ts';
import { agentView, idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const project = { id: idOf(1), name: 'shop', root: '/code/shop', createdAt: 1 };
const file = '/code/shop/.pawl/config.yaml';
const found = [{ run: 'npm test', from: 'package.json' }];

const merging = {
  outcome: 'checked',
  text: 'its branch is checked; you merge it with `pawl change merge`',
  branch: 'main',
  remote: null,
  pushAllowed: false,
  notCommitted: '`.pawl/config.yaml` is not committed on main: `git add`, `git commit`',
};
const mergingLines = [
  'nothing is merged or pushed automatically',
  `when an agent is done: ${merging.text}`,
  `first, in /code/shop: ${merging.notCommitted}`,
];
const nobody: Person = { present: false, ask: () => Promise.reject(new Error('asked')) };
const open = 'nothing is merged without checks: name them there, as in `checks: [make test]`';

test.each([
  [
    { file, found, outcome: 'written', reason: null },
    [`wrote ${file}; a change passes when these do:`, '  npm test  (package.json)'],
  ],
  [{ file, found, outcome: 'kept', reason: null }, [`its checks are named in ${file}`]],
  [{ file, found: [], outcome: 'not-found', reason: null }, [`no checks were detected, so there is no ${file}`, open]],
  [
    { file, found, outcome: 'failed', reason: 'EROFS\u001b[2J' },
    [`${file} could not be written: EROFS`, '  npm test  (package.json)', open],
  ],
])('says what it found, and what to do: case %#', async (checks, lines) => {
  const answer = { project, created: true, checks, merging };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
  expect(await init(daemon.context, '.', {}, nobody)).toBe(0);
  expect(daemon.bodies).toEqual([{ path: resolve('.'), checks: true }]);
  expect(daemon.texts[0]?.split('\n')).toEqual([
    'shop is now a project (/code/shop)',
    ...lines,
    ...mergingLines,
    'next: pawl work "what to do"',
    'do you start agents here yourself? pawl hooks install lets them notice each other',
  ]);
});

test('a repository without a commit needs one before an agent can work in it', async () => {
  await using place = await temporaryDirectory();
  spawnSync('git', ['init', '--quiet', place.path]);
  const answer = { project: { ...project, root: place.path }, created: true, checks: null, merging: null };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
  await init(daemon.context, place.path, {}, nobody);
  expect(daemon.texts[0]).toContain('\nnext: make a first commit, then pawl work "what to do"\n');
});

test('commands for the current directory name no directory', async () => {
  const answer = { project: { ...project, root: process.cwd() }, created: true, checks: null, merging };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
  await init(daemon.context, '.', {}, nobody);
  expect(daemon.texts[0]).toContain(`\nfirst: ${merging.notCommitted}`);
});

test('--no-checks requests none, and --json has everything', async () => {
  const answer = { project, created: true, checks: null, merging: null };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer));
  await init(daemon.context, '/code/shop', { name: 'shop', checks: false }, nobody);
  expect(daemon.bodies).toEqual([{ path: '/code/shop', name: 'shop', checks: false }]);
  const data = { ...project, created: true, checks: null, merging: null, committed: null };
  expect(daemon.printed).toEqual([{ kind: 'project', data }]);
});

describe('merging and pushing', () => {
  const remote = { name: 'origin', url: 'git@example.com:shop' };

  /** Runs init in an empty repository, with somebody who gives these answers. */
  async function initWith(answers: string[], options: InitOptions, json = false) {
    await using place = await temporaryDirectory();
    await sampleRepository(place.path, { commits: 0 });
    const questions: string[] = [];
    const person: Person = {
      present: true,
      ask: async (question) => {
        questions.push(question);
        return answers.shift() ?? '';
      },
    };
    const answer = { project, created: true, checks: null, merging: { ...merging, remote } };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json });
    await init(daemon.context, place.path, options, person);
    return { questions, requests: daemon.requests, bodies: daemon.bodies };
  }
  const add = 'POST /api/projects';
  const allow = 'POST /api/queues/allow-push';

  test.each<[string, string[], InitOptions, { isAsked: number; autoMerge: boolean; requests: string[] }]>([
    ['no', ['n'], {}, { isAsked: 1, autoMerge: false, requests: [add] }],
    ['nothing at all', [''], {}, { isAsked: 1, autoMerge: false, requests: [add] }],
    ['yes, and no push', ['y', ''], {}, { isAsked: 2, autoMerge: true, requests: [add] }],
    ['yes twice', ['y', 'yes'], {}, { isAsked: 2, autoMerge: true, requests: [add, allow, add] }],
    ['the options', [], { autoMerge: true, push: true }, { isAsked: 0, autoMerge: true, requests: [add, allow, add] }],
    ['--auto-merge only', [], { autoMerge: true }, { isAsked: 0, autoMerge: true, requests: [add] }],
  ])('a person at a terminal says %s', async (_name, answers, options, expected) => {
    const { questions, requests, bodies } = await initWith(answers, options);
    expect(questions).toHaveLength(expected.isAsked);
    expect(bodies[0]).toMatchObject(expected.autoMerge ? { autoMerge: true } : { checks: true });
    expect('autoMerge' in (bodies[0] as object)).toBe(expected.autoMerge);
    expect(requests).toEqual(expected.requests);
  });

  test('with --json it does not ask', async () => {
    expect(await initWith(['y', 'y'], {}, true)).toMatchObject({ questions: [], requests: [add] });
  });

  test('with an existing configuration it does not ask', async () => {
    await using place = await temporaryDirectory();
    await sampleRepository(place.path, { files: { '.pawl/config.yaml': 'checks: make\n' } });
    const answer = { project, created: true, checks: null, merging };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
    await init(daemon.context, place.path, {}, { ...nobody, present: true });
    expect(daemon.bodies).toEqual([{ path: place.path, checks: true }]);
  });
});

describe('--commit', () => {
  /** A checkout with a configuration that is not committed, and an identity to commit it with. */
  async function aCheckout(path: string): Promise<string> {
    await sampleRepository(path);
    mkdirSync(join(path, '.pawl'));
    writeFileSync(join(path, '.pawl', 'config.yaml'), 'checks: make\n');
    await git(path, ['config', 'user.name', 'Ada']);
    await git(path, ['config', 'user.email', 'ada@example.invalid']);
    return path;
  }

  test('on another branch it prints the commands that bring the file to the target branch', async () => {
    await using place = await temporaryDirectory();
    const root = await aCheckout(join(place.path, 'checkout'));
    await git(root, ['switch', '--quiet', '-c', 'feature']);
    const answer = { project: { ...project, root }, created: true, checks: null, merging };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
    await init(daemon.context, root, { commit: true }, nobody);
    expect(daemon.texts[0]).toMatch(/^\.pawl\/config\.yaml is committed on feature as [0-9a-f]{10}$/m);
    // The shell is in another directory, as in a linked worktree.
    expect(daemon.texts[0]).toContain(`first, in ${root}: ${merging.notCommitted}`);
    // The commands are those for the checkout as it is after the commit.
    expect(daemon.requests).toEqual(['POST /api/projects', 'POST /api/projects']);
  });

  test('on a detached HEAD it names the branch to switch to', async () => {
    await using place = await temporaryDirectory();
    const root = await aCheckout(join(place.path, 'checkout'));
    await git(root, ['switch', '--quiet', '--detach']);
    const answer = { project: { ...project, root }, created: true, checks: null, merging };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
    await expect(init(daemon.context, root, { commit: true }, nobody)).rejects.toMatchObject({
      message: expect.stringContaining('detached HEAD') as string,
      hint: 'Switch to a branch first: git switch main; then run `pawl init --commit` again.',
    });
  });
});

test('a project that is tracked again says so, and lists its restarted crew', async () => {
  const answer = { project, created: false, trackedAgain: true, checks: null, merging: null };
  const members = [
    { role: 'supervisor', agent: agentView() },
    { role: 'merge-queue', agent: agentView({ id: idOf(2) }) },
    { role: 'workspace', agent: null },
  ];
  await using daemon = await fakeDaemon(
    ({ response, url }) =>
      sendJson(response, url.pathname === '/api/projects/crew' ? { project, wanted: true, members } : answer),
    { json: false },
  );
  await init(daemon.context, '/code/shop', { checks: false }, nobody);
  expect(daemon.texts).toEqual([
    [
      'shop is tracked again (/code/shop)',
      'crew: supervisor, merge-queue started',
      'crew: workspace not started; see: pawl crew start',
    ].join('\n'),
  ]);
});

test('a list without tracked projects counts those that are not', async () => {
  const settings = { provider: null, pushAllowedAt: null, crewWantedAt: null, untrackedAt: 5, interaction: null };
  const projects = [{ project, settings, agents: { living: 0, atWork: 0 } }];
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { projects }), { json: false });
  await listProjects(daemon.context, {});
  expect(daemon.texts[0]).toContain('1 untracked: pawl project ls --all');
});

test('a chosen provider is confirmed, and one that is not installed is warned about', async () => {
  const answer = { project, created: true, trackedAgain: false, checks: null, merging: null };
  const gemini = { name: 'gemini', program: 'gemini', path: null, install: 'npm install -g gemini' };
  await using daemon = await fakeDaemon(
    ({ response, url }) =>
      sendJson(response, url.pathname === '/api/providers' ? { providers: [gemini], problems: [] } : answer),
    { json: false },
  );
  await init(daemon.context, '/code/shop', { checks: false, provider: 'gemini' }, nobody);
  expect(daemon.texts[0]).toContain('its agents use gemini');
  expect(daemon.said).toEqual([
    'warning: gemini is not installed (gemini is not on your PATH); install it: npm install -g gemini',
  ]);
});
