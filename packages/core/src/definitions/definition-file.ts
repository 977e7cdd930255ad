import type { Definition } from '@pawl/schema/definition';

/** Where a definition comes from; a later layer adds to an earlier one. */
export type Layer = Definition['sources'][number]['layer'];

/** A file that is no definition, and why. */
export type Problem = {
  path: string;
  /** Counted from 1. */
  line: number;
  reason: string;
  /** The definition that it would have been, as far as that can be told; empty for a directory. */
  id: string;
};

/** Something in a good file that a person should know: a field nobody reads, or a wish that was not granted. */
export type Notice = {
  about: 'unknown-field' | 'needs-trust';
  path: string;
  line: number;
  reason: string;
  id: string;
};

/** The fields of a definition that a file can state. */
export type StatedField =
  | Exclude<keyof Definition, 'id' | 'prompt' | 'sources' | 'policy'>
  | 'policy.allow'
  | 'policy.delegateTargets';

/** One good file. `definition` is what it means alone; `stated` has the lines of what it really says. */
export type DefinitionFile = {
  layer: Layer;
  path: string;
  /** Of the file's bytes: what a person trusted is exactly this text. */
  sha256: string;
  definition: Definition;
  stated: Partial<Record<StatedField, number>>;
  notices: Notice[];
};
