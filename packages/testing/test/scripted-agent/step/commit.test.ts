import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git } from '../../../src/sample-repository.ts';
import { stage } from '../agent-process.ts';

test('commit takes what the scenario wrote, and only that', async () => {
  await using on = await stage();
  const steps = [
    { shell: 'echo other > other.txt' },
    { write: { path: 'odd:name [x].txt', content: 'a' } },
    { write: { path: '.pawl/output/progress.md', content: 'b' } },
    { commit: 'add a for {agent}' },
  ];
  const agent = await on.play(steps);
  expect(agent.toolResults.at(-1)?.is_error).toBe(false);
  expect(await git(on.directory, ['log', '--format=%s', '-1'])).toBe('add a for agent');
  expect(await git(on.directory, ['show', '--name-only', '--format=', '-z', 'HEAD'])).toBe('odd:name [x].txt\0');
  expect(await git(on.directory, ['status', '--porcelain'])).toBe('?? .pawl/\n?? other.txt');
});

test('commit takes everything but .pawl when the scenario wrote nothing itself', async () => {
  await using on = await stage();
  await on.play([{ shell: 'mkdir -p .pawl; touch .pawl/x other.txt; rm README.md' }, { commit: 'all' }]);
  expect(await git(on.directory, ['show', '--name-status', '--format=', 'HEAD'])).toBe('D\tREADME.md\nA\tother.txt');
});

test('files written before a resume are committed after it', async () => {
  await using on = await stage();
  const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a16';
  const steps = [{ write: { path: 'a.txt', content: 'a' } }, 'wait', { commit: 'later' }];
  await on.play(steps, { args: ['--session-id', id] });
  writeFileSync(join(on.directory, 'b.txt'), 'b');
  const resumed = on.start(['--resume', id]);
  resumed.child.stdin.end('Go on');
  await resumed.exited;
  expect(await git(on.directory, ['show', '--name-only', '--format=', 'HEAD'])).toBe('a.txt');
});

test('a commit with nothing to commit fails as a tool call only', async () => {
  await using on = await stage();
  const agent = await on.play([{ commit: 'nothing' }, { say: 'on' }]);
  expect(agent.toolResults[0]).toMatchObject({ is_error: true });
  expect(agent.toolResults[0]?.content).toContain('nothing to commit');
  expect(agent.said).toEqual(['on']);
});

test('the identity that git or the environment knows is used', async () => {
  await using on = await stage();
  await git(on.directory, ['config', 'user.name', 'Repo Person']);
  const steps = [{ write: { path: 'a', content: '{turns}{session}' } }, { commit: 'one' }];
  await on.play(steps);
  expect(await git(on.directory, ['log', '-1', '--format=%an <%ae>'])).toBe(
    'Repo Person <scripted-agent@example.invalid>',
  );
  await on.play(steps, { env: { GIT_AUTHOR_NAME: 'Env Person', GIT_AUTHOR_EMAIL: 'env@example.invalid' } });
  expect(await git(on.directory, ['log', '-1', '--format=%an <%ae> %cn'])).toBe(
    'Env Person <env@example.invalid> Repo Person',
  );
});

test('commit works in a subdirectory, on an unborn branch', async () => {
  await using on = await stage();
  await git(on.directory, ['checkout', '--quiet', '--orphan', 'fresh']);
  mkdirSync(join(on.directory, 'sub'));
  const agent = await on.play([{ write: { path: 'sub/a', content: 'a' } }, { commit: 'first here' }]);
  expect(agent.toolResults.at(-1)?.content).toContain('root-commit');
});
