import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Grant, ProxyLine } from '@pawl/schema/proxy';
import { proxyLineSchema, proxyRecordName } from '@pawl/schema/proxy';
import type { TokenCount } from './count/token-count.ts';
import { addCounts, noTokens, tokensIn } from './count/token-count.ts';
import { proxyLimits } from './proxy-limit.ts';

/** The proxy's observations of one session, in memory as in its file. */
type Observed = {
  counted: TokenCount;
  calls: number;
  /** Calls in a row that the provider refused for its limit. */
  limitsInARow: number;
  overBudget: boolean;
  refused: Set<string>;
};

/** The records of all sessions: files that are only appended to, one line for each fact. The daemon reads them. */
export type SessionRecords = {
  /** How many tokens a session has used. */
  used(grant: Grant): number;
  noteUsage(grant: Grant, counted: TokenCount): void;
  noteLimit(grant: Grant, limit: { status: number; at: number; until: number | null }): void;
  noteOverBudget(grant: Grant): void;
  /** Records a refused host, once for each. */
  noteRefused(grant: Grant, host: string, port: number, reason: string): void;
  /** Forgets the sessions that are not in this list. */
  keepOnly(sessionIds: readonly string[]): void;
};

export function openSessionRecords(): SessionRecords {
  const known = new Map<string, Observed>();
  const observed = (grant: Grant): Observed => {
    const found = known.get(grant.sessionId) ?? readRecord(recordOf(grant));
    known.set(grant.sessionId, found);
    return found;
  };
  return {
    used: (grant) => tokensIn(observed(grant).counted),
    noteUsage(grant, counted) {
      const state = observed(grant);
      state.counted = addCounts(state.counted, counted);
      state.calls++;
      state.limitsInARow = 0;
      append(grant, { type: 'usage', ...state.counted, calls: state.calls });
    },
    noteLimit(grant, limit) {
      const state = observed(grant);
      state.limitsInARow++;
      append(grant, { type: 'limit', ...limit, inARow: state.limitsInARow });
    },
    noteOverBudget(grant) {
      const state = observed(grant);
      if (state.overBudget || grant.tokens === null) return;
      state.overBudget = true;
      append(grant, { type: 'budget', used: tokensIn(state.counted), tokens: grant.tokens });
    },
    noteRefused(grant, host, port, reason) {
      const { refused } = observed(grant);
      const name = `${host}:${port}`;
      if (refused.has(name) || refused.size >= proxyLimits.refusedNames) return;
      refused.add(name);
      append(grant, { type: 'network', host: host.slice(0, 300), port, reason: reason.slice(0, 300) });
    },
    keepOnly(sessionIds) {
      for (const sessionId of known.keys()) if (!sessionIds.includes(sessionId)) known.delete(sessionId);
    },
  };
}

function recordOf({ directory }: Grant): string {
  return join(directory, proxyRecordName);
}

/** Appends a line with one write, so that a kill leaves it whole or not at all. A full disk must not end a call. */
function append(grant: Grant, line: ProxyLine): void {
  try {
    appendFileSync(recordOf(grant), `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch {
    // The count stays right in memory, and the next line has the total.
  }
}

/** Rebuilds the state of a session after a restart of the proxy. */
function readRecord(path: string): Observed {
  const state: Observed = { counted: noTokens, calls: 0, limitsInARow: 0, overBudget: false, refused: new Set() };
  for (const text of endOf(path).split('\n')) {
    const line = parseLine(text);
    if (line?.type === 'usage') {
      const { input, cached, output, calls } = line;
      Object.assign(state, { counted: { input, cached, output }, calls, limitsInARow: 0 });
    } else if (line?.type === 'limit') state.limitsInARow = line.inARow;
    else if (line?.type === 'budget') state.overBudget = true;
    else if (line?.type === 'network') state.refused.add(`${line.host}:${line.port}`);
  }
  return state;
}

function parseLine(text: string): ProxyLine | null {
  try {
    return proxyLineSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The last part of a file; empty if there is none. */
function endOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, proxyLimits.recordBytes));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.subarray(0, read).toString('utf8');
  } finally {
    closeSync(file);
  }
}
