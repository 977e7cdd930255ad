import { signalSchema } from '@pawl/schema/signal';
import { expect, test } from 'vitest';
import { readPromptAssets } from '../../src/prompts/assets.ts';
import { assetFiles, promptAssets } from './fixture.ts';

test('the shared blocks exist, and each is used in a prompt [S3-85]', () => {
  const tags = new Set(Object.values(promptAssets().modes).flatMap((parts) => parts.map(({ tag }) => tag)));
  const shared = [...assetFiles().keys()].filter((path) => path.startsWith('shared/'));
  expect(shared.map((path) => path.slice('shared/'.length, -'.md'.length)).toSorted()).toEqual([
    'codebase-exploration',
    'context-management',
    'deviation-rules',
    'git-workflow',
    'id-generation',
    'input-files',
    'progress-tracking',
    'session-startup',
    'signal-format',
    'test-integrity',
  ]);
  for (const path of shared) expect(tags).toContain(path.slice('shared/'.length, -'.md'.length).replaceAll('-', '_'));
});

test('the shared blocks have the required content [S3-85]', () => {
  const text = (name: string) => assetFiles().get(`shared/${name}.md`) ?? '';
  expect(text('id-generation')).toContain('`pawl id`');
  expect(text('progress-tracking')).toMatch(/`\.pawl\/output\/progress\.md`.*after each commit/);
  expect(text('git-workflow')).toMatch(/git status.*No `git add \.`.*No force-push/s);
  expect(text('deviation-rules')).toMatch(/typo.*bug.*missing.*STOP/s);
  expect(text('session-startup')).toMatch(/`pwd`.*`git status`.*checks/s);
});

test('the signal’s examples are valid, and the text warns of an early signal [5.2.1]', () => {
  const { signalFormat } = promptAssets();
  const examples = signalFormat.match(/^\{.*\}$/gm) ?? [];
  expect(examples.map((example) => signalSchema.parse(JSON.parse(example)).status)).toEqual([
    'done',
    'questions',
    'error',
  ]);
  expect(signalFormat).toMatch(/very last act/);
  expect(signalFormat).toMatch(/Pawl acts on the signal as soon as it appears/);
});

test('a file that is missing, empty, or without a task is an error', () => {
  const without = (path: string) => {
    const files = assetFiles();
    files.delete(path);
    return () => readPromptAssets(files);
  };
  expect(without('mode/plan.md')).toThrow('mode/plan.md is missing');
  expect(without('shared/git-workflow.md')).toThrow('shared/git-workflow.md is missing');
  expect(without('communication/full.md')).toThrow('communication/full.md is missing');
  expect(without('cli.md')).toThrow('cli.md is missing');
  expect(() => readPromptAssets(assetFiles(' \n'))).toThrow('cli.md is missing or empty');
  expect(() => readPromptAssets(assetFiles().set('mode/plan.md', '# role\nYou.\n'))).toThrow('exactly one of task');
});
