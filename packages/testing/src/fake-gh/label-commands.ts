import { Complaint } from './answer.ts';
import type { Call, Command } from './command.ts';
import { mustWrite, printed } from './command.ts';

/** Commands that create labels, and put them on pull requests. */
export const labelCommands: Record<string, Command> = {
  'label create': {
    flags: { 'description,d': 'text', 'color,c': 'text', 'force,f': 'switch' },
    takesRepo: true,
    words: { least: 1, most: 1, complaint: 'cannot create label: name argument required' },
    run({ state, flags }) {
      const name = flags.words[0] ?? '';
      mustWrite(state, 'createLabel');
      if (state.labels.includes(name) && !flags.has('force')) {
        const way = 'use `--force` to update its color and description';
        throw new Complaint(`label with name "${name}" already exists; ${way}`);
      }
      if (!state.labels.includes(name)) state.labels.push(name);
      return '';
    },
  },
  api: {
    flags: {
      hostname: 'text',
      'method,X': 'text',
      input: 'text',
      silent: 'switch',
      'field,F': 'text',
      'raw-field,f': 'text',
    },
    takesRepo: false,
    words: { least: 1, most: 1, complaint: 'accepts 1 arg(s), received 0' },
    run: changeLabels,
  },
};

/** Only the part of the API that adds and removes labels. */
function changeLabels({ state, flags, input }: Call): string {
  const path = new RegExp(`^repos/${state.owner}/${state.name}/issues/(\\d+)/labels(?:/([^/]+))?$`);
  const [, number, label] = path.exec(flags.words[0] ?? '') ?? [];
  const pull = state.pulls.find((each) => each.number === Number(number));
  const notFound = new Complaint('gh: Not Found (HTTP 404)', 1, '{"message":"Not Found","status":"404"}');
  if (pull === undefined || flags.text('hostname') !== state.host) throw notFound;
  if (!['ADMIN', 'MAINTAIN', 'WRITE', 'TRIAGE'].includes(state.permission)) {
    throw new Complaint('gh: Must have admin rights to Repository. (HTTP 403)');
  }
  const method = flags.text('method') ?? 'GET';
  if (method === 'POST' && label === undefined && flags.text('input') === '-') {
    const { labels } = JSON.parse(input) as { labels: string[] };
    pull.labels = [...new Set([...pull.labels, ...labels])];
    state.labels = [...new Set([...state.labels, ...labels])];
  } else if (method === 'DELETE' && label !== undefined) {
    const name = decodeURIComponent(label);
    if (!pull.labels.includes(name)) throw new Complaint('gh: Label does not exist (HTTP 404)');
    pull.labels = pull.labels.filter((each) => each !== name);
  } else throw notFound;
  return flags.has('silent') ? '' : printed(pull.labels.map((name) => ({ name })));
}
