import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import type { ChatAnswer, ChatBody } from '@pawl/protocol/runtime/view';
import { PawlError } from '@pawl/schema/error';
import { withProvider } from '../../agent/provider-choice.ts';
import { shellVariables } from '../../agent/shell-variables.ts';
import type { CommandContext } from '../../context.ts';
import { askOnce } from '../../daemon/ask-once.ts';
import { commandClient } from '../../daemon/client.ts';
import { reachDaemon, withDaemon } from '../../daemon/launch.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { readText } from '../../terminal/standard-input.ts';
import type { Partner } from './conversation.ts';
import { sayOnce } from './once.ts';
import { talk } from './talk.ts';

export type ChatOptions = {
  once?: string | true;
  provider?: string;
  model?: string;
  thread?: string;
};

/** Talks with an agent: in the terminal, or as a filter with --once or a pipe. */
export async function chat(context: CommandContext, given: string | undefined, options: ChatOptions): Promise<number> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const isOnce = options.once !== undefined || !process.stdin.isTTY;
  if (!isOnce && (!isTerminal || context.json || context.quiet)) {
    throw new PawlError('usage', 'A conversation needs a terminal.', { hint: 'Say one thing: pawl chat --once "…"' });
  }
  await reachDaemon(context.home);
  const project = await projectHere(context);
  const meant = await partnerMeant(context, given, project);
  const send = sender(context, options, { project, definition: meant.definition });
  if (isOnce) {
    const message = await messageOnce(options.once);
    context.say(context.colours.dim(meant.note));
    return sayOnce(context, message, { partner: meant.partner, send });
  }
  await talk({
    terminal: { input: process.stdin, output: process.stdout },
    colours: context.colours,
    client: () => commandClient(context.home),
    send,
    partner: meant.partner,
    greeting: context.colours.dim(`${meant.note} /help lists the commands.`),
  });
  return 0;
}

/** The words of the command, and what comes through a pipe. */
async function messageOnce(once: string | true | undefined): Promise<string> {
  const words = typeof once === 'string' ? once : '';
  const piped = process.stdin.isTTY ? '' : await readText();
  const message = [words, piped].filter((part) => part.trim() !== '').join('\n\n');
  if (message !== '') return message;
  throw new PawlError('usage', 'There is nothing to say.', { hint: 'git diff | pawl chat --once "review this"' });
}

/** The project around the current directory, if there is one. */
async function projectHere(context: CommandContext): Promise<string | null> {
  const known = ['project_not_found', 'not_found', 'not_a_repository', 'invalid_input', 'conflict'];
  try {
    const here = { project_root: process.cwd() };
    return (await withDaemon(context.home, (client) => client.runtimeSettings(here))).project_root;
  } catch (error) {
    if (error instanceof PawlError && known.includes(error.code)) return null;
    throw error;
  }
}

/** The other side of the chat: an agent, or a definition whose agent the first message finds or starts. */
type Meant = { partner: Partner | null; definition: string | null; note: string };

async function partnerMeant(
  context: CommandContext,
  given: string | undefined,
  project: string | null,
): Promise<Meant> {
  return withDaemon(context.home, async (client): Promise<Meant> => {
    if (given !== undefined) {
      const partner = await client.inspectAgent(given, { worktree: false }).then(
        ({ agent: { id, alias } }) => ({ id, alias }),
        (error: unknown) => {
          if (error instanceof PawlError && error.code === 'agent_not_found' && project !== null) return null;
          throw error;
        },
      );
      if (partner !== null) return { partner, definition: null, note: `You talk to ${partner.alias}.` };
      return {
        partner: null,
        definition: given,
        note: `There is no agent ${given}, so the definition ${given} is meant.`,
      };
    }
    const { current } = await client.selection();
    if (current.parentId !== null) {
      const { id, alias } = current;
      return {
        partner: { id, alias },
        definition: null,
        note: `No agent named: you talk to ${alias}, whom you act as.`,
      };
    }
    if (project === null) {
      throw new PawlError('usage', 'No agent given, and this is no project.', {
        hint: 'Name one (pawl ps lists them), or make this repository a project: pawl init',
      });
    }
    const { agents } = await client.workspaceState({ project_root: project });
    const known = agents.find(({ definition }) => definition === usualDefinition);
    if (known === undefined)
      return {
        partner: null,
        definition: null,
        note: 'No agent named: your first message starts your workspace agent here.',
      };
    const partner = { id: known.agent_id, alias: known.agent };
    return { partner, definition: null, note: `No agent named: you talk to ${partner.alias}, your workspace agent.` };
  });
}

/** The definition of the agent that a person talks to if they name none. */
const usualDefinition = 'workspace';

/** Sends a message, with what an agent that it starts needs of this shell. */
function sender(
  context: CommandContext,
  { provider, model, thread }: ChatOptions,
  { project, definition }: { project: string | null; definition: string | null },
): (body: ChatBody) => Promise<ChatAnswer> {
  return async (words) => {
    const body: ChatBody = {
      ...words,
      ...(words.agent_id === undefined && definition !== null ? { agent_id: definition } : {}),
      ...(project === null ? {} : { project_root: project }),
      ...(thread === undefined ? {} : { session_id: thread }),
      ...(model === undefined ? {} : { model }),
      ...(await shellVariables(context.home)),
      ...searchPathOf(process.env),
    };
    const request = { provider, path: project ?? undefined };
    const { answer } = await askOnce(context, ['chat', crypto.randomUUID()], (key) =>
      withProvider(context, request, (name) =>
        untilAnswered(context.home, (client) =>
          client.chat(name === undefined ? body : { ...body, provider: name }, key),
        ),
      ),
    );
    return answer;
  };
}
