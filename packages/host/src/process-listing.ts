import type { ProcessIdentity } from './identity.ts';
import type { ProcessEntry } from './process-table.ts';
import { startOrder } from './process-table.ts';

/** All processes at one moment, in the orders in which sessions ask for them. We ourselves are never among them. */
export class ProcessListing {
  readonly #byPid: Map<number, ProcessEntry>;
  readonly #byParent: Map<number, ProcessEntry[]>;
  readonly #byGroup: Map<number, ProcessEntry[]>;
  readonly #byMarker = new Map<string, ProcessEntry[]>();

  constructor(entries: Iterable<ProcessEntry>, markersOf: (entry: ProcessEntry) => readonly string[]) {
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

  /** Exactly this process, when it was there and had not ended. */
  find({ pid, start }: ProcessIdentity): ProcessEntry | null {
    const entry = this.#byPid.get(pid);
    return entry !== undefined && entry.start === start && !entry.defunct ? entry : null;
  }

  /** The members of a process group. */
  inGroup(group: number): ProcessEntry[] {
    return this.#byGroup.get(group) ?? [];
  }

  /** These processes and all that descend from them; those that have ended are passed through and left out. */
  withDescendants(pids: Iterable<number>): ProcessEntry[] {
    const members = new Set(pids);
    // A set hands out what is added while it is walked through.
    for (const pid of members) for (const child of this.#byParent.get(pid) ?? []) members.add(child.pid);
    return [...members].flatMap((pid) => this.#byPid.get(pid) ?? []).filter((entry) => !entry.defunct);
  }

  /** The living processes that carry a marker and are not older than `since`. */
  marked(marker: string, since: ProcessIdentity | null): ProcessEntry[] {
    const marked = this.#byMarker.get(marker) ?? [];
    return since === null ? marked : marked.filter((entry) => startOrder(entry.start) >= startOrder(since.start));
  }
}
