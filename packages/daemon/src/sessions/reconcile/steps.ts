import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import type { Step } from '@pawl/core/sessions/next-step';
import { nextStep } from '@pawl/core/sessions/next-step';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { Agent, Session } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { setWait } from '@pawl/store/sessions/runs';
import { endAgent } from '../../registry/kill-record.ts';
import { cleanUp } from './clean-up.ts';
import type { Loop } from './loop.ts';
import { makeWorktree } from './make-worktree.ts';
import { retire } from './retire.ts';
import { finish, stopAndFinish } from './session-ends.ts';
import { processOf } from './session-process.ts';
import { planSession, startPlanned } from './start.ts';
import { recordEnd } from './verdict.ts';

/** The delay before retrying a step that failed for lack of disk or memory. */
const retryMs = 1_000;

/** Steps whose failure is the agent's own. */
const startingSteps: readonly string[] = ['make-worktree', 'plan-session', 'start-session'];

/** Wakes an agent again after a failed check. */
export function wakeLater(loop: Loop, agentId: string): void {
  setTimeout(() => loop.wake(agentId), retryMs).unref();
}

/** Takes the next step, or records why it failed; true if another one may be possible at once. */
export async function tryStep(loop: Loop, facts: AgentFacts): Promise<boolean> {
  try {
    return await doStep(loop, facts);
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : undefined;
    loop.platform.log.error({ agent: facts.agent.alias, error: messageOf(error), cause }, 'step failed');
    // A lack of disk or descriptors passes, and a failed check says nothing about the agent.
    const fatal = !isPassing(error) && startingSteps.includes(nextStep(facts).do);
    if (fatal) return giveUp(loop, facts, messageOf(error));
    wakeLater(loop, facts.agent.id);
    return false;
  }
}

/** Takes the next step of an agent, in its lane; true if another one may be possible at once. */
export async function doStep(loop: Loop, facts: AgentFacts): Promise<boolean> {
  const { platform } = loop;
  const { agent, session } = facts;
  const step = nextStep(facts).do;
  if (!hasPlace(loop, agent, step)) return false;
  switch (step) {
    case 'make-worktree':
      await throughLimiter(loop, agent, step, () => makeWorktree(platform, facts));
      return true;
    case 'wait':
      return endWait(loop, facts);
    case 'plan-session':
      return planSession(platform, facts);
    case 'start-session':
      await throughLimiter(loop, agent, step, () => startPlanned(platform, facts));
      return true;
    case 'watch':
      return session !== null && watchOrFinish(loop, agent, session);
    case 'stop-session':
      if (session !== null) await stopAndFinish(loop, agent, session);
      return true;
    case 'cancel-run':
      await endRunNow(loop, facts, 'cancelled', 'stopped on request');
      return true;
    case 'retire':
      await platform.store.write((tx) => retire(tx, agent.id));
      return true;
    case 'clean-up':
      await throughLimiter(loop, agent, step, () => cleanUp(platform, agent));
      return true;
    case 'rest':
      return false;
  }
}

/** Takes a heavy step when a slot is free, unless the facts have changed while it waited. */
async function throughLimiter(loop: Loop, { id }: Agent, step: Step['do'], act: () => Promise<unknown>): Promise<void> {
  await loop.startLimiter(async () => {
    const facts = loop.closed ? null : await agentView(loop.platform.store.db, id);
    if (facts !== null && nextStep(facts).do === step) await act();
  });
}

/** Takes or frees the slots that a step needs; false if the agent must wait for one. */
function hasPlace(loop: Loop, { id }: Agent, step: Step['do']): boolean {
  const { agentSlots, sessionSlots } = loop;
  const starts = startingSteps.includes(step);
  // Processes that are being ended occupy a slot until they have exited.
  const runs = step === 'start-session' || step === 'watch' || step === 'stop-session';
  if (!starts && !runs) agentSlots.free(id);
  if (!runs) sessionSlots.free(id);
  if (step === 'watch') for (const places of [agentSlots, sessionSlots]) places.keep(id);
  const waits = (starts && !agentSlots.take(id)) || (step === 'start-session' && !sessionSlots.take(id));
  for (const next of [agentSlots.next(), sessionSlots.next()]) if (next !== null) loop.wake(next);
  return !waits;
}

/** Continues a run whose wait is over; otherwise sets an alarm for that time. */
async function endWait({ platform, alarms }: Loop, { agent, run }: AgentFacts): Promise<boolean> {
  if (run?.waitUntil === undefined || run.waitUntil === null) return false;
  const leftMs = run.waitUntil - platform.clock();
  if (leftMs > 0) {
    alarms.set(agent.id, leftMs);
    return false;
  }
  await platform.store.write((tx) => setWait(tx, run.id, null));
  return true;
}

/** Watches a running session; true if it had ended and is now finished. */
async function watchOrFinish(loop: Loop, agent: Agent, session: Session): Promise<boolean> {
  await loop.watch.attach(agent, session);
  if ((await processOf(loop.platform, agent, session).state()).is === 'running') return false;
  await finish(loop, agent.id, session.id);
  return true;
}

async function endRunNow(
  { platform }: Loop,
  facts: AgentFacts,
  outcome: 'failed' | 'cancelled',
  detail: string,
): Promise<void> {
  const { run } = facts;
  if (run === null) return;
  // An agent that had reported that it is done, and was only asked to commit, is done.
  const done = outcome === 'failed' && run.resultBefore !== null;
  const end = done ? ({ outcome: 'completed', detail: run.resultBefore ?? '' } as const) : { outcome, detail };
  await platform.store.write((tx) => recordEnd(tx, { ...facts, run }, { next: 'end', ...end, questions: null }));
}

/** Ends the session and fails the run with the reason. */
async function giveUp(loop: Loop, facts: AgentFacts, detail: string): Promise<boolean> {
  const { agent, session } = facts;
  if (session !== null && session.endedAt === null) await stopAndFinish(loop, agent, session, detail);
  if (facts.run === null) await endAgent(loop.platform.store, agent, detail);
  else await endRunNow(loop, facts, 'failed', detail);
  return true;
}
