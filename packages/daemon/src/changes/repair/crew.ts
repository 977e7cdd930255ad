import { isEjected } from '@pawl/core/changes/change-state';
import { messageOf } from '@pawl/schema/error';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Change } from '@pawl/schema/change';
import type { Project } from '@pawl/schema/record';
import { openChanges } from '@pawl/store/changes/changes';
import { queueOf } from '@pawl/store/changes/queues';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { repairMain } from './fixer.ts';
import { discussed } from '../people.ts';
import { reviewChange } from './review.ts';
import type { QueueContext } from '../queue-context.ts';
import { retireDuplicate } from '../siblings.ts';
import { releaseStandIn, returnChange } from './stand-in.ts';
import type { RepairParts } from './staff.ts';

/** Assigns agents around a project's queue: reviewers, stand-ins, and the fixer of a red main. */
export type Crew = {
  /** Starts or notifies the agents that open changes need. Call it in the project's lane. */
  tick(project: Project, config: ProjectConfig): Promise<void>;
};

/** The crew of one daemon. It keeps no state: the next step follows from the facts, so a crash costs one pass. */
export function createCrew(platform: SessionPlatform): Crew {
  const parts: RepairParts = { platform };
  const { db } = platform.store;

  async function attempt(what: object, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      platform.log.error({ ...what, error: messageOf(error) }, 'crew pass failed; the next one retries');
    }
  }

  async function lookAfter(context: QueueContext, change: Change): Promise<void> {
    const talk = await discussed(db, change);
    await releaseStandIn(parts, change);
    const isUnderReview = await reviewChange(parts, context, talk);
    // Pass on a reviewer's comments only once the review is complete.
    const isBlocked = talk.blocking.length > 0 && !isUnderReview;
    if (!isBlocked && !isEjected(change)) return;
    if (await retireDuplicate(parts, context, change)) return;
    await returnChange(parts, context, isUnderReview ? { ...talk, blocking: [] } : talk);
  }

  return {
    async tick(project, config) {
      const queue = await queueOf(db, project.id);
      if (queue === null || !config.enabled) return;
      const context: QueueContext = { project, config, queue };
      await attempt({ project: project.name }, () => repairMain(parts, context));
      for (const change of await openChanges(db, project.id))
        await attempt({ project: project.name, change: change.id }, () => lookAfter(context, change));
    },
  };
}
