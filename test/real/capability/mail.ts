import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { agentClient } from '../agent-client.ts';
import type { RealWorkshop } from '../workshop.ts';
import { toolRuns } from './observe.ts';
import type { Trial } from './trial.ts';
import { secondTurn } from './trial.ts';

/** Mail and questions. */
export function tryMail({ preset, live, shop, capability }: Trial): void {
  capability('mail to an agent at work, shown once', true, async () => {
    const agent = await shop().work('[[session:patient]] Take your time.', { provider: (live ?? preset).name });
    await toolRuns(shop(), agent.id);
    const mailId = await sendMail(shop(), agent.alias, '[[mark:to-the-busy]] The parser is ready.');
    await mailIsRead(shop(), mailId);
    const ended = await shop().ended(agent.id);
    // Where nothing shows that a running turn has heard it, it goes along with the next one.
    const channel = live?.echoes === true ? 'live' : 'turn';
    expect(ended).toMatchObject({
      run: { status: 'completed', detail: expect.stringContaining(`turns ${secondTurn(preset)}`) },
      session: { no: channel === 'live' ? 1 : 2 },
    });
    expect(await storyOf(shop(), mailId)).toEqual(['mail.sent', `mail.delivered ${channel}`, 'mail.read']);
    expect(timesShown(shop(), 'to-the-busy')).toEqual(new Set([1]));
  });

  capability('mail to an idle agent begins its next turn', true, async () => {
    const agent = await shop().work('[[session:remember]] Hello.');
    await shop().ended(agent.id);
    const mailId = await sendMail(shop(), agent.alias, '[[mark:to-the-idle]] Are you there?');
    await mailIsRead(shop(), mailId);
    const ended = await shop().ended(agent.id);
    expect(ended).toMatchObject({
      run: { status: 'completed', detail: expect.stringContaining(`turns ${secondTurn(preset)}`) },
      session: { no: 2 },
    });
    expect(await storyOf(shop(), mailId)).toEqual(['mail.sent', 'mail.delivered turn', 'mail.read']);
    expect(timesShown(shop(), 'to-the-idle')).toEqual(new Set([1]));
    return preset.resume === null ? 'told in words what was said before' : undefined;
  });

  capability('a question begins its next turn, and is answered', true, async () => {
    const [asker, asked] = await Promise.all([1, 2].map(() => shop().work('[[scenario:remember]] Hello.')));
    if (asker === undefined || asked === undefined) return;
    for (const { id } of [asker, asked]) await shop().ended(id);
    const self = agentClient(shop().home, asker.id);
    const { question } = await self.ask({ agent: asked.id, question: 'Which parser is it?' }, randomUUID());
    await waitUntil(async () => (await shop().client().inspectAgent(asked.id)).sessions.length === 2, {
      timeoutMs: 180_000,
      what: 'its second session',
    });
    await agentClient(shop().home, asked.id).answer(question.conversationId, { answer: 'The small one.' });
    const ended = await shop().client().showQuestion(question.conversationId);
    expect(ended.question).toMatchObject({ end: 'answered', answer: 'The small one.' });
    await shop().ended(asked.id);
  });
}

/** Sends a mail as a person does, and gives its id. */
async function sendMail(shop: RealWorkshop, to: string, text: string): Promise<string> {
  const answer = JSON.parse(await shop.pawl(['send', to, text, '--json'])) as { data: { mails: { id: string }[] } };
  return answer.data.mails[0]?.id ?? '';
}

async function mailIsRead(shop: RealWorkshop, mailId: string): Promise<void> {
  await waitUntil(async () => (await storyOf(shop, mailId)).includes('mail.read'), {
    timeoutMs: 240_000,
    what: `mail ${mailId} to be read`,
  });
}

/** What happened to a mail, and by which way it was delivered. */
async function storyOf(shop: RealWorkshop, mailId: string): Promise<string[]> {
  const { events } = await shop.client().events({ tail: 1000 });
  const story = events.filter(({ data }) => data['mailId'] === mailId);
  return story.map(({ type, data: { channel } }) => (typeof channel === 'string' ? `${type} ${channel}` : type));
}

/** How often the requests that show a mark at all show it: the model gets the whole conversation each time. */
function timesShown(shop: RealWorkshop, mark: string): Set<number> {
  const shown = shop.server.requests.map(({ marks }) => marks.filter((each) => each === mark).length);
  return new Set(shown.filter((times) => times > 0));
}
