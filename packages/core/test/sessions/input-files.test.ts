import { describe, expect, test } from 'vitest';
import { fillPlaceholders, inputFiles } from '../../src/sessions/input-files.ts';
import { aProject, aRun, anAgent, idOf } from '../fixture.ts';

const manifestOf = (files: { path: string; content: string }[]) =>
  JSON.parse(files.at(-1)?.content ?? '') as Record<string, unknown>;

test('the manifest comes last, lists every other file, and identifies the agent [S3-79]', () => {
  const files = inputFiles(anAgent(), aRun(), aProject);
  expect(files.at(-1)?.path).toBe('manifest.json');
  expect(manifestOf(files)).toEqual({
    agentId: anAgent().id,
    agentName: 'brave-otter',
    project: 'shop',
    branch: 'work/brave-otter',
    base: 'c0ffee',
    mode: 'execute',
    files: ['task.md'],
    contextFiles: [],
  });
});

test('the manifest has the agent’s mode and planned task', () => {
  const agent = anAgent({ mode: 'review', taskId: idOf('planned') });
  expect(manifestOf(inputFiles(agent, aRun(), aProject))).toMatchObject({ mode: 'review', taskId: idOf('planned') });
});

test('the task is written as it was given, with one newline at its end', () => {
  const [task] = inputFiles(anAgent(), aRun({ task: '  indented\n\n\n' }), aProject);
  expect(task).toEqual({ path: 'task.md', content: '  indented\n' });
});

test('results of dependencies are background, with a file each [S3-18]', () => {
  const dependencies = [{ id: idOf('store'), name: 'the "store"\n---', summary: ' It is for {AGENT_NAME}. ' }];
  const files = inputFiles(anAgent(), aRun(), aProject, { dependencies });
  const path = `context/tasks/${idOf('store')}.md`;
  expect(files.map((file) => file.path)).toEqual(['task.md', path, 'manifest.json']);
  expect(files[1]?.content).toBe(
    `---\nid: "${idOf('store')}"\nname: "the \\"store\\"\\n---"\n---\n\nIt is for brave-otter.\n`,
  );
  expect(manifestOf(files)).toMatchObject({ files: ['task.md'], contextFiles: [path] });
});

describe('placeholders [S3-03]', () => {
  test('become the agent’s id and alias, everywhere', () => {
    const agent = anAgent();
    const [task] = inputFiles(agent, aRun({ task: '{AGENT_NAME} is {AGENT_ID}; {AGENT_NAME}' }), aProject);
    expect(task?.content).toBe(`brave-otter is ${agent.id}; brave-otter\n`);
  });

  test('anything else in braces stays', () => {
    expect(fillPlaceholders('{agent_id} {AGENT} {{AGENT_ID} $& {}', anAgent())).toBe(
      `{agent_id} {AGENT} {${anAgent().id} $& {}`,
    );
  });
});

describe('an errand [S3-10, S3-58]', () => {
  const agent = anAgent({ mode: 'errand' });

  test('has its description, its directory, and last a manifest without files', () => {
    const files = inputFiles(agent, aRun({ task: ' fix: the\ntypo ' }), aProject);
    expect(files.map((file) => file.path)).toEqual(['errand.md', 'expected-pwd.txt', 'manifest.json']);
    expect(files[0]?.content).toBe(
      `---\nid: "${agent.id}"\ndescription: "fix: the\\ntypo"\nbranch: "work/brave-otter"\nproject: "shop"\n---\n`,
    );
    expect(files[1]?.content).toBe('/worktrees/brave-otter\n');
    expect(manifestOf(files)).toEqual({
      errandId: agent.id,
      agentId: agent.id,
      agentName: 'brave-otter',
      mode: 'errand',
    });
  });

  test('keeps its name and description after later messages', () => {
    const errand = { id: idOf('errand'), description: 'fix the typo' };
    const files = inputFiles(agent, aRun({ task: 'and the other one' }), aProject, { errand });
    expect(files[0]?.content).toContain('description: "fix the typo"');
    expect(manifestOf(files)).toMatchObject({ errandId: idOf('errand') });
  });
});
