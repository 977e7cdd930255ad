import { parseConfigFile } from '@pawl/daemon/project-config/config-file';
import { createCaches } from '@pawl/daemon/platform/caches';
import { readLastConfig, readProjectConfig } from '@pawl/daemon/project-config/project-config';
import { openRepository } from '@pawl/git/repository/repository';
import { homeAt } from '@pawl/protocol/node/home';
import { newId } from '@pawl/schema/id';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { commitFiles } from '../support/merge-queue.ts';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

type Files = Record<string, string>;

/** A repository with these files committed, and its parsed config. */
async function aRepository(directory: string, files: Files = { 'a.txt': 'a' }) {
  const root = join(directory, 'repository');
  await sampleRepository(root, { files });
  const repository = await openRepository(root);
  const platform = { home: homeAt(join(directory, 'home')), caches: createCaches() };
  const project = { id: newId(), name: 'sample', root, createdAt: 0 };
  const commit = await git(root, ['rev-parse', 'HEAD']);
  mkdirSync(join(root, '.pawl'), { recursive: true });
  const file = join(root, '.pawl', 'config.yaml');
  return {
    root,
    file,
    commit,
    read: (at: string | null = commit) => readProjectConfig(platform, project, repository, at),
    readLast: (queue: { seen: string | null; branch: string } | null) =>
      readLastConfig(platform, project, repository, queue),
  };
}

test('without a file there are no checks, and the default rules apply', async () => {
  await using directory = await temporaryDirectory();
  const { read } = await aRepository(directory.path);
  const config = await read();
  expect(config).toMatchObject({
    checks: [],
    env: [],
    branch: null,
    method: 'squash',
    batch: 16,
    parallel: null,
    remote: null,
    auto: false,
    enabled: true,
    forge: 'local',
    track: 'all',
    review: null,
    guard: { enabled: true, paths: [] },
    source: 'none',
    checkout: null,
  });
  expect(config.fixer).toEqual({ definition: 'worker', provider: null, model: null, options: {} });
});

test('everything that a file may contain [W4-19]', async () => {
  await using directory = await temporaryDirectory();
  const { read, file, root } = await aRepository(directory.path);
  writeFileSync(
    file,
    `checks:
  - npm test
  - {name: slow, run: make e2e, timeout_minutes: 90, junit: 'out/*.xml'}
env: [DATABASE_URL]
queue:
  enabled: false
  branch: trunk
  merge: rebase
  batch: 4
  parallel: 2
  remote: upstream
  auto: false
  forge: github
  track: author
  guard: false
  guard_paths: [ci/**]
review: {as: critic, provider: scripted, model: large, options: {effort: high, depth: 3}}
playground: true
fixer: false
access: ask
rules:
  - allow: command npm run *
  - deny: tool Write secrets/**
`,
  );
  expect(await read()).toEqual({
    // Only a committed file makes a playground.
    playground: false,
    checks: [
      { name: 'npm test', run: 'npm test', timeoutMs: 30 * 60_000, junit: [] },
      { name: 'slow', run: 'make e2e', timeoutMs: 90 * 60_000, junit: ['out/*.xml'] },
    ],
    plan: expect.stringMatching(/^[0-9a-f]{64}$/),
    env: ['DATABASE_URL'],
    branch: 'trunk',
    method: 'rebase',
    batch: 4,
    parallel: 2,
    remote: 'upstream',
    auto: false,
    enabled: false,
    forge: 'github',
    track: 'author',
    review: { definition: 'critic', provider: 'scripted', model: 'large', options: { effort: 'high', depth: '3' } },
    fixer: null,
    guard: { enabled: false, paths: ['ci/**'] },
    access: 'ask',
    rules: [
      { effect: 'allow', match: 'command npm run *' },
      { effect: 'deny', match: 'tool Write secrets/**' },
    ],
    source: 'checkout',
    checkout: { branch: 'main', commit: await git(root, ['rev-parse', 'HEAD']), hasFile: false },
  });
  await git(root, ['remote', 'add', 'origin', '/nowhere']);
  for (const [said, remote] of [
    ['{}', 'origin'],
    ['{remote: none}', null],
    ['{remote: false}', null],
  ]) {
    writeFileSync(file, `checks: npm test\nqueue: ${said}\nreview: true\n`);
    expect(await read()).toMatchObject({ remote, checks: [{ run: 'npm test' }], review: { definition: 'review' } });
  }
});

test('the target branch’s file takes precedence over the checkout’s, which is not even read', async () => {
  await using directory = await temporaryDirectory();
  const { read, file, root, commit } = await aRepository(directory.path, { '.pawl/config.yaml': 'checks: npm test\n' });
  writeFileSync(file, 'checks: "true"\n');
  expect(await read()).toMatchObject({ source: 'commit', checks: [{ run: 'npm test' }] });
  writeFileSync(file, '{{{');
  expect((await read()).source).toBe('commit');
  await git(root, ['rm', '--quiet', '--cached', '.pawl/config.yaml']);
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid'];
  await git(root, [...author, 'commit', '--quiet', '-m', 'without']);
  writeFileSync(file, 'checks: make\n');
  expect(await read(await git(root, ['rev-parse', 'HEAD']))).toMatchObject({ source: 'checkout' });
  expect(await read(commit)).toMatchObject({ source: 'commit' });
  expect(await read(null)).toMatchObject({ source: 'checkout', checks: [{ run: 'make' }] });
});

test('the plan identifies the commands and their environment, and nothing else', async () => {
  await using directory = await temporaryDirectory();
  const { read, file } = await aRepository(directory.path);
  const planOf = async (text: string) => {
    writeFileSync(file, text);
    return (await read()).plan;
  };
  const plan = await planOf('checks: [npm test]\nenv: [A, B]\n');
  expect(await planOf('env: [B, A]\nchecks: [{name: other, run: npm test}]\nqueue: {batch: 2}\n')).toBe(plan);
  const others = [
    'checks: [npm test, make]\nenv: [A, B]',
    'checks: [npm test]\nenv: [A]',
    'checks: [{run: npm test, timeout_minutes: 1}]\nenv: [A, B]',
    'checks: [{run: npm test, junit: [a.xml]}]\nenv: [A, B]',
  ];
  const seen = new Set([plan]);
  for (const text of others) seen.add(await planOf(text));
  expect(seen.size).toBe(5);
});

test.each([
  ['a key that nobody knows', 'chekcs: npm test', /config\.yaml:1 .*"chekcs".* → There are: checks, env, queue/s],
  ['one below queue', '\nqueue: {bach: 2}', /config\.yaml:2 .*"bach".* → There are: enabled, branch.*below queue/s],
  ['a number that is none', 'queue:\n  batch: many', /:1 .*at queue\.batch/s],
  ['more than goes', 'queue: {batch: 1000}', /at queue\.batch/],
  ['a word that is none', 'queue: {merge: fast}', /"squash"\|"merge"\|"rebase"/],
  ['a check without a command', 'checks: [{name: x}]', /at checks\[0\]\.run/],
  ['a check that is a number', 'checks: [5]', /a check is a command/],
  ['an empty command', 'checks: ""', /is invalid/],
  ['a check that takes for ever', 'checks: [{run: x, timeout_minutes: .inf}]', /is invalid/],
  ['a variable of ours', 'env: [PAWL_TOKEN]', /PAWL_ are reserved/],
  ['a pattern that leads out', 'checks: [{run: x, junit: ../../etc/passwd}]', /is invalid/],
  ['a branch that is none', 'queue: {branch: "--upload-pack=x"}', /branch name/],
  ['a remote that is an option', 'queue: {remote: "--upload-pack=x"}', /at queue\.remote/],
  ['no YAML', 'checks: [', /:1 is invalid: not YAML/],
  ['a list', '- npm test', /is invalid/],
  ['a key twice', 'checks: a\nchecks: b', /:2 is invalid: "checks" is given twice/],
  ['aliases without end', `a: &a [x]\n${'b: [*a,*a,*a,*a,*a,*a,*a,*a]\n'.repeat(4)}`, /is invalid/],
  ['a heavy prototype', '__proto__: {checks: x}', /is invalid/],
  ['depth', '['.repeat(1_000), /nested too deeply/],
  ['size', `checks: ${'x'.repeat(70_000)}`, /more than/],
])('%s is refused with its location, and never counts as no checks', async (_, text, words) => {
  const refusal = await parseConfigFile(text, 'config.yaml').then(
    () => 'nothing was refused',
    (error: Error & { hint?: string }) => `${error.message} → ${error.hint ?? ''}`,
  );
  expect(refusal).toMatch(words);
});

test('a key without a value counts as missing', async () => {
  const empty = await parseConfigFile('', 'config.yaml');
  expect(await parseConfigFile('checks:\nqueue:\n  # batch: 4\nreview:\n', 'config.yaml')).toEqual(empty);
  expect(await parseConfigFile('# only words\n', 'config.yaml')).toEqual(empty);
});

test('an invalid committed file names its commit', async () => {
  await using directory = await temporaryDirectory();
  const { read, commit } = await aRepository(directory.path, { '.pawl/config.yaml': 'checks: 5\n' });
  await expect(read()).rejects.toThrow(`.pawl/config.yaml of ${commit.slice(0, 10)}:1 is invalid`);
});

test.each([
  [
    'a link to a file',
    ({ file, root }: { file: string; root: string }) => symlinkSync(join(root, 'a.txt'), file),
    /is a link/,
  ],
  [
    'a directory that is a link',
    ({ root }: { root: string }) => {
      rmSync(join(root, '.pawl'), { recursive: true });
      mkdirSync(join(root, 'elsewhere'));
      writeFileSync(join(root, 'elsewhere', 'config.yaml'), 'checks: x\n');
      symlinkSync('elsewhere', join(root, '.pawl'));
    },
    /behind a link/,
  ],
  ['a directory', ({ file }: { file: string }) => mkdirSync(file), /not a regular file/],
  ['a pipe', ({ file }: { file: string }) => execFileSync('mkfifo', [file]), /not a regular file/],
  ['bytes that are no text', ({ file }: { file: string }) => writeFileSync(file, Buffer.from([0xff, 0xfe])), /UTF-8/],
])('%s is not read', async (_, plant, words) => {
  await using directory = await temporaryDirectory();
  const place = await aRepository(directory.path);
  plant(place);
  await expect(place.read()).rejects.toThrow(words);
});

test('the example in the documentation is valid, and has the documented defaults', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/checks.md'), 'utf8');
  const [, text = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const file = await parseConfigFile(text, 'docs/checks.md');
  expect(file).toMatchObject({ checks: [{ run: 'npm ci && npm test' }, { junit: ['reports/*.xml'] }] });
  expect(Object.keys(file.queue)).toHaveLength(11);
});

test('a committed file that is a link, a directory or too large is an error, and never counts as none', async () => {
  await using directory = await temporaryDirectory();
  const { root, file, read } = await aRepository(directory.path, { 'other.yaml': 'checks: [make]\n' });
  const commit = async () => {
    await git(root, ['add', '--all']);
    await git(root, ['-c', 'user.name=a', '-c', 'user.email=a@b.invalid', 'commit', '-qm', 'config']);
    rmSync(join(root, '.pawl'), { recursive: true });
    mkdirSync(join(root, '.pawl'));
    // The checkout's file would be readable.
    writeFileSync(file, 'checks: [npm test]\n');
    return read(await git(root, ['rev-parse', 'HEAD']));
  };
  symlinkSync('../other.yaml', file);
  await expect(commit()).rejects.toThrow(/config\.yaml of \w{10} cannot be read: it is not a regular file/);
  rmSync(file);
  mkdirSync(file);
  writeFileSync(join(file, 'x'), 'checks: [make]\n');
  await expect(commit()).rejects.toThrow(/cannot be read: it is not a regular file/);
  writeFileSync(file, `checks: [make]\n#${'x'.repeat(64 * 1024)}\n`);
  await expect(commit()).rejects.toThrow(/cannot be read: it has more than 65536 bytes/);
});

test('a commit that the queue saw and that is gone counts as none; an invalid one does not', async () => {
  await using directory = await temporaryDirectory();
  const { root, readLast } = await aRepository(directory.path);
  const wrong = await commitFiles(root, { '.pawl/config.yaml': 'checks: 1\n' });
  const right = await commitFiles(root, { '.pawl/config.yaml': 'checks: [make]\n' });
  const gone = { seen: 'd'.repeat(40), branch: 'main' };
  expect(await readLast(gone)).toMatchObject({
    commit: right,
    config: { source: 'commit', checks: [{ run: 'make' }] },
  });
  expect(await readLast(null)).toMatchObject({ commit: right });
  await expect(readLast({ seen: wrong, branch: 'main' })).rejects.toMatchObject({ code: 'invalid_input' });
});
