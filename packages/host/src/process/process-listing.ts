import { dirname } from 'node:path';
import type { ProcessIdentity } from './identity.ts';
import type { ProcessEntry } from './process-table.ts';
import { startOrder } from './process-table.ts';

/** All processes at one moment, indexed as sessions need them. Excludes ourselves. */
export class ProcessListing {
  readonly #byPid: Map<number, ProcessEntry>;
  readonly #byParent: Map<number, ProcessEntry[]>;
  readonly #byGroup: Map<number, ProcessEntry[]>;
  readonly #byMarker = new Map<string, ProcessEntry[]>();

  readonly #outputsOf: (pid: number) => readonly string[];
  #byOutput: Map<string, ProcessEntry[]> | null = null;

  constructor(
    entries: Iterable<ProcessEntry>,
    markersOf: (entry: ProcessEntry) => readonly string[],
    outputsOf: (pid: number) => readonly string[] = () => [],
  ) {
    this.#outputsOf = outputsOf;
    const others = [...entries].filter((entry) => entry.pid !== process.pid);
    this.#byPid = new Map(others.map((entry) => [entry.pid, entry]));
    this.#byParent = Map.groupBy(others, (entry) => entry.parent);
    this.#byGroup = Map.groupBy(others, (entry) => entry.group);
    for (const entry of others.filter(({ defunct }) => !defunct)) {
      for (const marker of new Set(markersOf(entry))) {
        const marked = this.#byMarker.get(marker);
        if (marked === undefined) this.#byMarker.set(marker, [entry]);
        else marked.push(entry);
      }
    }
  }

  /** Exactly this process, if it was alive. */
  find({ pid, start }: ProcessIdentity): ProcessEntry | null {
    const entry = this.#byPid.get(pid);
    return entry !== undefined && entry.start === start && !entry.defunct ? entry : null;
  }

  inGroup(group: number): ProcessEntry[] {
    return this.#byGroup.get(group) ?? [];
  }

  /** These processes and all their descendants; traverses ended ones but leaves them out. */
  withDescendants(pids: Iterable<number>): ProcessEntry[] {
    const members = new Set(pids);
    // Iterating a set also visits entries added meanwhile.
    for (const pid of members) for (const child of this.#byParent.get(pid) ?? []) members.add(child.pid);
    return [...members].flatMap((pid) => this.#byPid.get(pid) ?? []).filter((entry) => !entry.defunct);
  }

  /** The living processes with a marker, not older than `since`. */
  marked(marker: string, since: ProcessIdentity | null): ProcessEntry[] {
    const marked = this.#byMarker.get(marker) ?? [];
    return notOlder(marked, since);
  }

  /** The living processes among these pids, not older than `since`. */
  among(pids: Iterable<number>, since: ProcessIdentity | null): ProcessEntry[] {
    const found = [...pids].flatMap((pid) => this.#byPid.get(pid) ?? []).filter(({ defunct }) => !defunct);
    return notOlder(found, since);
  }

  /** The living processes, not older than `since`, whose stdout or stderr is a file in a directory. */
  writingTo(directory: string, since: ProcessIdentity): ProcessEntry[] {
    this.#byOutput ??= this.#groupByOutput();
    return notOlder(this.#byOutput.get(directory) ?? [], since);
  }

  /** Read on demand, once for all sessions that share a listing. */
  #groupByOutput(): Map<string, ProcessEntry[]> {
    const found = new Map<string, ProcessEntry[]>();
    for (const entry of [...this.#byPid.values()].filter(({ defunct }) => !defunct)) {
      for (const directory of new Set(this.#outputsOf(entry.pid).map((path) => dirname(path)))) {
        const writers = found.get(directory);
        if (writers === undefined) found.set(directory, [entry]);
        else writers.push(entry);
      }
    }
    return found;
  }
}

function notOlder(entries: ProcessEntry[], since: ProcessIdentity | null): ProcessEntry[] {
  return since === null ? entries : entries.filter((entry) => startOrder(entry.start) >= startOrder(since.start));
}
