import type { Scenario, Step } from './step.ts';

const signalled = (result: string): Step => ({ signal: { status: 'done', result } });

const note: Step = {
  write: { path: 'notes/{id}.md', content: 'A note of the scripted model.\n\nUser turns seen: {turns}\n' },
};

// No substitution and no group: some CLIs refuse commands with them.
const commit: Step = {
  shell:
    'git var GIT_COMMITTER_IDENT >/dev/null 2>&1 || export GIT_AUTHOR_NAME=Model GIT_AUTHOR_EMAIL=model@localhost GIT_COMMITTER_NAME=Model GIT_COMMITTER_EMAIL=model@localhost; git add -- notes && git commit -q -m "docs: note {id}" && git log -1 --format=%h:%s',
};

const work: Step[] = [
  { think: 'A note, committed, is enough.' },
  { say: 'I write a note and commit it.' },
  note,
  commit,
  signalled('I wrote notes/{id}.md and committed it.'),
  { say: 'All done.' },
];

/** A scenario in which every answer is this failure. */
const failing = (step: Step): Scenario => ({ steps: [step] });

/** The built-in scenarios, by name. */
export const builtInScenarios: Record<string, Scenario> = {
  text: { steps: [{ say: 'Here is the answer.' }] },
  work: { steps: work },
  questions: {
    steps: [
      { signal: { status: 'questions', questions: [{ id: 'q1', question: 'Which colour shall it be?' }] } },
      { say: 'I have asked a question.' },
    ],
    followUp: [note, commit, signalled('I have read the answers and wrote notes/{id}.md.'), { say: 'All done.' }],
  },
  recall: { steps: [{ say: 'The first turn began with: {first}\nmark: {mark}' }] },
  sleep: { steps: [{ say: 'This takes a while.' }, { shell: 'sleep 300' }, { say: 'Slept.' }] },
  mcp: { steps: [{ mcp: true }, { say: 'The tool returned: {result}' }] },
  'no-signal': { steps: [note, commit, { say: 'The note is committed.' }] },
  'tool-loop': { steps: [{ shell: 'echo round {step}' }], repeat: true },
  'limit-midway': {
    steps: [{ say: 'I begin.' }, { shell: 'echo begun > begun.txt' }, { error: 'limit-reset' }],
  },
  limit: failing({ error: 'limit' }),
  'limit-reset': failing({ error: 'limit-reset' }),
  quota: failing({ error: 'quota' }),
  overload: failing({ error: 'overload' }),
  auth: failing({ error: 'auth' }),
  'bad-request': failing({ error: 'bad-request' }),
  context: failing({ error: 'context' }),
  'server-error': failing({ error: 'server-error' }),
  slow: { steps: [{ slow: { ms: 250 } }, { say: 'Slowly, word by word, this answer arrives. '.repeat(20) }] },
  cut: { steps: [{ say: 'This answer breaks off in the middle of what it wanted to say.' }, { cut: true }] },
  malformed: { steps: [{ say: 'This answer is broken in the middle.' }, { malformed: true }] },
  hang: failing({ hang: true }),
};
