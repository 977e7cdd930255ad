import { PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import type { Call, Sighting, ToolAnswer } from '../tool.ts';
import { defineTool } from '../tool.ts';

const certainty = 'That you are alone is only said when it is certain: null means that nobody can tell.';

/** The other agents in the caller's own project, which the daemon knows; it permits no other. */
const ownRoster = defineTool({
  name: 'roster',
  door: 'roster',
  title: 'Who else works here',
  description:
    'Looks at the machine itself for coding agents that work in your project’s main checkout, whoever started them; you and your own processes ' +
    `are left out, and so are agents with worktrees of their own. Use it before you change files outside of your own worktree. ${certainty}`,
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
    'Looks at the machine itself for coding agents that work in a project’s main checkout, whoever started them; you are left out where that can be told, and so ' +
    `are agents with worktrees of their own. Use it before you change files there. ${certainty}`,
  input: z.strictObject({
    project: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('a project by its name; the one that you are in when absent'),
  }),
  effect: 'reads',
  forAgent: false,
  forPerson: true,
  async call(call, { project }) {
    const path = project === undefined ? call.here : await rootOf(call, project);
    if (path === null) throw new PawlError('invalid_input', 'Which project is meant? Give its name.');
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
    hint: `There are: ${projects.map((each) => each.name).join(', ')}.`,
  });
}

export const rosterTools = [ownRoster, anyRoster];
