import { crewScenarios } from '@pawl/testing/crew-scenarios';
import { startModelServer } from '@pawl/testing/model-server/server';
import { openWorkplace, review, say, watch } from './workplace.ts';

/** One model for each wire format. */
const models = [
  'anthropic/claude-sonnet-4-5',
  'openai/gpt-5.1',
  'openai-chat/gpt-4.1',
  'google/gemini-2.5-pro',
  'compatible/scripted-1',
];

/** Five leads of Pawl's own agent, each with a crew. Returns null on success, else what went wrong. */
export async function engineCrew(place: string): Promise<string | null> {
  await using server = await startModelServer({ scenarios: crewScenarios, fallback: 'crew-lead' });
  say("Pawl's own agent, once for each wire format. A lead has two subagents look at the repository at the same time,");
  say('and then a coder commit a note, which reaches main through the queue.');
  say('The model is a stand-in on this machine: it answers by script, and nothing is sent anywhere.\n');
  const workplace = await openWorkplace(place, '');
  const { run, client } = workplace;
  say(run('account', 'add', 'pawl', '--name', 'demo', '--key-env', 'DEMO_KEY', '--base-url', `${server.url}/v1`));
  const { lastSeq } = await client.daemon();
  for (const model of models) {
    const words = ['--as', 'lead', '--provider', 'pawl', '--account', 'demo', '--model', model];
    say(run('work', 'Add a note about the project', ...words).split('\n', 1)[0]);
  }
  say();
  const isDone = await watch(workplace, lastSeq, models.length);
  say();
  say(run('tree', '--all'));
  say();
  return review(place, workplace, isDone);
}
