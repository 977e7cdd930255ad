import { PawlError } from '@pawl/schema/error';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { createHash } from 'node:crypto';
import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aPlace, markdown } from '../support/definitions.ts';

async function refusalOf(promise: Promise<unknown>): Promise<PawlError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof PawlError) return error;
  throw new Error(`not a refusal: ${String(error)}`);
}

test('a new file is found at once, changes with each edit, and disappears when deleted [S2-01, S2-03]', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put, folder } = aPlace(directory.path);
  expect((await refusalOf(definitions.find(project, 'mason'))).code).toBe('not_found');
  put('mason.md', markdown({ description: 'builds' }));
  expect(await definitions.find(project, 'mason')).toMatchObject({ description: 'builds', kind: 'main' });
  for (const description of ['number 1', 'number 2', 'number 3']) {
    put('mason.md', markdown({ description }));
    expect((await definitions.find(project, 'mason')).description).toBe(description);
  }
  rmSync(join(folder, 'mason.md'));
  expect((await definitions.load(project)).definitions.size).toBe(0);
});

test('a broken file is reported while the others stay, and is back once repaired [4.2.9]', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put, folder } = aPlace(directory.path);
  put('a.md', markdown({}));
  put('b.md', markdown({ description: 'whole' }));
  expect((await definitions.load(project)).problems).toEqual([]);
  put('b.md', markdown({ description: 'whole' }).slice(0, 15));
  const broken = await definitions.load(project);
  expect([...broken.definitions.keys()]).toEqual(['a']);
  expect(broken.problems).toMatchObject([{ path: join(folder, 'b.md'), line: 1, id: 'b' }]);
  const refusal = await refusalOf(definitions.find(project, 'b'));
  expect(refusal.code).toBe('not_found');
  expect(refusal.message).toContain(`${join(folder, 'b.md')}:1: the front matter has no closing`);
  put('b.md', markdown({ description: 'whole' }));
  expect((await definitions.find(project, 'b')).description).toBe('whole');
});

test('an unknown id is refused with the known ones', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, put, project } = aPlace(directory.path);
  put('b.md', markdown({}));
  put('a.md', markdown({}));
  expect((await refusalOf(definitions.find(project, 'c'))).hint).toContain('There are: a, b.');
});

test('a settled file is not read again until it changes; a recent one is always read', async () => {
  await using directory = await temporaryDirectory();
  let now = Date.now();
  const { definitions, project, put, folder } = aPlace(directory.path, { now: () => now });
  put('a.md', markdown({ description: 'first' }));
  const path = join(folder, 'a.md');
  utimesSync(path, 1_000, 1_000);
  const first = await definitions.find(project, 'a');
  expect(await definitions.find(project, 'a')).not.toBe(first);
  now += 60_000;
  const rested = await definitions.find(project, 'a');
  expect(await definitions.find(project, 'a')).toBe(rested);
  // The same file with the same size and times, as if it was not written.
  writeFileSync(path, markdown({ description: 'other' }));
  utimesSync(path, 1_000, 1_000);
  expect((await definitions.find(project, 'a')).description).toBe('other');
  writeFileSync(join(folder, 'new'), markdown({ description: 'third' }));
  renameSync(join(folder, 'new'), path);
  expect((await definitions.find(project, 'a')).description).toBe('third');
});

test('the directories of a repository, each with its format, in order [S2-01, 7.16]', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put, write } = aPlace(directory.path);
  put('both.md', markdown({ description: 'ours' }));
  write(join(project.root, 'agents', 'both.md'), markdown({ kind: 'main', description: 'theirs' }));
  write(join(project.root, 'agents', 'README.md'), '# Agents\n');
  write(join(project.root, 'agents', 'foreign.md'), markdown({ name: 'foreign' }));
  write(join(project.root, 'agents', 'search.md'), markdown({ kind: 'subagent' }));
  write(join(project.root, '.claude', 'agents', 'helper.md'), '---\nname: helper\nhooks: {}\n---\nHelp.\n');
  const { definitions: found, problems, notices, files } = await definitions.load(project);
  expect([...found.keys()]).toEqual(['both', 'search', 'helper']);
  expect(found.get('both')?.description).toBe('ours');
  expect(found.get('helper')).toMatchObject({ kind: 'subagent', class: 'ephemeral', tools: ['*'], prompt: 'Help.' });
  expect(problems).toMatchObject([{ path: join(project.root, 'agents', 'both.md') }]);
  expect(problems[0]?.reason).toContain(join(project.root, '.pawl', 'agents', 'both.md'));
  expect(notices).toEqual([]);
  expect(files).toHaveLength(4);
});

test('a repository’s file widens only if exactly its text is trusted [7.16]', async () => {
  await using directory = await temporaryDirectory();
  const trusted = new Set<string>();
  const isTrusted = (...what: string[]) => Promise.resolve(trusted.has(what.join(' ')));
  const { definitions, project, put, write, builtIn, folder } = aPlace(directory.path, { isTrusted });
  write(join(builtIn, 'mason.md'), markdown({ tools: ['Read'], policy: ['Patch'] }, 'Build.'));
  const greedy = markdown({ tools: ['Read', 'Bash'], policy: ['Patch', 'Delegate'] }, 'Build here.');
  put('mason.md', greedy);
  const path = join(folder, 'mason.md');
  const before = await definitions.load(project);
  expect(before.definitions.get('mason')).toMatchObject({
    tools: ['Read'],
    policy: { allow: ['Patch'] },
    prompt: 'Build.\n\nBuild here.',
  });
  expect(before.notices).toMatchObject([
    { path, line: 2, about: 'needs-trust' },
    { path, line: 3, about: 'needs-trust' },
  ]);
  const sha256 = createHash('sha256').update(greedy).digest('hex');
  expect(before.files).toContainEqual({ id: 'mason', layer: 'repository', path, sha256 });
  trusted.add(`${project.id} ${path} ${sha256}`);
  const after = await definitions.load(project);
  expect(after.definitions.get('mason')).toMatchObject({
    tools: ['Read', 'Bash'],
    policy: { allow: ['Patch', 'Delegate'] },
  });
  expect(after.notices).toEqual([]);
  put('mason.md', greedy.replace('Build here.', 'Build more.'));
  expect((await definitions.find(project, 'mason')).tools).toEqual(['Read']);
});

test('the person’s own files may widen, and apply to every project [7.16]', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, write, builtIn, user } = aPlace(directory.path);
  write(join(builtIn, 'mason.md'), markdown({ tools: ['Read'] }, 'Build.'));
  write(join(user, 'Mason.md'), markdown({ tools: ['*'] }, 'Briefly.'));
  for (const asked of [project, null]) {
    expect(await definitions.find(asked, 'mason')).toMatchObject({ tools: ['*'], prompt: 'Build.\n\nBriefly.' });
  }
});

test('a broken file of the person is an error, since it may forbid something', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, write, builtIn, user } = aPlace(directory.path);
  write(join(builtIn, 'mason.md'), markdown({ tools: ['*'] }));
  write(join(user, 'mason.md'), '---\ntools: [Read\n---\n');
  expect((await refusalOf(definitions.find(null, 'mason'))).message).toContain(`${join(user, 'mason.md')}:2: not YAML`);
  rmSync(join(user, 'mason.md'));
  expect((await definitions.find(null, 'mason')).tools).toEqual(['*']);
});

test('concurrent callers get the same result', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put } = aPlace(directory.path);
  for (let number = 0; number < 20; number += 1) put(`a${number}.md`, markdown({ description: `${number}` }));
  const answers = await Promise.all(Array.from({ length: 20 }, () => definitions.load(project)));
  for (const { definitions: found } of answers) expect([...found.keys()]).toHaveLength(20);
});
