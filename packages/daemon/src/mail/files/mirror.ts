import { statusOfMail } from '@pawl/core/mail/mail';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf } from '@pawl/schema/error';
import type { EventType } from '@pawl/schema/event';
import { eventTypes } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { readEvents } from '@pawl/store/events';
import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import { mailsByIds } from '@pawl/store/mail/mail';
import { listProjects } from '@pawl/store/projects/projects';
import { closeSync, constants, openSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Platform } from '../../platform/platform.ts';
import { directoryOf, openMailbox } from './mailbox-directory.ts';

/** Save the position at least this often even without mail, since a restart scans from there. */
const quietEvents = 10_000;
/** Files written in one go; this takes about a millisecond. */
const writesAtOnce = 10;
/** Delay before a retry, for example when the disk is full. */
const retryMs = 5_000;
/** Spends at most a third of the time on writing files. */
const costShare = 2;

const mailEvents: readonly EventType[] = eventTypes.filter(
  (type) => type.startsWith('mail.') && type !== 'mail.file_refused',
);

export type Mirror = {
  /** Resolves when everything committed so far is in files. */
  settle(): Promise<void>;
  close(): Promise<void>;
};

/**
 * Mirrors each mail to a file, in the format that other programs know. Pawl never reads them: where a file and the
 * table differ, the table is right, and the file is rewritten with the mail's next change. Follows the event log from a
 * stored position that is saved after the files, so a crash only rewrites the last few with the same content.
 */
export function keepMirror(platform: Platform, onWritten: (name: string) => void = () => {}): Mirror {
  const { store } = platform;
  let seq: number | null = null;
  let noted = 0;
  let timer: NodeJS.Timeout | null = null;
  let working: Promise<void> = Promise.resolve();
  let closed = false;
  let costMs = 0;

  async function begin(): Promise<number> {
    noted = (await daemonState(store.db)).mailMirrorSeq ?? 0;
    return noted;
  }

  /** Writes the next part of the log to files; false if there is none. */
  async function step(): Promise<boolean> {
    const from = (seq ??= await begin());
    const last = store.lastSeq();
    if (last <= from) return false;
    const events = await readEvents(store.db, { afterSeq: from, types: mailEvents, limit: limits.mailFilesPerTick });
    const isAll = events.length < limits.mailFilesPerTick;
    const ids = [...new Set(events.map(({ data }) => data['mailId']))].filter((id) => typeof id === 'string');
    if (ids.length > 0) {
      await project(platform, await mailsByIds(store.db, ids), onWritten);
      crashPoint('mirror.after_file');
    }
    // Events committed meanwhile may be included or not.
    const to = isAll ? Math.max(last, events.at(-1)?.seq ?? 0) : (events.at(-1)?.seq ?? last);
    if (ids.length > 0 || to - noted > quietEvents) {
      await store.write((tx) => updateDaemonState(tx, { mailMirrorSeq: to }));
      noted = to;
    }
    seq = to;
    return !isAll;
  }

  async function run(): Promise<void> {
    const begun = performance.now();
    try {
      while (!closed && (await step()));
    } catch (error) {
      platform.log.warn({ error: messageOf(error) }, 'failed to write mail files; will retry');
      soon(retryMs);
    }
    costMs = performance.now() - begun;
  }

  function work(): void {
    timer = null;
    working = working.then(run);
  }
  function soon(afterMs = Math.max(limits.projectionMs, costMs * costShare)): void {
    if (closed) return;
    timer ??= setTimeout(work, afterMs);
    timer.unref();
  }
  const unfollow = store.onCommit(({ events }) => {
    if (events.some(({ type }) => mailEvents.includes(type))) soon();
  });
  work();

  return {
    async settle() {
      if (timer !== null) clearTimeout(timer);
      work();
      await working;
    },
    async close() {
      unfollow();
      if (timer !== null) {
        clearTimeout(timer);
        work();
      }
      await working;
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Writes the files of some mails, each atomically. */
async function project(platform: Platform, mails: readonly Mail[], onWritten: (name: string) => void): Promise<void> {
  const { db } = platform.store;
  const names = new Map((await listProjects(db)).map(({ id, name }) => [id, name]));
  const agents = new Map<string, Agent | null>();
  for (const id of new Set(mails.flatMap(({ fromId, toId }) => [fromId, toId])))
    agents.set(id, await agentById(db, id));
  const boxes = new Map<string, string | null>();
  for (const [index, mail] of mails.entries()) {
    const [from, to] = [agents.get(mail.fromId) ?? null, agents.get(mail.toId) ?? null];
    if (from === null || to === null) continue;
    const directory = await directoryOf(db, to, names.get(mail.projectId ?? '') ?? null);
    if (!boxes.has(directory)) boxes.set(directory, await openMailbox(platform, directory));
    const box = boxes.get(directory) ?? null;
    if (box === null) {
      platform.log.warn({ directory }, 'a mailbox directory is not ours; skipping it');
      continue;
    }
    const name = `${mail.id}.json`;
    onWritten(name);
    writeWhole(box, name, contentOf(platform, mail, from, to));
    // Yield to other work now and then.
    if (index % writesAtOnce === writesAtOnce - 1) await setImmediate();
  }
}

/** The content of a mail's file. For a long mail it names the file with the rest. */
function contentOf({ home }: Platform, mail: Mail, from: Agent, to: Agent): string {
  const content = {
    id: mail.id,
    from: from.alias,
    to: to.alias,
    timestamp: new Date(mail.createdAt).toISOString(),
    body: mail.body,
    status: statusOfMail(mail),
    kind: mail.kind,
    from_id: from.id,
    to_id: to.id,
    ...(mail.bodyFile === null ? {} : { body_file: join(home.mail, mail.bodyFile), body_bytes: mail.bodyBytes }),
    ...(mail.deadReason === null ? {} : { dead_reason: mail.deadReason }),
    ...(mail.ackedAt === null ? {} : { acked_at: new Date(mail.ackedAt).toISOString() }),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/**
 * Writes a file atomically. A name with a leading dot is a draft that is never read as a mail and that the next attempt
 * overwrites. Synchronous, since there may be thousands of small files, and this is a third cheaper.
 */
function writeWhole(directory: string, name: string, content: string): void {
  const draft = join(directory, `.${name}.tmp`);
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const file = openSync(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(file, content);
  } finally {
    closeSync(file);
  }
  renameSync(draft, join(directory, name));
}
