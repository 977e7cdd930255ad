// Runs git for a large process, which would take milliseconds to start each command. See run-git.ts.
import { execFile } from 'node:child_process';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
process.on('disconnect', () => process.exit());
process.on('message', ({ id, args, options }) => {
  execFile('git', args, options, (error, stdout) => {
    const failure = error === null ? null : { message: error.message, code: error.code };
    process.send({ id, stdout, failure }, () => {});
  });
});
