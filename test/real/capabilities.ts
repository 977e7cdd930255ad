import { createAuthority } from '@pawl/daemon/platform/http/authority';
import { homeAt } from '@pawl/protocol/node/home';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { capabilitiesOf } from '@pawl/providers/capability';
import { builtInPresets } from '@pawl/providers/preset/built-in';
import { strayProcesses } from '@pawl/host/session/stray';
import { git } from '@pawl/testing/sample-repository';
import { limits } from '@pawl/schema/limit';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from './agent-client.ts';
import { askAndAnswer, canAsk } from './approvals.ts';
import { realClis } from './clis.ts';
import { canIsolate, namesAskedFor } from './isolation.ts';
import type { RealWorkshop } from './workshop.ts';
import { openWorkshop, secrets } from './workshop.ts';

const results = join(import.meta.dirname, '..', '..', '.cache', 'real-results');
const run = promisify(execFile);
/** How long a CLI may try before it reports a limit. */
const turnMinutes = 8;

const presets = builtInPresets({
  scriptedAgent: ['scripted'],
  bridge: ['bridge'],
  engine: ['node', 'e'],
  engineState: '/engine',
  scriptedState: '',
});

/** What came of each capability, for the table that is printed at the end; a note says why it is not applicable, or what is particular. */
type Outcome = { held: 'yes' | 'NO' | 'n/a'; note: string | null };

/** Adds a test of one capability to those of a CLI. */
type AddCapability = (title: string, offered: boolean | string, body: () => Promise<string | void>) => void;

/** Tries everything that Pawl promises with one real CLI, and what is particular to it. */
export function tryCli(
  name: string,
  particular: (add: AddCapability, shop: () => RealWorkshop) => void = () => {},
): void {
  const cli = realClis[name];
  if (cli === undefined) throw new Error(`there is no CLI ${name}`);
  const preset = presets.find((each) => each.name === cli.provider);
  if (preset === undefined) throw new Error(`there is no preset ${cli.provider}`);
  const live = presets.find((each) => each.name === cli.live) ?? null;
  const outcomes: Record<string, Outcome> = {};
  let shop: RealWorkshop;

  beforeAll(async () => {
    shop = await openWorkshop(name, cli);
  });
  // After each test, so that a run which is cut short leaves its table.
  afterEach(() => {
    mkdirSync(results, { recursive: true });
    writeFileSync(join(results, `${name}.json`), JSON.stringify(outcomes));
  });
  afterAll(() => shop.close());

  /** A test of one capability. `offered` is false, or says why, where the CLI has no such thing; a test may give a note. */
  function capability(title: string, offered: boolean | string, body: () => Promise<string | void>): void {
    outcomes[title] = { held: 'NO', note: null };
    test(`${name}: ${title}`, async () => {
      if (offered === true) outcomes[title] = { held: 'yes', note: (await body()) ?? null };
      else outcomes[title] = { held: 'n/a', note: offered === false ? 'the CLI has no such thing' : offered };
    });
  }

  const prompted = (text: string) => ({ prompt: text });
  // In a conversation that is told in words, all of it is one turn of the user.
  const second = preset.resume === null ? 1 : 2;

  describe(`${name} ${cli.version} [S3-04]`, () => {
    capability('commits and completes', true, async () => {
      const agent = await shop.work('[[scenario:note]] Write a note.');
      const ended = await shop.ended(agent.id);
      expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('committed it') });
      const subject = await git(shop.repository, ['log', '-1', '--format=%s', `work/${agent.alias}`]);
      expect(subject).toMatch(/^docs: note /);
      const { reportsTokens } = capabilitiesOf(preset);
      const isCounted = reportsTokens || cli.proxied;
      expect([ended.usage.inputTokens > 0, ended.usage.outputTokens > 0]).toEqual([isCounted, isCounted]);
      const kinds = (await shop.output(agent.id)).flatMap((chunk) => chunk.events ?? []).map((event) => event.type);
      for (const kind of kindsOf(preset)) expect(kinds).toContain(kind);
      if (reportsTokens) return undefined;
      return cli.proxied ? 'it tells no tokens; the proxy counts them' : 'it tells no tokens';
    });

    capability('resume with its history', preset.resume !== null, async () => {
      const agent = await shop.work('[[scenario:remember]] [[mark:opening]] The first thing I say.');
      await shop.ended(agent.id);
      await shop.client().resumeAgent(agent.id, prompted('[[scenario:remember]] And the second.'), randomUUID());
      const ended = await shop.ended(agent.id);
      expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('turns 2') });
      const resumed = shop.server.requests.filter(({ userTurns, marks }) => userTurns === 2 && marks.length > 0);
      expect(resumed.flatMap(({ marks }) => marks)).toContain('opening');
      const { sessions } = await shop.client().inspectAgent(agent.id);
      expect(sessions.map(({ no, conversation }) => [no, conversation])).toEqual([
        [1, 'new'],
        [2, 'resume'],
      ]);
      expect(sessions[1]?.providerSessionId).toBe(sessions[0]?.providerSessionId);
    });

    capability('resume in words', preset.resume === null || 'it resumes its own conversation', async () => {
      const agent = await shop.work('[[scenario:remember]] The first thing I say.');
      await shop.ended(agent.id);
      await shop.client().resumeAgent(agent.id, prompted('[[scenario:remember]] And the second.'), randomUUID());
      expect((await shop.ended(agent.id)).run).toMatchObject({ status: 'completed' });
      const { sessions } = await shop.client().inspectAgent(agent.id);
      expect(sessions.map(({ conversation }) => conversation)).toEqual(['new', 'replay']);
      const { turn, system } = await shop.client().agentPrompt(agent.id, { session: 2 });
      for (const words of ['The first thing I say.', 'And the second.', 'user turns seen'])
        expect(system + turn).toContain(words);
    });

    capability('native fork into another worktree', preset.forkStyle === 'native', async () => {
      const parent = await shop.work('[[scenario:remember]] What the parent heard.');
      await shop.ended(parent.id);
      const body = { ...prompted('[[scenario:remember]] What the child heard.'), switch: false };
      const { agent: child } = await shop.client().fork(parent.id, body, randomUUID());
      const ended = await shop.ended(child.id);
      expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('turns 2') });
      expect(await textOf(shop, child.id)).toContain('What the parent heard.');
      expect(ended.worktree).not.toBe(parent.worktree);
      const [session] = (await shop.client().inspectAgent(child.id)).sessions;
      const [first] = (await shop.client().inspectAgent(parent.id)).sessions;
      expect(session).toMatchObject({ conversation: 'fork' });
      expect(session?.providerSessionId).not.toBe(first?.providerSessionId);
    });

    capability('follow-up to a live session', cli.live !== null, async () => {
      const provider = cli.live ?? cli.provider;
      const agent = await shop.work('[[session:patient]] Take your time.', { provider });
      await toolRuns(shop, agent.id);
      const { channel } = await shop.client().tellAgent(agent.id, { message: 'One thing more.' }, randomUUID());
      expect(channel).toBe('live');
      const ended = await shop.ended(agent.id);
      expect(ended).toMatchObject({ run: { status: 'completed' }, session: { no: 1 } });
      expect(shop.server.requests.some(({ userTurns, scenario }) => scenario === 'patient' && userTurns > 1)).toBe(
        true,
      );
    });

    capability('follow-up to an idle session', true, async () => {
      const agent = await shop.work('[[session:remember]] Hello.');
      await shop.ended(agent.id);
      const { channel } = await shop.client().tellAgent(agent.id, { message: 'Are you there?' }, randomUUID());
      expect(channel).toBe('resumed');
      expect((await shop.ended(agent.id)).run).toMatchObject({ detail: expect.stringContaining(`turns ${second}`) });
    });

    capability('mail to an agent at work, shown once', true, async () => {
      const agent = await shop.work('[[session:patient]] Take your time.', { provider: (live ?? preset).name });
      await toolRuns(shop, agent.id);
      const mailId = await sendMail(shop, agent.alias, '[[mark:to-the-busy]] The parser is ready.');
      await mailIsRead(shop, mailId);
      const ended = await shop.ended(agent.id);
      // Where nothing shows that a running turn has heard it, it goes along with the next one.
      const channel = live?.echoes === true ? 'live' : 'turn';
      expect(ended).toMatchObject({
        run: { status: 'completed', detail: expect.stringContaining(`turns ${second}`) },
        session: { no: channel === 'live' ? 1 : 2 },
      });
      expect(await storyOf(shop, mailId)).toEqual(['mail.sent', `mail.delivered ${channel}`, 'mail.read']);
      expect(timesShown(shop, 'to-the-busy')).toEqual(new Set([1]));
    });

    capability('mail to an idle agent begins its next turn', true, async () => {
      const agent = await shop.work('[[session:remember]] Hello.');
      await shop.ended(agent.id);
      const mailId = await sendMail(shop, agent.alias, '[[mark:to-the-idle]] Are you there?');
      await mailIsRead(shop, mailId);
      const ended = await shop.ended(agent.id);
      expect(ended).toMatchObject({
        run: { status: 'completed', detail: expect.stringContaining(`turns ${second}`) },
        session: { no: 2 },
      });
      expect(await storyOf(shop, mailId)).toEqual(['mail.sent', 'mail.delivered turn', 'mail.read']);
      expect(timesShown(shop, 'to-the-idle')).toEqual(new Set([1]));
      return preset.resume === null ? 'told in words what was said before' : undefined;
    });

    capability('a question begins its next turn, and is answered', true, async () => {
      const [asker, asked] = await Promise.all([1, 2].map(() => shop.work('[[scenario:remember]] Hello.')));
      if (asker === undefined || asked === undefined) return;
      for (const { id } of [asker, asked]) await shop.ended(id);
      const self = agentClient(shop.home, asker.id);
      const { question } = await self.ask({ agent: asked.id, question: 'Which parser is it?' }, randomUUID());
      await waitUntil(async () => (await shop.client().inspectAgent(asked.id)).sessions.length === 2, {
        timeoutMs: 180_000,
        what: 'its second session',
      });
      await agentClient(shop.home, asked.id).answer(question.conversationId, { answer: 'The small one.' });
      const ended = await shop.client().showQuestion(question.conversationId);
      expect(ended.question).toMatchObject({ end: 'answered', answer: 'The small one.' });
      await shop.ended(asked.id);
    });

    capability('usage limit, on with another account', preset.account !== null, async () => {
      const account = `limited-${cli.provider}`;
      const agent = await shop.work('[[session:halfway]] Do half, then the rest.', { account });
      const ended = await shop.ended(agent.id);
      expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('finished') });
      expect(ended.worktree).toBe(agent.worktree);
      expect(ended.account).not.toBe(account);
      const story = (await shop.events(agent.id)).map((event) => event.type);
      expect(story.indexOf('account.switched')).toBeGreaterThan(story.indexOf('session.ended'));
      const exhausted = (await shop.client().events({ limit: 1000 })).events.filter(
        ({ type, data }) => type === 'account.exhausted' && data['account'] === account,
      );
      expect(exhausted).toHaveLength(1);
      const commits = await git(shop.repository, ['log', '--format=%s', `main..work/${agent.alias}`]);
      expect(commits.split('\n').length).toBeGreaterThanOrEqual(1);
    });

    capability('a limit at the first call, on with another account', preset.account !== null, async () => {
      const account = `early-${cli.provider}`;
      const agent = await shop.work('[[session:early]] Meet a limit at once.', { account });
      const ended = await shop.ended(agent.id);
      expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('elsewhere') });
      expect(ended.account).not.toBe(account);
    });

    capability('a limit of three hours lasts three hours', preset.account !== null, async () => {
      const account = `long-${cli.provider}`;
      const begunAt = Date.now();
      const agent = await shop.work('[[session:hours]] Meet a long limit.', { account });
      const ended = await shop.ended(agent.id);
      expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('elsewhere') });
      const known = (await shop.client().listAccounts()).accounts.find(({ name: each }) => each === account);
      const minutes = ((known?.exhaustedUntil ?? 0) - begunAt) / 60_000;
      // The proxy sees the end of a limit in the headers, also when the CLI does not tell it.
      const lasts = cli.hidesReset === null || cli.proxied ? 180 : limits.limitMs / 60_000;
      // It was told after the beginning, and clock times in a message have no seconds.
      expect(minutes).toBeGreaterThan(lasts - 2);
      expect(minutes).toBeLessThan(lasts + turnMinutes);
      if (cli.tellsWithToken) return 'with a token; with an API key it hides the header, and the proxy sees it';
      return cli.hidesReset === null || cli.proxied
        ? undefined
        : `5 minutes, then twice as long each time: ${cli.hidesReset}`;
    });

    const shell = cli.shell('');
    const unshared = canIsolate() ? true : 'no network namespace can be made here: not tried';
    capability('no outside name with a shell key', typeof shell === 'string' ? shell : unshared, async () => {
      const told = await namesAskedFor(name);
      expect(told).toMatchObject({ status: 'completed', account: expect.stringMatching(/^shell-/) as string });
      expect(told.calls).toBeGreaterThan(0);
      expect(told.key).toMatchObject({ at: cli.shellKeyAt });
      expect(told.keyIn).toEqual(cli.shellKeyAt === 'proxy' ? [] : [expect.stringMatching(/env\.txt$/)]);
      expect(told.names.filter((name) => cli.asks?.names.test(name) !== true)).toEqual([]);
      return cli.asks === null ? undefined : `but for ${cli.asks.what}: ${cli.asks.why}`;
    });

    capability(
      'no key in the environment of a session',
      cli.proxied || 'it takes no base URL for one run',
      async () => {
        const agent = await shop.work('[[session:sleeper]] Sleep.');
        await toolRuns(shop, agent.id);
        const { sessions } = await shop.client().inspectAgent(agent.id);
        const environments = strayProcesses(sessions[0]?.id ?? '').map(({ pid }) => environmentOf(pid));
        expect(environments.filter((text) => text.includes('pawl-')).length).toBeGreaterThan(0);
        expect(environments.filter((text) => text.includes('sk-test'))).toEqual([]);
        await shop.client().stopAgent(agent.id);
      },
    );

    capability('a token budget ends a turn', cli.proxied || 'nobody counts its tokens', async () => {
      const { environment, provider, model } = cli;
      const task = '[[session:tool-loop]] Go on.';
      const request = { path: shop.repository, task, provider, environment, account: `first-${provider}` };
      const body = { ...request, ...(model === null ? {} : { model }), budget: { tokens: 1_000 } };
      const { agent } = await shop.client().work(body, randomUUID());
      const ended = await shop.ended(agent.id);
      expect(ended).toMatchObject({ activity: 'over_budget', run: { cause: { reason: 'budget' } } });
    });

    capability('asks a person, across crashes of the daemon', canAsk(preset), () => askAndAnswer(shop));

    capability('no secret outside of the accounts', preset.account !== null, async () => {
      const agent = await shop.work(`[[steps:[{"shell":"env"},{"signal":{"status":"done"}},{"say":"Done."}]]]`);
      await shop.ended(agent.id);
      const { stdout } = await run('sh', [
        '-c',
        `grep -rlaF ${Object.values(secrets)
          .map((secret) => `-e '${secret}'`)
          .join(' ')} '${shop.home}' --exclude-dir=accounts || true`,
      ]);
      expect(stdout).toBe('');
    });

    capability('stop while a tool runs, no orphan', true, async () => {
      const agent = await shop.work('[[session:sleeper]] Sleep.');
      await toolRuns(shop, agent.id);
      const { sessions } = await shop.client().inspectAgent(agent.id);
      const marker = sessions[0]?.id ?? '';
      expect(strayProcesses(marker).length).toBeGreaterThan(0);
      const { agent: stopped } = await shop.client().stopAgent(agent.id);
      expect(stopped.activity).toBe('stopped');
      expect(strayProcesses(marker)).toEqual([]);
    });

    capability('daemon killed in mid-turn', true, async () => {
      const agent = await shop.work('[[session:held]] Wait for the file.');
      await toolRuns(shop, agent.id);
      await shop.crashDaemon();
      writeFileSync(join(agent.worktree ?? '', 'go.txt'), '');
      const ended = await shop.ended(agent.id);
      expect(ended).toMatchObject({ run: { status: 'completed' }, session: { no: 1 } });
      const types = (await shop.events(agent.id)).map((event) => event.type);
      expect(types).toContain('session.adopted');
      expect(types.filter((type) => type === 'session.started')).toHaveLength(1);
      const { sessions } = await shop.client().inspectAgent(agent.id);
      const chunks = (await shop.client().output(agent.id, { format: 'raw', limit: 1000 })).chunks;
      const stored = chunks.filter(({ stream }) => stream === 'stdout').map(({ content }) => content);
      expect(stored.join('')).toBe(readFileSync(join(sessions[0]?.directory ?? '', 'out'), 'utf8'));
    });

    let prober: Promise<AgentView> | undefined;
    /** One agent that uses the tools of all servers, for the two tests that look at it. */
    const askedAll = () => (prober ??= shop.work('[[session:probe]] Ask them.').then(({ id }) => shop.ended(id)));

    capability('MCP tools', preset.mcp !== null, async () => {
      const agent = await askedAll();
      expect(agent.run).toMatchObject({ status: 'completed' });
      expect(await textOf(shop, agent.id)).toContain('persimmon');
    });

    capability('Pawl’s own tools, as itself', preset.mcp !== null, async () => {
      const agent = await askedAll();
      expect(await textOf(shop, agent.id)).toContain(agent.id);
      const { mails } = await shop.client().listMail();
      const sent = { from: { id: agent.id, alias: agent.alias }, body: 'sent with a tool' };
      expect(mails).toContainEqual(expect.objectContaining(sent));
      // It was passed on from the environment, and written down nowhere but in a session's own file where the CLI passes on nothing.
      const token = createAuthority(readFileSync(homeAt(shop.home).token, 'utf8').trim()).agentToken(agent.id);
      const { stdout } = await run('sh', ['-c', `grep -rlaF -e '${token}' '${shop.home}' || [ $? = 1 ]`]);
      const isWritten = preset.mcp !== null && 'variables' in preset.mcp && preset.mcp.variables === 'written';
      const { sessions } = await shop.client().inspectAgent(agent.id);
      const own = sessions.map(({ directory }) => join(directory, 'mcp.json'));
      expect(stdout.split('\n').filter((path) => path !== '')).toEqual(isWritten ? own : []);
      return isWritten ? 'the CLI passes no variables on: its token stands in the session’s own file, 0600' : undefined;
    });

    const bridged = presets.find((each) => each.name === cli.live && each.name !== cli.provider);
    capability('Pawl’s own tools through the bridge', (bridged?.mcp ?? null) !== null, async () => {
      const agent = await shop.work('[[session:whoami]] Who are you?', { provider: bridged?.name ?? '' });
      await shop.ended(agent.id);
      expect(await textOf(shop, agent.id)).toContain(agent.id);
    });

    particular(capability, () => shop);
  });
}

/** What a CLI's output tells, beyond its last words. */
function kindsOf({ outputFormat }: ProviderPreset): string[] {
  if (outputFormat === 'continue-json') return ['text', 'result'];
  const kinds = ['text', 'tool-call', 'tool-result', 'usage', 'result'];
  return outputFormat === 'cline-json' ? kinds : ['session', ...kinds];
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

/** All that an agent has said. */
async function textOf(shop: RealWorkshop, agentId: string): Promise<string> {
  const events = (await shop.output(agentId)).flatMap((chunk) => chunk.events ?? []);
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}

/** Waits until an agent is in the middle of a tool. */
async function toolRuns(shop: RealWorkshop, agentId: string): Promise<void> {
  await waitUntil(
    async () => {
      const { agent } = await shop.client().inspectAgent(agentId);
      if (agent.run?.status !== 'running') throw new Error(`it ended: ${agent.detail}`);
      const [session] = (await shop.client().inspectAgent(agentId)).sessions;
      const commands = session === undefined ? [] : commandsOf(session.id);
      return commands.some((command) => command.startsWith('tail '));
    },
    { timeoutMs: 180_000, what: 'a tool to run' },
  );
}

/** The command lines of the processes that belong to a session. */
function commandsOf(marker: string): string[] {
  return strayProcesses(marker).map(({ pid }) => commandLine(pid));
}

/** The environment that a process began with; empty if it is gone. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    // It has left meanwhile.
    return '';
  }
}
