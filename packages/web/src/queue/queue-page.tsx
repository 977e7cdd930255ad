import { count, duration } from '@pawl/present/amount';
import { mainState } from '@pawl/present/changes/main-state';
import type { QueueView } from '@pawl/protocol/queue/view';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isIn, useQueues } from '../app/answers.ts';
import { client } from '../app/client.ts';
import { useProject } from '../app/project-choice.tsx';
import { useNow } from '../app/use-now.ts';
import { ChangeRows } from '../changes/changes-page.tsx';
import { CheckRows } from '../changes/checks.tsx';
import { Button, Empty, Failure, Loaded, Section, Title } from '../parts/basic.tsx';
import { line } from '../parts/foreign-text.tsx';
import { Mark } from '../parts/mark.tsx';

export function QueuePage() {
  const queues = useQueues();
  const project = useProject();
  return (
    <>
      <Title>Queue</Title>
      <Loaded answer={queues}>
        {({ queues: all }) => {
          const own = all.filter((queue) => isIn(project, queue.project));
          if (own.length === 0)
            return <Empty command="pawl init">No project has a merge queue. In a repository:</Empty>;
          return own.map((queue) => <Queue key={queue.project.id} queue={queue} />);
        }}
      </Loaded>
    </>
  );
}

function Queue({ queue }: { queue: QueueView }) {
  const { word, tone } = mainState(queue);
  const load = (check: string) => client.queueLog({ project: queue.project.id, check });
  return (
    <article>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-raised px-4 py-2">
        <h2 className="font-semibold">{queue.project.name}</h2>
        <span className="font-mono text-sm">
          {line(queue.branch)} {queue.main?.slice(0, 10)}
        </span>
        <Mark tone={tone}>{word}</Mark>
        {queue.counts !== null && <span className="text-sm text-muted">{count(queue.counts.run, 'test')}</span>}
        <span className="ml-auto flex gap-2">
          <QueueVerbs queue={queue} />
        </span>
      </header>
      <Alarms queue={queue} />
      {queue.changes.length === 0 ? (
        <p className="border-b border-line px-4 py-4 text-muted">
          Nothing is queued: every change that was asked for is on {line(queue.branch)}.
        </p>
      ) : (
        <div className="border-b border-line">
          <ChangeRows changes={queue.changes} numbered />
        </div>
      )}
      <Section
        title="In check"
        aside={queue.running.length === 0 ? 'nothing runs' : count(queue.running.length, 'check')}
      >
        <CheckRows checks={queue.running} load={load} />
      </Section>
      <Section title="Last checks">
        <CheckRows checks={queue.checks.slice(0, 8)} load={load} />
        <p className="mt-2 text-xs text-muted">{rules(queue)}</p>
      </Section>
    </article>
  );
}

function rules({ config }: QueueView): string {
  const checks = config.checks.length === 0 ? 'no checks' : config.checks.map((each) => line(each)).join(', ');
  const remote = config.remote === null ? '' : ` · remote ${line(config.remote)}`;
  return `${checks} · ${config.method}, up to ${config.batch} at once${remote} · ${config.auto ? 'merged by itself' : 'you merge'}`;
}

/** What keeps the queue from moving, worst first. */
function Alarms({ queue }: { queue: QueueView }) {
  const now = useNow();
  const { emergency, pausedAt, waiting, trouble } = queue;
  return (
    <>
      {emergency !== null && (
        <div role="alert" className="border-b-2 border-bad bg-bad/10 px-4 py-3">
          <p className="font-semibold text-bad">
            {line(queue.branch)} is red for {duration(Math.max(0, now - emergency.since))}: nothing is merged
          </p>
          <p className="text-sm">
            {line(queue.checks.find(({ id }) => id === emergency.checkId)?.detail ?? '')}{' '}
            {emergency.fixer === null ? (
              'No agent repairs it yet.'
            ) : (
              <Link to="/agents/$id" params={{ id: emergency.fixer.id }} className="text-accent underline">
                {emergency.fixer.alias} repairs it
              </Link>
            )}
          </p>
        </div>
      )}
      {trouble !== null && <Alarm tone="text-bad">nothing moves: {line(trouble, 1_000)}</Alarm>}
      {pausedAt !== null && <Alarm tone="text-attention">paused for {duration(Math.max(0, now - pausedAt))}</Alarm>}
      {waiting !== null && (
        <Alarm tone="text-attention">
          {waiting.changes.length === 0
            ? 'nothing moves'
            : `${count(waiting.changes.length, 'green change')} cannot go in yet`}
          : {line(waiting.reason, 1_000)}
        </Alarm>
      )}
      {queue.advice.map((advice) => (
        <Alarm key={advice} tone="text-attention">
          {line(advice, 1_000)}
        </Alarm>
      ))}
    </>
  );
}

function Alarm({ tone, children }: { tone: string; children: React.ReactNode }) {
  return <p className={`border-b border-line px-4 py-2 text-sm ${tone}`}>{children}</p>;
}

function QueueVerbs({ queue }: { queue: QueueView }) {
  const queries = useQueryClient();
  const body = { project: queue.project.id };
  const act = useMutation({
    mutationFn: (verb: 'check' | 'pause' | 'resume') =>
      ({ check: client.checkQueue, pause: client.pauseQueue, resume: client.resumeQueue })[verb](body),
    onSettled: () => queries.invalidateQueries({ queryKey: ['queues'] }),
  });
  if (act.error !== null) return <Failure error={act.error} again={() => act.reset()} />;
  return (
    <>
      <Button disabled={act.isPending} onClick={() => act.mutate('check')}>
        Check {line(queue.branch)}
      </Button>
      <Button disabled={act.isPending} onClick={() => act.mutate(queue.pausedAt === null ? 'pause' : 'resume')}>
        {queue.pausedAt === null ? 'Pause' : 'Resume'}
      </Button>
    </>
  );
}
