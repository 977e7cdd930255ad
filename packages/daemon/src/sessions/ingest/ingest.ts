import type { PromptAssets } from '@pawl/core/prompts/assets';
import { redactText } from '@pawl/host/output/secret-mask';
import { watchFiles } from '@pawl/host/output/watch';
import { crashPoint } from '@pawl/schema/crash-point';
import { isPassing, messageOf, PawlError } from '@pawl/schema/error';
import type { Message } from '@pawl/schema/record';
import type { LiveState } from '@pawl/schema/status';
import { agentById } from '@pawl/store/agents/agents';
import { appendChunk } from '@pawl/store/sessions/chunks';
import { appendMessage, extendMessage, lastSessionMessages } from '@pawl/store/sessions/messages';
import { runById } from '@pawl/store/sessions/runs';
import type { SessionPatch } from '@pawl/store/sessions/sessions';
import { conversationHolder, updateSession } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { createSerial } from '@pawl/core/sessions/turn-taking';
import type { Heard } from '../../mail/evidence.ts';
import { noteHeard } from '../../mail/evidence.ts';
import type { Batch, Intake, IntakeTarget, Pace, SaidMessage, TurnState } from './intake.ts';
import { isPieceOf, kept, openIntake } from './intake.ts';

/** The one place where output becomes chunks and facts. */
export type Ingest = {
  /** Begins, or goes on, taking in a session's output. */
  attach(target: IntakeTarget): Promise<void>;
  /** Stores a session's output to the last byte, once nothing writes to it any more, and lets go of it. */
  finish(sessionId: string): Promise<void>;
  live(agentId: string): LiveState | undefined;
  /** What an agent is in the middle of; nothing when no session of it runs. */
  turn(agentId: string): TurnState;
  /** True while an agent's process is in the middle of a turn, so that it hears what it is told. */
  isInTurn(agentId: string): boolean;
  /** Whether it falls silent, or its provider has reported a limit. */
  pace(agentId: string): Pace;
  /** Stores what an agent has printed up to now. */
  catchUp(agentId: string): Promise<void>;
  /** Why output cannot be stored now, such as a full disk; null when all is well. */
  trouble(): string | null;
  close(): Promise<void>;
};

export type IngestOptions = {
  store: Store;
  prompts: PromptAssets;
  /** A file of the session's directory has changed: output, or the exit code. */
  onChange(sessionId: string): void;
  /** The provider has ended its turn; what it said is durable. */
  onTurnEnded(sessionId: string): void;
  /** What a session has used has changed; that is durable. */
  onUsage(sessionId: string): void;
  /** Output cannot be stored, for a reason that is not the last one. */
  onTrouble(reason: string): void;
};

/** How long to wait before storing is tried again after it failed. */
const retryMs = 500;
/** How many sessions one commit takes output from; the others are next. */
const sessionsPerCommit = 16;

/** Watches sessions' files and stores what they gain: one commit per tick, however many sessions have something. */
export function startIngest(options: IngestOptions): Ingest {
  const intakes = new Map<string, Intake>();
  const byDirectory = new Map<string, string>();
  const byAgent = new Map<string, Intake>();
  const woken = new Set<string>();
  // Ticks and final reads take turns, since two readers of one file would take each other's bytes.
  const serially = createSerial();
  /** Sessions of which it is not known that all mail in their hands has been read. */
  const expectsMail = new Set<string>();
  let ticking = false;
  let trouble: string | null = null;
  let closed = false;
  const watch = watchFiles({
    onWake(directory) {
      const sessionId = byDirectory.get(directory);
      if (sessionId === undefined) return;
      options.onChange(sessionId);
      wake(sessionId);
    },
  });

  function wake(sessionId: string): void {
    woken.add(sessionId);
    if (ticking || closed) return;
    ticking = true;
    void serially(tick);
  }

  async function tick(): Promise<void> {
    const taken = takeWoken();
    const stored = await takeIn(taken);
    for (const intake of stored ? taken : []) if (intake.hasMore()) woken.add(intake.target.session.id);
    // Requests get their turn between two ticks, however loud the agents are.
    await nextTurn();
    ticking = false;
    const [next] = woken;
    if (next !== undefined) wake(next);
  }

  /** Reads and stores what some sessions have gained; false when that failed, and is tried again later. */
  async function takeIn(taken: Intake[]): Promise<boolean> {
    const stored = await tryToTakeIn(taken);
    if (!stored) wakeLater(taken, retryMs);
    for (const intake of stored ? taken : []) {
      const due = intake.dueInMs();
      if (due !== null) wakeLater([intake], due + 1);
    }
    return stored;
  }

  async function tryToTakeIn(taken: Intake[]): Promise<boolean> {
    try {
      const batches = await collect(taken, false);
      return batches.length === 0 || (await commit(batches));
    } catch (error) {
      return failed(error);
    }
  }

  function failed(error: unknown): false {
    const reason = messageOf(error);
    if (reason !== trouble) options.onTrouble(reason);
    trouble = reason;
    return false;
  }

  function takeWoken(): Intake[] {
    const taken = [...woken].slice(0, sessionsPerCommit);
    for (const sessionId of taken) woken.delete(sessionId);
    return taken.map((sessionId) => intakes.get(sessionId)).filter((intake) => intake !== undefined);
  }

  function wakeLater(which: Intake[], delayMs: number): void {
    setTimeout(() => {
      for (const { target } of which) if (intakes.has(target.session.id)) wake(target.session.id);
    }, delayMs).unref();
  }

  async function collect(which: Intake[], final: boolean): Promise<[Intake, Batch][]> {
    const batches: [Intake, Batch][] = [];
    for (const intake of which) {
      const batch = await intake.collect({ final });
      if (batch !== null) batches.push([intake, batch]);
    }
    return batches;
  }

  /** Stores batches; false when that failed and they are to be tried again. */
  async function commit(batches: [Intake, Batch][]): Promise<boolean> {
    crashPoint('ingest.before_commit');
    try {
      await storeTogether(batches);
    } catch (error) {
      // What is wrong with one session's output must not hold up the others'.
      if (batches.length === 1 || isPassing(error)) return failed(error);
      const outcomes = [];
      for (const batch of batches) outcomes.push(await commit([batch]));
      return outcomes.every(Boolean);
    }
    crashPoint('ingest.after_commit');
    trouble = null;
    for (const [intake, batch] of batches) {
      intake.accept();
      noteExpected(intake.target.session.id, batch.heard);
      if (batch.patch.result) options.onTurnEnded(intake.target.session.id);
      if (batch.patch.usage) options.onUsage(intake.target.session.id);
    }
    return true;
  }

  /** After an echo the model's next word tells that it was read; after a word, nothing is left to be told. */
  function noteExpected(sessionId: string, { echoes, answered }: Heard): void {
    if (echoes.length > 0 && answered !== 'after-echo') expectsMail.add(sessionId);
    else if (answered === 'after-echo') expectsMail.delete(sessionId);
  }

  function storeTogether(batches: [Intake, Batch][]): Promise<void> {
    return options.store.write(async (tx) => {
      for (const [intake, batch] of batches) {
        const { target } = intake;
        const { id: sessionId } = target.session;
        for (const chunk of batch.chunks) await appendChunk(tx, { sessionId, agentId: target.agent.id, ...chunk });
        await updateSession(tx, sessionId, await withoutTakenId(tx, target, batch.patch));
        // Mail stands in the history where it was heard, as far as one look at the output can tell.
        const first = (batch.heard.before ?? 0) === 0;
        if (first) await noteMail(tx, intake, batch);
        await storeMessages(tx, target, batch);
        if (!first) await noteMail(tx, intake, batch);
        for (const event of batch.events) tx.emit(event);
      }
    });
  }

  /** Marks the mail that a batch shows to have arrived. A session that only talks has no mail in its hands most of the time. */
  async function noteMail(tx: WriteTransaction, { target }: Intake, { heard }: Batch): Promise<void> {
    if (heard.echoes.length === 0 && (heard.answered === 'no' || !expectsMail.has(target.session.id))) return;
    await noteHeard(tx, { ...target, prompts: options.prompts }, heard);
  }

  /** Stores one more piece of a session that has ended; true when there was none left. */
  async function drainOnce(intake: Intake): Promise<boolean | 'again'> {
    if (closed) throw new PawlError('unavailable', 'The daemon leaves; the next one stores what is left.');
    const batches = await collect([intake], true);
    if (batches.length === 0) return true;
    return (await commit(batches)) ? false : 'again';
  }

  return {
    async attach(target) {
      if (intakes.has(target.session.id)) return;
      const intake = openIntake(target);
      intakes.set(target.session.id, intake);
      byDirectory.set(target.directory, target.session.id);
      byAgent.set(target.agent.id, intake);
      expectsMail.add(target.session.id);
      watch.add(target.directory, ['out', 'err', 'exit']);
      if (intake.turnEnded()) options.onTurnEnded(target.session.id);
    },
    async finish(sessionId) {
      const intake = intakes.get(sessionId);
      if (intake === undefined) return;
      for (;;) {
        const drained = await serially(() => drainOnce(intake));
        if (drained === true) break;
        // Nobody else waits for a store that has no room.
        await (drained === 'again' ? delay(retryMs) : nextTurn());
      }
      intakes.delete(sessionId);
      expectsMail.delete(sessionId);
      byDirectory.delete(intake.target.directory);
      byAgent.delete(intake.target.agent.id);
      watch.remove(intake.target.directory);
      intake.close();
    },
    live: (agentId) => byAgent.get(agentId)?.live(),
    turn: (agentId) => byAgent.get(agentId)?.turn() ?? { tools: [], answering: false },
    isInTurn: (agentId) => byAgent.get(agentId)?.turnEnded() === false,
    pace: (agentId) => byAgent.get(agentId)?.pace() ?? { silentMs: 0, limitedMs: 0, turnBegunMs: 0 },
    async catchUp(agentId) {
      const intake = byAgent.get(agentId);
      // It may end while others have their turn; then its files are closed and stay so.
      const isOpen = () => intake !== undefined && byAgent.get(agentId) === intake;
      let more = isOpen();
      while (more) {
        more = await serially(
          async () => intake !== undefined && isOpen() && (await takeIn([intake])) && intake.hasMore(),
        );
      }
    },
    trouble: () => trouble,
    async close() {
      closed = true;
      watch.close();
      await serially(async () => {
        for (const intake of intakes.values()) intake.close();
      });
    },
  };
}

/** What a CLI prints as its conversation is its own word: one that another process has is not believed. */
async function withoutTakenId(tx: WriteTransaction, target: IntakeTarget, patch: SessionPatch): Promise<SessionPatch> {
  const { providerSessionId, ...others } = patch;
  if (typeof providerSessionId !== 'string') return patch;
  const { agent, session } = target;
  if ((await conversationHolder(tx.db, providerSessionId, session.id)) === null) return patch;
  const reason = 'it names a conversation that another session is in the middle of';
  const data = { no: session.no, stream: 'stdout', reason };
  tx.emit({ type: 'session.damaged', projectId: agent.projectId, agentId: agent.id, data });
  return others;
}

/** Adds to the history what a session said; the words of the dead, and of a run that is over, come too late. */
async function storeMessages(
  tx: WriteTransaction,
  { agent, session, secrets }: IntakeTarget,
  batch: Batch,
): Promise<void> {
  if (batch.messages.length === 0) return;
  const [now, run] = [await agentById(tx.db, agent.id), await runById(tx.db, session.runId)];
  if (now === null || now.endedAt !== null || run === null || run.outcome !== null) return;
  const last = await lastSessionMessages(tx.db, agent.id, session.id, batch.unfinished);
  const tail = batch.messages.slice(batch.messages.length - batch.unfinished);
  const said = batch.unfinished > 0 && isSame(last, tail) ? batch.messages.slice(0, -batch.unfinished) : batch.messages;
  const [first, ...others] = said;
  const [before] = first?.data?.['piece'] === true ? await lastSessionMessages(tx.db, agent.id, session.id, 1) : [];
  const goesOn = first !== undefined && before !== undefined && isPieceOf(first, before);
  if (goesOn) await extendMessage(tx, before.id, kept(redactText(before.content + first.content, secrets)));
  for (const message of goesOn ? others : said)
    await appendMessage(tx, { agentId: agent.id, runId: session.runId, sessionId: session.id, ...message });
}

/** True when the last line, which has no end, was taken into the history by a daemon that died just then. */
function isSame(stored: readonly Message[], said: readonly SaidMessage[]): boolean {
  return (
    stored.length === said.length &&
    stored.every((message, index) => message.kind === said[index]?.kind && message.content === said[index].content)
  );
}
