import { breachInWords } from '@pawl/core/accounts/budget';
import type { Colleague } from '@pawl/core/supervision/complete';
import { admitCompletion, completionText, hears, lastWord, whoHears } from '@pawl/core/supervision/complete';
import { meets } from '@pawl/core/definitions/gate';
import { changeRoutes } from '@pawl/protocol/changes/routes';
import { branchTip, countCommits } from '@pawl/git/repository/repository';
import type { Change } from '@pawl/schema/change';
import type { Definition } from '@pawl/schema/definition';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { livingColleagues } from '@pawl/store/agents/colleagues';
import { isDelegatorAtWork } from '../agents/leaving-facts.ts';
import { nullable, text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Database } from '@pawl/store/tables';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import { findBreach, hasBudget } from '../sessions/reconcile/spending.ts';
import { retire } from '../sessions/reconcile/retire.ts';
import { openAtCompletion } from '../changes/changes.ts';
import { placesOf, projectIfAny } from '../platform/places.ts';
import { mergesByItself } from '../changes/merge-rules.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { projectOf, repositoryOf } from '../platform/platform.ts';
import { rightsOf } from '../definitions/home-definitions.ts';

/** The agents notified by this request, and whether it was new: repeating it changes nothing. */
export type Completed = { notified: Agent[]; isNew: boolean };

/** The run after which an agent's task was announced as done. */
export const announcements = factTable('announcements', ['agentId'], { agentId: text, runId: nullable(text) });

/** The definitions on disk, for agents without a run. */
type Current = ReadonlyMap<string, Definition>;

/**
 * Completes an agent for good. First proposes its commits, so that its mails can name the change; after a crash the
 * next attempt finds that change. The completion, the mails, and the end of an agent of which nothing runs are one
 * transaction; the reconciler then waits for the process to exit, and cleans up.
 */
export async function completeAgent(
  platform: SessionPlatform,
  agentId: string,
  given: { summary?: string | undefined; failure?: string | undefined; byPerson?: boolean },
): Promise<Completed> {
  const known = await factsOf(platform.store.db, agentId);
  const said = lastWord(given);
  if (admitCompletion(known.agent, said) === 'known') return { notified: [], isNew: false };
  if (given.byPerson !== true && said.failure === null) await refuseOverBudget(platform, known);
  const [commits, current] = await Promise.all([
    commitsOf(platform, known.agent),
    definitionsOf(platform, known.agent),
  ]);
  const changes = said.failure === null ? await changesOf(platform, known, said.summary) : [];
  const [change = null] = changes;
  const mayPropose = meets((await rightsOf(platform, known.agent)).definition, changeRoutes.openChange.access.needs);
  const isMerged = change !== null && (await mergesByItself(platform, change));
  const completed = await platform.store.write(async (tx): Promise<Completed> => {
    const facts = await factsOf(tx.db, agentId);
    const { agent } = facts;
    if (admitCompletion(agent, said) === 'known') return { notified: [], isNew: false };
    await updateAgent(tx, agentId, { completion: { at: tx.now, ...said } });
    // Agents that were told when the task was done are not told again.
    const isAnnounced = (await announcements.get(tx.db, { agentId })) !== null;
    const notified = isAnnounced && said.failure === null ? [] : await recipientsOf(tx.db, facts, current);
    const text = completionText(agent, said, {
      task: agent.assignment,
      commits,
      change,
      others: changes.slice(1),
      mayPropose,
      mergesByItself: isMerged,
    });
    for (const to of notified) await recordMail(tx, { from: agent, to, kind: 'completion' }, shortBody(text));
    tx.emit({
      type: 'agent.completed',
      projectId: agent.projectId,
      agentId,
      data: { ...said, notified: notified.map(({ id }) => id) },
    });
    await retire(tx, agentId);
    return { notified, isNew: true };
  });
  crashPoint('complete.after_record');
  return completed;
}

/** An agent over its budget cannot complete itself: a person decides about its work. */
async function refuseOverBudget(platform: SessionPlatform, { agent, run }: AgentFacts): Promise<void> {
  const breach = run === null || !hasBudget(platform, agent) ? null : await findBreach(platform, agent, run);
  if (breach === null || !breach.passed || breach.of === 'project') return;
  throw new PawlError('budget', `${agent.alias} cannot complete: ${breachInWords(breach)}.`, {
    hint: 'A person can raise the budget with `pawl resume`, or complete the agent as it is.',
  });
}

async function factsOf(db: Database, agentId: string): Promise<AgentFacts> {
  const facts = await agentView(db, agentId);
  if (facts === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
  return facts;
}

/** The recipients, by the definition that the agent's latest run started with. */
export async function recipientsOf(db: Database, { agent, run }: AgentFacts, current: Current): Promise<Agent[]> {
  const definition = run?.definition ?? current.get(agent.definition);
  const supervisor = await supervisorWhoHears(db, agent);
  if (agent.kind === 'subagent') return (await isDelegatorAtWork(db, run)) && supervisor !== null ? [supervisor] : [];
  const found = agent.projectId === null ? [] : await livingColleagues(db, agent.projectId);
  const colleagues: Colleague[] = found.map((each) => ({
    agent: each.agent,
    role: (each.definition ?? current.get(each.agent.definition))?.role ?? null,
  }));
  return whoHears(agent, definition?.notify ?? ['parent'], { supervisor, colleagues });
}

/** The nearest ancestor that has not completed, up to agent 0. */
async function supervisorWhoHears(db: Database, agent: Agent): Promise<Agent | null> {
  for (let id = agent.supervisorId ?? agent.parentId; id !== null;) {
    const supervisor = await agentById(db, id);
    if (supervisor === null || hears(supervisor)) return supervisor;
    id = supervisor.supervisorId ?? supervisor.parentId;
  }
  return null;
}

export async function definitionsOf(platform: SessionPlatform, agent: Agent): Promise<Current> {
  return (await platform.definitions.load(await projectIfAny(platform.store, agent))).definitions;
}

/** The changes of an agent's work, one in each project with commits. */
export async function changesOf(
  platform: SessionPlatform,
  facts: AgentFacts,
  summary: string | null,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const { agent } of await placesOf(platform.store.db, facts.agent)) {
    const change = await openAtCompletion(
      platform,
      await projectOf(platform.store, agent),
      { ...facts, agent },
      summary,
    );
    if (change !== null) changes.push(change);
  }
  return changes;
}

/** The number of commits on an agent's branches beyond their bases, in all its projects; null if unknown. */
export async function commitsOf(platform: SessionPlatform, agent: Agent): Promise<number | null> {
  try {
    let commits: number | null = null;
    for (const { agent: there } of await placesOf(platform.store.db, agent)) {
      if (there.branch === null || there.baseCommit === null) continue;
      const repository = await repositoryOf(platform, await projectOf(platform.store, there));
      const tip = await branchTip(repository, there.branch);
      if (tip !== null) commits = (commits ?? 0) + (await countCommits(repository, there.baseCommit, tip));
    }
    return commits;
  } catch (error) {
    platform.log.warn({ agent: agent.alias, error: messageOf(error) }, 'failed to count commits');
    return null;
  }
}
