import { openWorkplace, review, say, watch } from './workplace.ts';

/** Two of them change the same lines, and one breaks a test. */
const tasks = [
  { task: 'Let the greeting use the name it is given', scenario: 'greeting' },
  { task: 'Make the sum faster', scenario: 'faster' },
  { task: 'Add a product beside the sum', scenario: 'product' },
  { task: 'Say in the README how to run the tests', scenario: 'readme' },
  { task: 'Say goodbye as well as hello', scenario: 'farewell' },
];

/** Five scripted agents work at once. Returns null on success, else what went wrong. */
export async function fiveTasks(place: string): Promise<string | null> {
  say('A sample repository with tests, an empty home for Pawl, and five things to do at once.');
  say(
    'The agents are stand-ins: the provider "scripted" plays written scenarios. No AI is asked, and nothing is sent anywhere.\n',
  );
  // Without the playground the stand-in's changes would stay drafts.
  const workplace = await openWorkplace(place, 'playground: true\n');
  const { lastSeq } = await workplace.client.daemon();
  for (const { task, scenario } of tasks) {
    const words = ['work', task, '--provider', 'scripted', '--scenario', `demo/scenarios/${scenario}.yaml`];
    say(workplace.run(...words).split('\n', 1)[0]);
  }
  say();
  const isDone = await watch(workplace, lastSeq, tasks.length);
  say();
  return review(place, workplace, isDone);
}
