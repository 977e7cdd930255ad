import type { CheckStep, MergeMethod } from './change.ts';

/** What a repository says in `.pawl/config.yaml` about its checks and its merge queue. */
export type ProjectConfig = {
  /** In the order in which they run. None: nothing can be merged. */
  checks: CheckStep[];
  /** Names the commands of `checks`: two configurations with the same commands have the same. */
  plan: string;
  /** Names of variables that checks may see beyond the usual ones. */
  env: string[];
  /** The branch that moves by checked commits only; null is `main`, else `master`, else origin's default, else the one that was checked out at first. */
  branch: string | null;
  method: MergeMethod;
  /** Changes that go through one check together. */
  batch: number;
  /** Checks that run at once; null is as many as the machine has processors. */
  parallel: number | null;
  /** The remote whose branch is the real one; null is none. `origin` when there is one and nobody says otherwise. */
  remote: string | null;
  /** Whether a change enters the queue as soon as it is opened. */
  auto: boolean;
  /** False: changes are opened and checked by nobody, and nothing is merged. */
  enabled: boolean;
  /** Treats changes of the scripted stand-in like those of any coding agent: for demos and tests. */
  playground: boolean;
  forge: 'local' | 'github';
  /** Of a forge: which changes are looked after. */
  track: 'all' | 'author' | 'assigned';
  /** Who reviews each change; null is nobody. */
  review: Staff | null;
  /** Who repairs main, and goes on with a change whose author is gone; null is nobody. */
  fixer: Staff | null;
  /** Whether changes that make the gate weaker wait for a person, and files that count as parts of the gate. */
  guard: { enabled: boolean; paths: string[] };
  /** Where this was read: in a commit, in the person's checkout, or nowhere. */
  source: 'commit' | 'checkout' | 'none';
  /** The checkout in which this was read; null unless `source` says so. */
  checkout: Checkout | null;
};

/** A person's checkout, as far as it decides how its configuration gets onto the target branch. */
export type Checkout = {
  /** Null on a detached HEAD. */
  branch: string | null;
  /** Null before the first commit. */
  commit: string | null;
  /** Whether that commit has the configuration file as it is in the checkout. */
  hasFile: boolean;
};

/** What kind of agent is put to something. */
export type Staff = {
  definition: string;
  provider: string | null;
  model: string | null;
  options: Record<string, string>;
};
