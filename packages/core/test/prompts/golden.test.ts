import { workModes } from '@pawl/schema/record';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assemblePrompt } from '../../src/prompts/assemble.ts';
import { endsTurnByResult } from '../../src/agents/work-mode.ts';
import { partsOf } from './fixture.ts';
import { everything, goldenPath, goldenPrompts } from './golden.ts';

const howTo = 'if this is meant: node packages/core/test/prompts/golden.ts, and read the diff';

describe('prompts match their golden files [S3-13, invariant 21]', () => {
  test.each(Object.keys(goldenPrompts))('%s', (name) => {
    const kept = existsSync(goldenPath(name)) ? readFileSync(goldenPath(name), 'utf8') : '';
    expect(goldenPrompts[name]?.(), howTo).toBe(kept);
  });

  test('and there are no others', () => {
    const names = readdirSync(dirname(goldenPath('execute'))).map((name) => basename(name, '.txt'));
    expect(names.toSorted()).toEqual(Object.keys(goldenPrompts).toSorted());
  });
});

/** The position of a part: parts with equal numbers belong together; parts not listed are specific to their mode. */
const place: Record<string, number> = {
  role: 1,
  task: 2,
  request: 2,
  input_files: 3,
  codebase_exploration: 4,
  output_format: 5,
  id_generation: 6,
  signal_format: 7,
  session_startup: 8,
  startup: 8,
  rules: 10,
  test_integrity: 10,
  deviation_rules: 10,
  git_workflow: 10,
  progress_tracking: 11,
  context_management: 11,
  definition_of_done: 12,
  agent_definition: 13,
  pawl_commands: 14,
  repository_instructions: 15,
  workspace: 16,
  inter_agent_communication: 17,
};
const special = 9;
const architects = ['discuss', 'plan', 'detail', 'refine'];

describe.each(workModes)('%s [S3-83, S3-84, 7.15]', (mode) => {
  const parts = partsOf(assemblePrompt(everything(mode)).whole);

  test('has its parts in the common order, each once', () => {
    const places = parts.map((tag) => place[tag] ?? special);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(new Set(parts).size).toBe(parts.length);
  });

  test('has what every mode needs', () => {
    const ofWork = ['input_files', 'signal_format', 'definition_of_done', 'agent_definition'];
    expect(parts).toEqual(expect.arrayContaining(['role', 'repository_instructions', 'workspace']));
    for (const tag of ofWork) expect(parts.includes(tag), tag).toBe(!endsTurnByResult(mode));
  });

  test('has a task only if it executes, and explores only if it designs', () => {
    expect(parts.includes('task')).toBe(mode === 'execute');
    expect(parts.includes('codebase_exploration')).toBe(architects.includes(mode));
  });
});

test.each([
  ['execute', ['task', 'execution_protocol', 'anti_patterns', 'scope_rules']],
  ['plan', ['phase_design', 'dependencies', 'file_ownership', 'specificity', 'existing_context']],
  ['detail', ['task_body_requirements', 'file_ownership', 'task_sizing', 'existing_context']],
  ['discuss', ['analysis_method', 'question_quality', 'decision_quality', 'question_categories', 'rules']],
  ['refine', ['improvement_priorities', 'rules']],
  ['refine-chat', ['chat_history', 'instruction']],
] as const)('%s has its own tags, in order [S3-86]', (mode, tags) => {
  const given = { ...everything(mode), transcript: 'User: hello' };
  const parts = partsOf(assemblePrompt(given).whole);
  expect(parts.filter((tag) => (tags as readonly string[]).includes(tag))).toEqual(tags);
});

test('a chat stays alive by asking for the next request, and names its effect on each record [S3-86]', () => {
  const { whole } = assemblePrompt(everything('refine-chat'));
  expect(whole).toMatch(/End every turn with the signal `questions`/);
  expect(whole).toContain('action: create | update | delete');
});

test('conflict resolution has a short startup of its own instead of the full one [S3-14]', () => {
  const { whole } = assemblePrompt(everything('conflict-resolution'));
  expect(partsOf(whole)).not.toContain('session_startup');
  expect(partsOf(whole)).not.toContain('context_management');
  expect(whole).toMatch(/<startup>\n1\. `pwd`.*\n2\. `git status`.*\n3\. `CLAUDE\.md`/);
});

test("an errand's prompt says to change only what is needed, and to report when done [S3-59]", () => {
  const { whole } = assemblePrompt(everything('errand'));
  expect(whole).toContain('<request>\nFix the login test, brave-otter.\n</request>');
  expect(whole).toContain('Make only the changes that are needed');
  expect(whole).toContain('.pawl/output/signal.json');
});

test('examples are marked as good or bad [S3-87]', () => {
  for (const mode of workModes) {
    const { whole } = assemblePrompt(everything(mode));
    const labels = [...whole.matchAll(/<example label="(\w+)">/g)].map(([, label]) => label);
    expect(labels.every((label) => label === 'good' || label === 'bad')).toBe(true);
    expect(labels.length).toBe([...whole.matchAll(/<\/example>/g)].length);
  }
});
