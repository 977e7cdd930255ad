import { readJson } from '@pawl/protocol/answer';
import type { Client } from '@pawl/protocol/client';
import { createClient } from '@pawl/protocol/client';
import type { Home } from '@pawl/protocol/node/home';
import { socketTransport } from '@pawl/protocol/node/socket-transport';
import type { SelfView } from '@pawl/protocol/roster/view';
import type { Answer, TransportRequest } from '@pawl/protocol/transport';
import { PawlError } from '@pawl/schema/error';

/**
 * The client of a command. A helper, the second coding agent in a checkout, writes as itself and not as the person
 * whose token it could read; it may still read. The process tree tells which agent it is. The one coding agent that a
 * person drives is their tool, and its commands count as theirs.
 */
export function commandClient(home: Home): Client {
  let known: Promise<SelfView | null> | undefined;
  const self = async (): Promise<SelfView | null> => {
    known ??= helperAgent(home, { start: false }).then(
      (agent) => agent ?? findAdopted(home, { start: false }, process.env),
    );
    try {
      return await known;
    } catch (error) {
      // The daemon may be started before the next request.
      known = undefined;
      throw error;
    }
  };
  const send = socketTransport(home);
  return createClient(async (request) => {
    if (request.token !== undefined || process.env['PAWL_AGENT_TOKEN'] || !(await countsAsOwn(request)))
      return send(request);
    const agent = await self();
    if (agent === null) return send(request);
    return explained(await send({ ...request, token: agent.token }), agent);
  });
}

/** The agent that a helper's command runs in; null for a person, and for the coding agent that they drive. */
export async function helperAgent(
  home: Home,
  options: { start: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<SelfView | null> {
  if (!(await isHelperSession(environment))) return null;
  const agent = await findAdopted(home, options, environment);
  if (agent !== null) return agent;
  throw new PawlError('forbidden', 'This session is a helper, and Pawl knows no such agent in a project.', {
    hint: 'A helper may do this in no one’s name. Run `pawl init` there in your own terminal, or run the command itself there.',
  });
}

async function isHelperSession(environment: NodeJS.ProcessEnv): Promise<boolean> {
  return (await import('@pawl/roster/anchor/anchor-path')).isHelper(environment);
}

async function findAdopted(home: Home, options: { start: boolean }, environment: NodeJS.ProcessEnv) {
  return (await import('../agent/adopted-self.ts')).adoptedSelf(home, options, environment);
}

/** Whether a request is sent as its agent: it asks who the caller is, or a helper changes something. */
async function countsAsOwn({ method, path }: TransportRequest): Promise<boolean> {
  return path === '/api/whoami' || (method !== 'GET' && (await isHelperSession(process.env)));
}

/** The answer; a refusal also explains why the command counts as the agent's. */
async function explained(answer: Answer, { agent }: SelfView): Promise<Answer> {
  if (answer.status !== 403) return answer;
  try {
    await readJson(answer);
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    const { code, message, hint, details } = error;
    const why = `This command runs in ${agent.alias}, a helper that you started; run it in a terminal of your own.`;
    throw new PawlError(code, message, { hint: hint === undefined ? why : `${hint} ${why}`, details });
  }
  return answer;
}
