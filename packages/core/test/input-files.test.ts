import { expect, test } from 'vitest';
import { fillPlaceholders, inputFiles } from '../src/input-files.ts';
import { aProject, aRun, anAgent } from './fixture.ts';

test('the manifest comes last and names every other file', () => {
  const files = inputFiles(anAgent(), aRun(), aProject);
  expect(files.at(-1)?.path).toBe('manifest.json');
  const manifest = JSON.parse(files.at(-1)?.content ?? '') as { files: string[] };
  expect(manifest.files).toEqual(files.slice(0, -1).map((file) => file.path));
  expect(manifest).toMatchObject({
    agentId: anAgent().id,
    agentName: 'brave-otter',
    project: 'shop',
    branch: 'work/brave-otter',
    base: 'c0ffee',
  });
});

test('the task is written as it was given, with one newline at its end', () => {
  const [task] = inputFiles(anAgent(), aRun({ task: '  indented\n\n\n' }), aProject);
  expect(task).toEqual({ path: 'task.md', content: '  indented\n' });
});

test('placeholders become the agent’s own id and alias, wherever they stand', () => {
  const agent = anAgent();
  const [task] = inputFiles(agent, aRun({ task: '{AGENT_NAME} is {AGENT_ID}; {AGENT_NAME}' }), aProject);
  expect(task?.content).toBe(`brave-otter is ${agent.id}; brave-otter\n`);
});

test('anything else in braces stays', () => {
  expect(fillPlaceholders('{agent_id} {AGENT} {{AGENT_ID} $& {}', anAgent())).toBe(
    `{agent_id} {AGENT} {${anAgent().id} $& {}`,
  );
});
