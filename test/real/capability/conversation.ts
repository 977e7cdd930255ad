import type { ProviderPreset } from '@pawl/core/port/provider';
import { capabilitiesOf } from '@pawl/providers/capability';
import { probeSandbox } from '@pawl/sandbox/probe';
import { git } from '@pawl/testing/sample-repository';
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { textOf, toolRuns } from './observe.ts';
import type { Trial } from './trial.ts';
import { secondTurn } from './trial.ts';

const prompted = (text: string) => ({ prompt: text });

/** Work, and conversations that go on. */
export function tryConversation({ cli, preset, shop, capability }: Trial): void {
  capability('commits and completes', true, async () => {
    const agent = await shop().work('[[scenario:note]] Write a note.');
    const ended = await shop().ended(agent.id);
    expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('committed it') });
    const { works } = await probeSandbox();
    expect(ended).toMatchObject({ access: 'full', session: { sandbox: works ? 'on' : 'off' } });
    const subject = await git(shop().repository, ['log', '-1', '--format=%s', `work/${agent.alias}`]);
    expect(subject).toMatch(/^docs: note /);
    const { reportsTokens } = capabilitiesOf(preset);
    const isCounted = reportsTokens || cli.proxied;
    expect([ended.usage.inputTokens > 0, ended.usage.outputTokens > 0]).toEqual([isCounted, isCounted]);
    const kinds = (await shop().output(agent.id)).flatMap((chunk) => chunk.events ?? []).map((event) => event.type);
    for (const kind of kindsOf(preset)) expect(kinds).toContain(kind);
    const where = works ? 'in the sandbox' : 'without a sandbox, since there is none here';
    if (reportsTokens) return where;
    return `${where}; it tells no tokens${cli.proxied ? ', and the proxy counts them' : ''}`;
  });

  capability('resume with its history', preset.resume !== null, async () => {
    const agent = await shop().work('[[scenario:remember]] [[mark:opening]] The first thing I say.');
    await shop().ended(agent.id);
    await shop().client().resumeAgent(agent.id, prompted('[[scenario:remember]] And the second.'), randomUUID());
    const ended = await shop().ended(agent.id);
    expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('turns 2') });
    const resumed = shop().server.requests.filter(({ userTurns, marks }) => userTurns === 2 && marks.length > 0);
    expect(resumed.flatMap(({ marks }) => marks)).toContain('opening');
    const { sessions } = await shop().client().inspectAgent(agent.id);
    expect(sessions.map(({ no, conversation }) => [no, conversation])).toEqual([
      [1, 'new'],
      [2, 'resume'],
    ]);
    expect(sessions[1]?.providerSessionId).toBe(sessions[0]?.providerSessionId);
  });

  capability('resume in words', preset.resume === null || 'it resumes its own conversation', async () => {
    const agent = await shop().work('[[scenario:remember]] The first thing I say.');
    await shop().ended(agent.id);
    await shop().client().resumeAgent(agent.id, prompted('[[scenario:remember]] And the second.'), randomUUID());
    expect((await shop().ended(agent.id)).run).toMatchObject({ status: 'completed' });
    const { sessions } = await shop().client().inspectAgent(agent.id);
    expect(sessions.map(({ conversation }) => conversation)).toEqual(['new', 'replay']);
    const { turn, system } = await shop().client().agentPrompt(agent.id, { session: 2 });
    for (const words of ['The first thing I say.', 'And the second.', 'user turns seen'])
      expect(system + turn).toContain(words);
  });

  capability('native fork into another worktree', preset.forkStyle === 'native', async () => {
    const parent = await shop().work('[[scenario:remember]] What the parent heard.');
    await shop().ended(parent.id);
    const body = { ...prompted('[[scenario:remember]] What the child heard.'), switch: false };
    const { agent: child } = await shop().client().fork(parent.id, body, randomUUID());
    const ended = await shop().ended(child.id);
    expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('turns 2') });
    expect(await textOf(shop(), child.id)).toContain('What the parent heard.');
    expect(ended.worktree).not.toBe(parent.worktree);
    const [session] = (await shop().client().inspectAgent(child.id)).sessions;
    const [first] = (await shop().client().inspectAgent(parent.id)).sessions;
    expect(session).toMatchObject({ conversation: 'fork' });
    expect(session?.providerSessionId).not.toBe(first?.providerSessionId);
  });

  capability('follow-up to a live session', cli.live !== null, async () => {
    const provider = cli.live ?? cli.provider;
    const agent = await shop().work('[[session:patient]] Take your time.', { provider });
    await toolRuns(shop(), agent.id);
    const { channel } = await shop().client().tellAgent(agent.id, { message: 'One thing more.' }, randomUUID());
    expect(channel).toBe('live');
    const ended = await shop().ended(agent.id);
    expect(ended).toMatchObject({ run: { status: 'completed' }, session: { no: 1 } });
    expect(shop().server.requests.some(({ userTurns, scenario }) => scenario === 'patient' && userTurns > 1)).toBe(
      true,
    );
  });

  capability('follow-up to an idle session', true, async () => {
    const agent = await shop().work('[[session:remember]] Hello.');
    await shop().ended(agent.id);
    const { channel } = await shop().client().tellAgent(agent.id, { message: 'Are you there?' }, randomUUID());
    expect(channel).toBe('resumed');
    expect((await shop().ended(agent.id)).run).toMatchObject({
      detail: expect.stringContaining(`turns ${secondTurn(preset)}`),
    });
  });
}

/** What a CLI's output tells, beyond its last words. */
function kindsOf({ outputFormat }: ProviderPreset): string[] {
  if (outputFormat === 'continue-json') return ['text', 'result'];
  const kinds = ['text', 'tool-call', 'tool-result', 'usage', 'result'];
  return outputFormat === 'cline-json' ? kinds : ['session', ...kinds];
}
