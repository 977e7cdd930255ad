import { ago, count } from '@pawl/present/amount';
import { changeTone } from '@pawl/present/state-tone';
import type { ChangeDetail, ChangeView } from '@pawl/protocol/changes/view';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange, useDiff } from '../app/answers.ts';
import { client } from '../app/client.ts';
import { useNow } from '../app/use-now.ts';
import { Button, Failure, fieldLook, Loaded, Section, Title } from '../parts/basic.tsx';
import { ForeignText, line } from '../parts/foreign-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { Checks } from './checks.tsx';
import { DiffView } from './diff-view.tsx';
import { MergeButton } from './merge-button.tsx';

export function ChangePage() {
  const { id } = useParams({ from: '/changes/$id' });
  const detail = useChange(id);
  const diff = useDiff(id, detail.data?.change.head);
  return (
    <Loaded answer={detail}>
      {(data) => (
        <>
          <Title aside={<Mark tone={changeTone(data.change.state)}>{data.change.state}</Mark>}>
            {line(data.change.title)}
          </Title>
          <div className="grid xl:grid-cols-[minmax(0,1fr)_24rem]">
            <div className="min-w-0 max-xl:order-last">
              <Loaded answer={diff}>{(loaded) => <DiffView diff={loaded} />}</Loaded>
            </div>
            <aside className="border-line xl:border-l">
              <Decision change={data.change} />
              <Checks change={data.change.id} checks={data.checks} />
              <Comments detail={data} />
            </aside>
          </div>
        </>
      )}
    </Loaded>
  );
}

/** The state of a change, why, and what a person can do now. */
function Decision({ change }: { change: ChangeView }) {
  const now = useNow();
  const isOver = change.mergedAt !== null || change.closedAt !== null;
  const isWeaker = change.findings.length > 0 && change.approvedHead !== change.head;
  return (
    <Section title="State">
      <p className="text-sm text-muted">
        {change.author === null ? (
          'a person'
        ) : (
          <Link to="/agents/$id" params={{ id: change.author.id }} className="text-accent underline">
            {change.author.alias}
          </Link>
        )}{' '}
        · {change.project.name} · <span className="font-mono">{line(change.branch)}</span> ·{' '}
        {ago(Math.max(0, now - change.openedAt))}
      </p>
      {change.detail !== '' && <ForeignText text={change.detail} className="mt-1" />}
      {change.summary.trim() !== '' && <ForeignText text={change.summary} className="mt-2 text-sm" />}
      {isWeaker && (
        <div className="mt-2 rounded-md border border-attention/50 p-2 text-sm">
          <p className="text-attention">It weakens the gate. Merging it needs your approval of exactly this head:</p>
          <ul className="list-disc pl-5">
            {change.findings.map(({ kind, detail }) => (
              <li key={`${kind} ${detail}`}>{line(detail, 1_000)}</li>
            ))}
          </ul>
        </div>
      )}
      {change.ejection !== null && change.ejection.head === change.head && change.ejection.files.length > 0 && (
        <p className="mt-2 text-sm text-bad">in conflict: {line(change.ejection.files.join(', '), 1_000)}</p>
      )}
      {!isOver && <Verbs change={change} isWeaker={isWeaker} />}
    </Section>
  );
}

function Verbs({ change, isWeaker }: { change: ChangeView; isWeaker: boolean }) {
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (verb: () => Promise<unknown>) => verb(),
    onSettled: () =>
      Promise.all(
        ['change', 'changes', 'queues', 'inbox'].map((kind) => queries.invalidateQueries({ queryKey: [kind] })),
      ),
  });
  const [reason, setReason] = useState('');
  return (
    <div className="mt-3 flex flex-col gap-2">
      {act.error !== null && <Failure error={act.error} />}
      <div className="flex flex-wrap gap-2">
        {change.askedHead !== change.head && <MergeButton change={change.id} />}
        {isWeaker && (
          <Button onClick={() => act.mutate(() => client.approveChange(change.id, { head: change.head }))}>
            Approve the weaker gate
          </Button>
        )}
        {change.ejection !== null && (
          <Button onClick={() => act.mutate(() => client.retryChange(change.id))}>Retry</Button>
        )}
        {change.hold !== null && (
          <Button onClick={() => act.mutate(() => client.unblockChange(change.id))}>Unblock</Button>
        )}
      </div>
      <p className="text-xs text-muted">
        Merging puts it onto main when its checks pass there, as one commit or as the project says; main only moves
        forward.
      </p>
      <details className="text-sm">
        <summary className="text-muted">Close without merging</summary>
        <form
          className="mt-2 flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            act.mutate(() => client.closeChange(change.id, { reason }));
          }}
        >
          <input
            className={fieldLook}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            placeholder="Why?"
            aria-label="Reason for closing"
          />
          <Button type="submit" look="danger" disabled={reason.trim() === ''}>
            Close
          </Button>
        </form>
      </details>
    </div>
  );
}

function Comments({ detail: { change, comments } }: { detail: ChangeDetail }) {
  const now = useNow();
  const queries = useQueryClient();
  const [body, setBody] = useState('');
  const comment = useMutation({
    mutationFn: (text: string) => client.commentChange(change.id, { body: text }),
    onSuccess: () => setBody(''),
    onSettled: () => queries.invalidateQueries({ queryKey: ['change', change.id] }),
  });
  return (
    <Section title="Comments" aside={count(comments.length, 'comment')}>
      <ul className="flex flex-col gap-2">
        {comments.map((each) => (
          <li key={each.id} className="rounded-md border border-line p-2 text-sm">
            <p className="flex gap-2 text-xs text-muted">
              <span>{each.author?.alias ?? 'a person'}</span>
              {each.kind === 'blocking' && (
                <Mark tone={each.addressedAt === null ? 'attention' : 'good'}>blocking</Mark>
              )}
              {each.head !== change.head && <span>on an earlier version</span>}
              <span className="ml-auto">{ago(Math.max(0, now - each.at))}</span>
            </p>
            <ForeignText text={each.body} />
            {each.addressed !== null && <ForeignText text={`addressed: ${each.addressed}`} className="text-muted" />}
          </li>
        ))}
      </ul>
      <form
        className="mt-2 flex flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          comment.mutate(body);
        }}
      >
        {comment.error !== null && <Failure error={comment.error} />}
        <textarea
          className={fieldLook}
          rows={2}
          value={body}
          onChange={(event) => setBody(event.target.value)}
          placeholder="To its author; begin with [BLOCKING] to hold the change"
          aria-label="Comment"
        />
        <Button type="submit" className="self-end" disabled={body.trim() === '' || comment.isPending}>
          Comment
        </Button>
      </form>
    </Section>
  );
}
