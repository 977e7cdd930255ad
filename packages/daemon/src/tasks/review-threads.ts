import { threadState, unansweredText } from '@pawl/core/plan/review';
import { cutText } from '@pawl/core/shorten';
import { limits } from '@pawl/schema/limit';
import type { ReviewThread } from '@pawl/schema/plan/plan';
import type { Agent, Task } from '@pawl/schema/record';
import { threadsOf, updateThread } from '@pawl/store/plan/reviews';
import { taskById } from '@pawl/store/projects/tasks';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';

/** The review threads that a revision has to answer. */
async function threadsFor(db: Database, { id, initiativeId, revises }: Task): Promise<ReviewThread[]> {
  if (initiativeId === null || revises === null) return [];
  return (await threadsOf(db, initiativeId)).filter(({ revisionId }) => revisionId === id);
}

/** Lists the threads that an agent has left unanswered; empty for an agent without a revision. */
export async function unansweredThreads(db: Database, { taskId }: Pick<Agent, 'taskId'>): Promise<string[]> {
  const task = taskId === null ? null : await taskById(db, taskId);
  return task === null ? [] : unansweredText(await threadsFor(db, task));
}

/** Answers what a finished revision has left unanswered with its result, so that no thread stays without an answer. */
export async function answerRest(tx: WriteTransaction, task: Task, agent: Agent, summary: string): Promise<void> {
  for (const thread of await threadsFor(tx.db, task)) {
    if (threadState(thread) !== 'sent') continue;
    const answer = cutText(
      `${agent.alias} gave no answer of its own. Its result: ${summary}`,
      limits.taskSummaryCharacters,
    );
    await updateThread(tx, thread.id, { answer, answeredAt: tx.now, answeredBy: agent.id });
  }
}
