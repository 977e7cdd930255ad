import { titleOfWork } from '@pawl/core/changes/change-text';
import { commitSubject } from '@pawl/git/repository/commit-subject';
import { readRange } from '@pawl/git/merge/replay';
import type { Agent } from '@pawl/schema/record';
import { changesByAgent } from '@pawl/store/changes/changes';
import { redact } from '../accounts/redaction.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { ProjectRules } from '../project-config/project-rules.ts';
import { landedHeads } from './landing/landed.ts';

type Work = { head: string; base: string; author: Agent | null };

/** The title derived from a head's own commits, and whether it is the subject of the only one. */
export type FoundTitle = { title: string; isSubject: boolean };

/** Derives the title of a branch. Ignores changes of its author that are already merged. */
export async function titleOf(platform: SessionPlatform, rules: ProjectRules, work: Work): Promise<FoundTitle> {
  const { repository, ownDir } = rules;
  const { head, author } = work;
  const own = await ownCommits(platform, rules, work);
  const isSubject = own.length === 1;
  const subject = await commitSubject(repository, ownDir, own.at(-1) ?? head);
  const isFirst = author === null || !(await changesByAgent(platform.store.db, author.id)).some(isMerged);
  const assignment = author === null || !isFirst ? null : author.assignment;
  return { title: redact(platform, titleOfWork({ subject, isOnly: isSubject, assignment })), isSubject };
}

/** The commits that a head adds, oldest first, without merges, such as those that bring in main. */
async function ownCommits(platform: SessionPlatform, rules: ProjectRules, { head, base }: Work): Promise<string[]> {
  const { repository, ownDir } = rules;
  const [onto = base, ...others] = rules.tips;
  const landed = [base, ...others, ...(await landedHeads({ platform, ...rules, target: { tip: onto } }))];
  const { commits } = await readRange(repository, { ownDir, onto, head, landed });
  return commits.filter(({ parents }) => parents.length < 2).map(({ id }) => id);
}

function isMerged({ mergedAt }: { mergedAt: number | null }): boolean {
  return mergedAt !== null;
}
