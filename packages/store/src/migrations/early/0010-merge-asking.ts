import type { Migration } from '../migration.ts';

/** Changes that wait for a person: the head that passed its checks, and the head that a person asked to merge. */
export const mergeAsking: Migration = {
  name: '0010-merge-asking',
  async up(db) {
    const changes = db.schema.alterTable('changes');
    await changes.addColumn('asked_head', 'text').execute();
    await changes.addColumn('passed_head', 'text').execute();
  },
};
