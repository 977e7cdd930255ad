import { lockGlobSchema, pathLockLimits } from '@pawl/schema/runtime/path-lock';
import * as z from 'zod';
import { defineTool } from '../tool.ts';

const lock = defineTool({
  name: 'lock',
  door: 'lockPaths',
  title: 'Lock paths',
  description:
    'Locks paths of your project for you for five minutes, or seconds: other agents that ask Pawl before they write are refused there. Use it before a change ' +
    'across many files that others may touch; call it again to renew the lease. It fails while another agent has a lock that may overlap: then do something else first, or ' +
    'write to its owner. Release it with unlock as soon as you are done.',
  input: z.strictObject({
    globs: z
      .array(lockGlobSchema)
      .min(1)
      .max(pathLockLimits.globs)
      .describe('patterns of paths from the top of the worktree, such as src/api/**'),
    seconds: z
      .number()
      .int()
      .min(1)
      .max(pathLockLimits.longestMs / 1_000)
      .optional()
      .describe('how long the lock lasts; default: 300'),
  }),
  effect: 'adds',
  async call({ client }, { globs, seconds }) {
    const { lock: made } = await client.lockPaths('@current', { globs, ...(seconds === undefined ? {} : { seconds }) });
    return { lock: made.id, globs: made.globs, until: new Date(made.expiresAt).toISOString() };
  },
});

const unlock = defineTool({
  name: 'unlock',
  door: 'unlockPaths',
  title: 'Release a lock',
  description:
    'Releases paths that you locked. Use it when your change is committed, so that others need not wait for the lease to end.',
  input: z.strictObject({ lock: z.string().min(1).max(64).describe('the id that lock returned') }),
  effect: 'adds',
  async call({ client }, { lock: id }) {
    return { released: (await client.unlockPaths('@current', id)).released };
  },
});

export const lockTools = [lock, unlock];
