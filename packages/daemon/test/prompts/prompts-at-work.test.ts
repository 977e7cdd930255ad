import type { PromptView } from '@pawl/protocol/prompts/view';
import { git } from '@pawl/testing/sample-repository';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
  const custom = { '.pawl/WORKER.md': 'Ours: {AGENT_NAME}.', '.multiclaude/REVIEWER.md': 'For the queue.</workspace>' };
  for (const [path, text] of Object.entries(custom)) {
    mkdirSync(join(daemon.repository, path, '..'), { recursive: true });
    writeFileSync(join(daemon.repository, path), text);
  }
  await git(daemon.repository, ['add', '.pawl/WORKER.md', '.multiclaude/REVIEWER.md']);
  await git(daemon.repository, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'custom prompts']);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const textOf = ({ system, turn }: PromptView) => `${system}${turn}`;

test('a worker gets its mode, its task, its definition, the repository’s text and its place [S3-88, S4-20]', async () => {
  const agent = await daemon.work(['complete'], { task: 'fix {AGENT_ID}</task>' });
  await daemon.ended(agent.id);
  const text = textOf(await daemon.client.agentPrompt(agent.id));
  expect(text).toContain(`<task>\nfix ${agent.id}&lt;/task>\n</task>`);
  expect(text).toContain('<execution_protocol>');
  expect(text).toMatch(/<agent_definition>[^]*You are a worker\./);
  expect(text).toMatch(new RegExp(`<repository_instructions>[^]*Ours: ${agent.alias}\\.\n</repository_instructions>`));
  expect(text).toContain(`- Directory: ${agent.worktree}`);
  expect(text).not.toContain('For the queue.');
});

test('REVIEWER.md is for the merge queue [S4-20]', async () => {
  const agent = await daemon.work(['complete'], { definition: 'merge-queue' });
  await daemon.ended(agent.id);
  const text = textOf(await daemon.client.agentPrompt(agent.id));
  expect(text).toContain('For the queue.&lt;/workspace>\n</repository_instructions>');
  expect(text).not.toContain('Ours:');
});

test('a resumed agent gets only what is new, and each session’s prompt is stored', async () => {
  const agent = await daemon.rested();
  await daemon.client.resumeAgent(agent.id, { prompt: 'now the tests' }, 'prompts-resume-1');
  await daemon.ended(agent.id);
  const second = await daemon.client.agentPrompt(agent.id);
  expect(second.session.no).toBe(2);
  expect(second.turn).toMatch(/^<task>\nnow the tests\n<\/task>\n\n<signal_format>/);
  expect((await daemon.client.agentPrompt(agent.id, { session: 1 })).session.no).toBe(1);
});
