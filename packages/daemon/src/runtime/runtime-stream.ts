import { beforeLive, logSeq, runtimeSeq } from '@pawl/core/runtime/runtime-seq';
import type { Event } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Run } from '@pawl/schema/record';
import type { RuntimeEvent, RuntimePayload } from '@pawl/schema/runtime/runtime-event';
import { agentView } from '@pawl/store/agents/agent-views';
import { projectById } from '@pawl/store/projects/projects';
import { runById } from '@pawl/store/sessions/runs';
import type { EventFeed } from '../platform/event-feed.ts';
import type { Platform } from '../platform/platform.ts';
import type { LiveFeed, Subject } from './live-feed.ts';
import { runtimeEventsOf } from './stored-events.ts';

/** Which events a reader wants; absent fields take all. Events without a project or thread concern all. */
export type RuntimeFilter = {
  agentId?: string | undefined;
  projectId?: string | undefined;
  sessionId?: string | undefined;
};

export type RuntimeParts = { platform: Platform; events: EventFeed; live: LiveFeed };

/** An event before its numbers and names are known. */
type Item = { seq: number; subject: Subject; payload: RuntimePayload; run?: Run | null; peerId?: string | null };

/** Reads the events of the runtime contract in order: those of the log, and those that are not stored. */
export type RuntimeReader = {
  /** Waits for the next events; empty after a while without any. */
  next(signal: AbortSignal): Promise<RuntimeEvent[]>;
};

/**
 * Starts after `known`, the last number that a client has; without it, with the next event. `gap` is the number to
 * continue from for a client that is ahead of the log, since it has seen a database that was replaced.
 */
export function openRuntimeReader(
  parts: RuntimeParts,
  filter: RuntimeFilter,
  known: number | undefined,
): { reader: RuntimeReader; gap: number | null } {
  const { events, live } = parts;
  const now = Math.max(live.head(), beforeLive(events.lastSeq()));
  const isForeign = known !== undefined && known > now;
  let position = known === undefined || isForeign ? now : known;
  // The event of the log at this position may have been sent in part.
  let readUntil = known === undefined || isForeign ? events.lastSeq() : logSeq(position) - 1;
  let hasMissed = isForeign;

  /** The next events, and whether there may be more at once. */
  async function read(): Promise<{ items: Item[]; more: boolean }> {
    const gone = live.goneUntil();
    const lost = hasMissed || position < gone;
    // First those in memory: the log has all that precede them.
    const fresh = live.after(position);
    const stored = await events.read(Math.max(0, readUntil));
    const last = stored.at(-1)?.seq;
    if (last !== undefined) readUntil = last;
    const made = (await Promise.all(stored.map((event) => itemsOf(parts.platform, event)))).flat();
    // A page of the log may end before the newest events in memory.
    const until = runtimeSeq(Math.max(readUntil, logSeq(position)) + 1, 0);
    const isWhole = stored.length < fullPage;
    const taken = isWhole ? fresh : fresh.filter(({ seq }) => seq < until);
    const items = [...made, ...taken].filter(({ seq }) => seq > position);
    if (lost) items.push(stateLost(hasMissed ? position : gone));
    hasMissed = false;
    items.sort((one, other) => one.seq - other.seq);
    position = Math.max(position, items.at(-1)?.seq ?? 0);
    return { items, more: !isWhole };
  }

  const reader: RuntimeReader = {
    async next(signal) {
      const deadline = performance.now() + limits.heartbeatMs;
      for (;;) {
        const version = live.wakes.version();
        const { items, more } = await read();
        const shown = await describeAll(parts.platform, coalesced(items), filter);
        if (shown.length > 0) return shown;
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) return [];
        if (!more) await live.wakes.wait(version, leftMs, signal);
      }
    },
  };
  return { reader, gap: isForeign ? now : null };
}

/** A page of the log with fewer events is its end. */
const fullPage = 500;

function stateLost(seq: number): Item {
  return { seq, subject: { agentId: null, projectId: null }, payload: { type: 'StateUpdated' } };
}

async function itemsOf(platform: Platform, event: Event): Promise<Item[]> {
  const { payloads, run } = await runtimeEventsOf(platform, event);
  const { agentId, projectId, peerId } = event;
  return payloads.map((payload, index) => ({
    seq: runtimeSeq(event.seq, index),
    subject: { agentId, projectId },
    payload,
    run,
    peerId,
  }));
}

/** Keeps only the last of several state updates about the same agent: a client looks once. */
function coalesced(items: readonly Item[]): Item[] {
  const seen = new Set<string>();
  return items
    .toReversed()
    .filter(({ payload, subject }) => {
      if (payload.type !== 'StateUpdated') return true;
      const key = `${subject.projectId} ${subject.agentId}`;
      return !seen.has(key) && seen.add(key);
    })
    .toReversed();
}

/** Adds project and chat thread, and drops what the reader does not want. */
async function describeAll(platform: Platform, items: readonly Item[], filter: RuntimeFilter): Promise<RuntimeEvent[]> {
  const described: RuntimeEvent[] = [];
  const known = new Map<string, EventOrigin>();
  for (const item of items) {
    if (!concerns(item, filter)) continue;
    const key = [item.subject.projectId, item.run?.id ?? item.subject.runId, item.subject.agentId, item.peerId].join(
      ' ',
    );
    const { root, thread } = known.get(key) ?? (await originOf(platform, item));
    known.set(key, { root, thread });
    if (filter.sessionId !== undefined && thread !== null && thread !== filter.sessionId) continue;
    described.push({ seq: item.seq, project_root: root, session_id: thread, ...item.payload });
  }
  return described;
}

function concerns({ subject, peerId = null, payload }: Item, { agentId, projectId }: RuntimeFilter): boolean {
  if (projectId !== undefined && subject.projectId !== null && subject.projectId !== projectId) return false;
  if (agentId === undefined || subject.agentId === agentId || peerId === agentId) return true;
  if (payload.type === 'SubagentSpawned' || payload.type === 'SubagentResult') return payload.parent_id === agentId;
  return payload.type === 'StateUpdated' && subject.agentId === null;
}

/** The project and chat thread of an event. */
type EventOrigin = { root: string | null; thread: string | null };

async function originOf(
  { store, rootId }: Platform,
  { subject, run = null, peerId = null }: Item,
): Promise<EventOrigin> {
  const { projectId, runId } = subject;
  // Mail to a person belongs to the thread of its sender.
  const agentId = subject.agentId === rootId ? peerId : subject.agentId;
  const project = projectId === null ? null : await projectById(store.db, projectId);
  const named = run ?? (runId === undefined ? null : await runById(store.db, runId));
  const latest = named ?? (agentId === null ? null : ((await agentView(store.db, agentId))?.run ?? null));
  return { root: project?.root ?? latest?.repoPath ?? null, thread: latest?.sessionId ?? null };
}
