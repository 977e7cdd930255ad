import type { OutputFile, PlanOutput } from '@pawl/core/plan/output-file';
import { isPlanningMode, outputFolders, readPlanOutput } from '@pawl/core/plan/output-file';
import { worktreeStatus } from '@pawl/git/worktree/worktree-status';
import { hasErrno, messageOf } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { directoryOf } from '@pawl/schema/place';
import type { PlanContent } from '@pawl/schema/plan/plan';
import type { Agent } from '@pawl/schema/record';
import { planContent } from '@pawl/store/plan/plan-records';
import { planAgentOf } from '@pawl/store/plan/proposals';
import { tasksByIds } from '@pawl/store/projects/tasks';
import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { loadReadYaml } from '../definitions/read-yaml.ts';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, projectOf, repositoryOf } from '../platform/platform.ts';

/** Reads a planning agent's output from `.pawl/output/`; null for an agent that does not plan. */
export async function planOutput(
  platform: Platform,
  agent: Agent,
  { isDone }: { isDone: boolean },
): Promise<PlanOutput | null> {
  const directory = directoryOf(agent);
  if (!isPlanningMode(agent.mode) || agent.projectId === null || directory === null) return null;
  const { db } = platform.store;
  const planAgent = await planAgentOf(db, agent.id);
  const content: PlanContent =
    planAgent === null
      ? { pages: [], decisions: [], phases: [], tasks: [] }
      : await planContent(db, planAgent.initiativeId);
  const { files, complaints } = await outputFiles(directory);
  const named = [
    ...files
      .map(({ text }) => text)
      .join('\n')
      .matchAll(/[A-Za-z0-9][A-Za-z0-9_-]{21}/g),
  ].map(([id]) => id);
  const outside = (await tasksByIds(db, [...new Set(named)])).filter(({ projectId }) => projectId === agent.projectId);
  const output = readPlanOutput(files, {
    mode: agent.mode,
    isDone,
    content,
    outside: new Map(outside.map((task) => [task.id, task])),
    phaseId: planAgent?.phaseId ?? null,
    readYaml: await loadReadYaml(),
    newId: newId(),
  });
  const strayed = await writtenOutside(platform, agent);
  return { items: output.items, complaints: [...complaints, ...strayed, ...output.complaints] };
}

/** The files in the directories for output: regular ones inside the worktree, and no more than the limits allow. */
async function outputFiles(worktree: string): Promise<{ files: OutputFile[]; complaints: string[] }> {
  const files: OutputFile[] = [];
  const complaints: string[] = [];
  for (const folder of Object.values(outputFolders)) {
    const directory = join(worktree, '.pawl', 'output', folder);
    for (const name of await filesIn(worktree, directory)) {
      const path = `${folder}/${name}`;
      if (files.length >= limits.planFiles) return { files, complaints: [`More than ${limits.planFiles} files.`] };
      const text = await readOutput(join(directory, name));
      if (text === null) complaints.push(`${path}: not a text file of at most ${limits.planFileBytes} bytes.`);
      else files.push({ path, text });
    }
  }
  return { files, complaints };
}

async function filesIn(worktree: string, directory: string): Promise<string[]> {
  try {
    const [root, place] = await Promise.all([realpath(worktree), realpath(directory)]);
    if (!place.startsWith(root + sep)) return [];
    return (await readdir(place)).filter((name) => name.endsWith('.md')).toSorted();
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return [];
    throw error;
  }
}

async function readOutput(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > limits.planFileBytes) return null;
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } catch (error) {
    if (error instanceof TypeError || hasErrno(error, 'ENOENT', 'EISDIR', 'EACCES', 'ELOOP', 'ENXIO')) return null;
    throw error;
  }
}

/** How many files outside of the output are named. */
const shownFiles = 5;

/** Complaints about what a planning agent wrote outside of its output. */
async function writtenOutside(platform: Platform, agent: Agent): Promise<string[]> {
  if (agent.worktree === null) return [];
  const complaints: string[] = [];
  try {
    const project = await projectOf(platform.store, agent);
    const repository = await repositoryOf(platform, project);
    const request = { ownDir: ownGitDirectory(platform.home, project.id), path: agent.worktree };
    const { changed, untracked, files, head } = await worktreeStatus(repository, request);
    const count = changed + untracked;
    const shown = files.slice(0, shownFiles).join(', ');
    if (count > 0)
      complaints.push(`You wrote ${count} files outside of .pawl/output/ (${shown}): restore or remove them.`);
    if (head !== null && agent.baseCommit !== null && head !== agent.baseCommit)
      complaints.push(`You committed, and planning makes no commits: \`git reset --hard ${agent.baseCommit}\`.`);
  } catch (error) {
    platform.log.warn(
      { agent: agent.alias, error: messageOf(error) },
      'failed to look for writes outside of the output',
    );
  }
  return complaints;
}
