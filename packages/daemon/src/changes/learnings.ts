import { cutText } from '@pawl/core/shorten';
import type { Home } from '@pawl/protocol/node/home';
import type { Change, ChangeComment, Check } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { Agent, Project } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { commentsOf } from '@pawl/store/changes/changes';
import { checkById, recentChecks } from '@pawl/store/changes/checks';
import { readCheckEnd } from '@pawl/store/changes/check-output';
import type { Database } from '@pawl/store/tables';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Platform } from '../platform/platform.ts';

/** The path of a change's learnings. A project's name is safe in a path. */
export function learningsPath(home: Home, project: Pick<Project, 'name'>, changeId: string): string {
  return join(home.learnings, project.name, `${changeId}.md`);
}

/** The existing file with a change's learnings, or null. */
export function learningsOf(home: Home, project: Pick<Project, 'name'>, change: Change): string | null {
  const path = learningsPath(home, project, change.id);
  return change.closedAt !== null && existsSync(path) ? path : null;
}

type Lesson = { project: Project; change: Change; reason: string; learnings: string; by: string };

/** Writes the learnings under a temporary name; returns that path. */
export async function draftLearnings(platform: Platform, lesson: Lesson): Promise<string> {
  const path = learningsPath(platform.home, lesson.project, lesson.change.id);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}.tmp`;
  await writeFile(draft, await lessonText(platform.store.db, lesson), { mode: 0o600, flag: 'wx' });
  return draft;
}

/** How much of a failing check's output, and of each comment, is kept. */
const outputBytes = 8 * 1024;
const commentCharacters = 4_000;

async function lessonText(db: Database, { project, change, reason, learnings, by }: Lesson): Promise<string> {
  const author = change.agentId === null ? null : await agentById(db, change.agentId);
  const comments = await commentsOf(db, change.id);
  const failed = await failedCheck(db, change);
  const parts = [
    `# ${change.title}`,
    facts(project, change, author),
    `## Closed by ${by}\n\n${reason}`,
    `## What was learned\n\n${learnings}`,
    ...(change.summary === '' ? [] : [`## What its author said of it\n\n${quoted(change.summary)}`]),
    ...(comments.length === 0 ? [] : [`## What was said about it\n\n${await commentsText(db, comments)}`]),
    ...(failed === null ? [] : [`## The check that failed\n\n${await checkText(db, failed)}`]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function facts(project: Project, change: Change, author: Agent | null): string {
  return [
    `- project: ${project.name}`,
    `- change: ${change.id}`,
    `- branch: ${change.branch}`,
    `- head: ${change.head}`,
    `- base: ${change.base}`,
    `- author: ${author?.alias ?? 'a person'}`,
    `- opened: ${new Date(change.openedAt).toISOString()}`,
  ].join('\n');
}

async function commentsText(db: Database, comments: readonly ChangeComment[]): Promise<string> {
  const texts: string[] = [];
  for (const { agentId, kind, body, addressed } of comments) {
    const by = agentId === null ? 'a person' : ((await agentById(db, agentId))?.alias ?? agentId);
    const answer = addressed === null ? '' : `\n\nAddressed: ${addressed}`;
    texts.push(`${by} (${kind}):\n\n${quoted(cutText(body, commentCharacters))}${answer}`);
  }
  return texts.join('\n\n');
}

/** The check that ejected it, else the latest failure. */
async function failedCheck(db: Database, { id, ejection, projectId }: Change): Promise<Check | null> {
  const cause = ejection?.checkId ?? null;
  if (cause !== null) return checkById(db, cause);
  const recent = await recentChecks(db, projectId, limits.searchedChecks);
  return recent.find(({ changes, outcome }) => outcome === 'failed' && changes.includes(id)) ?? null;
}

async function checkText(db: Database, check: Check): Promise<string> {
  const { chunks } = await readCheckEnd(db, check.id, outputBytes);
  const text = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString('utf8');
  return `${check.id} at ${check.commit}: ${check.detail ?? 'failed'}\n\n${quoted(text)}`;
}

/** Quotes foreign text, so that no line of it can pass for a heading of this file. */
function quoted(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '> ');
}
