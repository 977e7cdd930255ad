import type { ScenarioInput } from '@pawl/testing/model-server/step';

const identity =
  'export GIT_AUTHOR_NAME=Model GIT_AUTHOR_EMAIL=model@localhost GIT_COMMITTER_NAME=Model GIT_COMMITTER_EMAIL=model@localhost';
const end = (result: string) => [{ signal: { status: 'done', result } }, { say: 'All done.' }];

/** The ids that the architects of the story choose. */
export const storyIds = {
  decision: 'storydecision000000001',
  one: 'storyphaseone000000001',
  two: 'storyphasetwo000000001',
  first: 'storytaskfirst00000001',
  second: 'storytasksecond0000001',
};
const { decision, one, two, first, second } = storyIds;

/** An output file of an architect. */
function output(folder: string, id: string, fields: string, text: string) {
  return { write: { path: `.pawl/output/${folder}/${id}.md`, content: `---\nid: ${id}\n${fields}\n---\n${text}\n` } };
}

const folder = (name: string) => ({ shell: `mkdir -p .pawl/output/${name}` });

/** Commits one file. */
const committing = (file: string, line: string) => ({
  shell: `${identity}; echo ${line} > ${file} && git add ${file} && git commit -q -m "feat: add ${file}"`,
});

/** The model's part in the story of a plan: architects, workers and a revision. */
export const planScenarios: Record<string, ScenarioInput> = {
  'plan-discuss': {
    steps: [
      { signal: { status: 'questions', questions: [{ id: 'q1', question: 'Which language?' }] } },
      { say: 'I have a question.' },
    ],
    followUp: [
      folder('decisions'),
      output('decisions', decision, 'topic: language\ndecision: English', 'A person said so.'),
      ...end('decided the language'),
    ],
  },
  'plan-draft': {
    steps: [
      folder('phases'),
      output('phases', one, 'name: greeting', 'It greets.'),
      output('phases', two, `name: farewell\ndependencies: [${one}]`, 'It says goodbye.'),
      ...end('two phases'),
    ],
  },
  'plan-detail-one': {
    steps: [
      folder('tasks'),
      output('tasks', first, 'name: greet\nfiles: [hello.txt]', 'Write it. [[scenario:plan-greet]]'),
      ...end('one task'),
    ],
  },
  'plan-detail-two': {
    steps: [
      folder('tasks'),
      output('tasks', second, 'name: part\nfiles: [bye.txt]', 'Write it. [[scenario:plan-part]]'),
      ...end('one task'),
    ],
  },
  'plan-greet': { steps: [committing('hello.txt', 'helo'), ...end('greets')] },
  'plan-part': { steps: [committing('bye.txt', 'bye'), ...end('parts')] },
  /** Corrects the greeting, and answers every thread that its task names. */
  'plan-revise': {
    steps: [
      committing('hello.txt', 'hello'),
      {
        shell:
          "for id in $(grep -o 'Thread [A-Za-z0-9_-]*' .pawl/input/task.md | cut -d ' ' -f 2 | grep -v THREAD); do pawl plan answer \"$id\" 'it is spelled right now'; done",
      },
      ...end('corrected it'),
    ],
  },
};
