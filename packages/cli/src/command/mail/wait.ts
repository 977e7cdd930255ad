import { count } from '@pawl/present/amount';
import type { Waited } from '@pawl/protocol/mail/view';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { commandClient } from '../../daemon/client.ts';
import { actAsAdopted } from '../../agent/adopted-self.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import type { Palette } from '../../terminal/palette.ts';
import { describeMail } from './mail.ts';

/** Retry interval for an unavailable daemon; it may be restarting. */
const againMs = 200;

/**
 * Waits for the next mail, or for several agents. Prints mail before marking it as read, so an interrupted command gets
 * it again.
 */
export async function wait(context: CommandContext, seconds: number, agents: string[]): Promise<number> {
  await actAsAdopted(context.home);
  const waited = await waitFor(context, seconds * 1_000, agents);
  context.answer('waited', waited, () => describe(waited, agents.length > 0, context.colours));
  for (const id of [...waited.mails.map(({ id }) => id), ...(waited.shown ?? [])])
    await untilAnswered(context.home, (client) => client.readMail(id));
  return waited.done ? 0 : errorCodes.timeout.exit;
}

/** One long wait made of short ones, across restarts of the daemon; only the first starts it. */
async function waitFor({ home }: CommandContext, timeoutMs: number, words: string[]): Promise<Waited> {
  const agents = words.length === 0 ? {} : { agents: words };
  const deadline = performance.now() + timeoutMs;
  const body = () => {
    const leftMs = Math.ceil(Math.max(0, deadline - performance.now()));
    return { timeoutMs: Math.min(leftMs, limits.mailWaitMs), ...agents };
  };
  let waited: Waited | null = await lost(withDaemon(home, (client) => client.waitMail({ ...body(), timeoutMs: 0 })));
  for (;;) {
    if (waited !== null && (waited.done || performance.now() >= deadline)) return waited;
    if (waited === null) await new Promise((resolve) => setTimeout(resolve, againMs));
    const asked = commandClient(home).waitMail(body());
    // On the last try the failure is reported.
    waited = performance.now() >= deadline ? await asked : await lost(asked);
  }
}

/** The answer, or null if it was lost. */
async function lost(answer: Promise<Waited>): Promise<Waited | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PawlError && error.code === 'daemon_unreachable') return null;
    throw error;
  }
}

function describe({ done, mails, shown = [], agents }: Waited, isFanIn: boolean, colours: Palette): string {
  const letters = mails.map((mail) => describeMail(mail, colours));
  const states = agents.map(({ alias, state }) => `${colours.bold(alias)}: ${state}`);
  const open = agents.filter(({ state }) => state === 'running').length;
  const isComing = done && !isFanIn && mails.length === 0 && shown.length === 0;
  const coming = [
    ...(shown.length > 0 ? [`in your turn already: ${shown.join(', ')}`] : []),
    ...(isComing ? ['mail is being delivered to your turn; continue'] : []),
  ];
  const late = isFanIn ? `time is up; ${count(open, 'agent')} still at work` : 'no mail';
  return [
    ...letters,
    ...coming,
    ...(states.length === 0 ? [] : [states.join('\n')]),
    ...(done ? [] : [colours.dim(late)]),
  ].join('\n\n');
}
