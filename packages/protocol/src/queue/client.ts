import type { ProjectQuery } from '../changes/client.ts';
import type { CheckLog } from '../checks/view.ts';
import type { QueueAnswer, QueueBody, QueueList } from './view.ts';
import type { Requests } from '../requests.ts';

/** The client for merge queues. */
export type QueueClient = {
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
};

export function queueClient({ get, post }: Requests): QueueClient {
  return {
    listQueues: (query) => get('/api/queues', query),
    queueLog: (query) => get('/api/queues/log', query),
    checkQueue: (body) => post('/api/queues/check', body),
    pauseQueue: (body) => post('/api/queues/pause', body),
    resumeQueue: (body) => post('/api/queues/resume', body),
    allowPush: (body) => post('/api/queues/allow-push', body),
    forbidPush: (body) => post('/api/queues/forbid-push', body),
  };
}
