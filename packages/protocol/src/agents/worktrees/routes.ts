import * as z from 'zod';
import { forPeople } from '../../access.ts';
import { answers, body, defineRoute } from '../../define-route.ts';
import * as view from './view.ts';

/** Worktrees of all agents. */
export const worktreeRoutes = {
  worktrees: defineRoute({
    access: forPeople('list worktrees', '7.11'),
    method: 'get',
    path: '/api/worktrees',
    responses: answers('Every worktree of ours: in use, retained, in the trash.', view.worktreeListSchema),
  }),
  restoreWorktree: defineRoute({
    access: forPeople('restore a worktree', '7.11'),
    method: 'post',
    path: '/api/worktrees/{entry}/restore',
    request: { params: z.object({ entry: z.string().min(1).max(200) }) },
    responses: answers('The worktree, back where it was.', view.restoreAnswerSchema),
  }),
  pruneWorktrees: defineRoute({
    access: forPeople('prune worktrees', '7.11'),
    method: 'post',
    path: '/api/worktrees/prune',
    request: { body: body(view.pruneSchema) },
    responses: answers('What was deleted for good, and what was not.', view.pruneAnswerSchema),
  }),
} as const;
