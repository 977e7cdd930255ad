import { PawlError } from '@pawl/schema/error';
import type {
  ChangeAnswer,
  ChangeDetail,
  ChangeDiff,
  ChangeFix,
  ChangeList,
  ChangeOpened,
  CheckLog,
  CloseChangeBody,
  ClosedChange,
  CommentAnswer,
  CommentChangeBody,
  MergeAnswer,
  OpenChangeBody,
  QueueAnswer,
  QueueBody,
  QueueList,
  TaskHistory,
} from './view/change.ts';

/** Which project is meant, where a word may fit changes of several: any path in it, or its name or id. */
export type ProjectQuery = { path?: string; project?: string };

/** What a surface can ask about changes and merge queues. A change is named by its id, the start of it, its branch or its author's alias. */
export type ChangeClient = {
  openChange(body: OpenChangeBody): Promise<ChangeOpened>;
  listChanges(query?: ProjectQuery & { all?: boolean; limit?: number }): Promise<ChangeList>;
  showChange(change: string, query?: ProjectQuery): Promise<ChangeDetail>;
  diffChange(change: string, query?: ProjectQuery): Promise<ChangeDiff>;
  /** The end of what its latest check printed, or the one that is named. */
  changeLog(change: string, query?: ProjectQuery & { check?: string }): Promise<CheckLog>;
  /** With `head`, only that one is approved: nobody approves what they have not seen. */
  approveChange(change: string, body?: { head?: string }, query?: ProjectQuery): Promise<ChangeAnswer>;
  /** Begins the merge that resolves its conflict, in a worktree; with `proceed`, commits and proposes it. */
  fixChange(change: string, body?: { proceed?: boolean }, query?: ProjectQuery): Promise<ChangeFix>;
  blockChange(change: string, body: { reason: string }, query?: ProjectQuery): Promise<ChangeAnswer>;
  unblockChange(change: string, query?: ProjectQuery): Promise<ChangeAnswer>;
  commentChange(change: string, body: CommentChangeBody, query?: ProjectQuery): Promise<CommentAnswer>;
  closeChange(change: string, body: CloseChangeBody, query?: ProjectQuery): Promise<ClosedChange>;
  retryChange(change: string, query?: ProjectQuery): Promise<ChangeAnswer>;
  /** Asks for it to be merged when its checks pass. `fix` says that it repairs a red target branch. */
  mergeChange(change: string, body?: { fix?: boolean }, query?: ProjectQuery): Promise<MergeAnswer>;
  /** The queue of one project, or of each that has one. */
  listQueues(query?: ProjectQuery): Promise<QueueList>;
  /** The end of what the latest check of the target branch printed, or the one that is named. */
  queueLog(query?: ProjectQuery & { check?: string }): Promise<CheckLog>;
  /** Looks at the target branch now; what comes of it is in the queue's view when its check has ended. */
  checkQueue(body?: QueueBody): Promise<QueueAnswer>;
  pauseQueue(body?: QueueBody): Promise<QueueAnswer>;
  resumeQueue(body?: QueueBody): Promise<QueueAnswer>;
  /** Lets the queue push what it merges by itself, or only what a person asks to merge. */
  allowPush(body?: QueueBody): Promise<QueueAnswer>;
  forbidPush(body?: QueueBody): Promise<QueueAnswer>;
  taskHistory(query?: ProjectQuery & { limit?: number }): Promise<TaskHistory>;
};

type Words = Record<string, string | number | boolean | undefined>;

/** How requests are made: with what a client knows of its caller. */
type Requests = {
  get<T>(path: string, query?: Words): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  withQuery(path: string, query: Words): string;
};

/** The part of the client that is about changes. */
export function changeClient({ get, post, withQuery }: Requests): ChangeClient {
  const at = (change: string, rest = '') => {
    // In a path these would mean another place.
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
