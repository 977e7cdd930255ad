import type { Judgement, JudgingRule } from '@pawl/core/rules/judge-request';
import { judgeRequest } from '@pawl/core/rules/judge-request';
import { directoryOf } from '@pawl/schema/place';
import type { Agent, Project } from '@pawl/schema/record';
import type { RuleRequest } from '@pawl/schema/rule';
import { projectById } from '@pawl/store/projects/projects';
import { markRulesUsed, rulesFor } from '@pawl/store/rules/rules';
import type { Database } from '@pawl/store/tables';
import { placesOf } from '../platform/places.ts';
import type { RulePlatform } from './file-rules.ts';
import { fileRules } from './file-rules.ts';
import { realPath, resolvePaths } from './request-paths.ts';

/** A rule that applies, wherever it is written; `id` is null for a rule of a file. */
export type ActiveRule = JudgingRule & { id: string | null };

/** A request as a CLI makes it. */
export type AskedRequest = Pick<RuleRequest, 'kind' | 'tool' | 'command' | 'host' | 'unclear'> & {
  paths?: readonly string[];
  cwd: string | null;
};

/** Judges a request of an agent's session by all rules that apply to it, and notes which were used. */
export async function judgeByRules(
  platform: RulePlatform,
  agent: Agent,
  sessionId: string | null,
  asked: AskedRequest,
): Promise<Judgement<ActiveRule>> {
  const { rules, trouble } = await activeRules(platform, agent, sessionId);
  const judged = judgeRequest(rules, await ruleRequest(agent, asked));
  if (judged.effect === 'allow' && trouble !== null)
    return { effect: 'ask', rules: [], reason: `some rules cannot be read: ${trouble}` };
  const used = judged.rules.flatMap(({ id }) => id ?? []);
  if (used.length > 0) await platform.store.writeRelaxed((tx) => markRulesUsed(tx, used));
  return judged;
}

/** The rules that apply to an agent's session, of the store and of files. */
export async function activeRules(
  platform: RulePlatform,
  agent: Agent,
  sessionId: string | null,
): Promise<{ rules: ActiveRule[]; trouble: string | null }> {
  const { db } = platform.store;
  const projects = await projectsOf(db, agent);
  const stored = await rulesFor(db, { sessionId, agentId: agent.id, projectIds: projects.map(({ id }) => id) });
  const { rules, trouble } = await fileRules(platform, projects);
  const counting = rules.filter(({ counts }) => counts).map(({ effect, match }) => ({ id: null, effect, match }));
  return { rules: [...stored, ...counting], trouble };
}

/** All projects that an agent works in. */
export async function projectsOf(db: Database, agent: Agent): Promise<Project[]> {
  const ids = (await placesOf(db, agent)).flatMap((place) => place.agent.projectId ?? []);
  return (await Promise.all(ids.map((id) => projectById(db, id)))).filter((project) => project !== null);
}

/** A request with its directory, worktree and paths resolved through symbolic links. */
export async function ruleRequest(agent: Agent, { paths, cwd: given, ...asked }: AskedRequest): Promise<RuleRequest> {
  const directory = directoryOf(agent);
  const worktree = directory === null ? null : await realPath(directory);
  const cwd = given === null ? worktree : await realPath(given);
  return {
    ...asked,
    cwd,
    worktree,
    ...(paths !== undefined && { paths: await resolvePaths(cwd ?? '/', paths) }),
  };
}
