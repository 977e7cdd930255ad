import { crashPoint } from '@pawl/schema/crash-point';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { OutputEvidence } from '../../mail/evidence.ts';
import type { Batch } from './batch.ts';
import type { IngestOptions, ShownListener } from './ingest.ts';
import type { Intake } from './intake.ts';
import { storeBatch } from './store-batch.ts';

/** The state of storing output. */
export type Storing = {
  readonly options: IngestOptions;
  /** Sessions that may hold mail not known to be read. */
  readonly expectsMail: Set<string>;
  readonly followers: Set<ShownListener>;
  /** Why output cannot be stored now, or null. */
  trouble: string | null;
};

/** Reads and stores new output of some sessions; false on failure. */
export async function takeIn(storing: Storing, intakes: readonly Intake[]): Promise<boolean> {
  try {
    const batches = await collect(intakes, false);
    return batches.length === 0 || (await commit(storing, batches));
  } catch (error) {
    return failed(storing, error);
  }
}

/** Stores one more piece of an ended session. */
export async function drainOnce(storing: Storing, intake: Intake): Promise<'stored' | 'failed' | 'empty'> {
  const batches = await collect([intake], true);
  if (batches.length === 0) return 'empty';
  return (await commit(storing, batches)) ? 'stored' : 'failed';
}

async function collect(intakes: readonly Intake[], final: boolean): Promise<[Intake, Batch][]> {
  const batches: [Intake, Batch][] = [];
  for (const intake of intakes) {
    const batch = await intake.collect({ final });
    if (batch !== null) batches.push([intake, batch]);
  }
  return batches;
}

/** Stores batches in one transaction; false on failure, to be retried. */
async function commit(storing: Storing, batches: [Intake, Batch][]): Promise<boolean> {
  const { options, expectsMail } = storing;
  crashPoint('ingest.before_commit');
  try {
    await options.store.write(async (tx) => {
      for (const [{ target }, batch] of batches) {
        const isExpected = expectsMail.has(target.session.id);
        await storeBatch(tx, target, batch, { prompts: options.prompts, isExpected });
      }
    });
  } catch (error) {
    // A problem with one session's output must not block the others.
    if (batches.length === 1 || isPassing(error)) return failed(storing, error);
    const outcomes = [];
    for (const batch of batches) outcomes.push(await commit(storing, [batch]));
    return outcomes.every(Boolean);
  }
  crashPoint('ingest.after_commit');
  storing.trouble = null;
  for (const [intake, batch] of batches) {
    const { id } = intake.target.session;
    intake.accept();
    noteExpected(expectsMail, id, batch.evidence);
    if (batch.shown.length > 0) for (const tell of storing.followers) tell(intake.target, batch.shown);
    if (batch.patch.result) options.onTurnEnded(id);
    if (batch.patch.usage) options.onUsage(id);
  }
  return true;
}

/** After an echo, the model's next output proves that it was read; after that, nothing is expected. */
function noteExpected(expectsMail: Set<string>, sessionId: string, { echoes, answered }: OutputEvidence): void {
  if (echoes.length > 0 && answered !== 'after-echo') expectsMail.add(sessionId);
  else if (answered === 'after-echo') expectsMail.delete(sessionId);
}

function failed(storing: Storing, error: unknown): false {
  const reason = messageOf(error);
  if (reason !== storing.trouble) storing.options.onTrouble(reason);
  storing.trouble = reason;
  return false;
}
