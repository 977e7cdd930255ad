import type { Agent, Project, Run } from '@pawl/schema/record';
import { directoryOf } from '@pawl/schema/place';
import type { Initiative, Phase, PlanContent } from '@pawl/schema/plan/plan';

export type InputFile = { path: string; content: string };

/** A planned task that this one depends on, and its result. */
export type Dependency = { id: string; name: string; summary: string };

/** The plan that a planning agent works for. */
export type PlanInput = { initiative: Initiative; content: PlanContent; phaseId: string | null };

/** An errand's id and description; by default its agent’s id, and the run’s task. */
export type Errand = { id: string; description: string };

/** One of an agent's projects, with its worktree there. */
export type ProjectPlace = { name: string; path: string; branch: string | null; base: string | null };

/**
 * The files under `.pawl/input/` that describe the assignment, with placeholders filled. The manifest comes last, so
 * its presence means that the others are complete.
 */
export function inputFiles(
  agent: Agent,
  run: Run,
  project: Pick<Project, 'name'> | null,
  {
    dependencies = [],
    errand,
    places = [],
    plan,
  }: { dependencies?: Dependency[]; errand?: Errand; places?: ProjectPlace[]; plan?: PlanInput } = {},
): InputFile[] {
  const files =
    agent.mode === 'errand'
      ? errandFiles(agent, errand ?? { id: agent.id, description: run.task }, project)
      : taskFiles(agent, run, project, { dependencies, places, plan });
  return files.map(({ path, content }) => ({ path, content: fillPlaceholders(content, agent) }));
}

function taskFiles(
  agent: Agent,
  run: Run,
  project: Pick<Project, 'name'> | null,
  { dependencies, places, plan }: { dependencies: Dependency[]; places: ProjectPlace[]; plan: PlanInput | undefined },
): InputFile[] {
  const files: InputFile[] = [
    { path: 'task.md', content: `${run.task.trimEnd()}\n` },
    ...(plan === undefined ? [] : planFiles(plan)),
  ];
  const context = dependencies.map(({ id, name, summary }) => ({
    path: `context/tasks/${id}.md`,
    content: `${frontMatter({ id, name })}\n${summary.trim()}\n`,
  }));
  if (plan !== undefined) context.push(...planContext(plan));
  const manifest = {
    agentId: agent.id,
    agentName: agent.alias,
    project: project?.name ?? null,
    ...(places.length > 1 ? { projects: places } : {}),
    branch: agent.branch,
    base: agent.baseCommit,
    mode: agent.mode,
    ...(agent.taskId === null ? {} : { taskId: agent.taskId }),
    files: files.map(({ path }) => path),
    contextFiles: context.map(({ path }) => path),
  };
  return [...files, ...context, manifestFile(manifest)];
}

/** The assignment of a planning agent: the plan, its pages, and the phase that it details. */
function planFiles({ initiative, content, phaseId }: PlanInput): InputFile[] {
  const phase = content.phases.find(({ id }) => id === phaseId);
  return [
    {
      path: 'initiative.md',
      content: frontMatter({ id: initiative.id, name: initiative.name, mode: initiative.mode }),
    },
    ...content.pages.map(({ id, title, parentId, text }) => ({
      path: `pages/${id}.md`,
      content: `${frontMatter({ id, title, parent: parentId })}\n${text.trim()}\n`,
    })),
    ...(phase === undefined ? [] : [{ ...phaseFile(phase), path: 'phase.md' }]),
  ];
}

/** The rest of the plan, as background. */
function planContext({ content }: PlanInput): InputFile[] {
  return [
    ...content.decisions.map(({ id, topic, decision, text }) => ({
      path: `context/decisions/${id}.md`,
      content: `${frontMatter({ id, topic, decision })}\n${text.trim()}\n`,
    })),
    ...content.phases.map(phaseFile),
    ...content.tasks.map(({ id, name, phaseId, dependsOn, files, description, summary }) => ({
      path: `context/tasks/${id}.md`,
      content: `${frontMatter({ id, name, phase: phaseId, dependencies: dependsOn, files })}\n${(summary ?? description).trim()}\n`,
    })),
  ];
}

function phaseFile({ id, name, dependsOn, files, text }: Phase): InputFile {
  return {
    path: `context/phases/${id}.md`,
    content: `${frontMatter({ id, name, dependencies: dependsOn, files })}\n${text.trim()}\n`,
  };
}

function errandFiles(agent: Agent, { id, description }: Errand, project: Pick<Project, 'name'> | null): InputFile[] {
  const errand = { id, description: description.trim(), branch: agent.branch, project: project?.name ?? null };
  return [
    { path: 'errand.md', content: frontMatter(errand) },
    { path: 'expected-pwd.txt', content: `${directoryOf(agent) ?? ''}\n` },
    manifestFile({ errandId: id, agentId: agent.id, agentName: agent.alias, mode: 'errand' }),
  ];
}

function manifestFile(manifest: object): InputFile {
  return { path: 'manifest.json', content: `${JSON.stringify(manifest, null, 2)}\n` };
}

/** Renders front matter; values are JSON, which is valid YAML, so that no text can end it. */
function frontMatter(fields: Record<string, string | string[] | null>): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `---\n${lines.join('\n')}\n---\n`;
}

/** Replaces `{AGENT_ID}` and `{AGENT_NAME}`. */
export function fillPlaceholders(text: string, agent: Agent): string {
  return text.replaceAll('{AGENT_ID}', agent.id).replaceAll('{AGENT_NAME}', agent.alias);
}
