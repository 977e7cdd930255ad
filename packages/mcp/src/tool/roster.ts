import { PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import type { Call, Sighting, ToolAnswer } from '../tool.ts';
import { defineTool } from '../tool.ts';

const certainty = 'The answer has alone: true only if that is certain; null means unknown.';

/** The other agents in the caller's own project, which the daemon knows; it permits no other. */
const ownRoster = defineTool({
  name: 'roster',
  door: 'roster',
  title: 'Who else works here',
  description:
    'Scans the machine for coding agents that work in your project’s main checkout, including those that Pawl did not start. It leaves out you, your own processes ' +
    `and agents with their own worktrees. Use it before you change files outside your own worktree. ${certainty}`,
  input: z.strictObject({}),
  effect: 'reads',
  async call({ client }) {
    const { alone, ...sighting } = await client.roster();
    return { alone, ...briefly(sighting) };
  },
});

/** The other agents in one of the person's projects. */
const anyRoster = defineTool({
  name: 'roster',
  door: 'roster',
  title: 'Who else works here',
  description:
    'Scans the machine for coding agents that work in a project’s main checkout, including those that Pawl did not start. It leaves out you, if it can identify you, ' +
    `and agents with their own worktrees. Use it before you change files there. ${certainty}`,
  input: z.strictObject({
    project: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('the name of the project; default: the one of your directory'),
  }),
  effect: 'reads',
  forAgent: false,
  forPerson: true,
  async call(call, { project }) {
    const path = project === undefined ? call.here : await rootOf(call, project);
    if (path === null)
      throw new PawlError('invalid_input', 'No project given, and none at this directory. Give its name.');
    // If this process belongs to the caller, it can tell who that is; the daemon cannot.
    if (call.scan === null) {
      const { alone, ...sighting } = await call.client.roster({ path });
      return { alone, ...briefly(sighting) };
    }
    const sighting = await call.scan(path);
    // Null means unknown: that none was seen does not mean that there is none.
    const alone = sighting.others.length > 0 ? false : sighting.doubts.length > 0 ? null : true;
    return { alone, ...briefly(sighting) };
  },
});

function briefly({ others, doubts }: Sighting): ToolAnswer {
  return { others: others.map(({ pid, cwd, provider, agentId }) => ({ pid, cwd, provider, agentId })), doubts };
}

async function rootOf({ client }: Call, name: string): Promise<string> {
  const { projects } = await client.listProjects();
  const found = projects.find((each) => each.name === name);
  if (found !== undefined) return found.root;
  throw new PawlError('project_not_found', `There is no project ${name}.`, {
    hint: `Known projects: ${projects.map((each) => each.name).join(', ')}.`,
  });
}

export const rosterTools = [ownRoster, anyRoster];
