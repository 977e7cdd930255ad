import type { InboxItem } from '@pawl/protocol/questions/view';
import type { ReplyBody } from '@pawl/protocol/agents/verb-view';
import { bytes } from '@pawl/present/amount';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../app/client.ts';
import { Button, Failure, fieldLook } from '../parts/basic.tsx';
import { ForeignText, line } from '../parts/foreign-text.tsx';
import type { Inbox } from '@pawl/protocol/questions/view';
import { allowances, answersOf, refusal } from './replies.ts';

/** Sends a reply. The item leaves the inbox at once, and comes back with the reason if the daemon refuses it. */
function useReply(item: InboxItem) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: ReplyBody) => client.replyAgent(item.id, body, crypto.randomUUID()),
    async onMutate() {
      await queries.cancelQueries({ queryKey: ['inbox'] });
      const before = queries.getQueryData<Inbox>(['inbox']);
      queries.setQueryData<Inbox>(['inbox'], (inbox) =>
        inbox === undefined
          ? inbox
          : {
              ...inbox,
              items: inbox.items.filter(({ id }) => id !== item.id),
              entries: inbox.entries.map((entry) => (entry.id === item.id ? { ...entry, detail: 'sending…' } : entry)),
            },
      );
      return before;
    },
    onError(_error, _body, before) {
      if (before !== undefined) queries.setQueryData(['inbox'], before);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['inbox'] }),
  });
}

/** The question or permission of an agent, with its answers. */
export function ReplyCard({ item, onFailure }: { item: InboxItem; onFailure?(error: unknown): void }) {
  const reply = useReply(item);
  const send = (body: ReplyBody) => reply.mutate(body, { onError: (error) => onFailure?.(error) });
  return (
    <div className="flex flex-col gap-3">
      {item.owner !== null && <p className="text-sm text-muted">asked by its subagent {line(item.owner)}</p>}
      {reply.error !== null && <Failure error={reply.error} />}
      {item.kind === 'permission' ? (
        <Permission item={item} send={send} busy={reply.isPending} />
      ) : (
        <Questions item={item} send={send} busy={reply.isPending} />
      )}
    </div>
  );
}

type Sending = { item: InboxItem; send(body: ReplyBody): void; busy: boolean };

function Permission({ item, send, busy }: Sending) {
  const [reason, setReason] = useState('');
  const [once, ...lasting] = allowances(item);
  return (
    <>
      {item.questions.map((question) => (
        <Asked key={question.id} question={question} mono />
      ))}
      <div className="flex flex-wrap gap-2">
        {once !== undefined && (
          <Button look="main" disabled={busy} title={once.does} onClick={() => send(once.body)}>
            {once.label}
          </Button>
        )}
        {lasting.map(({ label, does, body }) => (
          <Button key={label} disabled={busy} title={does} onClick={() => send(body)}>
            {label}
          </Button>
        ))}
      </div>
      <ul className="text-xs text-muted">
        {[once, ...lasting].flatMap((choice) =>
          choice === undefined ? [] : [<li key={choice.label}>{`${choice.label}: ${line(choice.does)}`}</li>],
        )}
      </ul>
      <form
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          send(refusal(reason));
        }}
      >
        <input
          className={fieldLook}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          placeholder="Why not? The model learns it."
          aria-label="Reason for the refusal"
        />
        <Button type="submit" look="danger" disabled={busy}>
          Deny
        </Button>
      </form>
    </>
  );
}

function Questions({ item, send, busy }: Sending) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const body = answersOf(item, texts);
  const submit = () => {
    if (body !== null) send(body);
  };
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {item.questions.map((question) => (
        <label key={question.id} className="flex flex-col gap-1.5">
          <Asked question={question} />
          <textarea
            className={fieldLook}
            rows={2}
            value={texts[question.id] ?? ''}
            onChange={(event) => setTexts({ ...texts, [question.id]: event.target.value })}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit();
            }}
            placeholder="Your answer"
          />
        </label>
      ))}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="main" disabled={busy || body === null}>
          Answer
        </Button>
        <Button disabled={busy} onClick={() => send({ notNow: true })}>
          Let the agent decide
        </Button>
      </div>
    </form>
  );
}

function Asked({ question, mono = false }: { question: InboxItem['questions'][number]; mono?: boolean }) {
  return (
    <div className={mono ? 'max-h-80 overflow-auto rounded-md bg-raised p-2 font-mono text-sm' : ''}>
      <ForeignText text={question.question} />
      {question.leftOutBytes > 0 && (
        <p className="text-attention">{bytes(question.leftOutBytes)} more are left out; see the agent.</p>
      )}
    </div>
  );
}
