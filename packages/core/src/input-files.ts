import type { Agent, Project, Run } from '@pawl/schema/record';

export type InputFile = { path: string; content: string };

/**
 * The files under `.pawl/input/` that tell an agent what it is to do. The manifest comes last, so that whoever finds it
 * knows that the others are complete.
 */
export function inputFiles(agent: Agent, run: Run, project: Project): InputFile[] {
  const files: InputFile[] = [{ path: 'task.md', content: `${run.task.trimEnd()}\n` }];
  const manifest = {
    agentId: agent.id,
    agentName: agent.alias,
    project: project.name,
    branch: agent.branch,
    base: agent.baseCommit,
    mode: 'execute',
    files: files.map((file) => file.path),
    contextFiles: [],
  };
  return [
    ...files.map((file) => ({ ...file, content: fillPlaceholders(file.content, agent) })),
    { path: 'manifest.json', content: `${JSON.stringify(manifest, null, 2)}\n` },
  ];
}

/** Replaces `{AGENT_ID}` and `{AGENT_NAME}`, so that a task can tell its agent how to speak of itself. */
export function fillPlaceholders(text: string, agent: Agent): string {
  return text.replaceAll('{AGENT_ID}', agent.id).replaceAll('{AGENT_NAME}', agent.alias);
}
