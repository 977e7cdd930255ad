import { openToolsIn } from '@pawl/core/agents/history';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { isAlive } from '@pawl/host/process/identity';
import { closeInput } from '@pawl/host/session/input';
import { lastOutput } from '@pawl/host/session/last-output';
import { sessionFile } from '@pawl/host/session/session-files';
import { stopSession } from '@pawl/host/session/stop-session';
import { limitWordsIn } from '@pawl/providers/fault';
import { outputParsers } from '@pawl/providers/parser';
import { resetTimeIn } from '@pawl/providers/reset-time';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Agent, Session, Usage } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { countSessionMessages, toolMessages } from '@pawl/store/sessions/messages';
import { lastReport, sessionById, sessionOffsets, updateSession } from '@pawl/store/sessions/sessions';
import { existsSync } from 'node:fs';
import type { Ingest } from '../ingest/ingest.ts';
import { startIngest } from '../ingest/ingest.ts';
import { serverSecrets } from '../../accounts/redaction.ts';
import { readPlacedSignal } from '../../platform/signal-file.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { identityOf, sessionDirectory } from '../../platform/platform.ts';
import { hasBudget } from './spending.ts';

/** The sessions that run: their output is taken in, and whoever leaves, dies or hangs is noticed. */
export type SessionWatch = {
  ingest: Ingest;
  has(sessionId: string): boolean;
  /** Begins, or goes on, to look after a running session. */
  attach(agent: Agent, session: Session): Promise<void>;
  /** The session is over; nothing of it is looked at any more. */
  release(sessionId: string): void;
  /** Ends every process of a session. */
  endProcesses(agent: Agent, session: Session): Promise<void>;
  close(): Promise<void>;
};

type Watched = {
  agent: Agent;
  session: Session;
  leaving: boolean;
  signalSeenAtMs: number | null;
  /** It was noted that it has fallen silent. */
  silent: boolean;
};

/** Who may want to know; all of it is advice, and may come twice. */
export type WatchListeners = {
  /** A session's process may have left. */
  onLeft(agentId: string): void;
  /** A session should have left, and has not: it is done, or its provider has reported a limit. */
  onHung(agentId: string, sessionId: string): void;
  /** A session has printed nothing for so long that it is not waited for any more. */
  onSilent(agentId: string, sessionId: string): void;
  /** What a session uses has to be compared with what it may. */
  onSpent(agentId: string): void;
};

/** Looks after the sessions of one daemon. */
export function watchSessions(
  platform: SessionPlatform,
  { onLeft, onHung, onSilent, onSpent }: WatchListeners,
): SessionWatch {
  const watched = new Map<string, Watched>();
  const inputsToEnd = new Set<string>();
  const directoryOf = (sessionId: string) => sessionDirectory(platform.home, sessionId);
  const ingest = startIngest({
    store: platform.store,
    prompts: platform.prompts,
    onChange: checkExit,
    onTurnEnded: (sessionId) => void endInput(sessionId),
    onUsage(sessionId) {
      const entry = watched.get(sessionId);
      if (entry !== undefined && hasBudget(platform, entry.agent)) onSpent(entry.agent.id);
    },
    onTrouble: (reason) => platform.log.error({ reason }, 'output could not be stored; it is tried again'),
  });
  const timers = [
    setInterval(() => void forEachSession(checkAlive), platform.timing.livenessMs),
    setInterval(() => void forEachSession(checkPace), platform.timing.livenessMs),
    setInterval(() => void forEachSession(endHung), platform.timing.hungAfterSignalMs / 4),
  ];
  for (const timer of timers) timer.unref();

  function checkExit(sessionId: string): void {
    const entry = watched.get(sessionId);
    if (entry === undefined || entry.leaving || !existsSync(sessionFile(directoryOf(sessionId), 'exit'))) return;
    entry.leaving = true;
    onLeft(entry.agent.id);
  }

  /** The turn is over: the process may leave, and is resumed for the next one. Between turns an agent is only a row. */
  async function endInput(sessionId: string): Promise<void> {
    inputsToEnd.add(sessionId);
    try {
      await closeInput(directoryOf(sessionId));
    } catch (error) {
      // Nobody reads there any more: so be it. Anything else is tried again with the next look.
      if (!(error instanceof PawlError && error.code === 'conflict')) return;
    }
    inputsToEnd.delete(sessionId);
  }

  async function forEachSession(look: (entry: Watched) => void | Promise<void>): Promise<void> {
    for (const entry of watched.values()) {
      try {
        await look(entry);
      } catch (error) {
        platform.log.error({ agent: entry.agent.alias, error: messageOf(error) }, 'a look at a session failed');
      }
    }
  }

  /** The poll floor: who has died without a word, and who still waits for more input. */
  async function checkAlive({ agent, session }: Watched): Promise<void> {
    if (!isRunning(session)) onLeft(agent.id);
    else if (inputsToEnd.has(session.id)) await endInput(session.id);
  }

  /** Who is limited, silent or out of budget. */
  async function checkPace(entry: Watched): Promise<void> {
    const { agent, session } = entry;
    if (hasBudget(platform, agent)) onSpent(agent.id);
    const { silentMs, limitedMs } = ingest.pace(agent.id);
    if (limitedMs > platform.timing.limitGraceMs) return onHung(agent.id, session.id);
    const preset = platform.providers.find(agent.provider);
    if (preset === null || silentMs < preset.silence.noticeMs) return void (entry.silent = false);
    const { silence } = preset;
    if ((await sessionById(platform.store.db, session.id))?.pausedAt !== null) return;
    if (silentMs >= silence.hangMs) return onSilent(agent.id, session.id);
    if (await noteHiddenLimit(session, preset, silentMs)) return onHung(agent.id, session.id);
    if (entry.silent) return;
    entry.silent = true;
    const about = { projectId: agent.projectId, agentId: agent.id };
    await platform.store.write(async (tx) => {
      tx.emit({ type: 'session.silent', ...about, data: { no: session.no, silentMs: Math.round(silentMs) } });
    });
  }

  /** A CLI that falls silent at a limit may say so on stderr only, and wait for it by itself for hours. */
  async function noteHiddenLimit(session: Session, preset: ProviderPreset, silentMs: number): Promise<boolean> {
    const words = await lastOutput(directoryOf(session.id), 'err', silentMs + platform.timing.livenessMs);
    const told = limitWordsIn(words, preset.patterns);
    if (told === null) return false;
    const limitUntil = resetTimeIn(told, platform.clock(), preset.patterns.reset) ?? 0;
    await platform.store.write((tx) => updateSession(tx, session.id, { limitUntil }));
    return true;
  }

  /** Who has said that it is done, but does not leave. */
  async function endHung(entry: Watched): Promise<void> {
    const { agent, session } = entry;
    if (!(await hasSaidSo(agent, session))) return void (entry.signalSeenAtMs = null);
    entry.signalSeenAtMs ??= performance.now();
    // What it said was about the turn before, if it has begun another one since.
    const sinceMs = Math.max(entry.signalSeenAtMs, ingest.pace(agent.id).turnBegunMs);
    if (performance.now() - sinceMs < platform.timing.hungAfterSignalMs || !watched.has(session.id)) return;
    onHung(agent.id, session.id);
  }

  /** Whether a session has signalled, or its agent has completed; one that is only to commit had said so before it began. */
  async function hasSaidSo(agent: Agent, { purpose }: Session): Promise<boolean> {
    const directory = agent.workdir ?? agent.worktree;
    if (directory !== null && (await readPlacedSignal(directory)) !== null) return true;
    return purpose !== 'commit' && ((await agentById(platform.store.db, agent.id))?.completion ?? null) !== null;
  }

  async function endProcesses(agent: Agent, session: Session): Promise<void> {
    await stopSession({
      identity: identityOf(session),
      dir: directoryOf(session.id),
      marker: session.id,
      firstSignal: platform.providers.find(agent.provider)?.firstSignal ?? 'SIGTERM',
      graceMs: platform.timing.stopGraceMs,
    });
  }

  return {
    ingest,
    has: (sessionId) => watched.has(sessionId),
    async attach(agent, session) {
      if (watched.has(session.id)) return;
      // A provider that this program does not know is looked after all the same, without reading its output.
      const preset = platform.providers.find(agent.provider);
      await ingest.attach({
        agent,
        session,
        directory: directoryOf(session.id),
        parser: outputParsers[preset?.outputFormat ?? 'text'],
        reportedBefore: await reportedBefore(platform, agent, session),
        secrets: secretsOf(platform, agent, session),
        messages: await countSessionMessages(platform.store.db, agent.id, session.id),
        openTools: await runningTools(platform, agent, session),
        offsets: await sessionOffsets(platform.store.db, session.id),
      });
      watched.set(session.id, { agent, session, leaving: false, signalSeenAtMs: null, silent: false });
    },
    release(sessionId) {
      watched.delete(sessionId);
      inputsToEnd.delete(sessionId);
    },
    endProcesses,
    async close() {
      for (const timer of timers) clearInterval(timer);
      await ingest.close();
    },
  };
}

/** The tools of a session that ran when its output was last looked at, from what is stored of it. */
async function runningTools(platform: SessionPlatform, agent: Agent, session: Session): Promise<Map<string, string>> {
  if (session.startedAt === null) return new Map();
  return openToolsIn(await toolMessages(platform.store.db, agent.id, session.id)).open;
}

/** What the provider had reported of the conversation that a session takes up, before it did. */
async function reportedBefore(platform: SessionPlatform, agent: Agent, session: Session): Promise<Usage | null> {
  const from = session.conversation === 'fork' ? agent.forkedConversation : session.providerSessionId;
  if (from === null || (session.conversation !== 'fork' && session.conversation !== 'resume')) return null;
  return lastReport(platform.store.db, from, session.id);
}

/** What a session knows that nobody else is to read. */
export function secretsOf(platform: SessionPlatform, agent: Agent, session: Session): string[] {
  const own = platform.authority.agentToken(agent.id);
  const kept = session.accountId === null ? [] : platform.accounts.secretsOf(session.accountId);
  return [own, ...serverSecrets(platform.choices.mcpServers), ...kept];
}

/** True when the process that was recorded for a session, and no other of that number, runs. */
export function isRunning(session: Session): boolean {
  const identity = identityOf(session);
  return identity !== null && isAlive(identity);
}
