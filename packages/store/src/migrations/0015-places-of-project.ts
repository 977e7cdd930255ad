import { addIndex } from './add-index.ts';
import type { Migration } from './migration.ts';

/** Finds the agents that have a worktree in a project beside their first one. */
export const placesOfProject: Migration = {
  name: '0015-places-of-project',
  async up(db) {
    await addIndex(db, 'agent_places_of_project', 'agent_places', ['project_id', 'agent_id']);
  },
};
