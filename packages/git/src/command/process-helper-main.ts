import type { HelperAnswer, HelperQuestion } from './process-helper.ts';
import { runProcess } from './run-process.ts';

// A terminal interrupts all its processes. This one leaves when the process that started it has, or disconnects.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit());
process.on('message', ({ id, file, args, request }: HelperQuestion) => {
  void runProcess(file, args, request).then((result) => {
    const { cause, ...rest } = result;
    const answer: HelperAnswer = { id, result: cause instanceof Error ? { ...rest, cause: cause.message } : rest };
    process.send?.(answer, () => {});
  });
});
