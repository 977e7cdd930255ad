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
} from './view.ts';
import type { CheckLog } from '../checks/view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';

/** The project, if a reference may match changes of several: any path in it, or its name or id. */
export type ProjectQuery = { path?: string; project?: string };

/** The client for changes. A change is named by its id, an id prefix, its branch or its author's alias. */
export type ChangeClient = {
  openChange(body: OpenChangeBody): Promise<ChangeOpened>;
  listChanges(query?: ProjectQuery & { all?: boolean; limit?: number }): Promise<ChangeList>;
  showChange(change: string, query?: ProjectQuery): Promise<ChangeDetail>;
  diffChange(change: string, query?: ProjectQuery): Promise<ChangeDiff>;
  /** The end of the output of its latest check, or of the named one. */
  changeLog(change: string, query?: ProjectQuery & { check?: string }): Promise<CheckLog>;
  /** With `head`, approves only that head, so that a newer one that the caller has not seen stays unapproved. */
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
};

export function changeClient({ get, post }: Requests): ChangeClient {
  const at = (change: string, rest = '') => `/api/changes/${segment('change', change)}${rest}`;
  const verb = <T>(change: string, word: string, body: unknown, query: ProjectQuery = {}) =>
    post<T>(at(change, `/${word}`), body, { query });
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
  };
}
