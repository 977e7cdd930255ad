import type { ProviderPreset } from '@pawl/core/port/provider';
import { lastOutput } from '@pawl/host/session/last-output';
import { limitWordsIn } from '@pawl/providers/fault';
import { resetTimeIn } from '@pawl/providers/reset-time';
import type { Agent, Session } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { countOpenApprovals } from '@pawl/store/sessions/approvals';
import { sessionById, updateSession } from '@pawl/store/sessions/sessions';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { sessionDirectory } from '../../platform/platform.ts';
import { readPlacedSignal } from '../../platform/signal-file.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { hasBudget } from './spending.ts';

/** A session that is watched. */
export type Watched = {
  agent: Agent;
  session: Session;
  signalSeenAtMs: number | null;
  /** Its silence has been recorded. */
  silent: boolean;
};

/** Reports about sessions; all are hints, and may come twice. */
export type WatchListeners = {
  /** A session's process may have exited. */
  onLeft(agentId: string): void;
  /** A session should have exited, and has not: it is done, or its provider has reported a limit. */
  onHung(agentId: string, sessionId: string): void;
  /** A session has been silent for too long. */
  onSilent(agentId: string, sessionId: string): void;
  /** The usage of a session must be compared with its budget. */
  onSpent(agentId: string): void;
};

export type PaceParts = { platform: SessionPlatform; ingest: Ingest; listeners: WatchListeners };

/** Reports a session that is limited, silent or out of budget. */
export async function checkPace({ platform, ingest, listeners }: PaceParts, entry: Watched): Promise<void> {
  const { agent, session } = entry;
  if (hasBudget(platform, agent)) listeners.onSpent(agent.id);
  const { silentMs, limitedMs } = ingest.pace(agent.id);
  if (limitedMs > platform.timing.limitGraceMs) return listeners.onHung(agent.id, session.id);
  const preset = platform.providers.find(agent.provider);
  if (preset === null || silentMs < preset.silence.noticeMs) return void (entry.silent = false);
  const { silence } = preset;
  const { db } = platform.store;
  if ((await sessionById(db, session.id))?.pausedAt !== null) return;
  // It waits for an answer, not for its provider.
  if ((await countOpenApprovals(db, session.id)) > 0) return;
  if (silentMs >= silence.hangMs) return listeners.onSilent(agent.id, session.id);
  if (await noteHiddenLimit(platform, session, preset, silentMs)) return listeners.onHung(agent.id, session.id);
  if (entry.silent) return;
  entry.silent = true;
  const about = { projectId: agent.projectId, agentId: agent.id };
  await platform.store.write(async (tx) => {
    tx.emit({ type: 'session.silent', ...about, data: { no: session.no, silentMs: Math.round(silentMs) } });
  });
}

/** Reports a session that has reported its result, or that it is done, but does not exit. */
export async function checkHung({ platform, ingest, listeners }: PaceParts, entry: Watched): Promise<void> {
  const { agent, session } = entry;
  if (ingest.pace(agent.id).lingeringMs >= platform.timing.hungAfterResultMs)
    return listeners.onHung(agent.id, session.id);
  if (!(await hasSaidSo(platform, agent, session))) return void (entry.signalSeenAtMs = null);
  entry.signalSeenAtMs ??= performance.now();
  // The report was about the previous turn, if it has started another one since.
  const sinceMs = Math.max(entry.signalSeenAtMs, ingest.pace(agent.id).turnBegunMs);
  if (performance.now() - sinceMs < platform.timing.hungAfterSignalMs) return;
  listeners.onHung(agent.id, session.id);
}

/** A CLI that is silent at a limit may report it on stderr only, and wait for hours by itself. */
async function noteHiddenLimit(
  platform: SessionPlatform,
  session: Session,
  preset: ProviderPreset,
  silentMs: number,
): Promise<boolean> {
  const words = await lastOutput(
    sessionDirectory(platform.home, session.id),
    'err',
    silentMs + platform.timing.livenessMs,
  );
  const told = limitWordsIn(words, preset.patterns);
  if (told === null) return false;
  const limitUntil = resetTimeIn(told, platform.clock(), preset.patterns.reset) ?? 0;
  await platform.store.write((tx) => updateSession(tx, session.id, { limitUntil }));
  return true;
}

/**
 * True if a session has signalled, or its agent has completed; one that only commits had reported before it started.
 */
async function hasSaidSo(platform: SessionPlatform, agent: Agent, { purpose }: Session): Promise<boolean> {
  const directory = agent.workdir ?? agent.worktree;
  if (directory !== null && (await readPlacedSignal(directory)) !== null) return true;
  return purpose !== 'commit' && ((await agentById(platform.store.db, agent.id))?.completion ?? null) !== null;
}
