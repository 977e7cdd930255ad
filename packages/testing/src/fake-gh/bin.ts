import { readFileSync } from 'node:fs';
import { runFakeGh } from './main.ts';

/** Reads standard input only if the command wants it, like `gh`. */
const [state = '', ...words] = process.argv.slice(2);
const wantsInput = words.some((word, index) => /^(?:--body-file|--input)=-$/.test(word) || (word === '-' && index > 0));
const { exitCode, stdout, stderr } = runFakeGh(state, words, wantsInput ? readFileSync(0, 'utf8') : '');
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;
