import { planScenarios } from './planner-scenarios.ts';
import type { ScenarioInput } from '@pawl/testing/model-server/step';

const identity =
  'export GIT_AUTHOR_NAME=Model GIT_AUTHOR_EMAIL=model@localhost GIT_COMMITTER_NAME=Model GIT_COMMITTER_EMAIL=model@localhost';
const done = (result: string) => ({ signal: { status: 'done', result } });

const afterDenial = [{ shell: 'touch allowed.txt' }, done('asked for it'), { say: 'All done.' }];

/** What the model does in the tests with real CLIs. */
export const scenarios: Record<string, ScenarioInput> = {
  ...planScenarios,
  /** Writes a file and commits it. The directory comes first, since not every CLI's tool makes it. */
  note: {
    steps: [
      { shell: 'mkdir -p notes' },
      { write: { path: 'notes/{id}.md', content: 'A note of the model.\n' } },
      { shell: `${identity}; git add notes && git commit -q -m "docs: note {id}"` },
      done('committed it'),
      { say: 'All done.' },
    ],
  },
  /** Runs two commands that need approval, and reports. Some CLIs tell the reason of a denial as a message of the user. */
  asks: {
    steps: [{ shell: 'touch denied.txt' }, ...afterDenial],
    followUp: afterDenial,
  },
  /** Tells how much of the conversation reached it: that proves a resume, a fork and a follow-up. */
  remember: { steps: [done('turns {turns}'), { say: 'The first turn was: {first}' }] },
  /** Works for a while, in one tool, and then says how often it was spoken to. */
  patient: {
    steps: [
      { say: 'I take my time.' },
      { shell: 'timeout 5 tail -f /dev/null || true' },
      done('turns {turns}'),
      { say: 'Done.' },
    ],
  },
  /** Its second model call reaches a limit, for one of the keys. */
  halfway: {
    steps: [
      { say: 'I begin.' },
      { shell: `${identity}; date +%N >> half.txt; git add half.txt && git commit -q -m "half of it"` },
      { error: 'limit-reset', key: 'limited', resetsInSeconds: 3600 },
      done('finished after {turns} turns'),
      { say: 'All done.' },
    ],
  },
  /** Its very first model call reaches a limit, for one of the keys. */
  early: {
    steps: [
      { error: 'limit-reset', key: 'early', resetsInSeconds: 3600 },
      done('finished elsewhere'),
      { say: 'All done.' },
    ],
  },
  /** Reaches a limit that lasts three hours, for one of the keys. */
  hours: {
    steps: [
      { shell: 'true' },
      { error: 'limit-reset', key: 'long', resetsInSeconds: 3 * 3600 },
      done('finished elsewhere'),
      { say: 'All done.' },
    ],
  },
  /** Is in the middle of a tool until a file is there. */
  held: {
    steps: [
      { say: 'I wait for the file.' },
      { shell: 'until [ -e go.txt ]; do timeout 1 tail -f /dev/null; done; rm go.txt' },
      done('went on'),
      { say: 'All done.' },
    ],
  },
  /** Is in the middle of a tool for as long as anybody waits. */
  sleeper: {
    steps: [
      { say: 'This takes a while.' },
      { shell: 'timeout 100 tail -f /dev/null || true' },
      done('slept'),
      { say: 'Slept.' },
    ],
  },
  /** Uses a server of the person's, and Pawl's own: who am I, and a word to the person. */
  probe: {
    steps: [
      { tool: { name: 'probe_word' } },
      { say: 'The tool said {result}.' },
      { tool: { name: 'whoami' } },
      { say: 'Pawl said {result}.' },
      { tool: { name: 'send', input: { to: 'root', body: 'sent with a tool' } } },
      done('asked it'),
      { say: 'Done.' },
    ],
  },
  /** Asks Pawl's own server who it is, and nothing else. */
  whoami: {
    steps: [{ tool: { name: 'whoami' } }, { say: 'Pawl said {result}.' }, done('asked it'), { say: 'Done.' }],
  },
};
