import { strayProcesses } from '@pawl/host/session/stray';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { askAndAnswer, canAsk } from '../approvals.ts';
import { toolRuns } from './observe.ts';
import type { Trial } from './trial.ts';

/** Approvals, stops, and crashes of the daemon. */
export function tryProcesses({ preset, shop, capability }: Trial): void {
  capability('asks a person, across crashes of the daemon', canAsk(preset), () => askAndAnswer(shop()));

  capability('stop while a tool runs, no orphan', true, async () => {
    const agent = await shop().work('[[session:sleeper]] Sleep.');
    await toolRuns(shop(), agent.id);
    const { sessions } = await shop().client().inspectAgent(agent.id);
    const marker = sessions[0]?.id ?? '';
    expect(strayProcesses(marker).length).toBeGreaterThan(0);
    const { agent: stopped } = await shop().client().stopAgent(agent.id);
    expect(stopped.activity).toBe('stopped');
    expect(strayProcesses(marker)).toEqual([]);
  });

  capability('daemon killed in mid-turn', true, async () => {
    const agent = await shop().work('[[session:held]] Wait for the file.');
    await toolRuns(shop(), agent.id);
    await shop().crashDaemon();
    writeFileSync(join(agent.worktree ?? '', 'go.txt'), '');
    const ended = await shop().ended(agent.id);
    expect(ended).toMatchObject({ run: { status: 'completed' }, session: { no: 1 } });
    const types = (await shop().events(agent.id)).map((event) => event.type);
    expect(types).toContain('session.adopted');
    expect(types.filter((type) => type === 'session.started')).toHaveLength(1);
    const { sessions } = await shop().client().inspectAgent(agent.id);
    const chunks = (await shop().client().output(agent.id, { format: 'raw', limit: 1000 })).chunks;
    const stored = chunks.filter(({ stream }) => stream === 'stdout').map(({ content }) => content);
    expect(stored.join('')).toBe(readFileSync(join(sessions[0]?.directory ?? '', 'out'), 'utf8'));
  });
}
