import { limits } from '@pawl/schema/limit';
import { git } from '@pawl/testing/sample-repository';
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Trial } from './trial.ts';

/** How long a CLI may try before it reports a limit. */
const turnMinutes = 8;

/** Limits of the provider, and budgets. */
export function tryLimits({ cli, preset, shop, capability }: Trial): void {
  capability('usage limit, on with another account', preset.account !== null, async () => {
    const account = `limited-${cli.provider}`;
    const agent = await shop().work('[[session:halfway]] Do half, then the rest.', { account });
    const ended = await shop().ended(agent.id);
    expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('finished') });
    expect(ended.worktree).toBe(agent.worktree);
    expect(ended.account).not.toBe(account);
    const story = (await shop().events(agent.id)).map((event) => event.type);
    expect(story.indexOf('account.switched')).toBeGreaterThan(story.indexOf('session.ended'));
    const exhausted = (await shop().client().events({ limit: 1000 })).events.filter(
      ({ type, data }) => type === 'account.exhausted' && data['account'] === account,
    );
    expect(exhausted).toHaveLength(1);
    const commits = await git(shop().repository, ['log', '--format=%s', `main..work/${agent.alias}`]);
    expect(commits.split('\n').length).toBeGreaterThanOrEqual(1);
  });

  capability('a limit at the first call, on with another account', preset.account !== null, async () => {
    const account = `early-${cli.provider}`;
    const agent = await shop().work('[[session:early]] Meet a limit at once.', { account });
    const ended = await shop().ended(agent.id);
    expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('elsewhere') });
    expect(ended.account).not.toBe(account);
  });

  capability('a limit of three hours lasts three hours', preset.account !== null, async () => {
    const account = `long-${cli.provider}`;
    const begunAt = Date.now();
    const agent = await shop().work('[[session:hours]] Meet a long limit.', { account });
    const ended = await shop().ended(agent.id);
    expect(ended.run).toMatchObject({ status: 'completed', detail: expect.stringContaining('elsewhere') });
    const known = (await shop().client().listAccounts()).accounts.find(({ name: each }) => each === account);
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

  capability('a token budget ends a turn', cli.proxied || 'nobody counts its tokens', async () => {
    const { environment, provider, model } = cli;
    const task = '[[session:tool-loop]] Go on.';
    const request = { path: shop().repository, task, provider, environment, account: `first-${provider}` };
    const body = { ...request, ...(model === null ? {} : { model }), budget: { tokens: 1_000 } };
    const { agent } = await shop().client().work(body, randomUUID());
    const ended = await shop().ended(agent.id);
    expect(ended).toMatchObject({ activity: 'over_budget', run: { cause: { reason: 'budget' } } });
  });
}
