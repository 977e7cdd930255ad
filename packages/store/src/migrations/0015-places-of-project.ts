import { addIndex } from './add-index.ts';
import type { Migration } from './migration.ts';

/** Finds the agents with a further worktree in a project. */
export const placesOfProject: Migration = {
  name: '0015-places-of-project',
  async up(db) {
    await addIndex(db, 'agent_places_of_project', 'agent_places', ['project_id', 'agent_id']);
  },
};
