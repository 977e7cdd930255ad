import { signalSchema } from '@pawl/schema/signal';
import { expect, test } from 'vitest';
import { missingSignalPrompt, workPrompt } from '../src/prompt.ts';
import { aRun, anAgent } from './fixture.ts';

test('the first prompt has the task, the place and the way to end', () => {
  const prompt = workPrompt(anAgent(), aRun({ task: '\n fix it as {AGENT_NAME} \n' }));
  expect(prompt).toContain('<task>\nfix it as brave-otter\n</task>');
  expect(prompt).toContain('the branch work/brave-otter.');
  expect(prompt).toContain('.pawl/output/signal.json');
});

test('an agent without a branch is told so', () => {
  expect(workPrompt(anAgent({ branch: null }), aRun())).toContain('the branch (none).');
});

test('every example of a signal in the prompts is one that we read', () => {
  for (const prompt of [workPrompt(anAgent(), aRun()), missingSignalPrompt()]) {
    const examples = prompt.match(/\{"status".*\}/g) ?? [];
    expect(examples.map((example) => signalSchema.parse(JSON.parse(example)).status)).toEqual([
      'done',
      'questions',
      'error',
    ]);
  }
});

test('a missing signal is asked for by its path', () => {
  expect(missingSignalPrompt()).toMatch(/without writing \.pawl\/output\/signal\.json/);
});
