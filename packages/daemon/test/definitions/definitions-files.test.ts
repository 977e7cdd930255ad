import { definitionLimits } from '@pawl/core/definitions/definition-limit';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aPlace, markdown } from '../support/definitions.ts';

test('files that are not text, too large, or not regular are reported at once, and the others stay', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put, folder } = aPlace(directory.path);
  put('good.md', markdown({ kind: 'main' }));
  put('huge.md', `---\nkind: main\n---\n${'x'.repeat(definitionLimits.fileBytes)}`);
  put('binary.md', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe, 0x00]));
  put('zero.md', '---\nname: zero\n---\na\0b\n');
  put('empty.md', '');
  put('notes.txt', 'not ours');
  put('.hidden.md', 'not ours');
  mkdirSync(join(folder, 'directory.md'));
  execFileSync('mkfifo', [join(folder, 'pipe.md')]);
  const { definitions: found, problems } = await definitions.load(project);
  expect([...found.keys()]).toEqual(['good']);
  expect(problems.map(({ id, line, reason }) => `${id}:${line} ${reason}`)).toEqual([
    'binary:2 the file is not UTF-8 text',
    'directory:1 the file is not a regular file',
    'empty:1 the file is empty',
    'huge:1 the file has more than 262144 bytes',
    'pipe:1 the file is not a regular file',
    'zero:4 the file has a NUL character, so it is not text',
  ]);
});

test('links inside the repository are followed, others are not', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put, folder } = aPlace(directory.path);
  writeFileSync(join(directory.path, 'secret.md'), markdown({ kind: 'main' }));
  writeFileSync(join(project.root, 'inside.md'), markdown({ name: 'inside' }));
  put('good.md', markdown({}));
  symlinkSync(join(directory.path, 'secret.md'), join(folder, 'outside.md'));
  symlinkSync('../../../secret.md', join(folder, 'relative.md'));
  symlinkSync('../../inside.md', join(folder, 'link.md'));
  symlinkSync('nowhere', join(folder, 'dangling.md'));
  symlinkSync('circle.md', join(folder, 'circle.md'));
  symlinkSync('/dev/zero', join(folder, 'device.md'));
  const { definitions: found, problems } = await definitions.load(project);
  expect([...found.keys()].toSorted()).toEqual(['good', 'inside']);
  expect(problems.map(({ id }) => id)).toEqual(['circle', 'device', 'outside', 'relative']);
  expect(problems[2]).toMatchObject({ path: join(folder, 'outside.md'), line: 1 });
  expect(problems[2]?.reason).toContain('out of the repository');
});

test('a directory that is a link out of the repository is not read', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, folder } = aPlace(directory.path);
  const outside = join(directory.path, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'evil.md'), markdown({ kind: 'main' }));
  rmSync(folder, { recursive: true });
  symlinkSync(outside, folder);
  const { definitions: found, problems } = await definitions.load(project);
  expect(found.size).toBe(0);
  expect(problems).toMatchObject([{ path: folder, line: 1 }]);
});

test('a directory with two names in one repository is read once', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put } = aPlace(directory.path);
  put('good.md', markdown({ kind: 'main' }));
  symlinkSync('.pawl/agents', join(project.root, 'agents'));
  const { definitions: found, problems } = await definitions.load(project);
  expect([...found.keys()]).toEqual(['good']);
  expect(problems).toEqual([]);
});

test('a person may link their own definitions from anywhere', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, user } = aPlace(directory.path);
  writeFileSync(join(directory.path, 'mine.md'), markdown({ name: 'mine' }));
  symlinkSync(join(directory.path, 'mine.md'), join(user, 'mine.md'));
  expect([...(await definitions.load(null)).definitions.keys()]).toEqual(['mine']);
});

test('if there are too many files, the first are read and the rest is reported', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put, folder } = aPlace(directory.path);
  const { filesPerDirectory } = definitionLimits;
  const numbers = Array.from({ length: filesPerDirectory + 5 }, (_, index) => String(index).padStart(4, '0'));
  for (const number of numbers) put(`a${number}.md`, markdown({}));
  const { definitions: found, problems } = await definitions.load(project);
  expect(found.size).toBe(filesPerDirectory);
  expect(found.has('a0000')).toBe(true);
  expect(problems).toMatchObject([{ path: folder, line: 1 }]);
  expect(problems[0]?.reason).toContain(`has ${filesPerDirectory + 5} files`);
});

test('a repository that is gone or bare has no definitions of its own', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project, put, user } = aPlace(directory.path);
  put('good.md', markdown({}));
  writeFileSync(join(user, 'mine.md'), markdown({}));
  rmSync(join(project.root, '.git'), { recursive: true });
  expect([...(await definitions.load(project)).definitions.keys()]).toEqual(['mine']);
  rmSync(project.root, { recursive: true });
  const { definitions: found, problems } = await definitions.load(project);
  expect([...found.keys()]).toEqual(['mine']);
  expect(problems).toEqual([]);
});

test('a file in place of a directory is not an error', async () => {
  await using directory = await temporaryDirectory();
  const { definitions, project } = aPlace(directory.path);
  writeFileSync(join(project.root, 'agents'), 'a program');
  writeFileSync(join(project.root, '.claude'), 'something');
  const { problems } = await definitions.load(project);
  expect(problems).toEqual([]);
});
