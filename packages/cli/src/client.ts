import type { Client } from '@pawl/protocol/client';
import { createClient } from '@pawl/protocol/client';
import type { Answer, Exchange } from '@pawl/protocol/exchange';
import { exchange, readJson } from '@pawl/protocol/exchange';
import type { Home } from '@pawl/protocol/home';
import type { SelfView } from '@pawl/protocol/view/roster';
import { PawlError } from '@pawl/schema/error';

/**
 * The client of a command. What a coding agent writes that Pawl did not start, it writes as that agent and not as the person
 * whose token it could read; reading stays open to it. Which agent it is, the process tree says.
 */
export function commandClient(home: Home): Client {
  let known: Promise<SelfView | null> | undefined;
  const self = async (): Promise<SelfView | null> => {
    known ??= adoptedWriter(home, { start: false });
    try {
      return await known;
    } catch (error) {
      // The daemon may be started before the next request.
      known = undefined;
      throw error;
    }
  };
  return createClient(home, {
    async carry(request) {
      if (request.token !== undefined || process.env['PAWL_AGENT_TOKEN'] || !isOwnWord(request))
        return exchange(home, request);
      const agent = await self();
      if (agent === null) return exchange(home, request);
      return explained(await exchange(home, { ...request, token: agent.token }), agent);
    },
  });
}

/** The agent that writes, when it is one that Pawl did not start; null for a person. */
export async function adoptedWriter(
  home: Home,
  options: { start: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<SelfView | null> {
  const [{ adoptedSelf }, { isHelper }] = await Promise.all([
    import('./adopted-self.ts'),
    import('@pawl/roster/anchor/anchor-path'),
  ]);
  const agent = await adoptedSelf(home, options, environment);
  if (agent !== null || !isHelper(environment)) return agent;
  throw new PawlError('forbidden', 'This session is a helper, and Pawl knows no such agent in a project.', {
    hint: 'A helper may do this in no one’s name. Run `pawl init` there in your own terminal, or run the command itself there.',
  });
}

/** Whether a request changes something, or asks who the caller is. */
function isOwnWord({ method, path }: Exchange): boolean {
  return method !== 'GET' || path === '/api/whoami';
}

/** An answer; a refusal also says why the command counts as the agent's. */
async function explained(answer: Answer, { agent }: SelfView): Promise<Answer> {
  if (answer.statusCode !== 403) return answer;
  try {
    await readJson(answer);
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    const { code, message, hint, details } = error;
    const why = `This command runs in ${agent.alias}, an agent that you started; run it in a terminal of your own.`;
    throw new PawlError(code, message, { hint: hint === undefined ? why : `${hint} ${why}`, details });
  }
  return answer;
}
