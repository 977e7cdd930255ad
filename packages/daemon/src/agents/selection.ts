import { refuseAdopted } from '@pawl/core/agents/adopted';
import type { Selection, SwitchBody } from '@pawl/protocol/registry/view';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { draftFor, saveDraft } from '@pawl/store/agents/drafts';
import { livingChildren, nearestLivingAncestor } from '@pawl/store/agents/family';
import type { Platform } from '../platform/platform.ts';
import type { Agents } from './agents.ts';
import { currentAgent, switchPerson } from '../registry/current-agent.ts';

/** Aliases with a special meaning. */
export const reservedAliases: readonly string[] = ['root', 'parent', 'child', 'next', 'previous', 'all', 'primary'];

/** The agent that a person acts as, and their unsent draft for each agent. */
export function createSelection(platform: Platform, agents: Pick<Agents, 'find' | 'view'>) {
  const { db } = platform.store;

  async function neighbours(agent: Agent) {
    const parent = agent.parentId === null ? null : await nearestLivingAncestor(db, agent.id);
    const children = async (id: string) => (await livingChildren(db, id)).filter(({ adopted }) => adopted === null);
    const siblings = agent.parentId === null ? [agent] : await children(agent.parentId);
    const at = siblings.findIndex((each) => each.id === agent.id);
    const [child = null] = await children(agent.id);
    const beside = (step: number) =>
      siblings.length < 2 || at === -1 ? null : (siblings[(at + step + siblings.length) % siblings.length] ?? null);
    return { parent, previous: beside(-1), next: beside(1), child };
  }

  async function look(): Promise<Selection> {
    const agent = await currentAgent(db);
    const beside = await neighbours(agent);
    const named = (each: Agent | null) => (each === null ? null : { id: each.id, alias: each.alias });
    return {
      current: await agents.view(agent.id),
      parent: named(beside.parent),
      previous: named(beside.previous),
      next: named(beside.next),
      child: named(beside.child),
      draft: await draftFor(db, agent.id),
    };
  }

  async function destination(from: Agent, to: string): Promise<Agent> {
    const beside = await neighbours(from);
    if (to === 'parent' || to === 'child' || to === 'next' || to === 'previous') {
      const there = beside[to];
      if (there !== null) return there;
      throw new PawlError(
        'not_found',
        `${from.alias} has no ${to === 'parent' || to === 'child' ? to : 'sibling'} alive.`,
        {
          hint: 'See `pawl tree`.',
        },
      );
    }
    const agent = await agents.find(to);
    if (agent.endedAt === null) return agent;
    throw new PawlError('conflict', `The agent ${agent.alias} is dead.`, { hint: 'Look at it with `pawl history`.' });
  }

  return {
    look,

    /** Saves the draft for the current agent, and switches. */
    async switchTo({ to, draft }: SwitchBody): Promise<Selection> {
      const from = await currentAgent(db);
      const next = to === undefined ? from : await destination(from, to);
      refuseAdopted(next);
      await platform.store.write(async (tx) => {
        if (draft !== undefined) await saveDraft(tx, from.id, draft);
        await switchPerson(tx, next.id);
      });
      return look();
    },
  };
}
