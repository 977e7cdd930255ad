import type { Definition } from '@pawl/schema/definition';

/** The origin of a definition; later layers extend earlier ones. */
export type Layer = Definition['sources'][number]['layer'];

/** An invalid definition file, and why. */
export type Problem = {
  path: string;
  /** 1-based. */
  line: number;
  reason: string;
  /** The id it would define, if known; empty for a directory. */
  id: string;
};

/** A remark about a valid file: an unknown field, or a request that was not granted. */
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

/** One valid file. `definition` is its meaning alone; `stated` has the line of each stated field. */
export type DefinitionFile = {
  layer: Layer;
  path: string;
  /** Hash of the file's bytes: trust covers exactly this text. */
  sha256: string;
  definition: Definition;
  stated: Partial<Record<StatedField, number>>;
  notices: Notice[];
};
