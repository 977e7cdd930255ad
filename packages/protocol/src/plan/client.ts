import type { ProjectQuery } from '../changes/client.ts';
import type { EditTaskBody } from './view.ts';
import type { AddTaskBody, TaskAdded, TaskAnswer, TaskDetail, TaskHistory, TaskList, TaskView } from './view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';

/** The client for planned tasks and the history of all tasks. */
export type TaskClient = {
  addTask(body: AddTaskBody): Promise<TaskAdded>;
  listTasks(query?: { path?: string; state?: TaskView['state']; phase?: string; all?: boolean }): Promise<TaskList>;
  showTask(reference: string, query?: { path?: string }): Promise<TaskDetail>;
  changeTask(
    reference: string,
    verb: 'done' | 'block' | 'unblock' | 'edit',
    body: { summary?: string; reason?: string } & EditTaskBody,
    query?: { path?: string },
  ): Promise<TaskAnswer>;
  taskHistory(query?: ProjectQuery & { limit?: number }): Promise<TaskHistory>;
};

export function taskClient({ get, post }: Requests): TaskClient {
  const at = (reference: string, rest = '') => `/api/tasks/${segment('task', reference)}${rest}`;
  return {
    addTask: (body) => post('/api/tasks', body),
    listTasks: (query) => get('/api/tasks', query),
    showTask: (reference, query) => get(at(reference), query),
    changeTask: (reference, verb, body, query = {}) => post(at(reference, `/${verb}`), body, { query }),
    taskHistory: (query) => get('/api/history', query),
  };
}
