import { PawlError } from '@pawl/schema/error';
import type {
  ChangeAnswer,
  ChangeDetail,
  ChangeDiff,
  ChangeFix,
  ChangeList,
  ChangeOpened,
  CloseChangeBody,
  ClosedChange,
  CommentAnswer,
  CommentChangeBody,
  MergeAnswer,
  OpenChangeBody,
} from './changes/view.ts';
import type { CheckLog } from './checks/view.ts';
import type { TaskHistory } from './plan/view.ts';
import type { QueueAnswer, QueueBody, QueueList } from './queue/view.ts';

/** The project, if a reference may match changes of several: any path in it, or its name or id. */
export type ProjectQuery = { path?: string; project?: string };

/**
 * The client for changes and merge queues. A change is named by its id, an id prefix, its branch or its author's alias.
 */
export type ChangeClient = {
  openChange(body: OpenChangeBody): Promise<ChangeOpened>;
  listChanges(query?: ProjectQuery & { all?: boolean; limit?: number }): Promise<ChangeList>;
  showChange(change: string, query?: ProjectQuery): Promise<ChangeDetail>;
  diffChange(change: string, query?: ProjectQuery): Promise<ChangeDiff>;
  /** The end of the output of its latest check, or of the named one. */
  changeLog(change: string, query?: ProjectQuery & { check?: string }): Promise<CheckLog>;
  /** With `head`, approves only that one: nobody approves what they have not seen. */
  approveChange(change: string, body?: { head?: string }, query?: ProjectQuery): Promise<ChangeAnswer>;
  /** Starts the merge that resolves its conflict, in a worktree; with `proceed`, commits and proposes it. */
  fixChange(change: string, body?: { proceed?: boolean }, query?: ProjectQuery): Promise<ChangeFix>;
  blockChange(change: string, body: { reason: string }, query?: ProjectQuery): Promise<ChangeAnswer>;
  unblockChange(change: string, query?: ProjectQuery): Promise<ChangeAnswer>;
  commentChange(change: string, body: CommentChangeBody, query?: ProjectQuery): Promise<CommentAnswer>;
  closeChange(change: string, body: CloseChangeBody, query?: ProjectQuery): Promise<ClosedChange>;
  retryChange(change: string, query?: ProjectQuery): Promise<ChangeAnswer>;
  /** Requests its merge when its checks pass. `fix`: it repairs a red target branch. */
  mergeChange(change: string, body?: { fix?: boolean }, query?: ProjectQuery): Promise<MergeAnswer>;
  /** The queue of one project, or all queues. */
  listQueues(query?: ProjectQuery): Promise<QueueList>;
  /** The end of the output of the target branch's latest check, or of the named one. */
  queueLog(query?: ProjectQuery & { check?: string }): Promise<CheckLog>;
  /** Requests a check of the target branch; the queue's view has the result once it has ended. */
  checkQueue(body?: QueueBody): Promise<QueueAnswer>;
  pauseQueue(body?: QueueBody): Promise<QueueAnswer>;
  resumeQueue(body?: QueueBody): Promise<QueueAnswer>;
  /** Allows or forbids the queue to push automatic merges. */
  allowPush(body?: QueueBody): Promise<QueueAnswer>;
  forbidPush(body?: QueueBody): Promise<QueueAnswer>;
  taskHistory(query?: ProjectQuery & { limit?: number }): Promise<TaskHistory>;
};

type Words = Record<string, string | number | boolean | undefined>;

/** Request functions with the client's credentials. */
type Requests = {
  get<T>(path: string, query?: Words): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  withQuery(path: string, query: Words): string;
};

/** Builds the client for changes. */
export function changeClient({ get, post, withQuery }: Requests): ChangeClient {
  const at = (change: string, rest = '') => {
    // In a path these would have a special meaning.
    if (/^\.{0,2}$/.test(change)) throw new PawlError('not_found', `There is no change ${JSON.stringify(change)}.`);
    return `/api/changes/${encodeURIComponent(change)}${rest}`;
  };
  const verb = <T>(change: string, word: string, body: unknown, query: ProjectQuery = {}) =>
    post<T>(withQuery(at(change, `/${word}`), query), body);
  return {
    openChange: (body) => post('/api/changes', body),
    listChanges: (query) => get('/api/changes', query),
    showChange: (change, query) => get(at(change), query),
    diffChange: (change, query) => get(at(change, '/diff'), query),
    changeLog: (change, query) => get(at(change, '/log'), query),
    approveChange: (change, body = {}, query) => verb(change, 'approve', body, query),
    fixChange: (change, body = {}, query) => verb(change, 'fix', body, query),
    blockChange: (change, body, query) => verb(change, 'block', body, query),
    unblockChange: (change, query) => verb(change, 'unblock', {}, query),
    commentChange: (change, body, query) => verb(change, 'comment', body, query),
    closeChange: (change, body, query) => verb(change, 'close', body, query),
    retryChange: (change, query) => verb(change, 'retry', {}, query),
    mergeChange: (change, body = {}, query) => verb(change, 'merge', body, query),
    listQueues: (query) => get('/api/queues', query),
    queueLog: (query) => get('/api/queues/log', query),
    checkQueue: (body = {}) => post('/api/queues/check', body),
    pauseQueue: (body = {}) => post('/api/queues/pause', body),
    resumeQueue: (body = {}) => post('/api/queues/resume', body),
    allowPush: (body = {}) => post('/api/queues/allow-push', body),
    forbidPush: (body = {}) => post('/api/queues/forbid-push', body),
    taskHistory: (query) => get('/api/history', query),
  };
}
