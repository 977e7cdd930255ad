import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { outputText } from '../support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

test('a new definition file is usable at once, and its text reaches the agent [S2-01, S2-03]', async () => {
  await expect(daemon.work(['complete'], { definition: 'scout' })).rejects.toMatchObject({ code: 'not_found' });
  daemon.define('scout', { kind: 'main', class: 'ephemeral', tools: ['*'] }, 'You look around and report.');
  const agent = await daemon.work(['echo_prompt', 'complete'], { definition: 'scout' });
  expect(await daemon.ended(agent.id)).toMatchObject({
    definition: 'scout',
    class: 'ephemeral',
    run: { status: 'completed' },
  });
  expect(await outputText(daemon.client, agent.id)).toContain('You look around and report.');
  const { definitions } = await daemon.client.definitions({ path: daemon.repository });
  expect(definitions.map(({ id }) => id)).toEqual(expect.arrayContaining(['scout', 'worker', 'supervisor']));
});

test('a broken file is reported with file, line and reason, by definitions and doctor, and breaks nothing [4.2.9]', async () => {
  writeFileSync(
    join(daemon.repository, '.pawl', 'agents', 'broken.md'),
    '---\nname: broken\nkind: captain\n---\nHello\n',
  );
  const { problems, definitions } = await daemon.client.definitions({ path: daemon.repository });
  expect(problems).toEqual([
    { path: expect.stringContaining('broken.md'), line: 3, reason: expect.stringContaining('captain') },
  ]);
  expect(definitions.map(({ id }) => id)).toContain('scout');
  const { findings } = await daemon.client.doctor();
  expect(findings.filter(({ check }) => check === 'definition').map(({ message }) => message)).toEqual([
    expect.stringMatching(/broken\.md:3: .*captain/),
  ]);
  await expect(daemon.work(['complete'], { definition: 'broken' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('broken.md:3'),
  });
  const agent = await daemon.work(['complete']);
  expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
});

test('the tools that a definition allows and denies are enforced for the provider [S2-16]', async () => {
  daemon.define('reader', { kind: 'main', tools: ['Read', 'Grep'] });
  const agent = await daemon.work(
    [{ shell: 'echo ran > ran.txt' }, { write: { path: 'written.txt', content: 'x' } }, 'complete'],
    { definition: 'reader' },
  );
  await daemon.ended(agent.id);
  const { worktree } = await daemon.client.inspectAgent(agent.id);
  expect(worktree?.files).toEqual([]);
  const refused = (await daemon.client.history(agent.id)).messages.filter(
    ({ kind, data }) => kind === 'tool_result' && data?.['isError'] === true,
  );
  expect(refused).toHaveLength(2);
  const gate = agentClient(daemon.home, agent.id);
  expect(await gate.gate('@current', { tool: 'Bash' })).toMatchObject({ allowed: false });
  expect(await gate.gate('@current', { tool: 'grep' })).toMatchObject({ allowed: true });
});

test('a repository narrows a built-in definition freely, and widens it only if a person trusts that exact file [7.16]', async () => {
  daemon.define('review', { tools: ['*'], policy: ['Patch', 'Delegate'] }, 'Mind our house rules.');
  const find = async () => {
    const { definitions, notices } = await daemon.client.definitions({ path: daemon.repository });
    return { definition: definitions.find(({ id }) => id === 'review'), notices };
  };
  const before = await find();
  expect(before.definition?.policy.allow).not.toContain('Delegate');
  expect(before.definition?.tools).not.toContain('*');
  expect(before.definition?.prompt).toContain('Mind our house rules.');
  expect(before.notices.map(({ path }) => path)).toContainEqual(expect.stringContaining('review.md'));
  const { files } = await daemon.client.trust({ path: daemon.repository });
  expect(files).toContain(join('.pawl', 'agents', 'review.md'));
  expect((await find()).definition).toMatchObject({ tools: ['*'], policy: { allow: ['Patch', 'Delegate'] } });
  // The trust was in that text, not in a later one under its name.
  daemon.define('review', { tools: ['*'], policy: ['Patch', 'Delegate'] }, 'Mind our other rules.');
  expect((await find()).definition?.tools).not.toContain('*');
  await daemon.client.trust({ path: daemon.repository });
  await daemon.client.trust({ path: daemon.repository, revoke: true });
  expect((await find()).definition?.policy.allow).not.toContain('Delegate');
});

test('a person gives work to mains only [S2-05, W2-08]', async () => {
  daemon.define('finder', { kind: 'subagent', tools: ['Read'] });
  await expect(daemon.work(['complete'], { definition: 'finder' })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('subagent'),
  });
});
