import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../engine/engine.ts';

/** One step forward. It sees the tables of its own time, not today's types, and never changes once released. */
export type Migration = {
  readonly name: string;
  up(db: Kysely<never>, types: ColumnTypes): Promise<void>;
};
