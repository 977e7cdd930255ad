import { completionText } from '@pawl/core/supervision/complete';
import { meets } from '@pawl/core/definitions/gate';
import { changeRoutes } from '@pawl/protocol/changes/routes';
import { isAtRest, isDoneWithTask } from '@pawl/core/supervision/leaving';
import { createLimiter, createLanes } from '@pawl/core/sessions/turn-taking';
import type { Change } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import { agentView, everyLivingAgent } from '@pawl/store/agents/agent-views';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { updateAgent } from '@pawl/store/agents/agents';
import { changesAbout, changesMadeBy } from '@pawl/store/changes/changes';
import type { Database } from '@pawl/store/tables';
import { recordRetirement } from '../registry/kill-record.ts';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import { mergesByItself } from '../changes/merge-rules.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { announcements, changesOf, commitsOf, definitionsOf, recipientsOf } from './complete.ts';
import { rightsOf } from '../definitions/home-definitions.ts';
import { whyItStays } from '../agents/leaving-facts.ts';

/** Announces agents that have completed their task, once, and ends them when nothing keeps them. */
export type Leaving = {
  /** Checks every living agent. */
  tend(): Promise<void>;
  close(): Promise<void>;
};

/** Concurrent checks. Thousands would all wait for the one database connection. */
const parallelLooks = 8;

/** Starts watching for agents that are done. */
export function startLeaving(platform: SessionPlatform, parts: { reconciler: Pick<Reconciler, 'inLane'> }): Leaving {
  const { store } = platform;
  const lanes = createLanes();
  const limited = createLimiter(parallelLooks);
  const looks = new Set<Promise<void>>();
  let closed = false;

  const unfollow = store.onCommit(({ events }) => {
    for (const event of events)
      void concernedBy(event).then(
        (ids) => ids.forEach(wake),
        () => undefined,
      );
  });

  /** The agents that an event may release: the one whose run ended, or all idle ones in a settled change's project. */
  async function concernedBy({ type, agentId, projectId }: Event): Promise<string[]> {
    if (type === 'run.ended') return agentId === null ? [] : [agentId];
    if (type !== 'change.merged' && type !== 'change.closed' && type !== 'review.ended') return [];
    const living = await everyLivingAgent(store.db);
    return living.filter((view) => view.agent.projectId === projectId && isAtRest(view)).map(({ agent }) => agent.id);
  }

  function wake(agentId: string): void {
    if (closed) return;
    const look = lanes
      .run(agentId, () => limited(() => checkAgent(agentId)))
      .catch((error: unknown) => {
        platform.log.error({ agent: agentId, error: messageOf(error) }, 'failed to check whether an agent is done');
      });
    looks.add(look);
    void look.finally(() => looks.delete(look));
  }

  async function checkAgent(agentId: string): Promise<void> {
    if (closed) return;
    const facts = await agentView(store.db, agentId);
    if (facts === null || !isAtRest(facts)) return;
    if (isDoneWithTask(facts) && facts.agent.kind === 'main') await proposeAndAnnounce(platform, facts);
    await leaveIfFree(platform, parts.reconciler, agentId);
  }

  return {
    async tend() {
      for (const view of await everyLivingAgent(store.db)) if (isAtRest(view)) wake(view.agent.id);
      await Promise.all(looks);
    },
    async close() {
      closed = true;
      unfollow();
      await Promise.all(looks);
    },
  };
}

async function proposeAndAnnounce(platform: SessionPlatform, facts: AgentFacts): Promise<void> {
  // Propose its commits first: the announcement names the change, and no agent leaves before its work is proposed.
  const changes = await changesOf(platform, facts, facts.run?.detail ?? null);
  if ((await announcements.get(platform.store.db, { agentId: facts.agent.id })) === null)
    await announce(platform, facts, changes);
}

/** Mails the roles that its definition names, with the event and a mark against a second mail, in one transaction. */
async function announce(
  platform: SessionPlatform,
  { agent, run }: AgentFacts,
  changes: readonly Change[],
): Promise<void> {
  const [commits, current] = await Promise.all([commitsOf(platform, agent), definitionsOf(platform, agent)]);
  const mayPropose = meets((await rightsOf(platform, agent)).definition, changeRoutes.openChange.access.needs);
  const said = { summary: run?.detail ?? null, failure: null };
  const [change = null] = changes;
  const isMerged = change !== null && (await mergesByItself(platform, change));
  await platform.store.write(async (tx) => {
    const facts = await agentView(tx.db, agent.id);
    if (facts === null || !isDoneWithTask(facts)) return;
    if ((await announcements.get(tx.db, { agentId: agent.id })) !== null) return;
    // The queue reports the end of a review that it requested, with the same summary.
    const isReview = (await changesAbout(tx.db, agent.id)).some(({ reviewerId }) => reviewerId === agent.id);
    const notified = isReview ? [] : await recipientsOf(tx.db, facts, current);
    const about = { task: agent.assignment, commits, change, others: changes.slice(1), mayPropose };
    const text = completionText(agent, said, { ...about, mergesByItself: isMerged });
    for (const to of notified) await recordMail(tx, { from: agent, to, kind: 'completion' }, shortBody(text));
    await announcements.set(tx, { agentId: agent.id, runId: run?.id ?? null });
    tx.emit({
      type: 'agent.finished',
      projectId: agent.projectId,
      agentId: agent.id,
      data: { summary: said.summary, notified: notified.map(({ id }) => id) },
    });
  });
  crashPoint('leaving.after_announcement');
}

/** Ends an agent that nothing keeps. The transaction that ends it reads the facts again. */
async function leaveIfFree(
  platform: SessionPlatform,
  reconciler: Pick<Reconciler, 'inLane'>,
  agentId: string,
): Promise<void> {
  const { store } = platform;
  const isFree = async (db: Database) => {
    const facts = await agentView(db, agentId);
    if (facts === null || !isAtRest(facts)) return null;
    return (await whyItStays(db, facts, platform.clock())) === null ? facts : null;
  };
  if ((await isFree(store.db)) === null) return;
  await reconciler.inLane(agentId, () =>
    store.write(async (tx) => {
      const facts = await isFree(tx.db);
      if (facts === null) return;
      const completion = { at: tx.now, ...(await resultOf(tx.db, facts)) };
      await updateAgent(tx, agentId, { completion });
      await recordRetirement(tx, { ...facts.agent, completion }, 'completed');
      await announcements.delete(tx, { agentId });
    }),
  );
  crashPoint('leaving.after_end');
}

/** The result of an agent that leaves. After a failed run, its work counts if its change was merged. */
async function resultOf(db: Database, facts: AgentFacts): Promise<{ summary: string | null; failure: string | null }> {
  const detail = facts.run?.detail ?? null;
  if (isDoneWithTask(facts)) return { summary: detail, failure: null };
  const [latest] = await changesMadeBy(db, facts.agent.id);
  const isMerged = latest !== undefined && latest.mergedAt !== null;
  return isMerged
    ? { summary: latest.title, failure: null }
    : { summary: null, failure: detail ?? 'its last run did not complete' };
}
