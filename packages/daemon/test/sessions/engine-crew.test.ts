import type { AgentView } from '@pawl/protocol/agents/view';
import { git } from '@pawl/testing/sample-repository';
import { crewScenarios } from '@pawl/testing/crew-scenarios';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import { childrenEnded, engineModels, onEngine, openEngineSetup } from '../support/engine.ts';
import { commitFiles, configWith } from '../support/merge-queue.ts';

const vendors = Object.keys(engineModels) as (keyof typeof engineModels)[];
const apis = {
  anthropic: 'anthropic',
  openai: 'responses',
  'openai-chat': 'chat',
  google: 'gemini',
  compatible: 'chat',
};

test('a lead delegates to two subagents and lands a change, in each of the five wire formats [S2-10, S2-11, W2-04]', async () => {
  await using setup = await openEngineSetup({ scenarios: crewScenarios, fallback: 'crew-lead' });
  const { daemon, model } = setup;
  await commitFiles(daemon.repository, { '.pawl/config.yaml': configWith('echo passed') });
  const before = await git(daemon.repository, ['rev-parse', 'main']);
  const leads: AgentView[] = [];
  for (const vendor of vendors) {
    const lead = await daemon.work(undefined, { ...onEngine(vendor), definition: 'lead', task: 'Add a note.' });
    leads.push(lead);
    for (const count of [2, 3]) await childrenEnded(daemon, lead.id, count);
    expect((await daemon.ended(lead.id)).run, vendor).toMatchObject({
      status: 'completed',
      detail: 'The note is written.',
    });
  }
  const { agents } = await daemon.client.listAgents({ all: true, limit: 1000 });
  for (const [index, lead] of leads.entries()) {
    const vendor = vendors[index] ?? 'anthropic';
    const crew = agents.filter(({ parentId }) => parentId === lead.id);
    expect(new Set(crew.map(({ definition, kind }) => `${definition} ${kind}`)), vendor).toEqual(
      new Set(['coder main', 'plan subagent', 'search subagent']),
    );
    expect(crew, vendor).toHaveLength(3);
    for (const { id, kind, model: name, usage } of crew) {
      const { runs } = await daemon.client.inspectAgent(id, { worktree: false });
      expect(name, vendor).toBe(engineModels[vendor]);
      expect(usage.inputTokens, vendor).toBeGreaterThan(0);
      expect(runs, vendor).toMatchObject([
        { outcome: 'completed', parentRunId: kind === 'subagent' ? lead.run?.id : null },
      ]);
    }
    const coder = crew.find(({ definition }) => definition === 'coder')?.alias ?? '';
    const note = () => git(daemon.repository, ['show', `main:notes/${coder}.md`]).catch(() => '');
    await waitUntil(async () => (await note()) === 'A note.', { what: `the note of ${vendor} on main` });
  }
  expect(await git(daemon.repository, ['merge-base', 'main', before])).toBe(before);
  const used = new Set(model.requests.map(({ api, model: name }) => `${api} ${name}`));
  expect(used).toEqual(new Set(vendors.map((vendor) => `${apis[vendor]} ${engineModels[vendor].split('/')[1]}`)));
});
