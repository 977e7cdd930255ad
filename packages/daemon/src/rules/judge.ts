import type { Judgement, JudgingRule } from '@pawl/core/rules/judge-request';
import { judgeRequest } from '@pawl/core/rules/judge-request';
import { directoryOf } from '@pawl/schema/place';
import type { Agent } from '@pawl/schema/record';
import type { RuleRequest } from '@pawl/schema/rule';
import { markRulesUsed, rulesFor } from '@pawl/store/rules/rules';
import type { Platform } from '../platform/platform.ts';
import { placesOf } from '../platform/places.ts';
import { realPath, resolvePaths } from './request-paths.ts';

/** A rule that applies, wherever it is written; `id` is null for a rule of a file. */
export type ActiveRule = JudgingRule & { id: string | null };

/** A request as a CLI makes it. */
export type AskedRequest = Pick<RuleRequest, 'kind' | 'tool' | 'command' | 'host'> & {
  paths?: readonly string[];
  cwd: string | null;
};

/** Judges a request of an agent's session by all rules that apply to it, and notes which were used. */
export async function judgeByRules(
  platform: Pick<Platform, 'store'>,
  agent: Agent,
  sessionId: string | null,
  asked: AskedRequest,
): Promise<Judgement<ActiveRule>> {
  const request = await ruleRequest(agent, asked);
  const judged = judgeRequest(await activeRules(platform, agent, sessionId), request);
  const used = judged.rules.flatMap(({ id }) => id ?? []);
  if (used.length > 0) await platform.store.writeRelaxed((tx) => markRulesUsed(tx, used));
  return judged;
}

/** The rules that apply to an agent's session. */
async function activeRules(
  platform: Pick<Platform, 'store'>,
  agent: Agent,
  sessionId: string | null,
): Promise<ActiveRule[]> {
  const { db } = platform.store;
  const projectIds = (await placesOf(db, agent)).flatMap((place) => place.agent.projectId ?? []);
  return rulesFor(db, { sessionId, agentId: agent.id, projectIds });
}

/** A request with its directory, worktree and paths resolved through symbolic links. */
async function ruleRequest(agent: Agent, { paths, cwd: given, ...asked }: AskedRequest): Promise<RuleRequest> {
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
