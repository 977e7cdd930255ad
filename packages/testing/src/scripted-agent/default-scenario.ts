import type { Scenario, Step } from './scenario.ts';

/** How many follow-ups the built-in scenario answers. */
const followUps = 1_000;

/** The built-in scenario: notes its task, commits it and signals that it is done. */
export function defaultScenario(): Scenario {
  const steps: Step[] = [
    { kind: 'think', value: 'The task is clear. A note about it, committed, is enough.' },
    { kind: 'say', value: 'I will take a note of this task: {task}' },
    { kind: 'write', value: { path: 'notes/{agent}.md', content: '# Notes of {agent}\n\n{task}\n' } },
    { kind: 'sleep', value: 100 },
    { kind: 'say', value: 'The note is written. Now I commit it.' },
    { kind: 'commit', value: 'docs: notes of {agent}' },
    { kind: 'sleep', value: 100 },
    { kind: 'say', value: 'The note is committed. One last look at it.' },
    { kind: 'shell', value: 'git log -1 --format=%h:%s' },
    { kind: 'sleep', value: 100 },
    { kind: 'complete', value: { summary: 'I wrote notes/{agent}.md and committed it.' } },
  ];
  for (let n = 1; n <= followUps; n += 1) {
    steps.push({ kind: 'say', value: 'I have read your message: {prompt}', n });
    steps.push({ kind: 'complete', value: { summary: 'I have read {turns} messages and have nothing to add.' }, n });
  }
  return { name: 'default', steps };
}
