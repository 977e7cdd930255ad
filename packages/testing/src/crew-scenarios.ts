import type { ScenarioInput, Step } from './model-server/step.ts';

const delegate = (target: string, task: string) => ({ name: 'Delegate', input: { target, task } });
const finish = (input: Record<string, unknown>): Step => ({ tool: { name: 'Finish', input } });

const written = finish({ type: 'none', summary: 'The note is written.' });

/**
 * A lead has `search` and `plan` look at the repository at the same time, and then `coder` commit a note, which becomes
 * a change. Each delegated task names its own scenario.
 */
export const crewScenarios: Record<string, ScenarioInput> = {
  'crew-lead': {
    steps: [
      {
        tools: [
          delegate('search', 'Find the file that describes the project.\n[[scenario:crew-search]]'),
          delegate('plan', 'Plan a note about the project.\n[[scenario:crew-plan]]'),
        ],
      },
      { tool: delegate('coder', 'Write the note and commit it.\n[[scenario:crew-coder]]') },
      written,
    ],
    // The notice about the coder's change may arrive before the lead ends.
    followUp: [written],
  },
  'crew-search': {
    steps: [
      { tool: { name: 'Glob', input: { globs: ['*.md'] } } },
      finish({ type: 'none', summary: 'README.md:1 describes the project.' }),
    ],
  },
  'crew-plan': {
    steps: [
      { tool: { name: 'Read', input: { path: 'README.md' } } },
      finish({ type: 'none', summary: '1. Write notes/NAME.md. 2. Commit it.' }),
    ],
  },
  'crew-coder': {
    steps: [
      {
        shell:
          'git var GIT_COMMITTER_IDENT >/dev/null 2>&1 || export GIT_AUTHOR_NAME=Model GIT_AUTHOR_EMAIL=model@localhost GIT_COMMITTER_NAME=Model GIT_COMMITTER_EMAIL=model@localhost; mkdir -p notes && echo "A note." > "notes/$PAWL_AGENT_NAME.md" && git add notes && git commit -q -m "docs: add a note by $PAWL_AGENT_NAME"',
      },
      finish({ type: 'patch', title: 'docs: add a note', summary: 'I wrote the note and committed it.' }),
    ],
  },
};
