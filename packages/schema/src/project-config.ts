import type { AccessLevel } from './access-level.ts';
import type { CheckStep, MergeMethod } from './change.ts';
import type { Rule } from './rule.ts';

/** The content of `.pawl/config.yaml`: a repository's checks and merge queue. */
export type ProjectConfig = {
  /** In order. Empty: nothing can be merged. */
  checks: CheckStep[];
  /** Identifies the commands of `checks`: equal commands have equal ids. */
  plan: string;
  /** Names of variables that checks may see beyond the usual ones. */
  env: string[];
  /**
   * The branch that moves only to checked commits; null is `main`, else `master`, else origin's default, else the one
   * checked out first.
   */
  branch: string | null;
  method: MergeMethod;
  /** Changes per check. */
  batch: number;
  /** Concurrent checks; null is the number of processors. */
  parallel: number | null;
  /** The remote with the authoritative branch; null is none. Default: `origin` if it exists. */
  remote: string | null;
  /** Whether a change is queued when opened. */
  auto: boolean;
  /** False: changes are opened, but neither checked nor merged. */
  enabled: boolean;
  /** Treats changes of the scripted stand-in like those of any coding agent: for demos and tests. */
  playground: boolean;
  forge: 'local' | 'github';
  /** On a forge: which changes to handle. */
  track: 'all' | 'author' | 'assigned';
  /** The definition of reviewers; null for no review. */
  review: Staff | null;
  /** The definition of agents that repair main and continue changes without an author; null for none. */
  fixer: Staff | null;
  /** Whether changes that weaken the gate wait for a person, and further files of the gate. */
  guard: { enabled: boolean; paths: string[] };
  /** Narrows the access of new agents; null does not. */
  access: AccessLevel | null;
  /** Rules for the project's agents; its allow rules apply only if trusted. */
  rules: Pick<Rule, 'effect' | 'match'>[];
  /** The source of these values: a commit, the person's checkout, or none. */
  source: 'commit' | 'checkout' | 'none';
  /** The checkout where this was read; null unless `source` says so. */
  checkout: Checkout | null;
};

/** The state of a person's checkout that decides how its configuration gets onto the target branch. */
export type Checkout = {
  /** Null on a detached HEAD. */
  branch: string | null;
  /** Null before the first commit. */
  commit: string | null;
  /** Whether that commit has the configuration file as in the checkout. */
  hasFile: boolean;
};

/** The kind of agent to assign. */
export type Staff = {
  definition: string;
  provider: string | null;
  model: string | null;
  options: Record<string, string>;
};
