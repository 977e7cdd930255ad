import { hears } from '@pawl/core/supervision/complete';
import {
  alarmOverText,
  alarmText,
  closedText,
  ejectedText,
  givenUpText,
  mergedText,
  openedText,
  ownMergedText,
  questionedText,
  reviewedText,
} from '@pawl/core/changes/notice-text';
import type { Change, Check, Ejection, Finding } from '@pawl/schema/change';
import type { Hearing } from '@pawl/schema/definition';
import type { Agent, Project } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { livingColleagues } from '@pawl/store/agents/colleagues';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';

/**
 * Notices of the queue, written in the transaction of the fact they report. Only an alert starts a turn; others need no
 * action, and are read with the next one.
 */
type About = { platform: Pick<DefinitionPlatform, 'definitions'>; project: Project };

/** Tells the agents that hear of changes, except the author, that a change was opened. */
export async function noteOpened(tx: WriteTransaction, given: About & { change: Change }): Promise<void> {
  const { change } = given;
  const author = await authorOf(tx, change);
  const told = await listeners(tx, given, 'changes', author);
  return send(tx, told, openedText(change, author?.alias ?? 'A person'));
}

/** Reports an ejected change. `returnChange`, which follows, notifies the author. */
export async function noteEjected(
  tx: WriteTransaction,
  given: About & { change: Change; ejection: Ejection },
): Promise<void> {
  const author = await authorOf(tx, given.change);
  return send(tx, await listeners(tx, given, 'changes', author), ejectedText(given.change, given.ejection));
}

/** Reports that a change weakens the gate, so a person must decide. */
export async function noteQuestioned(
  tx: WriteTransaction,
  given: About & { change: Change; findings: readonly Finding[] },
): Promise<void> {
  return tellAll(tx, given, questionedText(given.change, given.findings));
}

/** Reports that no agent continues a change, so a person must decide. */
export async function noteGivenUp(
  tx: WriteTransaction,
  given: About & { change: Change; reason: string },
): Promise<void> {
  const author = await authorOf(tx, given.change);
  return send(tx, await listeners(tx, given, 'changes', author), givenUpText(given.change, given.reason));
}

/** Reports merged changes: to each author its own, to others all in one mail. */
export async function noteMerged(
  tx: WriteTransaction,
  given: About & { changes: readonly Change[]; commit: string },
): Promise<void> {
  const { changes, commit } = given;
  if (changes.length === 0) return;
  for (const change of changes) {
    const author = await authorOf(tx, change);
    if (author !== null && hears(author)) await send(tx, [author], ownMergedText(change, commit));
  }
  const told = await listeners(tx, given, 'changes', null);
  const [only] = changes.length === 1 ? changes : [];
  const others = only === undefined ? told : told.filter(({ id }) => id !== only.agentId);
  return send(tx, others, mergedText(changes, commit));
}

/** Reports a change that was closed without being merged. */
export async function noteClosed(
  tx: WriteTransaction,
  given: About & { change: Change; reason: string; learnings: string | null },
): Promise<void> {
  return tellAll(tx, given, closedText(given.change, given));
}

/** Sends a review's summary to those who hear of reviews. */
export async function noteReviewed(
  tx: WriteTransaction,
  given: About & { change: Change; reviewer: Agent; blocking: number; notes: number; summary: string },
): Promise<void> {
  const { change, reviewer } = given;
  const told = await listeners(tx, given, 'reviews', reviewer);
  return send(tx, told, reviewedText(change, { ...given, reviewer: reviewer.alias }));
}

/** Reports that main is red. The only notice that starts a turn. */
export async function noteAlarm(tx: WriteTransaction, given: About & { branch: string; check: Check }): Promise<void> {
  return send(tx, await listeners(tx, given, 'emergency', null), alarmText(given.branch, given.check), 'alert');
}

/** Reports that main is green again. */
export async function noteAlarmOver(
  tx: WriteTransaction,
  given: About & { branch: string; commit: string },
): Promise<void> {
  return send(tx, await listeners(tx, given, 'emergency', null), alarmOverText(given.branch, given.commit));
}

/** Sends an alert, which starts a turn. */
export async function alert(tx: WriteTransaction, to: Agent, text: string): Promise<string> {
  const { id } = await recordMail(tx, { from: await rootAgent(tx.db), to, kind: 'alert' }, shortBody(text));
  return id;
}

/** Tells the author of a change, and those who hear of changes. */
async function tellAll(tx: WriteTransaction, given: About & { change: Change }, text: string): Promise<void> {
  const author = await authorOf(tx, given.change);
  const told = await listeners(tx, given, 'changes', author);
  return send(tx, author !== null && hears(author) ? [author, ...told] : told, text);
}

async function authorOf(tx: WriteTransaction, { agentId }: Change): Promise<Agent | null> {
  return agentId === null ? null : agentById(tx.db, agentId);
}

/** All living agents of the project whose definition hears this subject. */
async function listeners(
  tx: WriteTransaction,
  { platform, project }: About,
  hearing: Hearing,
  except: Agent | null,
): Promise<Agent[]> {
  const colleagues = await livingColleagues(tx.db, project.id);
  const isNew = colleagues.some(({ definition }) => definition === null);
  // An agent without a run has the definition on disk.
  const current = isNew ? (await platform.definitions.load(project)).definitions : null;
  return colleagues
    .filter(({ agent, definition }) => {
      const known = definition ?? current?.get(agent.definition);
      return hears(agent) && agent.id !== except?.id && (known?.hears.includes(hearing) ?? false);
    })
    .map(({ agent }) => agent);
}

async function send(
  tx: WriteTransaction,
  to: readonly Agent[],
  text: string,
  kind: 'system' | 'alert' = 'system',
): Promise<void> {
  const from = await rootAgent(tx.db);
  for (const each of to) await recordMail(tx, { from, to: each, kind }, shortBody(text));
}
