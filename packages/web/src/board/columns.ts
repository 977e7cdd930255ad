import { stateOf } from '@pawl/present/agents/agent-text';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { ChangeView } from '@pawl/protocol/changes/view';

export type Card = { is: 'agent'; agent: AgentView } | { is: 'change'; change: ChangeView };
export type Columns = { working: Card[]; needsYou: Card[]; inCheck: Card[]; merged: Card[]; idle: number };

const mergedShown = 30;
const waitsForPerson = ['waiting_for_input', 'waiting_for_approval', 'over_budget', 'crashed'];
const works = ['running', 'starting', 'paused', 'exhausted', 'waiting_for_provider', 'adopted'];

/** Reads the board's columns from facts: nothing is dragged. A change that is proposed stands for its author at rest. */
export function columnsOf(agents: AgentView[], changes: ChangeView[]): Columns {
  const living = agents.filter(({ status, parentId }) => status === 'running' && parentId !== null);
  const open = changes.filter(({ mergedAt, closedAt }) => mergedAt === null && closedAt === null);
  const needsPerson = (change: ChangeView) => change.needsPerson || change.state === 'ready';
  const card = (agent: AgentView): Card => ({ is: 'agent', agent });
  const changeCard = (change: ChangeView): Card => ({ is: 'change', change });
  const working = living.filter((agent) => works.includes(stateOf(agent)));
  const waiting = living.filter((agent) => waitsForPerson.includes(stateOf(agent)));
  return {
    working: working.map(card),
    needsYou: [...waiting.map(card), ...open.filter(needsPerson).map(changeCard)],
    inCheck: open.filter((change) => !needsPerson(change)).map(changeCard),
    merged: changes
      .filter(({ mergedAt }) => mergedAt !== null)
      .toSorted((one, other) => (other.mergedAt ?? 0) - (one.mergedAt ?? 0))
      .slice(0, mergedShown)
      .map(changeCard),
    idle: living.length - working.length - waiting.length,
  };
}
