import { isNews, mailIn, newsEvents } from '@pawl/core/supervision/news';
import type { NudgeFacts, SkipReason } from '@pawl/core/supervision/nudge';
import { judgeNudge, reasonToSkip } from '@pawl/core/supervision/nudge';
import { createSerial } from '@pawl/core/sessions/turn-taking';
import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { NudgeState } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { everyLivingAgent } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import { waitingApprovals } from '@pawl/store/sessions/approvals';
import { countPending, mailById } from '@pawl/store/mail/mail';
import { lastRunSeq, nudgeStates, projectEvents, saveNudge } from '@pawl/store/agents/nudges';
import type { Store } from '@pawl/store/store';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { Platform } from '../platform/platform.ts';

/** Periodically asks agents how they are getting on. */
export type Nudges = {
  /**
   * Checks every living agent, and nudges those that are due: each at most once, however long ago the last tick was.
   */
  tick(now?: number): Promise<void>;
};

/** The result of a check: an agent to nudge, or the reason why not. */
type Look = { agent: Agent; state: NudgeState };
type Due = Look & { text: string };

/** How far the event log was read for an agent without news, and its run at that time. */
type Mark = { runId: string | null; seq: number };

/** The agent for which an event may be news. */
type Reader = Parameters<typeof isNews>[1];

/** How many agents one transaction covers. */
const looksPerWrite = 200;

export function createNudges(platform: Pick<Platform, 'store' | 'clock' | 'timing' | 'choices' | 'log'>): Nudges {
  const { store } = platform;
  const { db } = store;
  const serially = createSerial();
  const news = createNewsFinder(db);
  /** The end of the log at a tick after which only an event can make an agent due; null if time alone can, too. */
  let quietSeq: number | null = null;

  async function look(now: number): Promise<void> {
    const mode = platform.choices.nudges;
    // Read before the facts: what happens meanwhile is news next time.
    const seq = store.lastSeq();
    if (mode === 'off' || seq === quietSeq) return;
    const living = (await everyLivingAgent(db)).filter(({ agent }) => agent.parentId !== null);
    const states = living.length === 0 ? new Map<string, NudgeState>() : await nudgeStates(db);
    news.forgetOthers(living);
    const busy = projectsAtWork(living);
    const due: Due[] = [];
    const skipped: Look[] = [];
    let hasToWait = false;
    for (const view of living) {
      const state = states.get(view.agent.id) ?? blank(view.agent.id);
      const facts = await factsOf(platform, view, state);
      const reason = reasonToSkip(facts, now, mode);
      const changed = reason === null && mode === 'smart' && (await news.hasNews(view, state, seq));
      const othersAtWork = busy.has(view.agent.projectId ?? '');
      const verdict = judgeNudge(facts, { changed, othersAtWork }, now, mode);
      if ('nudge' in verdict) {
        const next = { ...state, nudgedAt: now, backoffMs: verdict.backoffMs, seenSeq: seq, skipReason: null };
        due.push({ agent: view.agent, state: next, text: verdict.nudge });
      } else if (isWorthTelling(state, verdict.skip))
        skipped.push({ agent: view.agent, state: { ...state, skipReason: verdict.skip } });
      hasToWait ||= 'skip' in verdict && isForTime(verdict.skip, othersAtWork);
    }
    quietSeq = due.length === 0 && !hasToWait ? seq : null;
    await sendDue(store, due);
    await tellSkipped(store, skipped);
  }

  return {
    tick: (now = platform.clock()) =>
      serially(() => look(now)).catch((error: unknown) =>
        platform.log.error({ error: messageOf(error) }, 'nudge tick failed; the next one retries'),
      ),
  };
}

type NewsFinder = {
  /** True if something happened since an agent's last nudge or turn; reads each event once per agent. */
  hasNews(view: AgentFacts, state: NudgeState, seq: number): Promise<boolean>;
  /** Drops what is known of agents that no longer live. */
  forgetOthers(living: readonly AgentFacts[]): void;
};

function createNewsFinder(db: Database): NewsFinder {
  /** A cache: an agent without an entry has its log read from its last nudge or turn. */
  const marks = new Map<string, Mark>();

  async function hasNews({ agent, run }: AgentFacts, state: NudgeState, seq: number): Promise<boolean> {
    if (agent.projectId === null) return false;
    const runId = run?.id ?? null;
    const known = marks.get(agent.id);
    const from = known?.runId === runId ? known.seq : await lastRunSeq(db, agent.id);
    const afterSeq = Math.max(from, state.seenSeq);
    const reader = { id: agent.id, wakesByMail: run?.definition?.mail === 'wake' };
    if (await findNews(reader, agent.projectId, afterSeq)) return true;
    marks.set(agent.id, { runId, seq: Math.max(afterSeq, seq) });
    return false;
  }

  async function findNews(reader: Reader, projectId: string, afterSeq: number): Promise<boolean> {
    for (let from: number | undefined = afterSeq; from !== undefined;) {
      const filter = { projectId, afterSeq: from, types: newsEvents, limit: limits.newsEvents };
      const events = await projectEvents(db, filter);
      for (const event of events) if (isNews(event, reader) && (await stillCounts(mailIn(event)))) return true;
      from = events.length < limits.newsEvents ? undefined : events.at(-1)?.seq;
    }
    return false;
  }

  function forgetOthers(living: readonly AgentFacts[]): void {
    const ids = new Set(living.map(({ agent }) => agent.id));
    for (const id of marks.keys()) if (!ids.has(id)) marks.delete(id);
  }

  /** A mail that has arrived meanwhile is not news. */
  async function stillCounts(mailId: string | null): Promise<boolean> {
    const mail = mailId === null ? null : await mailById(db, mailId);
    return mailId === null || (mail !== null && mail.deliveredAt === null && mail.deadAt === null);
  }

  return { hasNews, forgetOthers };
}

/** Sends nudges: each mail and its state in one transaction. */
async function sendDue(store: Store, due: readonly Due[]): Promise<void> {
  for (let from = 0; from < due.length; from += looksPerWrite) {
    await store.write(async (tx) => {
      for (const each of due.slice(from, from + looksPerWrite)) await nudge(tx, each);
    });
  }
}

async function nudge(tx: WriteTransaction, { agent: known, state, text }: Due): Promise<void> {
  const agent = await agentById(tx.db, known.id);
  // It may have been stopped or ended since the check.
  if (agent === null || agent.endedAt !== null || agent.stopRequestedAt !== null) return;
  // An agent with a full mailbox gets no nudge, and must not block the others.
  if ((await countPending(tx.db, agent.id)) >= limits.pendingMail) return;
  const mail = await recordMail(tx, { from: await rootAgent(tx.db), to: agent, kind: 'nudge' }, shortBody(text));
  await saveNudge(tx, { ...state, mailId: mail.id });
  tx.emit({ type: 'nudge.sent', projectId: agent.projectId, agentId: agent.id, data: { mailId: mail.id } });
}

async function tellSkipped(store: Store, skipped: readonly Look[]): Promise<void> {
  for (let from = 0; from < skipped.length; from += looksPerWrite) {
    await store.write(async (tx) => {
      for (const { agent, state } of skipped.slice(from, from + looksPerWrite)) {
        await saveNudge(tx, state);
        const data = { reason: state.skipReason ?? '' };
        tx.emit({ type: 'nudge.skipped', projectId: agent.projectId, agentId: agent.id, data });
      }
    });
  }
}

/** The projects with an agent at work that is neither paused nor waiting for a limit. */
function projectsAtWork(living: readonly AgentFacts[]): Set<string> {
  const working = living.filter(
    ({ agent, run, session }) =>
      agent.class === 'ephemeral' && run?.outcome === null && run.waitUntil === null && !isPaused(session),
  );
  return new Set(working.map(({ agent }) => agent.projectId ?? ''));
}

function isPaused(session: AgentFacts['session']): boolean {
  return session !== null && session.endedAt === null && session.pausedAt !== null;
}

/** True if time alone, not only an event, would make an agent due that was skipped for this reason. */
function isForTime(reason: SkipReason, othersAtWork: boolean): boolean {
  return reason === 'gap' || (reason === 'unchanged' && othersAtWork);
}

/** Reports a reason only when it changes. The gap between two nudges is not reported. */
function isWorthTelling(state: NudgeState, reason: SkipReason): boolean {
  return reason !== 'gap' && reason !== state.skipReason;
}

function blank(agentId: string): NudgeState {
  return { agentId, nudgedAt: null, mailId: null, backoffMs: 0, seenSeq: 0, skipReason: null };
}

async function factsOf(
  { store: { db }, timing }: Pick<Platform, 'store' | 'timing'>,
  view: AgentFacts,
  state: NudgeState,
): Promise<NudgeFacts> {
  const last = state.mailId === null ? null : await mailById(db, state.mailId);
  const outstanding = last !== null && last.readAt === null && last.deadAt === null;
  const approval = (await waitingApprovals(db)).get(view.agent.id) ?? null;
  return { ...view, state, outstanding, approval, gapMs: timing.nudgeGapMs };
}
